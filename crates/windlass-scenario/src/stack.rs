//! Endpoint behaviour, read and written: a preset, and what is changed in it.

use windlass_cc::Flavour;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit};
use windlass_cc::window::MAX_WINDOW;
use windlass_tcp::stack::{LeastRtt, LossCut, LossDetection, PRESETS};
use windlass_tcp::{InitialWindow, Pacing, Preset, StackConfig};

use super::error::{Place, Problem};
use super::fields::{
    Field, Fields, boolean, choice, positive_span, size, size_u32, span, unknown_word, whole_u32,
    window, word_of,
};
use super::params;
use super::tree::Value;
use crate::units::{Bytes, Duration, Window};

/// The word for a value that follows from something else.
const AUTO: &str = "auto";
/// The word for a limit that never binds.
const UNLIMITED: &str = "unlimited";
/// The key for whose version of an algorithm runs.
pub(super) const FLAVOUR: &str = "flavour";
/// What an IPv4 packet can carry beside two headers without options.
const MAX_MSS: u32 = 65_535 - 40;

/// The configuration of a flow's endpoints.
pub(super) struct Stack {
    pub(super) config: StackConfig,
    /// Whose version of the algorithm runs on it.
    pub(super) flavour: Flavour,
    /// `ack_limit` was set and does not follow from the algorithm's flavour.
    pub(super) ack_limit_set: bool,
    /// Where the MSS was set, if it was.
    pub(super) mss_place: Option<Place>,
}

/// One list of fields makes the known keys, the reader and the writer; a field of the struct that
/// is missing here does not compile.
macro_rules! table {
    ($keys:ident, $apply:ident, $written:ident, $struct:ident {
        $($key:literal $field:ident: $read:expr, $write:expr;)*
    } $($by_hand:ident)?) => {
        pub(super) const $keys: &[&str] = &[$($key),*];

        fn $apply(config: &mut $struct, fields: &Fields) -> Result<(), Problem> {
            $(if let Some(value) = fields.opt($key, $read)? {
                config.$field = value;
            })*
            Ok(())
        }

        /// Every field as key and TOML text.
        pub(super) fn $written(config: &$struct) -> Vec<(&'static str, String)> {
            let $struct { $($field,)* $($by_hand: _)? } = config;
            vec![$(($key, $write($field))),*]
        }
    };
}

pub(super) use table;

