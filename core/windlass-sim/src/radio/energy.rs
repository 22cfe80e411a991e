//! States of a station's radio, the energy that they take, and the time at which the battery is empty.
//!
//! A radio is always in one of six states:
//!
//! * *Transmit*: it sends a frame.
//! * *Receive*: a frame for it or for all stations arrives, with or without errors.
//! * *Listen*: a signal arrives that is not for it. This is a frame for another station (whose duration field
//!   it reads), a signal that is too weak to be received, or a collision.
//! * *Idle*: nothing arrives, and it is ready to receive.
//! * *Sleep*: it cannot receive for a while ([`crate::radio::sleep`]).
//! * *Off*: its battery is empty, or it was switched off.
//!
//! States change at the times at which frames begin and end at the station's antenna. The durations are
//! therefore exact, and their sum is the duration of the run.

use windlass_cc::{Span, Time};

/// State of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The radio transmits a frame.
    Transmit,
    /// A frame for this station or for all stations arrives.
    Receive,
    /// The channel is busy with a signal that is not for this station.
    Listen,
    /// No signal arrives.
    Idle,
    /// The radio has been switched off, or its battery is empty.
    Off,
    /// The station has nothing to do until its next data request.
    Sleep,
}

/// Number of [`State`]s.
const STATES: usize = 6;

/// Power that a radio draws in each state, microwatts. In [`State::Off`], it draws no power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Consumption {
    /// [`State::Transmit`].
    pub transmit_uw: u64,
    /// [`State::Receive`].
    pub receive_uw: u64,
    /// [`State::Listen`].
    pub listen_uw: u64,
    /// [`State::Idle`].
    pub idle_uw: u64,
    /// [`State::Sleep`]; only for 802.15.4.
    pub sleep_uw: u64,
}

/// Maximum power that a radio may draw: a kilowatt.
pub const MAX_UW: u64 = 1_000_000_000;
/// Maximum energy of a battery: a gigajoule, in microjoules.
pub const MAX_UJ: u64 = 1_000_000_000_000_000;

/// Femtojoules in a microjoule; a microwatt for a nanosecond is a femtojoule.
const FJ_PER_UJ: u128 = 1_000_000_000;
/// If a battery lasts longer than this at full power, the check approaches its end step by step. Otherwise
/// the end is computed exactly.
const FAR: Span = Span::from_millis(1);

const fn at_volts(millivolts: u64, milliamperes: [u64; 4]) -> Consumption {
    let [transmit, receive, listen, idle] = milliamperes;
    Consumption {
        transmit_uw: millivolts * transmit,
        receive_uw: millivolts * receive,
        listen_uw: millivolts * listen,
        idle_uw: millivolts * idle,
        sleep_uw: 0,
    }
}

impl Consumption {
    /// Lucent WaveLAN "Silver" 802.11b card at 11 Mbit/s: 284, 190 and 156 mA at 4.74 V.
    ///
    /// Source: Feeney and Nilsson, "Investigating the energy consumption of a wireless network interface in
    /// an ad hoc networking environment", INFOCOM 2001. According to them, discarding a frame for another
    /// station takes about the same energy as receiving it.
    pub const WAVELAN_11: Consumption = at_volts(4_740, [284, 190, 190, 156]);
    /// Lucent WaveLAN "Bronze" card at 2 Mbit/s: 280, 204 and 178 mA at 4.74 V (same source as
    /// [`Consumption::WAVELAN_11`]).
    pub const WAVELAN_2: Consumption = at_volts(4_740, [280, 204, 204, 178]);
    /// Espressif ESP32-C3, a Wi-Fi chip for small devices: 335 mA while transmitting 802.11b at 21 dBm, and
    /// 84 mA with its receiver on, at 3.3 V.
    ///
    /// Source: ESP32-C3 Series Datasheet, version 1.6, current consumption in active mode. The modem's sleep
    /// is not included, because it needs an access point that holds packets back.
    pub const ESP32_C3: Consumption = at_volts(3_300, [335, 84, 84, 84]);

    /// Texas Instruments CC2420, an early 802.15.4 transceiver: 17.4 mA while transmitting at 0 dBm, 18.8 mA
    /// with its receiver on, and 20 uA in power-down mode, at 3 V.
    ///
    /// Source: CC2420 data sheet, SWRS041, electrical specifications.
    pub const CC2420: Consumption = Consumption {
        transmit_uw: 52_200,
        receive_uw: 56_400,
        listen_uw: 56_400,
        idle_uw: 56_400,
        sleep_uw: 60,
    };

