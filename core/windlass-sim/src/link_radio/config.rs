//! Configuration of the radio of the device at one end of a link.

use windlass_cc::{Span, Time};

use super::lora::{self, Modulation};
use crate::radio::energy::{MAX_UJ, MAX_UW};

/// Radio of a link between a device and its network. The radio decides when a frame may start, and
/// it spends the device's energy. It sends or receives, but never both at once (half duplex).
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRadio {
    /// End of the link at which the device is: 0 or 1. The uplink leaves this end.
    pub device: usize,
    /// Rules of the radio.
    pub access: Access,
    /// Power in each state.
    pub power: Power,
    /// Energy of the device's full battery, microjoules; `None` for mains power.
    pub battery_uj: Option<u64>,
    /// Times without power: beginning and end of each, in ascending order and apart. The queue of
    /// the uplink is then lost. Afterwards a cellular radio connects to register.
    pub off: Vec<[Time; 2]>,
}

/// Rules by which a radio may send and receive.
#[derive(Clone, PartialEq, Debug)]
pub enum Access {
    /// NB-IoT, LTE-M and other cellular radios.
    Cellular(Cellular),
    /// LoRaWAN class A.
    ClassA(ClassA),
}

/// Power that a radio draws in each state, microwatts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Power {
    /// It sends a frame.
    pub transmit_uw: u64,
    /// A frame for it arrives.
    pub receive_uw: u64,
    /// It sets up a connection.
    pub connect_uw: u64,
    /// Its receiver is on, and no frame arrives.
    pub listen_uw: u64,
    /// Its receiver is off between two times at which it listens.
    pub idle_uw: u64,
    /// No packet can reach it.
    pub sleep_uw: u64,
}

/// Event that ends a connection at once, without the inactivity timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Release {
    /// No event: the inactivity timer ends connections.
    Inactivity,
    /// The end of an uplink frame, if no packet waits.
    AfterUplink,
    /// The end of a downlink frame, if no packet waits.
    AfterDownlink,
}

impl Release {
    /// Every event with its name in scenarios.
    pub const ALL: [(&'static str, Release); 3] = [
        ("inactivity", Release::Inactivity),
        ("after-uplink", Release::AfterUplink),
        ("after-downlink", Release::AfterDownlink),
    ];
}

/// Timers of a cellular radio. A timer of zero switches its function off where this is stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cellular {
    /// Time from the first packet to the connection: random access and set-up of the connection.
    pub promotion: Span,
    /// In a connection, delay of an uplink packet that finds no uplink packet before it.
    pub scheduling_request: Span,
    /// Time without frames after which the network ends a connection; more than zero.
    pub inactivity: Span,
    /// Event that ends a connection earlier.
    pub release: Release,
    /// In a connection, time without frames after which the receiver is off between cycles.
    pub drx_after: Span,
    /// Cycle of the receiver in a connection; zero if the receiver is always on.
    pub drx_cycle: Span,
    /// Time for which the receiver is on in each such cycle.
    pub drx_on: Span,
    /// Without a connection, time from one paging occasion to the next; more than zero.
    pub paging_cycle: Span,
    /// Time for which the receiver is on at a paging occasion.
    pub paging_on: Span,
    /// Cycle of extended DRX: paging occasions are only in a window of each cycle. Zero for none.
    pub edrx_cycle: Span,
    /// Length of this window.
    pub edrx_window: Span,
    /// Time after the end of a connection at which the device begins to sleep (T3324).
    pub psm_active: Span,
    /// Time after the end of a connection at which the device connects to update its registration
    /// (T3412). Zero if the device never sleeps; updates are then left out.
    pub psm_period: Span,
}

/// Rules of LoRaWAN class A.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassA {
    /// Spreading factor of the uplink and of the first receive window, 7 to 12.
    pub spreading_factor: u32,
    /// Share of the time for which the device may send, in millionths. The first receive window is
    /// in the same band, so the gateway has this limit too.
    pub duty_cycle: u32,
    /// Time from the end of an uplink frame to the first receive window.
    pub rx1_delay: Span,
    /// Time from the end of an uplink frame to the second receive window.
    pub rx2_delay: Span,
    /// Spreading factor of the second receive window, 7 to 12.
    pub rx2_spreading_factor: u32,
    /// Share of the time for which the gateway may send in the second window, in millionths.
    pub rx2_duty_cycle: u32,
    /// Symbols for which the receiver is on if no frame arrives.
    pub window_symbols: u32,
    /// Bytes that header compression removes from each packet.
    pub compressed: u32,
}

