/* Congestion control of Windlass, every algorithm by name, for C and C++.
 *
 * Made by cbindgen from integrations/c/src; do not edit. MIT OR Apache-2.0.
 *
 *   1. windlass_params_init makes a set of parameters for an algorithm, in memory of the caller's.
 *   2. windlass_init makes the state of a connection, in memory of the caller's too.
 *   3. The host tells what happens (windlass_on_ack, windlass_on_phase ...), having brought its windlass_conn up to
 *      date before, and obeys windlass_control.
 *
 * Volumes are bytes and times nanoseconds. Nothing is allocated, locked or kept; all state is the caller's, and two
 * threads may use two states at once. Everything is checked, and what is refused changes nothing.
 */

#ifndef WINDLASS_H
#define WINDLASS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 Version of this boundary. It increases with every change that breaks older callers.
 */
#define WINDLASS_ABI_VERSION 1

/*
 A length of time that is not known, such as a round-trip time before the first sample.
 */
#define WINDLASS_UNKNOWN UINT64_MAX

/*
 A bit of `windlass_conn.flags`: cwnd stopped the sender recently. A host that cannot detect this always sets the
 bit.
 */
#define WINDLASS_CWND_LIMITED 1

/*
 A bit of `windlass_conn.flags`: the application had no more data to send recently.
 */
#define WINDLASS_APP_LIMITED 2

/*
 A bit of `windlass_conn.flags`: the peer's receive window stopped the sender recently.
 */
#define WINDLASS_RWND_LIMITED 4

/*
 Maximum number of paths of a connection.
 */
#define WINDLASS_MAX_PATHS 8

/*
 The kind of ECN feedback to an algorithm.
 */
enum windlass_marks
#ifdef __cplusplus
  : uint32_t
#endif // __cplusplus
 {
  /*
   None: its packets are not ECN-capable.
   */
  WINDLASS_MARKS_NONE,
  /*
   By the phase `WINDLASS_PHASE_CWR`, once per RTT (RFC 3168).
   */
  WINDLASS_MARKS_CLASSIC,
  /*
   By `windlass_ack.ce`, byte for byte (RFC 8257).
   */
  WINDLASS_MARKS_EXACT,
};
#ifndef __cplusplus
typedef uint32_t windlass_marks;
#endif // __cplusplus

/*
 Where a connection stands in loss recovery. The host says so; a controller never infers it.
 */
enum windlass_phase
#ifdef __cplusplus
  : uint8_t
#endif // __cplusplus
 {
  /*
   Nothing is known to be missing.
   */
  WINDLASS_PHASE_OPEN,
  /*
   Fast recovery.
   */
  WINDLASS_PHASE_RECOVERY,
  /*
   Recovery after a retransmission timeout.
   */
  WINDLASS_PHASE_LOSS,
  /*
   The window is reduced in answer to an ECN echo (RFC 3168 section 6.1.2); nothing is missing.
   */
  WINDLASS_PHASE_CWR,
};
#ifndef __cplusplus
typedef uint8_t windlass_phase;
#endif // __cplusplus

/*
 Result of a call. A call with another result than `WINDLASS_STATUS_OK` has changed nothing.
 */
enum windlass_status
#ifdef __cplusplus
  : int32_t
