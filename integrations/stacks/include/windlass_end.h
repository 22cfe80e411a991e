/* The end of a flow of Windlass's simulator in C: a TCP/IP stack, or firmware with one, that speaks IPv4 packets and is told
 * the time.
 *
 * A shared library exports the functions of this header. The simulator loads it anew, from a copy, for each end of each run:
 * static variables are those of one device after its reset, and a program that allows for one instance may stand at both ends
 * of a flow. Everything is called from one thread. The same calls must have the same effects: no clock, no randomness but
 * from `seed`.
 *
 * Times are nanoseconds since the run began; they never go back from call to call.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef WINDLASS_END_H
#define WINDLASS_END_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define WINDLASS_END_VERSION 1u

/* As a deadline: waits only. */
#define WINDLASS_NEVER UINT64_MAX

/* What an end is told when it opens. */
typedef struct {
  /* Its IPv4 address and port, and the other end's, in the machine's byte order: 10.0.0.1 is 0x0a000001. */
  uint32_t source, destination;
  uint16_t source_port, destination_port;
  /* Largest IP packet of the path, bytes. */
  uint32_t mtu;
  /* Whether this is the end of the flow that sends its data. */
  int sends;
  /* When the flow begins. */
  uint64_t start;
  /* Where its randomness comes from. */
  uint64_t seed;
  /* What the command line says to this library, "" if nothing. Valid during the call only. */
  const char *options;
} windlass_setting;

/* -- What every end has ------------------------------------------------------------------------------------------------ */

/* Returns WINDLASS_END_VERSION. */
uint32_t windlass_end_version(void);

/* Opens the end. NULL if it cannot be as the setting says. */
void *windlass_end_open(const windlass_setting *setting);

/* A packet has come out of the network, a whole IPv4 packet of `len` bytes. */
void windlass_end_receive(void *end, uint64_t now, const uint8_t *packet, size_t len);

/* Does what is due, and puts the next packet that leaves at this moment into `packet`. Returns its length, 0 if there is none.
 * A packet is at most `room` bytes, which is the path's MTU, and one TCP segment or UDP datagram with valid checksums (that
 * of UDP may be 0). */
size_t windlass_end_transmit(void *end, uint64_t now, uint8_t *packet, size_t room);

/* When `windlass_end_transmit` is to be called next though nothing comes; WINDLASS_NEVER if the end waits only. */
uint64_t windlass_end_deadline(void *end, uint64_t now);

/* The run is over. */
void windlass_end_close(void *end);

/* -- What a TCP end may have as well ----------------------------------------------------------------------------------- */

/* One connection between the addresses of the setting, which an application of Windlass's or a packet script then uses. What
 * it sends is fetched by `windlass_end_transmit`. An end without these functions brings its own application. */

/* States of a connection (RFC 9293 section 3.3.2). */
enum {
  WINDLASS_CLOSED,
  WINDLASS_LISTEN,
  WINDLASS_SYN_SENT,
  WINDLASS_SYN_RECEIVED,
  WINDLASS_ESTABLISHED,
  WINDLASS_FIN_WAIT_1,
  WINDLASS_FIN_WAIT_2,
  WINDLASS_CLOSE_WAIT,
  WINDLASS_CLOSING,
  WINDLASS_LAST_ACK,
  WINDLASS_TIME_WAIT
};

/* Begins to open the connection, or waits for the other end to do so. 0 if it cannot. */
int windlass_tcp_connect(void *end, uint64_t now);
int windlass_tcp_listen(void *end, uint64_t now);

/* Writes, or reads, up to `len` bytes. Returns how many. */
size_t windlass_tcp_write(void *end, uint64_t now, const uint8_t *bytes, size_t len);
size_t windlass_tcp_read(void *end, uint64_t now, uint8_t *bytes, size_t len);

/* Nothing more will be written; nothing more will be written or read; the connection is reset. */
void windlass_tcp_shutdown(void *end, uint64_t now);
void windlass_tcp_close(void *end, uint64_t now);
void windlass_tcp_abort(void *end, uint64_t now);

/* The connection's state; bytes that can be read; whether the other end has closed, and all has been read. */
int windlass_tcp_state(void *end);
size_t windlass_tcp_readable(void *end);
int windlass_tcp_at_end(void *end);

#ifdef __cplusplus
}
#endif

#endif
