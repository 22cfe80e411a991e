//! Parameters by name.

use core::ffi::c_char;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, INITIAL_SSTHRESH, MarkCut};
use windlass_cc::slow_start::AnyParams as SlowStart;
use windlass_cc::{AnyParams, Ecn, Flavour, Param, ParamKind, Setup};

use crate::Status;
use crate::memory::{FlowState, ParamSet, changed, reach, shared, write};
use crate::names::{copy, word};

/// Prefix of the names of the slow start's parameters.
const OF_SLOW_START: &str = "slow_start.";

/// Unit of a parameter.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Full segments.
    Segments,
    /// A number of items, which the parameter's description names.
    Count,
    /// Nanoseconds.
    Nanoseconds,
    /// A pure number in 65536ths.
    Ratio,
    /// Yes (1) or no (0).
    Flag,
    /// One of several words, by its index; `windlass_param_set_word` takes the word.
    Word,
}

/// A parameter: its unit, its minimum and maximum, and its value.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamView {
    /// Unit of the three numbers.
    pub unit: Unit,
    /// Minimum admissible value.
    pub least: u64,
    /// Maximum admissible value.
    pub most: u64,
    /// Value.
    pub value: u64,
}

/// The kind of ECN feedback to an algorithm.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// None: its packets are not ECN-capable.
    None,
    /// By the phase `WINDLASS_PHASE_CWR`, once per RTT (RFC 3168).
    Classic,
    /// By `windlass_ack.ce`, byte for byte (RFC 8257).
    Exact,
}

/// Requirements of an algorithm for its host.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wants {
    /// Delivery-rate samples in `windlass_ack.rate`, and all fields of `windlass_loss`.
    pub rate_samples: bool,
    /// `windlass_on_cross_layer`.
    pub cross_layer: bool,
    /// Marks.
    pub marks: Marks,
}

/// A parameter that every algorithm has, because the host sets it.
struct Common {
    param: Param,
    get: fn(&AnyParams) -> u64,
    set: fn(&mut Setup<()>, u64),
}

const fn words<T: Copy, const N: usize>(all: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut place = 0;
    while place < N {
        words[place] = all[place].0;
        place += 1;
    }
    words
}

const fn common(name: &'static str, kind: ParamKind) -> Param {
    Param { name, doc: "See windlass_cc::Setup.", kind, source: "" }
}

const RECOVERIES: &[&str] = &words(&LossRecovery::ALL);
const COUNTINGS: &[&str] = &words(&Counting::ALL);
const CREDITS: &[&str] = &words(&Credit::ALL);
const MARK_CUTS: &[&str] = &words(&MarkCut::ALL);