#endif // __cplusplus
 {
  /*
   Done.
   */
  WINDLASS_STATUS_OK = 0,
  /*
   A pointer is null.
   */
  WINDLASS_STATUS_NULL_POINTER = -1,
  /*
   A pointer is not aligned to `windlass_alignment()`, or to its type.
   */
  WINDLASS_STATUS_MISALIGNED = -2,
  /*
   The memory was not made by `windlass_params_init` or `windlass_init`.
   */
  WINDLASS_STATUS_BAD_HANDLE = -3,
  /*
   The state belongs to another algorithm than the parameters.
   */
  WINDLASS_STATUS_WRONG_ALGORITHM = -4,
  /*
   The algorithm is unknown.
   */
  WINDLASS_STATUS_UNKNOWN_ALGORITHM = -5,
  /*
   The algorithm has no parameter of this name.
   */
  WINDLASS_STATUS_UNKNOWN_PARAMETER = -6,
  /*
   The slow start, stack or word is unknown, or the algorithm's slow start cannot be chosen.
   */
  WINDLASS_STATUS_UNKNOWN_WORD = -7,
  /*
   A number is outside its range.
   */
  WINDLASS_STATUS_OUT_OF_RANGE = -8,
  /*
   The memory for the output is too small.
   */
  WINDLASS_STATUS_TOO_SMALL = -9,
  /*
   A field has a value that its type does not have: a phase above the last, or a `bool` that is neither 0 nor 1.
   */
  WINDLASS_STATUS_BAD_VALUE = -10,
};
#ifndef __cplusplus
typedef int32_t windlass_status;
#endif // __cplusplus

/*
 Unit of a parameter.
 */
enum windlass_unit
#ifdef __cplusplus
  : uint32_t
#endif // __cplusplus
 {
  /*
   Bytes.
   */
  WINDLASS_UNIT_BYTES,
  /*
   Full segments.
   */
  WINDLASS_UNIT_SEGMENTS,
  /*
   A number of items, which the parameter's description names.
   */
  WINDLASS_UNIT_COUNT,
  /*
   Nanoseconds.
   */
  WINDLASS_UNIT_NANOSECONDS,
  /*
   A pure number in 65536ths.
   */
  WINDLASS_UNIT_RATIO,
  /*
   Yes (1) or no (0).
   */
  WINDLASS_UNIT_FLAG,
  /*
   One of several words, by its index; `windlass_param_set_word` takes the word.
   */
  WINDLASS_UNIT_WORD,
};
#ifndef __cplusplus
typedef uint32_t windlass_unit;
#endif // __cplusplus

/*
 State of one connection's algorithm. A copy of the bytes is valid too.
 */
typedef struct windlass_state windlass_state;

/*
 Parameters of an algorithm, including the parameters of its slow start and its host. Connections may share them.
 A copy of the bytes is valid too.
 */
typedef struct windlass_params windlass_params;

/*
 A moment, in nanoseconds since an epoch that the host chooses.
 */
typedef uint64_t windlass_time;

/*
 A length of time in nanoseconds. `WINDLASS_UNKNOWN` stands for "not known".
 */
typedef uint64_t windlass_span;

/*
 Facts about the connection *after* the host accounted for the event.

 A change of `mss` comes with `on_mss`. Volumes are counted from any origin: only
 differences mean anything.
 */
typedef struct {
  /*
   The moment of the event.
   */
  windlass_time now;
  /*
   Estimate of the bytes in the network: RFC 6675's `pipe` for a sender with SACK, otherwise
   `flight_size`.
   */
  uint64_t in_flight;
  /*
   Bytes sent and not cumulatively acknowledged (RFC 5681's FlightSize).
   */
  uint64_t flight_size;
  /*
   Stream offset below which everything is acknowledged (SND.UNA).
   */
  uint64_t una;
  /*
   Stream offset that the next byte never sent before will carry. It never goes back: a sender
   that returns to what was lost lowers SND.NXT, not this.
   */
  uint64_t next_id;
  /*
   Bytes delivered so far: acknowledged cumulatively or selectively, each counted once.
   */
  uint64_t delivered;
  /*
   Bytes deemed lost so far.
   */
  uint64_t lost;
  /*
   Bytes sent so far, retransmissions included.
   */
  uint64_t sent;
  /*
   Smoothed round-trip time, `WINDLASS_UNKNOWN` before the first sample.
   */
  windlass_span srtt;
  /*
   Least round-trip time seen, `WINDLASS_UNKNOWN` before the first sample.
   */
  windlass_span min_rtt;
  /*
   Largest payload of one segment, bytes.
   */
  uint32_t mss;
  /*
   What limited the sender, see `flags`.
   */
  uint32_t flags;
  /*
   A fresh random number, drawn from the flow's own stream.
   */
  uint32_t entropy;
  /*
   The phase after the event.
   */
  windlass_phase phase;
} windlass_conn;

