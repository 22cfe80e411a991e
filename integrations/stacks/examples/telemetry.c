/* A device without a stack: a datagram of 40 bytes now and then, straight into IPv4 and UDP. Options: the time between two of
 * them, in milliseconds; 1000 unless said.
 *
 *   cc -shared -fPIC -Iintegrations/stacks/include integrations/stacks/examples/telemetry.c -o telemetry.so
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "windlass_end.h"

#include <stdlib.h>
#include <string.h>

#define IP_BYTES 20u
#define UDP_BYTES 8u
#define READING_BYTES 40u

/* One device: its variables are those of this end alone, in each run anew. */
static windlass_setting self;
static uint64_t interval, next;

static void put16(uint8_t *to, uint32_t value) {
  to[0] = (uint8_t)(value >> 8);
  to[1] = (uint8_t)value;
}

uint32_t windlass_end_version(void) { return WINDLASS_END_VERSION; }

void *windlass_end_open(const windlass_setting *setting) {
  long milliseconds = *setting->options ? atol(setting->options) : 1000;
  self = *setting;
  interval = (uint64_t)milliseconds * 1000000u;
  next = self.sends ? self.start : WINDLASS_NEVER;
  return milliseconds > 0 && self.mtu >= IP_BYTES + UDP_BYTES + READING_BYTES ? &self : NULL;
}

void windlass_end_receive(void *end, uint64_t now, const uint8_t *packet, size_t len) {
  (void)end, (void)now, (void)packet, (void)len; /* It only sends. */
}

size_t windlass_end_transmit(void *end, uint64_t now, uint8_t *packet, size_t room) {
  uint32_t len = IP_BYTES + UDP_BYTES + READING_BYTES, sum = 0, i;
  (void)end;
  if (now < next || room < len) {
    return 0;
  }
  next += interval;
  memset(packet, 0, len);
  packet[0] = 0x45; /* Version 4, five words of header. */
  put16(packet + 2, len);
  packet[8] = 64; /* Time to live. */
  packet[9] = 17; /* UDP. */
  put16(packet + 12, self.source >> 16);
  put16(packet + 14, self.source);
  put16(packet + 16, self.destination >> 16);
  put16(packet + 18, self.destination);
  for (i = 0; i < IP_BYTES; i += 2) {
    sum += (uint32_t)packet[i] << 8 | packet[i + 1];
  }
  sum = (sum & 0xffff) + (sum >> 16);
  put16(packet + 10, ~(sum + (sum >> 16)));
  put16(packet + IP_BYTES, self.source_port);
  put16(packet + IP_BYTES + 2, self.destination_port);
  put16(packet + IP_BYTES + 4, UDP_BYTES + READING_BYTES); /* The checksum stays 0: none. */
  return len;
}

uint64_t windlass_end_deadline(void *end, uint64_t now) {
  (void)end, (void)now;
  return next;
}

void windlass_end_close(void *end) { (void)end; }
