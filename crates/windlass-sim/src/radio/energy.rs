//! What a station's radio does with its time, what that costs, and when its battery is empty.
//!
//! At every moment a radio is in one of six states. It *transmits*; or it *receives* a frame that
//! is meant for it or for all, whole or not; or it *listens* to what is not: frames of others, of
//! which it reads the duration, what is too weak to be received, and what collides. Otherwise it is
//! *idle*, ready to receive, unless it *sleeps* ([`crate::radio::sleep`]), deaf for a while, or its battery has run out:
//! then it is *off*. States change at the
//! moments at which frames begin and end at the station's antenna, so that the times are exact and
//! add up to the run.

use windlass_cc::{Span, Time};

/// State of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A frame of its own is on the air.
    Transmit,
    /// A frame for it or for all is arriving.
    Receive,
    /// The channel is busy with what is not for it.
    Listen,
    /// Nothing is on the air.
    Idle,
    /// It has been switched off, or its battery is empty.
    Off,
    /// It has nothing to do until it is time to ask.
    Sleep,
}

/// Number of [`State`]s.
const STATES: usize = 6;

/// Power that a radio draws in each state, microwatts. Off, it draws none.
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
    /// [`State::Sleep`], of 802.15.4 only.
    pub sleep_uw: u64,
}

/// Most power that a radio may draw: a kilowatt.
pub const MAX_UW: u64 = 1_000_000_000;
/// Largest battery: a gigajoule, in microjoules.
pub const MAX_UJ: u64 = 1_000_000_000_000_000;

/// Femtojoules in a microjoule; a microwatt for a nanosecond is a femtojoule.
const FJ_PER_UJ: u128 = 1_000_000_000;
/// Above so much time at full power, an empty battery is looked for by halves, not exactly.
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
    /// Lucent WaveLAN "Silver" 802.11b card at 11 Mbit/s: 284, 190 and 156 mA at 4.74 V (Feeney and
    /// Nilsson, "Investigating the energy consumption of a wireless network interface in an ad hoc
    /// networking environment", INFOCOM 2001). They find that discarding a frame of others costs
    /// about what receiving it does.
    pub const WAVELAN_11: Consumption = at_volts(4_740, [284, 190, 190, 156]);
    /// Lucent WaveLAN "Bronze" card at 2 Mbit/s: 280, 204 and 178 mA at 4.74 V (the same).
    pub const WAVELAN_2: Consumption = at_volts(4_740, [280, 204, 204, 178]);
    /// Espressif ESP32-C3, a Wi-Fi chip for small devices: 335 mA transmitting 802.11b at 21 dBm and
    /// 84 mA with its receiver on, whatever arrives, at 3.3 V (ESP32-C3 Series Datasheet, version
    /// 1.6, current consumption in active mode). Without the modem's sleep, which needs an access
    /// point that holds packets back.
    pub const ESP32_C3: Consumption = at_volts(3_300, [335, 84, 84, 84]);

    /// Texas Instruments CC2420, an early 802.15.4 transceiver: 17.4 mA transmitting at 0 dBm and 18.8 mA with
    /// its receiver on, whatever arrives, and 20 uA in power-down mode, at 3 V (CC2420 data sheet, SWRS041,
    /// electrical specifications).
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

/// The clock and the meter of a radio.
#[derive(Clone, Debug)]
pub struct EnergyMeter {
    state: State,
    /// Since when it is in this state.
    since: Time,
    /// Time in each state up to `since`, nanoseconds.
    times_ns: [u64; STATES],
    consumption: Option<Consumption>,
    /// Energy spent up to `since`, femtojoules.
    spent_fj: u128,
    /// What the battery held, femtojoules; `None` for the mains.
    battery_fj: Option<u128>,
    /// When the battery must be looked at: never after it is empty.
    check: Time,
    /// It is not empty before, whatever the radio does.
    lasts_until: Time,
}

impl EnergyMeter {
    /// At the beginning of a run, idle. Only a battery ends, and only by what is consumed.
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

    /// The radio is in this state from now on.
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

    /// Whether it may be empty some day.
    pub(crate) fn has_battery(&self) -> bool {
        self.battery_fj.is_some()
    }

    /// When [`EnergyMeter::is_empty`] must be asked next.
    pub(crate) fn check(&self) -> Time {
        self.check
    }

    /// Whether the battery is empty; if not, when to ask again.
    pub(crate) fn is_empty(&mut self, now: Time) -> bool {
        self.settle(now);
        let empty = self.left_fj(now) == Some(0);
        match empty {
            true => self.check = Time::NEVER,
            false => self.plan(now),
        }
        empty
    }

    /// As long as the battery lasts for long, it is enough to look when it could be empty had the
    /// radio drawn the most all the time, which a change of state does not move; in the end the
    /// moment is worked out for each state.
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

    /// Energy spent up to `now`, joules; `None` where no consumption is known.
    pub fn spent_j_by(&self, now: Time) -> Option<f64> {
        self.consumption.map(|_| self.spent_fj_by(now) as f64 / 1e15)
    }

    /// Charge left at `now` in 65536ths of a full battery; `None` for the mains.
    pub fn charge_by(&self, now: Time) -> Option<u32> {
        let (left, all) = (self.left_fj(now)?, self.battery_fj?);
        Some((left * 65_536 / all.max(1)) as u32)
    }

    /// What the battery still holds at `now`, joules; `None` for the mains.
    pub fn left_j_by(&self, now: Time) -> Option<f64> {
        self.left_fj(now).map(|fj| fj as f64 / 1e15)
    }
}