/*
 How fast data was delivered between the sending of a packet and its acknowledgement
 (draft-ietf-ccwg-bbr section 4.1, Delivery Rate Sampling).
 */
typedef struct {
  /*
   Bytes delivered in the interval.
   */
  uint64_t delivered;
  /*
   The longer of send and acknowledgement interval; `WINDLASS_UNKNOWN` makes the sample invalid.
   */
  windlass_span interval;
  /*
   `delivered` when the packet was sent.
   */
  uint64_t prior_delivered;
  /*
   Bytes deemed lost since the packet was sent.
   */
  uint64_t lost;
  /*
   Bytes in flight when the packet had been sent.
   */
  uint64_t tx_in_flight;
  /*
   The application did not fill the window at some moment of the interval.
   */
  bool app_limited;
} windlass_rate_sample;

/*
 One received acknowledgement, its cumulative and its selective part together.
 */
typedef struct {
  /*
   Bytes newly acknowledged cumulatively; zero for a duplicate.
   */
  uint64_t acked;
  /*
   Bytes newly delivered: acknowledged cumulatively or selectively and never before. A sender
   without SACK counts one segment for a duplicate (RFC 6937 section 3).
   */
  uint64_t delivered;
  /*
   Bytes that this acknowledgement made the host deem lost.
   */
  uint64_t lost;
  /*
   Bytes newly delivered that the receiver says were marked (ECN).
   */
  uint64_t ce;
  /*
   Bytes in flight before the acknowledgement.
   */
  uint64_t prior_in_flight;
  /*
   Round-trip sample, `WINDLASS_UNKNOWN` when none may be taken (Karn's rule).
   */
  windlass_span rtt;
  /*
   Delivery-rate sample, for algorithms that want it.
   */
  windlass_rate_sample rate;
  /*
   A duplicate acknowledgement in the sense of RFC 5681 section 2.
   */
  bool duplicate;
} windlass_ack;

/*
 A rate in bytes per second; zero stands for "no rate".
 */
typedef uint64_t windlass_rate;

/*
 What the host must obey. Nothing else comes out of a controller.
 */
typedef struct {
  /*
   Congestion window, bytes.
   */
  uint64_t cwnd;
  /*
   Slow-start threshold, bytes.
   */
  uint64_t ssthresh;
  /*
   Pacing rate; `Rate` zero means that the algorithm asks for none.
   */
  windlass_rate pacing;
} windlass_answer;

/*
 A segment that the host has just deemed lost.

 All but `bytes` means something only for controllers whose description has `rate_samples`: a host need not keep it for
 others.
 */
typedef struct {
  /*
   Its payload, bytes.
   */
  uint64_t bytes;
  /*
   Bytes in flight when it had been sent, itself included.
   */
  uint64_t tx_in_flight;
  /*
   Bytes deemed lost since it was sent, itself included.
   */
  uint64_t lost_since_sent;
  /*
   It was sent while the application limited the sender.
   */
  bool app_limited;
} windlass_loss;

/*
 One path as its siblings see it.
 */
typedef struct {
  /*
   Congestion window, bytes.
   */
  uint64_t cwnd;
  /*
   Slow-start threshold, bytes.
   */
  uint64_t ssthresh;
  /*
   Smoothed round-trip time, `WINDLASS_UNKNOWN` before the first sample.
   */
  windlass_span srtt;
  /*
   Least round-trip time, `WINDLASS_UNKNOWN` before the first sample.
   */
  windlass_span min_rtt;
  /*
   What the path's controller discloses; its meaning is the algorithm's.
   */
  uint64_t disclosed;
  /*
   Largest payload of a segment, bytes.
   */
  uint32_t mss;
  /*
   Where the path stands in loss recovery.
   */
  windlass_phase phase;
} windlass_path;

