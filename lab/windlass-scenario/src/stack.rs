//! Reading and writing of the endpoints' behaviour: a preset, and changes to it.

use windlass_cc::Flavour;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::window::MAX_WINDOW;
use windlass_sim::config::MAX_IP_LEN;
use windlass_tcp::segment::{IPV4_HEADER, TCP_HEADER};
use windlass_tcp::stack::{
    EcnFeedback, LeastRtt, Lies, LossCut, LossDetection, PRESETS, WindowValidation,
};
use windlass_tcp::{InitialWindow, Pacing, Preset, StackConfig};

use crate::codec::{Codec, Pairs, table};
use crate::fields::{Field, Fields, choice, named, span, whole_u32, window, word_of};
use crate::params;
use crate::problem::{Place, Problem};
use crate::quote::quote;
use crate::schema::Shape::{Either, Of, Whole, Words};
use crate::schema::{Quantity, section};
use crate::tree::Value;
use crate::units::{self, Bytes};

section! {
    /// The keys of `[stack]` and `stack` that are not values of an endpoint.
    STACK_TABLE, "stack" with STACK:
    preset Words(PRESETS.iter().map(|preset| preset.name).collect()), "one of these names", "`\"rfc\"`";
    flavour Words(Flavour::WORDS.to_vec()), "implementation of the algorithms: see below", "that of `preset`";
    rto Timer, "the retransmission timer: table with its `algorithm` and parameters", "that of `preset`";
}

/// The words for accurate ECN, with and without its option.
const ACCURATE: [(&str, EcnFeedback); 2] =
    [("accurate", EcnFeedback::Accurate), ("accurate-counter", EcnFeedback::AccurateCounter)];
/// The words for the growth rule of draft-ietf-ccwg-ratelimited-increase, and for the conditions of ns-3's classes.
const VALIDATIONS: [(&str, WindowValidation); 2] =
    [("rate-limited", WindowValidation::RateLimited), ("ns3", WindowValidation::Ns3)];

/// The rules that an endpoint can follow.
const RULES: [(&str, Flavour); 2] = [("rfc", Flavour::Rfc), ("linux", Flavour::Linux)];
/// The word for a value that follows from something else.
const AUTO: &str = "auto";
/// The word for a limit that never binds.
const UNLIMITED: &str = "unlimited";
/// The key for the implementation of the algorithms.
pub(super) const FLAVOUR: &str = "flavour";
/// Headers of IPv4 and TCP, bytes.
pub(super) const TCP_HEADERS: u32 = IPV4_HEADER + TCP_HEADER;
/// Maximum payload of an IPv4 packet with TCP headers without options.
const MAX_MSS: u32 = MAX_IP_LEN - TCP_HEADERS;

/// The configuration of a flow's endpoints.
pub(super) struct Stack {
    pub(super) config: StackConfig,
    /// The implementation of the algorithms on this stack.
    pub(super) flavour: Flavour,
    /// `ack_limit` was set and does not follow from the implementation of the algorithm.
    pub(super) ack_limit_set: bool,
    /// Place of the MSS, if it was set.
    pub(super) mss_place: Option<Place>,
}

