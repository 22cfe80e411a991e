//! Radios by name. Each value has its source here; the tables are data.
//!
//! Sources:
//!
//! * *Robinson*: D. Robinson, MEng thesis, Stellenbosch University, 2019: latency and energy of
//!   datagrams on two NB-IoT networks with two modules (SARA-N200 and BC95), by coverage level.
//! * *M5311*: data sheet of the NB-IoT module M5311.
//! * *TR 45.820*: 3GPP TR 45.820, cellular IoT, section 5.4: a battery of 5 Wh, 500 mW of transmit
//!   power, and 0.015 mW in power saving mode.
//! * *Nordic*: nRF Connect SDK, "Power saving techniques", with inactivity timers of 5 to 60 s.
//! * *Coaps*: A. Kraus, zephyr-coaps-client, power consumption of an nRF9160-DK, 2022.
//! * *Huang*: J. Huang et al., "A Close Examination of Performance and Power Characteristics of 4G
//!   LTE Networks", MobiSys 2012.
//! * *SAM R34*: Microchip SAM R34 data sheet, section 7.4.1 (868 MHz, 3.3 V).
//! * *LoRaMac*: LoRaMac-node, `RegionEU868.h`.

use windlass_cc::Span;

use super::config::{Access, Cellular, ClassA, LinkRadio, Power, Release};
use super::lora::Modulation;

/// A named radio.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Name in scenarios.
    pub name: &'static str,
    /// The radio.
    pub radio: LinkRadio,
    /// Rates of the uplink and of the downlink, bits per second.
    pub rates_bps: [u64; 2],
    /// Delay of the rest of the network, each direction.
    pub delay: Span,
}

const MS: fn(u64) -> Span = Span::from_millis;

/// Timers that the NB-IoT presets share.
///
/// * Inactivity timer of 20 s, receiver always on: the default of Robinson's networks, on which
///   20 s cost 3.6 J.
/// * Sleep directly after the connection: T3324 of 0 (J. Martinez et al., IEEE Internet of Things
///   Journal, 2019, configuration 1). An update each 24 h is an assumption.
/// * Paging each 2.56 s: Martinez, configuration 2; it matters with a `psm_active` above 0. The
///   16 ms of a paging occasion are an assumption.
const NB_IOT: Cellular = Cellular {
    promotion: Span::ZERO,
    scheduling_request: Span::ZERO,
    inactivity: Span::from_secs(20),
    release: Release::Inactivity,
    drx_after: Span::ZERO,
    drx_cycle: Span::ZERO,
    drx_on: Span::ZERO,
    paging_cycle: Span::from_millis(2_560),
    paging_on: Span::from_millis(16),
    edrx_cycle: Span::ZERO,
    edrx_window: Span::ZERO,
    psm_active: Span::ZERO,
    psm_period: Span::from_secs(86_400),
};

/// Powers that the NB-IoT presets share, at 3.6 V.
///
/// * Transmit: 230 mA at 23 dBm (Robinson). Receive: 60 mA (Robinson's model). Listen: 50 mA, from
///   the 3.6 J of 20 s. Sleep: 3.6 uA (Robinson, SARA-N200).
/// * Idle: 0.4 mA (M5311, at a DRX cycle of 1.28 s).
/// * Connect: half of the time like transmit and half like listen, which is an assumption.
const NB_IOT_POWER: Power = Power {
    transmit_uw: 828_000,
    receive_uw: 216_000,
    connect_uw: 504_000,
    listen_uw: 180_000,
    idle_uw: 1_440,
    sleep_uw: 13,
};

fn nb_iot(name: &'static str, class: usize) -> Preset {
    // The promotion delay is the mean of Robinson's two networks for 64 bytes (level 2: one
    // network), less the time of the frame and the delay of the network. The rates of level 0 are
    // the peak rates of category NB1. The uplink rates of levels 1 and 2 are the slopes from 64 to
    // 512 bytes (level 1: Ericsson, level 2: Huawei). Their downlink rates are assumed to be
    // equal. The scheduling request is a random access, and its delay is assumed to be one period
    // of the random access channel (TS 36.331: 40 ms to 2.56 s).
    let promotion = [1_050, 2_200, 7_000].map(MS)[class];
    let scheduling_request = [160, 320, 640].map(MS)[class];
    let rates_bps = [[62_000, 26_000], [2_900, 2_900], [1_400, 1_400]][class];
    // Power control lowers the transmit power in good coverage: 100 mA, an assumption between the
    // 70 mA of Robinson's lowest peaks and the 230 mA of full power.
    let mut power = NB_IOT_POWER;
    if class == 0 {
        (power.transmit_uw, power.connect_uw) = (360_000, 180_000);
    }
    let cellular = Cellular { promotion, scheduling_request, ..NB_IOT };
    cellular_preset(name, cellular, power, rates_bps)
}