/*
 A snapshot of the sending node's MAC, queue, battery and route, taken when the controller is told
 of it (`on_cross_layer`).
 */
typedef struct {
  /*
   Packets that wait at the node's station.
   */
  uint32_t queue_len;
  /*
   Packets that may wait there.
   */
  uint32_t queue_limit;
  /*
   Hops of the route in use; 0 without one.
   */
  uint32_t hops;
  /*
   Share of the station's attempts that failed lately, in 65536ths.
   */
  uint32_t failure_share;
  /*
   Charge left, in 65536ths of a full battery; 65536 for a node on the mains.
   */
  uint32_t battery;
  /*
   Rate at which the station got rid of packets lately, bytes per second of IP packets; zero
   while nothing is known.
   */
  windlass_rate service_rate;
  /*
   Mean time from a packet's turn to its acknowledgement by the next hop.
   */
  windlass_span service_time;
  /*
   Twice the propagation and transmission time along the route, without any queue:
   `WINDLASS_UNKNOWN` where nobody knows.
   */
  windlass_span base_rtt;
} windlass_cross_layer;

/*
 A parameter: its unit, its minimum and maximum, and its value.
 */
typedef struct {
  /*
   Unit of the three numbers.
   */
  windlass_unit unit;
  /*
   Minimum admissible value.
   */
  uint64_t least;
  /*
   Maximum admissible value.
   */
  uint64_t most;
  /*
   Value.
   */
  uint64_t value;
} windlass_param;

/*
 Requirements of an algorithm for its host.
 */
typedef struct {
  /*
   Delivery-rate samples in `windlass_ack.rate`, and all fields of `windlass_loss`.
   */
  bool rate_samples;
  /*
   `windlass_on_cross_layer`.
   */
  bool cross_layer;
  /*
   Marks.
   */
  windlass_marks marks;
} windlass_wants_of_host;

/*
 Receives a line of a recording: `bytes` bytes, of which the last ends the line. No zero follows. `context` is the
 argument of `windlass_record`.
 */
typedef void (*windlass_listener)(void *context, const char *line, size_t bytes);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The version of the linked library. Compare it with `WINDLASS_ABI_VERSION`.
 */
uint32_t windlass_abi_version(void);

/*
 Bytes that `windlass_init` writes.
 */
size_t windlass_state_size(void);

/*
 Sets the values of a connection with this segment size (bytes). Other values are unknown.

 The caller sees to it: A `windlass_conn` can be written to `to`.
 */
windlass_status windlass_conn_init(windlass_conn *to, uint32_t mss);

/*
 Sets an acknowledgement of `bytes` bytes in order, without samples.

 The caller sees to it: A `windlass_ack` can be written to `to`.
 */
windlass_status windlass_ack_init(windlass_ack *to, uint64_t bytes);

/*
 Makes the state of a new connection in `room` bytes of the caller's memory.

 The caller sees to it: `room` bytes can be written to `to`; `params` was made by `windlass_params_init`.
 */
windlass_status windlass_init(windlass_state *to,
                              size_t room,
                              const windlass_params *params,
                              const windlass_conn *conn);