fn choice<T: Copy, const N: usize>(all: &[(&'static str, T); N], place: u64) -> Option<T> {
    all.get(place as usize).map(|(_, value)| *value)
}

const COMMON: [Common; 7] = [
    Common {
        param: common("initial_window", ParamKind::Bytes { min: 1, max: u32::MAX as u64 }),
        get: |p| p.common().initial_window,
        set: |s, value| s.initial_window = value,
    },
    Common {
        param: INITIAL_SSTHRESH,
        get: |p| p.common().initial_ssthresh,
        set: |s, value| s.initial_ssthresh = value,
    },
    Common {
        param: common("ack_limit", ParamKind::Segments { min: 1, max: u32::MAX as u64 }),
        get: |p| p.common().ack_limit.into(),
        set: |s, value| s.ack_limit = value as u32,
    },
    Common {
        param: common("recovery", ParamKind::Choice(RECOVERIES)),
        get: |p| p.common().recovery.unwrap_or(p.requirements().recovery) as u64,
        set: |s, value| s.recovery = choice(&LossRecovery::ALL, value),
    },
    Common {
        param: common("counting", ParamKind::Choice(COUNTINGS)),
        get: |p| p.common().counting as u64,
        set: |s, value| s.counting = choice(&Counting::ALL, value).unwrap_or_default(),
    },
    Common {
        param: common("credit", ParamKind::Choice(CREDITS)),
        get: |p| p.common().credit as u64,
        set: |s, value| s.credit = choice(&Credit::ALL, value).unwrap_or_default(),
    },
    Common {
        param: common("mark_cut", ParamKind::Choice(MARK_CUTS)),
        get: |p| p.common().mark_cut as u64,
        set: |s, value| s.mark_cut = choice(&MarkCut::ALL, value).unwrap_or_default(),
    },
];

/// One of the parameters of a set.
struct Found {
    prefix: &'static str,
    param: &'static Param,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Common(&'static Common),
    Own(usize),
    SlowStart(usize),
}

/// All parameters: the common parameters, the algorithm's parameters, and its slow start's parameters.
fn all(params: &AnyParams) -> impl Iterator<Item = Found> {
    static TABLE: [Common; 7] = COMMON;
    let common = TABLE.iter().map(|common| Found {
        prefix: "",
        param: &common.param,
        place: Place::Common(common),
    });
    let own = params.info().params.iter().enumerate();
    let own = own.map(|(at, param)| Found { prefix: "", param, place: Place::Own(at) });
    let start = match params.requirements().slow_start {
        Some(_) => params.common().slow_start.info().params,
        None => &[],
    };
    let start = start.iter().enumerate().map(|(at, param)| Found {
        prefix: OF_SLOW_START,
        param,
        place: Place::SlowStart(at),
    });
    common.chain(own).chain(start)
}

fn find(params: &AnyParams, name: Option<&str>) -> Result<Found, Status> {
    let name = name.ok_or(Status::UnknownParameter)?;
    let is_it = |found: &Found| {
        name.strip_prefix(found.prefix).is_some_and(|rest| rest == found.param.name)
    };
    all(params).find(is_it).ok_or(Status::UnknownParameter)
}

impl Found {
    fn get(&self, params: &AnyParams) -> u64 {
        match self.place {
            Place::Common(common) => (common.get)(params),
            Place::Own(at) => params.get(at).unwrap_or(0),
            Place::SlowStart(at) => params.common().slow_start.get(at).unwrap_or(0),
        }
    }

    fn set(&self, params: &mut AnyParams, value: u64) -> Result<(), Status> {
        if !self.param.kind.admits(value) {
            return Err(Status::OutOfRange);
        }
        let mut common = params.common();
        match self.place {
            Place::Common(of) => (of.set)(&mut common, value),
            Place::SlowStart(at) => _ = common.slow_start.set(at, value),
            Place::Own(at) => {
                params.set(at, value);
                return Ok(());
            }
        }
        params.set_common(&common);
        Ok(())
    }

    fn view(&self, params: &AnyParams) -> ParamView {
        let (unit, least, most) = match self.param.kind {
            ParamKind::Bytes { min, max } => (Unit::Bytes, min, max),
            ParamKind::Segments { min, max } => (Unit::Segments, min, max),
            ParamKind::Count { min, max } => (Unit::Count, min, max),
            ParamKind::Time { min, max } => (Unit::Nanoseconds, min.0, max.0),
            ParamKind::Ratio { min, max } => (Unit::Ratio, min.0, max.0),
            ParamKind::Flag => (Unit::Flag, 0, 1),
            ParamKind::Choice(words) => (Unit::Word, 0, words.len() as u64 - 1),
        };
        ParamView { unit, least, most, value: self.get(params) }
    }
}

/// The values of a stack of this implementation for an algorithm.
fn in_stack(params: &AnyParams, flavour: Flavour) -> Setup<()> {
    let usual = params.common();
    let stack = match flavour {
        Flavour::Rfc => usual,
        Flavour::Linux => Setup {
            ack_limit: u32::MAX,
            recovery: Some(LossRecovery::Prr),
            counting: Counting::Segments,
            credit: Credit::Delivered,
            mark_cut: MarkCut::Proportional,
            ..usual
        },
        Flavour::Ns3 => Setup { ack_limit: u32::MAX, recovery: Some(LossRecovery::Prr), ..usual },
    };
    Setup { ack_limit: params.ack_limit(flavour).unwrap_or(stack.ack_limit), ..stack }
}

/// Bytes that `windlass_params_init` writes.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_params_size() -> usize {
    size_of::<ParamSet>()
}

/// Alignment of parameters and states, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_alignment() -> usize {
    align_of::<ParamSet>().max(align_of::<FlowState>())
}