/// An invalid value: the key and a sentence.
pub type Invalid = (&'static str, String);

impl ClassA {
    /// Modulation of the uplink and the first receive window (0), or of the second window (1).
    pub(crate) fn modulation(&self, window: usize) -> Modulation {
        let factors = [self.spreading_factor, self.rx2_spreading_factor];
        Modulation { spreading_factor: factors[window] }
    }

    /// Bytes of a frame with an IP packet of this size, as the radio sends it.
    pub fn frame_bytes(&self, ip_len: u32) -> u32 {
        ip_len.saturating_sub(self.compressed) + lora::LORAWAN_BYTES
    }

    /// Time on the air of an uplink frame with an IP packet of this size.
    pub fn airtime(&self, ip_len: u32) -> Span {
        self.modulation(0).airtime(self.frame_bytes(ip_len))
    }

    /// Time from the start of an uplink frame until the duty cycle allows the next frame.
    pub fn spacing(&self, airtime: Span) -> Span {
        spacing(airtime, self.duty_cycle)
    }

    /// Size of the largest IP packet. It fits into frames of both receive windows.
    pub fn max_packet(&self) -> u32 {
        lora::max_payload(self.spreading_factor) + self.compressed
    }

    fn check(&self) -> Result<(), Invalid> {
        for (key, factor) in [
            ("spreading_factor", self.spreading_factor),
            ("rx2_spreading_factor", self.rx2_spreading_factor),
        ] {
            if !(7..=12).contains(&factor) {
                return Err((key, format!("a spreading factor is 7 to 12, not {factor}")));
            }
        }
        for (key, ppm) in [("duty_cycle", self.duty_cycle), ("rx2_duty_cycle", self.rx2_duty_cycle)]
        {
            if ppm == 0 || ppm > 1_000_000 {
                return Err((key, "a duty cycle is more than 0 and at most 100 %".to_string()));
            }
        }
        let window = self.modulation(0).symbols(self.window_symbols);
        if self.rx2_delay <= self.rx1_delay + window {
            let problem = "the second receive window must begin after the end of the first";
            return Err(("rx2_delay", problem.to_string()));
        }
        Ok(())
    }
}

/// Time from the start of a frame to the next start that a duty cycle allows.
pub(crate) fn spacing(airtime: Span, duty_cycle: u32) -> Span {
    let ns = (u128::from(airtime.0) * 1_000_000).div_ceil(u128::from(duty_cycle.max(1)));
    Span(u64::try_from(ns).unwrap_or(u64::MAX))
}

impl Cellular {
    fn check(&self) -> Result<(), Invalid> {
        let wrong = |key, problem: &str| Err((key, problem.to_string()));
        if self.inactivity == Span::ZERO {
            return wrong("inactivity", "the inactivity timer must be more than zero");
        }
        if self.drx_cycle > Span::ZERO {
            if self.drx_on > self.drx_cycle {
                return wrong("drx_on", "the receiver is on for longer than `drx_cycle`");
            }
            if self.drx_after + self.drx_cycle > self.inactivity {
                let problem = "`drx_after` and a `drx_cycle` are longer than the inactivity timer, \
                               so that no cycle ends within a connection";
                return wrong("drx_cycle", problem);
            }
        }
        if self.paging_cycle == Span::ZERO {
            return wrong("paging_cycle", "the paging cycle must be more than zero");
        }
        if self.paging_on > self.paging_cycle {
            return wrong("paging_on", "the receiver is on for longer than `paging_cycle`");
        }
        if self.edrx_cycle > Span::ZERO {
            if self.edrx_window < self.paging_cycle || self.edrx_window > self.edrx_cycle {
                let problem = "the paging window must be at least `paging_cycle` and at most \
                               `edrx_cycle`";
                return wrong("edrx_window", problem);
            }
            if self.psm_period > Span::ZERO && self.edrx_cycle > self.psm_period {
                let problem = "the eDRX cycle is longer than `psm_period`, so that no paging \
                               occasion comes before the next registration update";
                return wrong("edrx_cycle", problem);
            }
            if self.psm_period > Span::ZERO && self.edrx_cycle > self.psm_active {
                let problem = "the eDRX cycle is longer than `psm_active`, so that the device \
                               sleeps before its first paging window; lengthen `psm_active`, or \
                               write `psm_period = \"0s\"` for no sleep";
                return wrong("edrx_cycle", problem);
            }
        }
        if self.psm_period > Span::ZERO && self.psm_active >= self.psm_period {
            return wrong("psm_active", "the device must begin to sleep before `psm_period` ends");
        }
        Ok(())
    }
}

impl LinkRadio {
    /// Checks the values.
    ///
    /// # Errors
    ///
    /// The key in scenarios of the invalid value, and a sentence.
    pub fn check(&self) -> Result<(), Invalid> {
        let Power { transmit_uw, receive_uw, connect_uw, listen_uw, idle_uw, sleep_uw } =
            self.power;
        let powers = [transmit_uw, receive_uw, connect_uw, listen_uw, idle_uw, sleep_uw];
        if powers.iter().any(|uw| *uw > MAX_UW) {
            return Err(("power", "a radio draws at most 1 kW".to_string()));
        }
        if self.battery_uj.is_some_and(|uj| uj == 0 || uj > MAX_UJ) {
            return Err(("battery", "a battery holds more than 0 J and at most 1 GJ".to_string()));
        }
        if self.device > 1 {
            return Err(("device", "the device is at end 0 or 1".to_string()));
        }
        let ordered = self.off.iter().flatten().is_sorted_by(|a, b| a < b);
        if !ordered {
            return Err(("off", "the times without power must be in ascending order".to_string()));
        }
        match &self.access {
            Access::Cellular(cellular) => cellular.check(),
            Access::ClassA(class_a) => class_a.check(),
        }
    }
}