/*
 Returns the algorithm's present answer for the connection. Changes nothing.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_control(const windlass_state *state,
                                 const windlass_params *params,
                                 const windlass_conn *conn,
                                 windlass_answer *to);

/*
 An acknowledgement arrived, including duplicates, in the phase `conn->phase`.

 For one incoming segment the order is: `windlass_on_loss` for each segment considered lost, `windlass_on_undo`,
 `windlass_on_ack`, `windlass_on_phase` if it changes the phase, then `windlass_control`.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_ack(windlass_state *state,
                                const windlass_params *params,
                                const windlass_conn *conn,
                                const windlass_ack *ack);

/*
 The host's loss recovery moved from one `windlass_phase` to another. `conn->phase` is the new phase, and
 `conn->flight_size` is still the flight when the loss was found. From `WINDLASS_PHASE_LOSS` to itself is a repeated
 timeout.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_phase(windlass_state *state,
                                  const windlass_params *params,
                                  const windlass_conn *conn,
                                  uint32_t from,
                                  uint32_t to);

/*
 A segment is considered lost.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_loss(windlass_state *state,
                                 const windlass_params *params,
                                 const windlass_conn *conn,
                                 const windlass_loss *loss);

/*
 The loss or timeout for which cwnd was last reduced was spurious, according to duplicate SACKs (0, RFC 3708),
 timestamps (1, RFC 3522) or F-RTO (2, RFC 5682).

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_undo(windlass_state *state,
                                 const windlass_params *params,
                                 const windlass_conn *conn,
                                 uint32_t why);

/*
 The first transmission after `gap` nanoseconds without data to send or in flight. With `reset` cwnd is reduced to
 the restart window (RFC 5681 section 4.1).

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_idle_restart(windlass_state *state,
                                         const windlass_params *params,
                                         const windlass_conn *conn,
                                         uint64_t gap,
                                         uint32_t reset);

/*
 The segment size changed from `old` bytes to `conn->mss`.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_mss(windlass_state *state,
                                const windlass_params *params,
                                const windlass_conn *conn,
                                uint32_t old);

/*
 All paths of a connection and the index of this path, before each acknowledgement. Algorithms that couple paths
 need this call, also for a single path.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`; `count` paths can be read.
 */
windlass_status windlass_on_group(windlass_state *state,
                                  const windlass_params *params,
                                  const windlass_conn *conn,
                                  const windlass_path *paths,
                                  size_t count,
                                  size_t own);

/*
 The value for the `windlass_path.disclosed` of the path's siblings.

 The caller sees to it: The state was made by `windlass_init`.
 */
windlass_status windlass_disclosed(const windlass_state *state, uint64_t *to);

/*
 Data of the node's lower layers, before the acknowledgement that carries it.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`.
 */
windlass_status windlass_on_cross_layer(windlass_state *state,
                                        const windlass_params *params,
                                        const windlass_conn *conn,
                                        const windlass_cross_layer *layers);

/*
 Number of algorithms.
 */
size_t windlass_algorithm_count(void);

/*
 Writes the name of the algorithm at an index, from 0, with a zero at its end.

 The caller sees to it: `room` bytes can be written to `to`.
 */
windlass_status windlass_algorithm_name(size_t place, char *to, size_t room);

/*
 A sentence about a status. It lives as long as the program.
 */
const char *windlass_status_text(int32_t status);

/*
 Sizes in bytes of the state and of the parameters of an algorithm, by the word in the names of its entry points,
 such as `Reno`.

 The caller sees to it: The name ends with a zero; a number can be written to each of the other two.
 */
windlass_status windlass_entry_sizes(const char *name,
                                     size_t *state,
                                     size_t *params);

/*
 Bytes that `windlass_params_init` writes.
 */
size_t windlass_params_size(void);

/*
 Alignment of parameters and states, bytes.
 */
size_t windlass_alignment(void);

/*
 Makes the parameters of the algorithm of this name in `room` bytes of the caller's memory. They have the defaults,
 in the version of a stack (`rfc`, `linux` or `ns3`; null is `rfc`). They also have the values of that stack for all
 algorithms (`ack_limit`, `recovery`, `counting`, `credit`, `mark_cut`).

 The caller sees to it: `room` bytes can be written to `to`; the names end with a zero.
 */
windlass_status windlass_params_init(windlass_params *to,
                                     size_t room,
                                     const char *algorithm,
                                     const char *stack);

/*
 Chooses the slow start by name, with its defaults. It is an error for an algorithm with a special slow start.

 The caller sees to it: `params` was made by `windlass_params_init`; the name ends with a zero.
 */
windlass_status windlass_params_slow_start(windlass_params *params, const char *name);

