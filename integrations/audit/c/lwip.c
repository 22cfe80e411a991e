/* lwIP as a sender: the end of integrations/stacks/lwip, with a clock of milliseconds.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "stack.h"
#include "windlass_end.h"

#include <stdio.h>
#include <string.h>

#include "lwip/init.h"

static void *end;

const char *stack_open(const struct setting *setting, const char *algorithm, char *description, size_t room) {
  windlass_setting own = {
      .sends = 1,
      .mtu = setting->mtu,
      .source = setting->local,
      .destination = setting->remote,
      .source_port = setting->local_port,
      .destination_port = setting->remote_port,
      .seed = setting->seed,
      .options = "nagle=off",
  };
  if (strcmp(algorithm, "reno") != 0) {
    return "the algorithm is reno";
  }
  end = windlass_end_open(&own);
  snprintf(description, room, "\"name\":\"lwIP\",\"version\":\"%s\",\"algorithm\":\"reno\",\"carries\":\"ip\"",
           LWIP_VERSION_STRING);
  return end == NULL ? "lwIP does not open" : NULL;
}

void stack_connect(uint64_t now) { windlass_tcp_connect(end, now); }

void stack_receive(uint64_t now, unsigned ecn, uint8_t *packet, size_t len) {
  (void)ecn;
  windlass_end_receive(end, now, packet, len);
}

size_t stack_write(uint64_t now, size_t len) {
  static const uint8_t zeros[1 << 15];
  size_t took, all = 0;
  do {
    size_t some = len - all < sizeof zeros ? len - all : sizeof zeros;
    took = windlass_tcp_write(end, now, zeros, some);
    all += took;
  } while (took > 0 && all < len);
  return all;
}

size_t stack_transmit(uint64_t now, unsigned *ecn, uint8_t *packet, size_t room) {
  (void)ecn;
  return windlass_end_transmit(end, now, packet, room);
}

uint64_t stack_deadline(uint64_t now) { return windlass_end_deadline(end, now); }