    /// Every preset with its name in scenarios.
    pub const ALL: [(&'static str, Consumption); 4] = [
        ("wavelan-11mbps", Consumption::WAVELAN_11),
        ("wavelan-2mbps", Consumption::WAVELAN_2),
        ("esp32-c3", Consumption::ESP32_C3),
        ("cc2420", Consumption::CC2420),
    ];

    /// Power in a state, microwatts.
    pub const fn in_state(&self, state: State) -> u64 {
        match state {
            State::Transmit => self.transmit_uw,
            State::Receive => self.receive_uw,
            State::Listen => self.listen_uw,
            State::Idle => self.idle_uw,
            State::Sleep => self.sleep_uw,
            State::Off => 0,
        }
    }

    fn most(&self) -> u64 {
        let awake = self.transmit_uw.max(self.receive_uw).max(self.listen_uw).max(self.idle_uw);
        awake.max(self.sleep_uw)
    }
}

/// Time in each state and energy of a radio.
#[derive(Clone, Debug)]
pub struct EnergyMeter {
    state: State,
    /// Time at which the present state began.
    since: Time,
    /// Time in each state up to `since`, nanoseconds.
    times_ns: [u64; STATES],
    consumption: Option<Consumption>,
    /// Energy spent up to `since`, femtojoules.
    spent_fj: u128,
    /// Energy of the full battery, femtojoules; `None` for mains power.
    battery_fj: Option<u128>,
    /// Time of the next check of the battery; never after it is empty.
    check: Time,
    /// Time before which the battery cannot become empty in any state.
    lasts_until: Time,
}

impl EnergyMeter {
    /// Returns the meter at the beginning of a run, in the idle state. A radio without a battery, or without
    /// a known consumption, never stops.
    pub fn new(consumption: Option<Consumption>, battery_uj: Option<u64>) -> EnergyMeter {
        let battery_fj = battery_uj.map(|uj| u128::from(uj) * FJ_PER_UJ);
        let mut meter = EnergyMeter {
            state: State::Idle,
            since: Time::ZERO,
            times_ns: [0; STATES],
            consumption,
            spent_fj: 0,
            battery_fj,
            check: Time::NEVER,
            lasts_until: Time::ZERO,
        };
        meter.plan(Time::ZERO);
        meter
    }

    /// Changes to this state.
    #[inline]
    pub(crate) fn enter(&mut self, state: State, now: Time) {
        if state == self.state {
            return;
        }
        self.settle(now);
        self.state = state;
        if self.battery_fj.is_some() {
            self.plan(now);
        }
    }

    fn settle(&mut self, now: Time) {
        self.spent_fj = self.spent_fj_by(now);
        self.times_ns[self.state as usize] += now.since(self.since).0;
        self.since = now;
    }

    /// True if the radio has a battery.
    pub(crate) fn has_battery(&self) -> bool {
        self.battery_fj.is_some()
    }

    /// Time of the next call of [`EnergyMeter::is_empty`].
    pub(crate) fn check(&self) -> Time {
        self.check
    }

    /// True if the battery is empty. Otherwise plans the next check.
    pub(crate) fn is_empty(&mut self, now: Time) -> bool {
        self.settle(now);
        let empty = self.left_fj(now) == Some(0);
        match empty {
            true => self.check = Time::NEVER,
            false => self.plan(now),
        }
        empty
    }

    /// Plans the next check of the battery. If the battery lasts longer than `FAR` at full power, the check
    /// is at the time at which full power would have emptied it. A change of state does not move this time.
    /// Near the end, the check is computed from the power in the present state.
    #[inline]
    fn plan(&mut self, now: Time) {
        let planned = self.check > now && !self.check.is_never();
        if !planned || self.lasts_until <= now + FAR {
            self.plan_anew(now);
        }
    }

    fn plan_anew(&mut self, now: Time) {
        let (Some(left), Some(consumption)) = (self.left_fj(now), self.consumption) else { return };
        let lasts = |power_uw: u64| match u128::from(power_uw) {
            0 => Time::NEVER,
            power => match u64::try_from(left.div_ceil(power)) {
                Ok(ns) if ns < u64::MAX - now.0 => now + Span(ns),
                _ => Time::NEVER,
            },
        };
        let soonest = lasts(consumption.most());
        self.lasts_until = soonest;
        if soonest <= now + FAR {
            self.check = lasts(consumption.in_state(self.state));
        } else if self.check <= now || self.check.is_never() {
            self.check = soonest;
        }
    }

    fn spent_fj_by(&self, now: Time) -> u128 {
        let power = self.consumption.map_or(0, |c| c.in_state(self.state));
        self.spent_fj + u128::from(power) * u128::from(now.since(self.since).0)
    }

    fn left_fj(&self, now: Time) -> Option<u128> {
        self.battery_fj.map(|all| all.saturating_sub(self.spent_fj_by(now)))
    }

    /// Time in a state up to `now`, nanoseconds.
    pub fn time_ns_by(&self, state: State, now: Time) -> u64 {
        let current = if state == self.state { now.since(self.since).0 } else { 0 };
        self.times_ns[state as usize] + current
    }

    /// Time in all states up to `now`, nanoseconds.
    pub(crate) fn all_ns_by(&self, now: Time) -> u64 {
        self.times_ns.iter().sum::<u64>() + now.since(self.since).0
    }

    /// Energy spent up to `now`, joules; `None` if the consumption is not known.
    pub fn spent_j_by(&self, now: Time) -> Option<f64> {
        self.consumption.map(|_| self.spent_fj_by(now) as f64 / 1e15)
    }

    /// Charge left at `now` in 65536ths of a full battery; `None` for mains power.
    pub fn charge_by(&self, now: Time) -> Option<u32> {
        let (left, all) = (self.left_fj(now)?, self.battery_fj?);
        Some((left * 65_536 / all.max(1)) as u32)
    }

    /// Energy left in the battery at `now`, joules; `None` for mains power.
    pub fn left_j_by(&self, now: Time) -> Option<f64> {
        self.left_fj(now).map(|fj| fj as f64 / 1e15)
    }
}
