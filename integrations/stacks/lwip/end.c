/* lwIP as an end of a simulated flow (windlass_end.h): one connection, lwIP's own timers, the simulation's clock.
 *
 * Options, separated by blanks: `nagle=off`; `window=N`, segments that the congestion window begins with, once the connection
 * is there, instead of RFC 3390's.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "windlass_end.h"

#include <stdlib.h>
#include <string.h>

#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/timeouts.h"

#define MS 1000000u

struct packet {
  struct packet *next;
  size_t len;
  uint8_t bytes[];
};

/* The device. There is one, as lwIP has its own state in static variables. */
static struct {
  uint64_t now, random;
  struct netif netif;
  ip_addr_t local, remote;
  u16_t local_port, remote_port;
  int nagle, window;
  struct tcp_pcb *connection, *listener;
  /* What waits to leave. */
  struct packet *first, **last;
  /* What has come and was not read; as much as the window lets come. */
  uint8_t unread[TCP_WND];
  size_t readable;
  int closed_by_peer, has_written;
} device;

u32_t sys_now(void) { return (u32_t)(device.now / MS); }

/* SplitMix64. */
unsigned windlass_lwip_random(void) {
  uint64_t z = device.random += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (unsigned)(z >> 32);
}

/* -- Packets ----------------------------------------------------------------------------------------------------------- */

static err_t leave(struct netif *netif, struct pbuf *p, const ip4_addr_t *to) {
  struct packet *packet = malloc(sizeof *packet + p->tot_len);
  (void)netif, (void)to;
  if (packet == NULL) {
    return ERR_MEM;
  }
  packet->next = NULL;
  packet->len = pbuf_copy_partial(p, packet->bytes, p->tot_len, 0);
  *device.last = packet;
  device.last = &packet->next;
  return ERR_OK;
}

static err_t set_up(struct netif *netif) {
  netif->output = leave;
  return ERR_OK;
}

uint32_t windlass_end_version(void) { return WINDLASS_END_VERSION; }

void *windlass_end_open(const windlass_setting *setting) {
  /* Everybody is on the link. */
  ip4_addr_t own, mask = {0};
  const char *window = strstr(setting->options, "window=");
  if (setting->mtu > UINT16_MAX) {
    return NULL;
  }
  device.last = &device.first;
  device.random = setting->seed;
  device.nagle = strstr(setting->options, "nagle=off") == NULL;
  device.window = window == NULL ? 0 : atoi(window + strlen("window="));
  own.addr = lwip_htonl(setting->source);
  ip_addr_copy_from_ip4(device.local, own);
  ip_addr_set_ip4_u32(&device.remote, lwip_htonl(setting->destination));
  device.local_port = setting->source_port;
  device.remote_port = setting->destination_port;
  lwip_init();
  if (netif_add(&device.netif, &own, &mask, &own, NULL, set_up, ip4_input) == NULL) {
    return NULL;
  }
  device.netif.mtu = (u16_t)setting->mtu;
  netif_set_default(&device.netif);
  netif_set_up(&device.netif);
  netif_set_link_up(&device.netif);
  return &device;
}

void windlass_end_receive(void *end, uint64_t now, const uint8_t *packet, size_t len) {
  struct pbuf *p = len > UINT16_MAX ? NULL : pbuf_alloc(PBUF_RAW, (u16_t)len, PBUF_RAM);
  (void)end;
  device.now = now;
  if (p == NULL) {
    return;
  }
  pbuf_take(p, packet, (u16_t)len);
  if (device.netif.input(p, &device.netif) != ERR_OK) {
    pbuf_free(p);
  }
}

size_t windlass_end_transmit(void *end, uint64_t now, uint8_t *packet, size_t room) {
  struct packet *first;
  size_t len;
  (void)end;
  device.now = now;
  sys_check_timeouts();
  first = device.first;
  if (first == NULL || first->len > room) {
    return 0;
  }
  len = first->len;
  memcpy(packet, first->bytes, len);
  device.first = first->next;
  if (device.first == NULL) {
    device.last = &device.first;
  }
  free(first);
  return len;
}

uint64_t windlass_end_deadline(void *end, uint64_t now) {
  u32_t wait;
  uint64_t at;
  (void)end;
  device.now = now;
  wait = sys_timeouts_sleeptime();
  at = (now / MS + wait) * MS;
  return wait == SYS_TIMEOUTS_SLEEPTIME_INFINITE ? WINDLASS_NEVER : at > now ? at : now;
}

void windlass_end_close(void *end) {
  (void)end;
  while (device.first != NULL) {
    struct packet *next = device.first->next;
    free(device.first);
    device.first = next;
  }
}

/* -- The connection ---------------------------------------------------------------------------------------------------- */

static err_t on_received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t err) {
  (void)arg, (void)pcb, (void)err;
  if (p == NULL) {
    device.closed_by_peer = 1;
    return ERR_OK;
  }
  if (device.readable + p->tot_len > sizeof device.unread) {
    return ERR_MEM; /* lwIP keeps it and asks again. */
  }
  device.readable += pbuf_copy_partial(p, device.unread + device.readable, p->tot_len, 0);
  pbuf_free(p);
  return ERR_OK;
}

