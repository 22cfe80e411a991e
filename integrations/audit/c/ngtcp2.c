/* ngtcp2 as a sender, with GnuTLS. The library takes the time as an argument.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "stack.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <stdio.h>
#include <string.h>

/* Payload of a full datagram of an MTU of 1500 bytes, and bytes that wait in this program. */
#define DATAGRAM 1452u
#define BUFFERED (8u << 20)

static struct {
  ngtcp2_settings settings;
  ngtcp2_conn *conn;
  ngtcp2_crypto_conn_ref ref;
  ngtcp2_path path;
  struct sockaddr_in local, remote;
  gnutls_session_t session;
  uint64_t random;
  int64_t stream;
  size_t pending, burst;
} own;

static const char priorities[] = "%DISABLE_TLS13_COMPAT_MODE:NORMAL:-VERS-ALL:+VERS-TLS1.3:"
                                 "-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1";

/* SplitMix64. */
static void fill(uint8_t *to, size_t len) {
  for (; len > 0; len--) {
    uint64_t z = own.random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    *to++ = (uint8_t)(z >> 56);
  }
}

static void random_bytes(uint8_t *to, size_t len, const ngtcp2_rand_ctx *context) {
  (void)context;
  fill(to, len);
}

static int new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t len, void *data) {
  (void)conn, (void)data;
  id->datalen = len;
  fill(id->data, len);
  fill(token, NGTCP2_STATELESS_RESET_TOKENLEN);
  return 0;
}

static ngtcp2_conn *reference(ngtcp2_crypto_conn_ref *ref) {
  (void)ref;
  return own.conn;
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .rand = random_bytes,
    .get_new_connection_id = new_id,
    .update_key = ngtcp2_crypto_update_key_cb,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
};

static struct sockaddr_in address(uint32_t ip, uint16_t port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};
  return to;
}

static void report(const char *what, int code) {
  if (code != 0) {
    fprintf(stderr, "ngtcp2: %s: %s\n", what, ngtcp2_strerror(code));
  }
}

static int open_session(void) {
  static const gnutls_datum_t protocol = {(unsigned char *)"windlass-audit", 14};
  gnutls_certificate_credentials_t credentials;
  return gnutls_certificate_allocate_credentials(&credentials) == 0 &&
         gnutls_init(&own.session, GNUTLS_CLIENT | GNUTLS_NO_END_OF_EARLY_DATA) == 0 &&
         gnutls_priority_set_direct(own.session, priorities, NULL) == 0 &&
         ngtcp2_crypto_gnutls_configure_client_session(own.session) == 0 &&
         gnutls_credentials_set(own.session, GNUTLS_CRD_CERTIFICATE, credentials) == 0 &&
         gnutls_server_name_set(own.session, GNUTLS_NAME_DNS, "localhost", 9) == 0 &&
         gnutls_alpn_set_protocols(own.session, &protocol, 1, 0) == 0;
}

const char *stack_open(const struct setting *setting, const char *algorithm, char *description, size_t room) {
  own.random = setting->seed;
  own.stream = -1;
  own.local = address(setting->local, setting->local_port);
  own.remote = address(setting->remote, setting->remote_port);
  own.path.local.addr = (struct sockaddr *)&own.local;
  own.path.remote.addr = (struct sockaddr *)&own.remote;
  own.path.local.addrlen = own.path.remote.addrlen = sizeof own.local;
  ngtcp2_settings_default(&own.settings);
  own.settings.max_tx_udp_payload_size = DATAGRAM;
  own.settings.no_tx_udp_payload_size_shaping = 1;
  own.settings.no_pmtud = 1;
  own.settings.handshake_timeout = UINT64_MAX;
  if (strcmp(algorithm, "reno") == 0) {
    own.settings.cc_algo = NGTCP2_CC_ALGO_RENO;
  } else if (strcmp(algorithm, "cubic") == 0) {
    own.settings.cc_algo = NGTCP2_CC_ALGO_CUBIC;
  } else {
    return "the algorithms are cubic and reno";
  }
  if (!open_session()) {
    return "GnuTLS does not open";
  }
  snprintf(description, room, "\"name\":\"ngtcp2\",\"version\":\"%s\",\"algorithm\":\"%s\",\"carries\":\"udp\"",
           ngtcp2_version(0)->version_str, algorithm);
  return NULL;
}

