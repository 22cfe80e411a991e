/* A stack behind the packet interface of `windlass audit`: serve.c calls these functions. docs/src/guides/audit.md describes
 * the interface.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef WINDLASS_AUDIT_STACK_H
#define WINDLASS_AUDIT_STACK_H

#include <stddef.h>
#include <stdint.h>

#define NEVER UINT64_MAX
/* Largest packet, bytes. */
#define LARGEST 65535

/* Addresses and ports are in the byte order of the machine. */
struct setting {
  uint32_t local, remote, mtu;
  uint16_t local_port, remote_port;
  uint64_t seed;
};

/* Opens the stack as a sender. Writes its description as members of JSON, or returns the reason why it cannot. */
const char *stack_open(const struct setting *setting, const char *algorithm, char *description, size_t room);
void stack_connect(uint64_t now);
void stack_receive(uint64_t now, unsigned ecn, uint8_t *packet, size_t len);
/* Takes at most so many bytes of the application's data, and returns their number. */
size_t stack_write(uint64_t now, size_t len);
/* Puts the next packet that leaves now, and returns its length; 0 for none. */
size_t stack_transmit(uint64_t now, unsigned *ecn, uint8_t *packet, size_t room);
uint64_t stack_deadline(uint64_t now);

#endif