static void on_error(void *arg, err_t err) {
  (void)arg, (void)err;
  device.connection = NULL;
}

static void take(struct tcp_pcb *pcb) {
  device.connection = pcb;
  tcp_recv(pcb, on_received);
  tcp_err(pcb, on_error);
  if (!device.nagle) {
    tcp_nagle_disable(pcb);
  }
}

static err_t on_accepted(void *arg, struct tcp_pcb *pcb, err_t err) {
  (void)arg;
  if (err == ERR_OK) {
    take(pcb);
    tcp_close(device.listener); /* There is one connection. */
  }
  return err;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t err) {
  (void)arg, (void)pcb;
  return err;
}

/* The connection while lwIP has it: one in TIME-WAIT goes without a word. */
static struct tcp_pcb *connection(void) {
  struct tcp_pcb *pcb = tcp_active_pcbs;
  while (pcb != NULL && pcb != device.connection) {
    pcb = pcb->next;
  }
  return pcb;
}

static struct tcp_pcb *bound(void) {
  struct tcp_pcb *pcb = tcp_new();
  if (pcb != NULL && tcp_bind(pcb, &device.local, device.local_port) != ERR_OK) {
    tcp_abort(pcb);
    return NULL;
  }
  return pcb;
}

int windlass_tcp_connect(void *end, uint64_t now) {
  struct tcp_pcb *pcb;
  (void)end;
  device.now = now;
  pcb = bound();
  if (pcb == NULL) {
    return 0;
  }
  take(pcb);
  return tcp_connect(pcb, &device.remote, device.remote_port, on_connected) == ERR_OK;
}

int windlass_tcp_listen(void *end, uint64_t now) {
  struct tcp_pcb *pcb;
  (void)end;
  device.now = now;
  pcb = bound();
  pcb = pcb == NULL ? NULL : tcp_listen(pcb);
  if (pcb == NULL) {
    return 0;
  }
  device.listener = pcb;
  tcp_accept(pcb, on_accepted);
  return 1;
}

size_t windlass_tcp_write(void *end, uint64_t now, const uint8_t *bytes, size_t len) {
  struct tcp_pcb *pcb = connection();
  u16_t most;
  (void)end;
  device.now = now;
  if (pcb == NULL || pcb->state < ESTABLISHED) {
    return 0;
  }
  if (!device.has_written && device.window > 0) {
    pcb->cwnd = (tcpwnd_size_t)(device.window * pcb->mss);
  }
  device.has_written = 1;
  most = (u16_t)LWIP_MIN(LWIP_MIN(len, tcp_sndbuf(pcb)), UINT16_MAX);
  if (most == 0 || tcp_write(pcb, bytes, most, TCP_WRITE_FLAG_COPY) != ERR_OK) {
    return 0;
  }
  tcp_output(pcb);
  return most;
}

size_t windlass_tcp_read(void *end, uint64_t now, uint8_t *bytes, size_t len) {
  size_t read = LWIP_MIN(len, device.readable), told = read;
  (void)end;
  device.now = now;
  memcpy(bytes, device.unread, read);
  device.readable -= read;
  memmove(device.unread, device.unread + read, device.readable);
  while (connection() != NULL && told > 0) {
    u16_t some = (u16_t)LWIP_MIN(told, UINT16_MAX);
    tcp_recved(connection(), some);
    told -= some;
  }
  return read;
}

void windlass_tcp_shutdown(void *end, uint64_t now) {
  (void)end;
  device.now = now;
  if (connection() != NULL) {
    tcp_shutdown(connection(), 0, 1);
  }
}

void windlass_tcp_close(void *end, uint64_t now) {
  struct tcp_pcb *pcb = connection();
  (void)end;
  device.now = now;
  if (pcb != NULL && tcp_close(pcb) == ERR_OK) {
    device.connection = NULL;
  }
}

void windlass_tcp_abort(void *end, uint64_t now) {
  (void)end;
  device.now = now;
  if (connection() != NULL) {
    tcp_abort(connection());
  }
}

/* lwIP keeps a connection that was closed or reset in its lists, or in none. */
int windlass_tcp_state(void *end) {
  struct tcp_pcb *const lists[] = {tcp_active_pcbs, tcp_tw_pcbs, tcp_listen_pcbs.pcbs};
  size_t i;
  (void)end;
  for (i = 0; i < sizeof lists / sizeof *lists; i++) {
    if (lists[i] != NULL) {
      /* lwIP numbers the states as the header does. */
      return (int)lists[i]->state;
    }
  }
  return WINDLASS_CLOSED;
}

size_t windlass_tcp_readable(void *end) {
  (void)end;
  return device.readable;
}

int windlass_tcp_at_end(void *end) {
  (void)end;
  return device.closed_by_peer && device.readable == 0;
}
