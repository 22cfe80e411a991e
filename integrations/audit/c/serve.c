/* The packet interface of `windlass audit` on standard input and output, for a stack that is a sender.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes of the application that a setting may have. */
#define WRITES 4096

static struct setting setting;
static uint64_t writes[WRITES][2];
static size_t written, count;
static uint8_t packet[LARGEST];
static int connected;

static void fail(const char *why) {
  fprintf(stderr, "windlass-audit: %s\n", why);
  exit(1);
}

/* The text after a key of the setting. */
static const char *value(const char *line, const char *key) {
  char quoted[32];
  const char *at;
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  at = strstr(line, quoted);
  if (at == NULL) {
    fail("a key of the setting is missing");
  }
  return at + strlen(quoted);
}

static void address(const char *text, uint32_t *ip, uint16_t *port) {
  unsigned a, b, c, d, p;
  if (sscanf(text, "\"%u.%u.%u.%u:%u\"", &a, &b, &c, &d, &p) != 5) {
    fail("an address of the setting is invalid");
  }
  *ip = a << 24 | b << 16 | c << 8 | d;
  *port = (uint16_t)p;
}

/* Returns true for the role of a sender. */
static int read_setting(void) {
  static char line[1 << 18];
  unsigned long long at, bytes;
  const char *list;
  int used;
  if (fgets(line, sizeof line, stdin) == NULL || strchr(line, '\n') == NULL) {
    fail("the setting is missing or too long");
  }
  address(value(line, "local"), &setting.local, &setting.local_port);
  address(value(line, "remote"), &setting.remote, &setting.remote_port);
  setting.mtu = (uint32_t)atoi(value(line, "mtu"));
  setting.seed = strtoull(value(line, "seed"), NULL, 10);
  list = value(line, "writes") + 1;
  while (count < WRITES && sscanf(list, " [%llu,%llu]%n", &at, &bytes, &used) == 2) {
    writes[count][0] = at;
    writes[count++][1] = bytes;
    list += used + (list[used] == ',');
  }
  return strncmp(value(line, "role"), "\"sender\"", 8) == 0;
}

static int take(void *to, size_t len) { return fread(to, 1, len, stdin) == len; }

static uint64_t number(const uint8_t *bytes, size_t len) {
  return len == 0 ? 0 : bytes[0] | number(bytes + 1, len - 1) << 8;
}

static void put(uint64_t number, size_t len) {
  for (; len > 0; len--, number >>= 8) {
    putchar((int)(number & 0xff));
  }
}

static void receive(uint64_t now) {
  uint8_t head[5];
  size_t len;
  if (!take(head, sizeof head) || (len = number(head + 1, 4)) > LARGEST || !take(packet, len)) {
    fail("an incomplete packet");
  }
  stack_receive(now, head[0], packet, len);
}

/* Lets the application connect and write, as far as the stack takes its data. */
static void act(uint64_t now) {
  if (!connected && count > 0 && writes[0][0] <= now) {
    connected = 1;
    stack_connect(now);
  }
  while (connected && written < count && writes[written][0] <= now) {
    size_t took = stack_write(now, writes[written][1]);
    writes[written][1] -= took;
    if (writes[written][1] > 0) {
      return;
    }
    written++;
  }
}

static uint64_t next_write(uint64_t now) {
  size_t i;
  for (i = written; i < count; i++) {
    if (writes[i][0] > now) {
      return writes[i][0];
    }
  }
  return NEVER;
}

static void answer(uint64_t now) {
  /* Packets of an answer, whose number precedes them. */
  static uint8_t *held;
  static size_t room;
  size_t used = 0, len;
  uint64_t deadline, packets = 0, write;
  unsigned ecn = 0;
  while (act(now), (len = stack_transmit(now, &ecn, packet, sizeof packet)) > 0) {
    if (room < used + len + 5 && (held = realloc(held, room = 2 * (used + len + 5))) == NULL) {
      fail("no memory");
    }
    held[used] = (uint8_t)ecn;
    held[used + 1] = len & 0xff, held[used + 2] = (uint8_t)(len >> 8), held[used + 3] = held[used + 4] = 0;
    memcpy(held + used + 5, packet, len);
    used += len + 5, packets++, ecn = 0;
  }
  deadline = stack_deadline(now), write = next_write(now);
  put(deadline < write ? deadline : write, 8);
  put(packets, 4);
  fwrite(held, 1, used, stdout);
  fflush(stdout);
}

int main(int argc, char **argv) {
  char description[512];
  const char *why = "the stack is a sender only; use another library as the peer";
  uint8_t head[12];
  if (read_setting()) {
    why = stack_open(&setting, argc > 1 ? argv[1] : "", description, sizeof description);
  }
  if (why != NULL) {
    printf("{\"error\":\"%s\"}\n", why);
    return 0;
  }
  printf("{%s}\n", description);
  fflush(stdout);
  while (take(head, sizeof head)) {
    uint64_t now = number(head, 8), packets = number(head + 8, 4);
    for (; packets > 0; packets--) {
      receive(now);
    }
    answer(now);
  }
  return 0;
}