/*
 Describes the parameter at an index, from 0, and writes its name with a zero at its end. Above the last index the
 result is `WINDLASS_STATUS_OUT_OF_RANGE`. The host's parameters come first (`initial_window`, `recovery` ...), then
 the algorithm's parameters, then its slow start's parameters with the prefix `slow_start.`.

 The caller sees to it: `params` was made by `windlass_params_init`; `room` bytes can be written to `name`.
 */
windlass_status windlass_param_at(const windlass_params *params,
                                  size_t place,
                                  char *name,
                                  size_t room,
                                  windlass_param *to);

/*
 Reads a parameter by name.

 The caller sees to it: `params` was made by `windlass_params_init`; the name ends with a zero.
 */
windlass_status windlass_param_get(const windlass_params *params, const char *name, uint64_t *to);

/*
 Sets a parameter by name. Existing states continue with the new value.

 The caller sees to it: `params` was made by `windlass_params_init`; the name ends with a zero.
 */
windlass_status windlass_param_set(windlass_params *params, const char *name, uint64_t value);

/*
 Sets a parameter whose value is one of several words.

 The caller sees to it: `params` was made by `windlass_params_init`; name and word end with a zero.
 */
windlass_status windlass_param_set_word(windlass_params *params, const char *name, const char *value);

/*
 The requirements of the algorithm for its host.

 The caller sees to it: `params` was made by `windlass_params_init`.
 */
windlass_status windlass_wants(const windlass_params *params, windlass_wants_of_host *to);

/*
 Gives every later event of the state to `listener`, with the connection's values and the answer, as a line of JSON.
 The first line has the parameters. Call this right after `windlass_init`, with the same values. The lines are a
 recording that `windlass replay --recorded` replays. `about` names the host there, and `name` the connection's path.
 Without a listener (null) the recording ends. Lines take memory of the heap during the call. Libraries for firmware
 lack this function.

 The caller sees to it: The handles were made by `windlass_init` and `windlass_params_init`. `name` and `about` end with a zero. `listener`
 can be called with `context` as long as the state receives events.
 */
windlass_status windlass_record(windlass_state *state,
                                const windlass_params *params,
                                const windlass_conn *conn,
                                const char *name,
                                const char *about,
                                windlass_listener listener,
                                void *context);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WINDLASS_H */

/* The entry points of one algorithm by itself, for firmware: unchecked, with the standard slow start built in, and only
 * what is called is linked. NAME is as in `fixed` of windlass-cc: Reno, Cubic, TcpModified ... State and parameters
 * take so many bytes, aligned to 8, as windlass_entry_sizes tells on a host. */
#define WINDLASS_ENTRY_POINTS(NAME) \
  void windlass_##NAME##_params(void *params); \
  void windlass_##NAME##_init(void *state, const void *params, const windlass_conn *conn); \
  void windlass_##NAME##_on_ack(void *state, const void *params, const windlass_conn *conn, const windlass_ack *ack); \
  void windlass_##NAME##_on_phase(void *state, const void *params, const windlass_conn *conn, uint32_t from, uint32_t to); \
  void windlass_##NAME##_on_loss(void *state, const void *params, const windlass_conn *conn, const windlass_loss *loss); \
  void windlass_##NAME##_on_undo(void *state, const void *params, const windlass_conn *conn, uint32_t why); \
  void windlass_##NAME##_on_idle_restart(void *state, const void *params, const windlass_conn *conn, uint64_t gap, bool reset); \
  void windlass_##NAME##_on_mss(void *state, const void *params, const windlass_conn *conn, uint32_t old); \
  void windlass_##NAME##_on_cross_layer(void *state, const void *params, const windlass_conn *conn, const windlass_cross_layer *layers); \
  uint64_t windlass_##NAME##_disclosed(const void *state); \
  void windlass_##NAME##_control(const void *state, const void *params, const windlass_conn *conn, windlass_answer *to)