table!(STACK, "endpoint", apply_fields, written_fields, StackConfig {
    mss: Codec::size_u32(1, MAX_MSS).or_word(AUTO), "largest payload of a segment, TCP options included (RFC 6691); `auto` is the route's MTU less 40", "";
    receive_buffer: Codec::size(1, MAX_WINDOW), "receive buffer; with `receive_autotuning` it is memory, of which a segment of 1448 bytes takes 2304, as in Linux (`tcp_rmem[2]`)", "";
    receive_autotuning: Codec::flag(), "advertise half of `initial_receive_buffer` at first, at most 64 KB, and more as data arrive and are read, up to `receive_buffer`", "";
    initial_receive_buffer: Codec::size(1, MAX_WINDOW), "buffer that `receive_autotuning` begins with, Linux's `tcp_rmem[1]`", "";
    quick_acks: Codec::flag(), "acknowledge as Linux does: each segment at the beginning, after duplicate data and while `receive_autotuning` increases the window; later by bytes, immediately after pushed data that are completely read, and with the answer in a dialogue", "";
    sack_compression: Codec::flag(), "report data beyond a hole immediately three times, and then together after a millisecond or a twentieth of the RTT", "";
    send_buffer: Codec::size(1, MAX_WINDOW), "send buffer; with `rules = \"linux\"` it is memory, of which a segment of 1448 bytes takes 2344, as in Linux without segmentation offload (`tcp_wmem[2]`)", "";
    initial_send_buffer: Codec::size(1, MAX_WINDOW), "send buffer at first with `rules = \"linux\"`, at least for twice the initial window, Linux's `tcp_wmem[1]`; it grows with cwnd up to `send_buffer`", "";
    window_scaling: Codec::flag(), "offer window scaling", "";
    timestamps: Codec::flag(), "offer timestamps", "";
    sack: Codec::flag(), "offer SACK and report ranges", "";
    dsack: Codec::flag(), "report duplicate data (RFC 2883)", "";
    initial_window: Codec::new(Of(Quantity::Window), initial_window, |window| quote(units::Window(*window))), "initial congestion window", "";
    ack_limit: limit(), "maximum number of segments per acknowledgement that increase cwnd: a number, or `\"unlimited\"`", "";
    window_counting: Codec::word(&Counting::ALL), "unit of the algorithm's cwnd: `bytes` with a fraction, or whole `segments`, also for growth, reductions and recovery", "";
    growth_credit: Codec::word(&Credit::ALL), "data of an acknowledgement that increase cwnd: cumulatively `acked` data outside recovery, or all `delivered` data, also of the acknowledgement that ends recovery", "";
    nagle: Codec::flag(), "Nagle's algorithm", "";
    delayed_ack_segments: Codec::whole(1, 1_000), "number of segments per acknowledgement", "";
    delayed_ack_timeout: Codec::time(span), "maximum delay of an acknowledgement", "";
    lies: Codec::word(&Lies::ALL), "misbehaviour of the receiver. `hides-losses` acknowledges missing data below arrived data, and counts them as read. `hides-marks` echoes no mark. `splits-acks` acknowledges a quarter of a segment at a time", "";
    fast_retransmit: Codec::flag(), "retransmit on duplicate acknowledgements", "";
    dupthresh: Codec::whole(1, 1_000), "duplicate acknowledgements that mean a loss", "";
    rules: Codec::word(&RULES), "rules where the standards leave a choice or the kernel differs: data held back by `nagle`, the form of window probes, the times of `tlp` probes, the effect of timers and duplicates in recovery, and the time at which a connection is given up", "";
    loss_detection: Codec::word(&LossDetection::ALL), "`dupthresh` by the number of later segments that arrived; `rack` by time (RFC 8985), if recovery is `sack` or `prr` and both ends have SACK. With `rack`, as in Linux, a loss beyond the end of a recovery begins another recovery, and each retransmission of the first segment restarts the timer", "";
    tlp: Codec::flag(), "probe for a lost tail before the timer expires (RFC 8985), with recovery `sack` or `prr` and SACK", "";
    frto: Codec::flag(), "detect a spurious timeout from the acknowledgements after it, with recovery `sack` or `prr`: RFC 5682; as in Linux, any acknowledgement of data that were not retransmitted is sufficient proof, even the first", "";
    eifel: Codec::flag(), "detect a spurious retransmission by timestamps (RFC 3522), with recovery `sack` or `prr`", "";
    dsack_undo: Codec::flag(), "undo a reduction when every retransmission is reported as a duplicate (RFC 3708), with recovery `sack` or `prr`", "";
    ecn: Codec::flag_or(&ACCURATE), "explicit congestion notification: `true` (RFC 3168; algorithms that need exact marks get the echo of RFC 8257), `\"accurate\"` (RFC 9768: three bits count the marked packets, and an option counts the marked bytes; with a peer that lacks it RFC 3168), `\"accurate-counter\"` (RFC 9768 without the option), or `false`", "";
    recovery: recovery_style(), "`tahoe`, `reno`, `newreno`, `sack` (RFC 6675), `prr` (RFC 9937), or `auto` for the algorithm's own", "";
    loss_cut: Codec::word(&LossCut::ALL), "quantity that a loss or a mark reduces: the `flight` (RFC 5681) or the whole segments of the congestion `window`", "";
    mark_cut: Codec::word(&MarkCut::ALL), "duration of the reduction after a mark: `at-once`, or `proportional` to the data delivered in an RTT, in which cwnd does not grow; the stack then answers exact marks too", "";
    flight_limit: limit(), "maximum number of segments in flight, independent of the windows: a number, or `\"unlimited\"`", "";
    pacing: Codec::word(&Pacing::ALL), "`off`, `algorithm` (at the rate of the algorithm, if it has one), or `always`: without such a rate, at twice cwnd per RTT in slow start and at 1.2 times cwnd per RTT later", "";
    pacing_burst: Codec::whole(0, 1_000_000), "segments that a new connection sends before pacing begins", "";
    limited_transmit: Codec::flag(), "send new data on the first duplicate acknowledgements", "";
    window_validation: Codec::flag_or(&VALIDATIONS), "increase cwnd only if it is used: `true`, within the last window of data (RFC 7661, as in Linux); `\"rate-limited\"`, up to twice the largest flight since its last reduction in slow start, and up to a segment more than this flight later (draft-ietf-ccwg-ratelimited-increase-11); `\"ns3\"`, for `cubic`, and for `reno` in congestion avoidance, if the last segment left less than a segment of cwnd free, and always for other algorithms; or `false`", "";
    idle_restart: Codec::flag(), "fall back to the restart window after an idle time", "";
    karn: Codec::flag(), "no RTT sample from a retransmission", "";
    least_rtt: Codec::word(&LeastRtt::ALL), "RTT samples for the minimum RTT of algorithms: `any`, or as in Linux only samples of `data`, not of the SYN (BBR and other algorithms with rate samples use any), and samples by timestamps if only retransmissions are acknowledged", "";
    timer_tick: Codec::time(span), "timers expire at multiples of this; `0s` is exact", "";
    wheel_tick: Codec::time(span), "tick of a timer wheel as in Linux: an expiry is rounded up to whole ticks, and a long one to eight or more; `0s` is exact", "";
    persist_timeout: Codec::time(span), "first interval of zero-window probes; `0s` is the retransmission timeout", "";
    max_syn_retries: Codec::whole(0, 1_000), "retransmissions of a SYN", "";
    syn_linear_timeouts: Codec::whole(0, 1_000), "additional retransmissions of a SYN without back-off, before `max_syn_retries`", "";
    spared_syns: Codec::whole(0, 1_000), "retransmissions of a SYN, or of its answer, that do not reduce the initial cwnd; after more it is one segment", "";
    max_data_retries: Codec::whole(0, 1_000), "retransmissions of the same data", "";
    time_wait: Codec::time(span), "time in TIME-WAIT", "";
} rto: _);