/// Makes the parameters of the algorithm of this name in `room` bytes of the caller's memory. They have the defaults,
/// in the version of a stack (`rfc`, `linux` or `ns3`; null is `rfc`). They also have the values of that stack for all
/// algorithms (`ack_limit`, `recovery`, `counting`, `credit`, `mark_cut`).
///
/// # Safety
///
/// `room` bytes can be written to `to`; the names end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_params_init(
    to: *mut ParamSet,
    room: usize,
    algorithm: *const c_char,
    stack: *const c_char,
) -> Status {
    let init = || {
        let name = unsafe { word(algorithm)? };
        let found = name.and_then(AnyParams::by_name).ok_or(Status::UnknownAlgorithm)?;
        let flavour = if stack.is_null() {
            Flavour::Rfc
        } else {
            let name = unsafe { word(stack)? };
            let place = Flavour::WORDS.iter().position(|known| Some(*known) == name);
            place.map(|at| Flavour::ALL[at]).ok_or(Status::UnknownWord)?
        };
        let mut found = found.flavoured(flavour);
        found.set_common(&in_stack(&found, flavour));
        reach(to)?;
        if room < size_of::<ParamSet>() {
            return Err(Status::TooSmall);
        }
        unsafe { write(to, ParamSet::new(found)) }
    };
    init().into()
}

/// Chooses the slow start by name, with its defaults. It is an error for an algorithm with a special slow start.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`; the name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_params_slow_start(
    params: *mut ParamSet,
    name: *const c_char,
) -> Status {
    let choose = || {
        let params = &mut unsafe { changed(params)? }.body;
        let name = unsafe { word(name)? };
        let slow_start = name.and_then(SlowStart::by_name).ok_or(Status::UnknownWord)?;
        params.requirements().slow_start.ok_or(Status::UnknownWord)?;
        params.set_common(&Setup { slow_start, ..params.common() });
        Ok(())
    };
    choose().into()
}

/// Describes the parameter at an index, from 0, and writes its name with a zero at its end. Above the last index the
/// result is `WINDLASS_STATUS_OUT_OF_RANGE`. The host's parameters come first (`initial_window`, `recovery` ...), then
/// the algorithm's parameters, then its slow start's parameters with the prefix `slow_start.`.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`; `room` bytes can be written to `name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_param_at(
    params: *const ParamSet,
    place: usize,
    name: *mut c_char,
    room: usize,
    to: *mut ParamView,
) -> Status {
    let describe = || {
        let params = &unsafe { shared(params)? }.body;
        let found = all(params).nth(place).ok_or(Status::OutOfRange)?;
        reach(to)?;
        unsafe {
            copy([found.prefix, found.param.name], name, room)?;
            write(to, found.view(params))
        }
    };
    describe().into()
}

/// Reads a parameter by name.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`; the name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_param_get(
    params: *const ParamSet,
    name: *const c_char,
    to: *mut u64,
) -> Status {
    let get = || {
        let params = &unsafe { shared(params)? }.body;
        let found = find(params, unsafe { word(name)? })?;
        unsafe { write(to, found.get(params)) }
    };
    get().into()
}

/// Sets a parameter by name. Existing states continue with the new value.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`; the name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_param_set(
    params: *mut ParamSet,
    name: *const c_char,
    value: u64,
) -> Status {
    let set = || {
        let params = &mut unsafe { changed(params)? }.body;
        find(params, unsafe { word(name)? })?.set(params, value)
    };
    set().into()
}

/// Sets a parameter whose value is one of several words.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`; name and word end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_param_set_word(
    params: *mut ParamSet,
    name: *const c_char,
    value: *const c_char,
) -> Status {
    let set = || {
        let params = &mut unsafe { changed(params)? }.body;
        let found = find(params, unsafe { word(name)? })?;
        let value = unsafe { word(value)? };
        let ParamKind::Choice(words) = found.param.kind else { return Err(Status::UnknownWord) };
        let place = words.iter().position(|known| Some(*known) == value);
        found.set(params, place.ok_or(Status::UnknownWord)? as u64)
    };
    set().into()
}

/// The requirements of the algorithm for its host.
///
/// # Safety
///
/// `params` was made by `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_wants(params: *const ParamSet, to: *mut Wants) -> Status {
    let ask = || {
        let wants = unsafe { shared(params)? }.body.requirements();
        let marks = match wants.ecn {
            Ecn::None => Marks::None,
            Ecn::Classic => Marks::Classic,
            Ecn::Exact => Marks::Exact,
        };
        let (rate_samples, cross_layer) = (wants.rate_samples, wants.cross_layer);
        unsafe { write(to, Wants { rate_samples, cross_layer, marks }) }
    };
    ask().into()
}