void stack_connect(uint64_t now) {
  ngtcp2_cid source = {.datalen = 8}, destination = {.datalen = 16};
  ngtcp2_transport_params parameters;
  ngtcp2_transport_params_default(&parameters);
  parameters.initial_max_streams_uni = 3;
  fill(source.data, source.datalen);
  fill(destination.data, destination.datalen);
  own.settings.initial_ts = now;
  report("connect", ngtcp2_conn_client_new(&own.conn, &destination, &source, &own.path, NGTCP2_PROTO_VER_V1,
                                           &callbacks, &own.settings, &parameters, NULL, NULL));
  own.ref.get_conn = reference;
  gnutls_session_set_ptr(own.session, &own.ref);
  ngtcp2_conn_set_tls_native_handle(own.conn, own.session);
}

void stack_receive(uint64_t now, unsigned ecn, uint8_t *packet, size_t len) {
  ngtcp2_pkt_info info = {.ecn = ecn};
  if (own.conn != NULL) {
    report("receive", ngtcp2_conn_read_pkt(own.conn, &own.path, &info, packet, len, now));
  }
}

size_t stack_write(uint64_t now, size_t len) {
  size_t took = BUFFERED - own.pending < len ? BUFFERED - own.pending : len;
  (void)now;
  own.pending += took;
  return took;
}

/* Retransmissions read the data again: all of the stream is the same. */
static ngtcp2_ssize next_packet(uint64_t now, ngtcp2_pkt_info *info, uint8_t *packet, size_t room) {
  static uint8_t zeros[2 * DATAGRAM];
  ngtcp2_vec data = {zeros, own.pending < sizeof zeros ? own.pending : sizeof zeros};
  ngtcp2_ssize taken = -1, len;
  int64_t stream = own.pending > 0 ? own.stream : -1;
  len = ngtcp2_conn_writev_stream(own.conn, NULL, info, packet, room, &taken, 0, stream, &data, stream >= 0, now);
  if (len == NGTCP2_ERR_STREAM_DATA_BLOCKED) {
    len = ngtcp2_conn_writev_stream(own.conn, NULL, info, packet, room, &taken, 0, -1, NULL, 0, now);
  }
  own.pending -= taken > 0 ? (size_t)taken : 0;
  return len;
}

size_t stack_transmit(uint64_t now, unsigned *ecn, uint8_t *packet, size_t room) {
  ngtcp2_pkt_info info = {0};
  ngtcp2_ssize len = 0;
  if (own.conn == NULL) {
    return 0;
  }
  if (ngtcp2_conn_get_expiry(own.conn) <= now) {
    report("timer", ngtcp2_conn_handle_expiry(own.conn, now));
  }
  if (own.stream < 0 && ngtcp2_conn_get_handshake_completed(own.conn)) {
    ngtcp2_conn_open_uni_stream(own.conn, &own.stream, NULL);
  }
  /* The library paces bursts of its quantum. */
  if (own.burst < ngtcp2_conn_get_send_quantum(own.conn)) {
    len = next_packet(now, &info, packet, room < DATAGRAM ? room : DATAGRAM);
  }
  if (len <= 0) {
    report("send", (int)len);
    ngtcp2_conn_update_pkt_tx_time(own.conn, now);
    own.burst = 0;
    return 0;
  }
  own.burst += (size_t)len;
  *ecn = info.ecn;
  return (size_t)len;
}

uint64_t stack_deadline(uint64_t now) {
  uint64_t at = own.conn == NULL ? NEVER : ngtcp2_conn_get_expiry(own.conn);
  /* A timer that is due and did nothing waits for a later time. */
  return at > now ? at : now + 1000;
}