/// A number of segments, or `unlimited`.
fn limit() -> Codec<u32> {
    let shape = Either(vec![Words(vec![UNLIMITED]), Whole(1, 1_000_000)]);
    Codec::new(shape, segments_or_unlimited, |limit| match *limit {
        u32::MAX => quote(UNLIMITED),
        limit => limit.to_string(),
    })
}

/// A style of recovery, or the algorithm's style.
fn recovery_style() -> Codec<Option<LossRecovery>> {
    let words = LossRecovery::ALL.iter().map(|(word, _)| *word).chain([AUTO]).collect();
    Codec::new(Words(words), recovery, |style| match style {
        Some(style) => quote(word_of(&LossRecovery::ALL, style)),
        None => quote(AUTO),
    })
}

fn segments_or_unlimited(field: &Field) -> Result<u32, Problem> {
    match &field.node.value {
        Value::Text(text) if text == UNLIMITED => Ok(u32::MAX),
        _ => whole_u32(1, 1_000_000)(field),
    }
}

fn recovery(field: &Field) -> Result<Option<LossRecovery>, Problem> {
    let mut words = vec![(AUTO, None)];
    words.extend(LossRecovery::ALL.iter().map(|(word, style)| (*word, Some(*style))));
    choice(&words)(field)
}

fn initial_window(field: &Field) -> Result<InitialWindow, Problem> {
    match window(field)? {
        InitialWindow::Segments(0) | InitialWindow::Bytes(0) => {
            Err(field.error("must be more than zero, for example `2mss`"))
        }
        InitialWindow::Bytes(n) if n > MAX_WINDOW => {
            Err(field.error(format!("is more than the largest window, {}", Bytes(MAX_WINDOW))))
        }
        window => Ok(window),
    }
}

/// Reads the implementation of the algorithms: `rfc`, `linux` or `ns3`.
pub(super) fn flavour(field: &Field) -> Result<Flavour, Problem> {
    choice(&flavours())(field)
}

/// Every implementation with its word.
pub(super) fn flavours() -> Vec<(&'static str, Flavour)> {
    Flavour::WORDS.iter().copied().zip(Flavour::ALL.iter().copied()).collect()
}

fn preset(field: &Field) -> Result<&'static Preset, Problem> {
    named(field, PRESETS, |preset| preset.name)
}

/// Merges tables; later tables override earlier tables. The result has the last named preset, with
/// every field that any table sets.
pub(super) fn read(layers: &[Field]) -> Result<Stack, Problem> {
    let known = STACK_TABLE.all_names();
    let layers = layers
        .iter()
        .map(|layer| Fields::open(layer.node, "`stack`", &known))
        .collect::<Result<Vec<_>, _>>()?;
    let mut base = (windlass_tcp::stack::RFC, Flavour::Rfc);
    for fields in &layers {
        base = fields.opt("preset", preset)?.map_or(base, |p| (p.config, p.flavour));
    }
    let (config, flavour) = base;
    let mut stack = Stack { config, flavour, ack_limit_set: false, mss_place: None };
    for fields in &layers {
        apply(&mut stack, fields)?;
    }
    Ok(stack)
}

fn apply(stack: &mut Stack, fields: &Fields) -> Result<(), Problem> {
    apply_fields(&mut stack.config, fields)?;
    stack.flavour = fields.or(FLAVOUR, flavour, stack.flavour)?;
    stack.ack_limit_set |= fields.field("ack_limit").is_some();
    if let Some(field) = fields.field("mss") {
        stack.mss_place = Some(field.node.place.clone());
    }
    fields.field("rto").map_or(Ok(()), |field| params::read_timer(&field, &mut stack.config.rto))
}

/// Every field of the configuration as key and TOML text.
pub(super) fn written(config: &StackConfig) -> Pairs {
    let rto = params::written_timer(&config.rto);
    let rto: Vec<String> = rto.into_iter().map(|(key, text)| format!("{key} = {text}")).collect();
    let mut fields = written_fields(config);
    fields.push(("rto", format!("{{ {} }}", rto.join(", "))));
    fields
}