table!(STACK_KEYS, apply_fields, written_fields, StackConfig {
    "mss" mss: mss, |mss: &Option<u32>| match mss {
        Some(mss) => quoted(Bytes((*mss).into())),
        None => quoted(AUTO),
    };
    "receive_buffer" receive_buffer: size(1, MAX_WINDOW), bytes;
    "receive_autotuning" receive_autotuning: boolean, plain;
    "quick_acks" quick_acks: boolean, plain;
    "sack_compression" sack_compression: boolean, plain;
    "send_buffer" send_buffer: size(1, MAX_WINDOW), bytes;
    "window_scaling" window_scaling: boolean, plain;
    "timestamps" timestamps: boolean, plain;
    "sack" sack: boolean, plain;
    "dsack" dsack: boolean, plain;
    "initial_window" initial_window: initial_window, |window: &InitialWindow| quoted(Window(*window));
    "ack_limit" ack_limit: segments_or_unlimited, |limit: &u32| match *limit {
        u32::MAX => quoted(UNLIMITED),
        limit => limit.to_string(),
    };
    "window_counting" window_counting: choice(&Counting::ALL), |counting: &Counting| {
        quoted(word_of(&Counting::ALL, counting))
    };
    "growth_credit" growth_credit: choice(&Credit::ALL), |credit: &Credit| {
        quoted(word_of(&Credit::ALL, credit))
    };
    "nagle" nagle: boolean, plain;
    "delayed_ack_segments" delayed_ack_segments: whole_u32(1, 1_000), plain;
    "delayed_ack_timeout" delayed_ack_timeout: span, time;
    "fast_retransmit" fast_retransmit: boolean, plain;
    "dupthresh" dupthresh: whole_u32(1, 1_000), plain;
    "loss_detection" loss_detection: choice(&LossDetection::ALL), |detection: &LossDetection| {
        quoted(word_of(&LossDetection::ALL, detection))
    };
    "tlp" tlp: boolean, plain;
    "frto" frto: boolean, plain;
    "eifel" eifel: boolean, plain;
    "dsack_undo" dsack_undo: boolean, plain;
    "ecn" ecn: boolean, plain;
    "recovery" recovery: recovery, |style: &Option<LossRecovery>| match style {
        Some(style) => quoted(word_of(&LossRecovery::ALL, style)),
        None => quoted(AUTO),
    };
    "loss_cut" loss_cut: choice(&LossCut::ALL), |cut: &LossCut| quoted(word_of(&LossCut::ALL, cut));
    "flight_limit" flight_limit: segments_or_unlimited, |limit: &u32| match *limit {
        u32::MAX => quoted(UNLIMITED),
        limit => limit.to_string(),
    };
    "pacing" pacing: choice(&Pacing::ALL), |pacing: &Pacing| quoted(word_of(&Pacing::ALL, pacing));
    "pacing_burst" pacing_burst: whole_u32(0, 1_000_000), plain;
    "limited_transmit" limited_transmit: boolean, plain;
    "window_validation" window_validation: boolean, plain;
    "idle_restart" idle_restart: boolean, plain;
    "karn" karn: boolean, plain;
    "least_rtt" least_rtt: choice(&LeastRtt::ALL), |least: &LeastRtt| {
        quoted(word_of(&LeastRtt::ALL, least))
    };
    "timer_tick" timer_tick: span, time;
    "persist_timeout" persist_timeout: positive_span, time;
    "max_syn_retries" max_syn_retries: whole_u32(0, 1_000), plain;
    "max_data_retries" max_data_retries: whole_u32(0, 1_000), plain;
    "time_wait" time_wait: span, time;
} rto);

fn quoted(value: impl std::fmt::Display) -> String {
    format!("\"{value}\"")
}

fn plain(value: &impl ToString) -> String {
    value.to_string()
}

fn bytes(value: &u64) -> String {
    quoted(Bytes(*value))
}

fn time(value: &windlass_cc::Span) -> String {
    quoted(Duration(*value))
}

fn is_auto(field: &Field) -> bool {
    matches!(&field.node.value, Value::Text(text) if text == AUTO)
}

fn mss(field: &Field) -> Result<Option<u32>, Problem> {
    if is_auto(field) { Ok(None) } else { size_u32(1, MAX_MSS)(field).map(Some) }
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
            Err(field.error("must be more than nothing, for example `2mss`"))
        }
        InitialWindow::Bytes(n) if n > MAX_WINDOW => {
            Err(field.error(format!("is more than the largest window, {}", Bytes(MAX_WINDOW))))
        }
        window => Ok(window),
    }
}

/// Whose version of an algorithm: `rfc`, `linux` or `ns3`.
pub(super) fn flavour(field: &Field) -> Result<Flavour, Problem> {
    choice(&flavours())(field)
}

/// Every flavour with its word.
pub(super) fn flavours() -> Vec<(&'static str, Flavour)> {
    Flavour::WORDS.iter().copied().zip(Flavour::ALL.iter().copied()).collect()
}

fn preset(field: &Field) -> Result<&'static Preset, Problem> {
    let text = field.string()?;
    Preset::by_name(text).ok_or_else(|| {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        unknown_word(field, text, &known)
    })
}

/// Merges tables, the later over the earlier: the last preset that is named, with every field that
/// any of them sets.
pub(super) fn read(layers: &[Field]) -> Result<Stack, Problem> {
    let known: Vec<&str> =
        ["preset", FLAVOUR, "rto"].into_iter().chain(STACK_KEYS.iter().copied()).collect();
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
pub(super) fn written(config: &StackConfig) -> Vec<(&'static str, String)> {
    let rto = params::written_timer(&config.rto);
    let rto: Vec<String> = rto.into_iter().map(|(key, text)| format!("{key} = {text}")).collect();
    let mut fields = written_fields(config);
    fields.push(("rto", format!("{{ {} }}", rto.join(", "))));
    fields
}