/// LTE-M in good coverage.
///
/// * Rates: peak rates of a half-duplex category M1. Promotion delay: an exchange of 200 bytes each
///   way took 0.8 s (Coaps), less the frames and the delay of the network. LTE phones need 0.26 s
///   (Huang). The scheduling request of 40 ms is an assumption.
/// * Inactivity timer of 10 s: within Nordic's range. DRX in the connection after 100 ms, with a
///   cycle of 320 ms (S. Rostad, NTNU, 2020: the cycle of the measured network) and 10 ms on, which
///   is an assumption.
/// * Paging each 1.28 s, an update each 24 h and sleep directly after the connection are
///   assumptions.
/// * Transmit and sleep: TR 45.820. Receive and listen 80 mW, idle 3 mW and connect 200 mW are
///   assumptions.
fn lte_m() -> Preset {
    let cellular = Cellular {
        promotion: MS(690),
        scheduling_request: MS(40),
        inactivity: Span::from_secs(10),
        drx_after: MS(100),
        drx_cycle: MS(320),
        drx_on: MS(10),
        paging_cycle: MS(1_280),
        paging_on: MS(10),
        ..NB_IOT
    };
    let power = Power {
        transmit_uw: 500_000,
        receive_uw: 80_000,
        connect_uw: 200_000,
        listen_uw: 80_000,
        idle_uw: 3_000,
        sleep_uw: 15,
    };
    cellular_preset("lte-m", cellular, power, [375_000, 300_000])
}

fn cellular_preset(
    name: &'static str,
    cellular: Cellular,
    power: Power,
    rates_bps: [u64; 2],
) -> Preset {
    let access = Access::Cellular(cellular);
    let radio = LinkRadio { device: 0, access, power, battery_uj: None, off: Vec::new() };
    // The delay between the base station and the server is an assumption.
    Preset { name, radio, rates_bps, delay: MS(50) }
}

/// LoRaWAN class A in the European band of 868 MHz.
///
/// * Duty cycle of 1 % on the three default channels, 10 % for the second receive window at
///   869.525 MHz with data rate 0 (SF12), windows after 1 s and 2 s: LoRaMac.
/// * A window of 8 symbols is an assumption: a preamble has 8.
/// * Header compression removes the 28 bytes of IPv4 and UDP, because the port of LoRaWAN carries
///   the rule of SCHC (RFC 9011).
/// * Powers: SAM R34, 41.54 mA at 15 dBm, 12.68 mA while receiving and 1.608 uA in standby. The
///   device draws the power of sleep between the windows.
fn lorawan(name: &'static str, spreading_factor: u32) -> Preset {
    let class_a = ClassA {
        spreading_factor,
        duty_cycle: 10_000,
        rx1_delay: Span::from_secs(1),
        rx2_delay: Span::from_secs(2),
        rx2_spreading_factor: 12,
        rx2_duty_cycle: 100_000,
        window_symbols: 8,
        compressed: 28,
    };
    let power = Power {
        transmit_uw: 137_082,
        receive_uw: 41_844,
        connect_uw: 0,
        listen_uw: 41_844,
        idle_uw: 5,
        sleep_uw: 5,
    };
    let rate = Modulation { spreading_factor }.nominal_bps();
    let radio = LinkRadio {
        device: 0,
        access: Access::ClassA(class_a),
        power,
        battery_uj: None,
        off: Vec::new(),
    };
    Preset { name, radio, rates_bps: [rate; 2], delay: MS(50) }
}

/// Names of the cellular presets.
pub const CELLULAR: [&str; 4] = ["nb-iot-ce0", "nb-iot-ce1", "nb-iot-ce2", "lte-m"];
/// Names of the presets of LoRaWAN, by spreading factor from 7 on.
pub const LORAWAN: [&str; 6] =
    ["lorawan-sf7", "lorawan-sf8", "lorawan-sf9", "lorawan-sf10", "lorawan-sf11", "lorawan-sf12"];

/// The preset with this name.
pub fn by_name(name: &str) -> Option<Preset> {
    if let Some(place) = CELLULAR.iter().position(|known| *known == name) {
        let name = CELLULAR[place];
        return Some(if place < 3 { nb_iot(name, place) } else { lte_m() });
    }
    let place = LORAWAN.iter().position(|known| *known == name)?;
    Some(lorawan(LORAWAN[place], place as u32 + 7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_is_valid_and_found_by_its_name() {
        for name in CELLULAR.iter().chain(&LORAWAN) {
            let preset = by_name(name).expect(name);
            assert_eq!(preset.name, *name);
            assert_eq!(preset.radio.check(), Ok(()), "{name}");
            assert!(preset.rates_bps.iter().all(|rate| *rate > 0), "{name}");
        }
        assert!(by_name("nb-iot").is_none());
    }
}
