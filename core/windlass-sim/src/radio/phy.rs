//! Physical layers: timing, duration of a frame, rates and their bit-error curves.
//!
//! The values are from IEEE 802.11-2016, clauses 15 and 16 (DSSS, HR/DSSS), 17 and 18 (OFDM, ERP-OFDM) and 19
//! (HT), from IEEE 802.11ah-2016, clause 23 (S1G), and from IEEE 802.15.4-2015, clause 12 (O-QPSK).

use windlass_cc::Span;

pub use crate::radio::modulation::{Code, Modulation};

/// Speed of light, metres per second.
pub const LIGHT_M_PER_S: f64 = 299_792_458.0;

/// Bytes that a data frame without QoS adds to an IP packet.
pub const DATA_OVERHEAD: u32 = 36;
/// Size of a CTS and of an acknowledgement, bytes.
pub const CONTROL_BYTES: u32 = 14;
/// Size of the QoS control field, bytes.
const QOS_BYTES: u32 = 2;
/// Duration of the fields that the mixed format of HT adds to the older preamble: HT-SIG, HT-STF and one
/// HT-LTF.
const HT_PREAMBLE: Span = Span::from_micros(8 + 4 + 4);

/// A physical layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phy {
    /// Name for messages: `802.11b`.
    pub name: &'static str,
    /// Slot of the back-off (aSlotTime).
    pub slot: Span,
    /// Short interframe space (aSIFSTime).
    pub sifs: Span,
    /// Time from the decision to transmit to the first symbol on the air (aRxTxTurnaroundTime). During this
    /// time, the station does not notice frames that begin to arrive.
    pub turnaround: Span,
    /// Minimum contention window (aCWmin): the first back-off is 0 … `cw_min` slots.
    pub cw_min: u32,
    /// Maximum contention window (aCWmax).
    pub cw_max: u32,
    /// Slots between SIFS and back-off (AIFSN): 2 with DCF, 3 with EDCA's best effort.
    pub aifsn: u32,
    /// Preamble and symbols of frames.
    pub format: Format,
    /// Carrier frequency, for [`crate::radio::PathLoss::Friis`], hertz.
    pub frequency_hz: u64,
    /// Bandwidth of the receiver, for noise, hertz.
    pub bandwidth_hz: u64,
    /// Power at which a station must sense a frame of this PHY, dBm: the default of a radio.
    pub carrier_sense_dbm: f64,
    /// Its rates, ascending.
    pub rates: &'static [Rate],
}

/// Parts of a frame's duration in addition to its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// DSSS and HR/DSSS: preamble and header, then bits, the sum rounded up to a microsecond.
    Dsss {
        /// True if frames faster than 1 Mbit/s have the short preamble (96 µs instead of 192 µs).
        short_preamble: bool,
    },
    /// OFDM: preamble and signal field, then whole symbols.
    Ofdm {
        /// Preamble and signal field.
        preamble: Span,
        /// A symbol with its guard interval.
        symbol: Span,
        /// Bits before the data (service field) and after it (tail).
        extra_bits: u32,
        /// Silence that counts as part of the frame (ERP's signal extension).
        extension: Span,
    },
    /// O-QPSK of IEEE 802.15.4: ten symbols of preamble and delimiter, two of header, two per byte.
    Oqpsk {
        /// A symbol of four bits.
        symbol: Span,
    },
}

/// A rate of a physical layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Bits per second.
    pub bps: u64,
    /// Data bits per symbol of an OFDM format; 0 for DSSS.
    pub bits_per_symbol: u32,
    /// Modulation and coding.
    pub modulation: Modulation,
    /// True if every station supports this rate, older stations included. Broadcasts and answers may use it.
    pub mandatory: bool,
    /// True if its frames have the preamble of HT (802.11n, mixed format, one stream) after the older
    /// preamble.
    pub ht: bool,
}

const fn dsss(bps: u64, modulation: Modulation) -> Rate {
    Rate { bps, bits_per_symbol: 0, modulation, mandatory: bps <= 2_000_000, ht: false }
}

const fn ofdm(bps: u64, bits_per_symbol: u32, bits: u32, code: Code, mandatory: bool) -> Rate {
    let modulation = Modulation::Coded { bits, code };
    Rate { bps, bits_per_symbol, modulation, mandatory, ht: false }
}

const fn ht(bps: u64, bits_per_symbol: u32, bits: u32, code: Code) -> Rate {
    Rate { ht: true, ..ofdm(bps, bits_per_symbol, bits, code, false) }
}

use Code::{FiveSixths, Half, ThreeQuarters, TwoThirds};

const DSSS_RATES: [Rate; 4] = [
    dsss(1_000_000, Modulation::Dbpsk),
    dsss(2_000_000, Modulation::Dqpsk),
    dsss(5_500_000, Modulation::Cck5_5),
    dsss(11_000_000, Modulation::Cck11),
];

const OQPSK_RATES: [Rate; 1] = [Rate {
    bps: 250_000,
    bits_per_symbol: 4,
    modulation: Modulation::Oqpsk,
    mandatory: true,
    ht: false,
}];

const ERP_OFDM_RATES: [Rate; 8] = [
    ofdm(6_000_000, 24, 1, Half, true),
    ofdm(9_000_000, 36, 1, ThreeQuarters, false),
    ofdm(12_000_000, 48, 2, Half, true),
    ofdm(18_000_000, 72, 2, ThreeQuarters, false),
    ofdm(24_000_000, 96, 4, Half, true),
    ofdm(36_000_000, 144, 4, ThreeQuarters, false),
    ofdm(48_000_000, 192, 6, TwoThirds, false),
    ofdm(54_000_000, 216, 6, ThreeQuarters, false),
];

/// Rates of ERP-OFDM, and HT MCS 0 … 7 in 20 MHz: one spatial stream, guard interval of 800 ns.
const HT_RATES: [Rate; 16] = [
    ERP_OFDM_RATES[0],
    ht(6_500_000, 26, 1, Half),
    ERP_OFDM_RATES[1],
    ERP_OFDM_RATES[2],
    ht(13_000_000, 52, 2, Half),
    ERP_OFDM_RATES[3],
    ht(19_500_000, 78, 2, ThreeQuarters),
    ERP_OFDM_RATES[4],
    ht(26_000_000, 104, 4, Half),
    ERP_OFDM_RATES[5],
    ht(39_000_000, 156, 4, ThreeQuarters),
    ERP_OFDM_RATES[6],
    ht(52_000_000, 208, 6, TwoThirds),
    ERP_OFDM_RATES[7],
    ht(58_500_000, 234, 6, ThreeQuarters),
    ht(65_000_000, 260, 6, FiveSixths),
];

/// S1G MCS 10 and 0 … 9 in 1 MHz, one spatial stream, guard interval of 8 µs.
const S1G_1MHZ_RATES: [Rate; 11] = [
    Rate {
        bps: 150_000,
        bits_per_symbol: 6,
        modulation: Modulation::Repeated { bits: 1, code: Half },
        mandatory: true,
        ht: false,
    },
    ofdm(300_000, 12, 1, Half, true),
    ofdm(600_000, 24, 2, Half, true),
    ofdm(900_000, 36, 2, ThreeQuarters, true),
    ofdm(1_200_000, 48, 4, Half, false),
    ofdm(1_800_000, 72, 4, ThreeQuarters, false),
    ofdm(2_400_000, 96, 6, TwoThirds, false),
    ofdm(2_700_000, 108, 6, ThreeQuarters, false),
    ofdm(3_000_000, 120, 6, FiveSixths, false),
    ofdm(3_600_000, 144, 8, ThreeQuarters, false),
    ofdm(4_000_000, 160, 8, FiveSixths, false),
];

/// S1G MCS 0 … 8 in 2 MHz (which has no MCS 9), one spatial stream, guard interval of 8 µs.
const S1G_2MHZ_RATES: [Rate; 9] = [
    ofdm(650_000, 26, 1, Half, true),
    ofdm(1_300_000, 52, 2, Half, true),
    ofdm(1_950_000, 78, 2, ThreeQuarters, true),
    ofdm(2_600_000, 104, 4, Half, false),
    ofdm(3_900_000, 156, 4, ThreeQuarters, false),
    ofdm(5_200_000, 208, 6, TwoThirds, false),
    ofdm(5_850_000, 234, 6, ThreeQuarters, false),
    ofdm(6_500_000, 260, 6, FiveSixths, false),
    ofdm(7_800_000, 312, 8, ThreeQuarters, false),
];

impl Phy {
    /// 802.11b with the long preamble: 1, 2, 5.5 and 11 Mbit/s.
    pub const B_LONG: Phy = Phy {
        name: "802.11b",
        slot: Span::from_micros(20),
        sifs: Span::from_micros(10),
        turnaround: Span::from_micros(5),
        cw_min: 31,
        cw_max: 1023,
        aifsn: 2,
        format: Format::Dsss { short_preamble: false },
        frequency_hz: 2_437_000_000,
        bandwidth_hz: 22_000_000,
        carrier_sense_dbm: -82.0,
        rates: &DSSS_RATES,
    };
    /// 802.11b with the short preamble on frames faster than 1 Mbit/s.
    pub const B_SHORT: Phy = Phy { format: Format::Dsss { short_preamble: true }, ..Phy::B_LONG };
    /// 802.11g without 802.11b stations (ERP-OFDM, short slot, no protection): 6 … 54 Mbit/s.
    pub const G: Phy = Phy {
        name: "802.11g",
        slot: Span::from_micros(9),
        sifs: Span::from_micros(10),
        turnaround: Span::from_micros(2),
        cw_min: 15,
        cw_max: 1023,
        aifsn: 2,
        format: Format::Ofdm {
            preamble: Span::from_micros(20),
            symbol: Span::from_micros(4),
            extra_bits: 16 + 6,
            extension: Span::from_micros(6),
        },
        frequency_hz: 2_437_000_000,
        bandwidth_hz: 20_000_000,
        carrier_sense_dbm: -82.0,
        rates: &ERP_OFDM_RATES,
    };
    /// 802.11n at 2.4 GHz in 20 MHz, without stations older than 802.11g (HT mixed format, one stream, long
    /// guard interval). Rates: 6.5 … 65 Mbit/s, and 802.11g's rates. Stations are QoS stations with traffic
    /// of EDCA's best effort.
    pub const N: Phy = Phy { name: "802.11n", aifsn: 3, rates: &HT_RATES, ..Phy::G };
    /// 802.11ah in 1 MHz (MCS 10 and 0 … 9, one stream): 150 kbit/s … 4 Mbit/s. Control frames have the
    /// formats of the other PHYs instead of S1G's short NDP frames. There are no restricted access windows.
    pub const AH_1MHZ: Phy = Phy {
        name: "802.11ah 1 MHz",
        slot: Span::from_micros(52),
        sifs: Span::from_micros(160),
        turnaround: Span::from_micros(5),
        cw_min: 15,
        cw_max: 1023,
        aifsn: 2,
        format: Format::Ofdm {
            preamble: Span::from_micros(560),
            symbol: Span::from_micros(40),
            extra_bits: 8 + 6,
            extension: Span::ZERO,
        },
        frequency_hz: 915_000_000,
        bandwidth_hz: 1_000_000,
        carrier_sense_dbm: -98.0,
        rates: &S1G_1MHZ_RATES,
    };
    /// 802.11ah in 2 MHz with the short preamble (MCS 0 … 8, one stream): 650 kbit/s … 7.8 Mbit/s. The other
    /// parameters are equal to [`Phy::AH_1MHZ`].
    pub const AH_2MHZ: Phy = Phy {
        name: "802.11ah 2 MHz",
        format: Format::Ofdm {
            preamble: Span::from_micros(240),
            symbol: Span::from_micros(40),
            extra_bits: 8 + 6,
            extension: Span::ZERO,
        },
        bandwidth_hz: 2_000_000,
        carrier_sense_dbm: -92.0,
        rates: &S1G_2MHZ_RATES,
        ..Phy::AH_1MHZ
    };
    /// IEEE 802.15.4 at 2.4 GHz: 250 kbit/s, symbols of 16 µs. The slot is aUnitBackoffPeriod and the SIFS is
    /// aTurnaroundTime. The windows follow from macMinBE 3 and macMaxBE 5.
    pub const OQPSK_2450: Phy = Phy {
        name: "802.15.4",
        slot: Span::from_micros(320),
        sifs: Span::from_micros(192),
        turnaround: Span::from_micros(192),
        cw_min: 7,
        cw_max: 31,
        aifsn: 2,
        format: Format::Oqpsk { symbol: Span::from_micros(16) },
        frequency_hz: 2_450_000_000,
        bandwidth_hz: 2_000_000,
        carrier_sense_dbm: -85.0,
        rates: &OQPSK_RATES,
    };
    /// Every preset with its name in scenarios.
    pub const ALL: [(&'static str, Phy); 7] = [
        ("802.11b", Phy::B_LONG),
        ("802.11b-short", Phy::B_SHORT),
        ("802.11g", Phy::G),
        ("802.11n", Phy::N),
        ("802.11ah-1mhz", Phy::AH_1MHZ),
        ("802.11ah-2mhz", Phy::AH_2MHZ),
        ("802.15.4", Phy::OQPSK_2450),
    ];

    /// DCF interframe space: SIFS and two slots. For QoS stations, EDCA's interframe space (AIFS).
    pub fn difs(&self) -> Span {
        self.sifs + Span(u64::from(self.aifsn) * self.slot.0)
    }

    /// True if its stations are QoS stations with HT, which A-MPDUs require.
    pub fn is_ht(&self) -> bool {
        self.rates.last().is_some_and(|r| r.ht) // the fastest
    }

    /// Bytes that a data frame adds to an IP packet: MAC header of 24, or 26 with QoS, LLC and SNAP header of
    /// 8, check sequence of 4.
    pub fn data_overhead(&self) -> u32 {
        if self.is_ht() { DATA_OVERHEAD + QOS_BYTES } else { DATA_OVERHEAD }
    }

    /// Returns the rate of `bps` bits per second, or `None` if the PHY does not have this rate.
    pub fn rate(&self, bps: u64) -> Option<Rate> {
        self.rates.iter().find(|r| r.bps == bps).copied()
    }

    /// True if stations use the channel access of IEEE 802.15.4, and the frames of 6LoWPAN.
    pub fn is_lowpan(&self) -> bool {
        matches!(self.format, Format::Oqpsk { .. })
    }

    /// Minimum mandatory rate, bits per second.
    pub fn lowest_mandatory(&self) -> u64 {
        self.rates.iter().filter(|r| r.mandatory).map(|r| r.bps).min().unwrap_or(0)
    }

    /// Rate of the acknowledgement of a frame with this rate, if the basic rates are the mandatory rates. It
    /// is the maximum mandatory rate that is not faster (IEEE 802.11-2016 section 10.7.6.5.2).
    pub fn control_rate_for(&self, bps: u64) -> u64 {
        let basic = self.rates.iter().filter(|r| r.mandatory && r.bps <= bps).map(|r| r.bps);
        basic.max().unwrap_or(self.lowest_mandatory())
    }

    /// Time from the start of a frame until its header is decoded: preamble and signal field.
    pub fn preamble(&self, rate: Rate) -> Span {
        match self.format {
            // The short preamble is for frames of 2 Mbit/s and more.
            Format::Dsss { short_preamble: true } if rate.bps > 1_000_000 => Span::from_micros(96),
            Format::Dsss { .. } => Span::from_micros(192),
            Format::Ofdm { preamble, .. } if rate.ht => preamble + HT_PREAMBLE,
            Format::Ofdm { preamble, .. } => preamble,
            Format::Oqpsk { symbol } => Span(12 * symbol.0),
        }
    }

    /// Airtime of a MAC frame of `mac_bytes` bytes (TXTIME).
    pub fn airtime(&self, mac_bytes: u32, rate: Rate) -> Span {
        let bits = 8 * u64::from(mac_bytes);
        let rest = match self.format {
            Format::Dsss { .. } => Span::from_micros((bits * 1_000_000).div_ceil(rate.bps.max(1))),
            Format::Ofdm { symbol, extra_bits, extension, .. } => {
                let per_symbol = u64::from(rate.bits_per_symbol.max(1));
                let symbols = (bits + u64::from(extra_bits)).div_ceil(per_symbol);
                Span(symbols * symbol.0) + extension
            }
            Format::Oqpsk { symbol } => Span(bits / 4 * symbol.0),
        };
        self.preamble(rate) + rest
    }

    /// Friis loss at 1 m, dB.
    pub fn reference_loss_db(&self) -> f64 {
        let wavelengths = self.frequency_hz as f64 / LIGHT_M_PER_S;
        20.0 * libm::log10(4.0 * std::f64::consts::PI * wavelengths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(phy: Phy, bytes: u32, bps: u64) -> u64 {
        phy.airtime(bytes, phy.rate(bps).unwrap()).0 / 1000
    }

    #[test]
    fn frames_take_the_time_of_the_standard() {
        // 14 bytes at 1 Mbit/s: 192 + 112; the short preamble is not for 1 Mbit/s.
        assert_eq!(us(Phy::B_LONG, 14, 1_000_000), 304);
        assert_eq!(us(Phy::B_SHORT, 14, 1_000_000), 304);
        assert_eq!(us(Phy::B_SHORT, 14, 2_000_000), 96 + 56);
        // 1536 bytes at 11 Mbit/s: 1117.1 µs, rounded up.
        assert_eq!(us(Phy::B_LONG, 1536, 11_000_000), 192 + 1118);
        // An acknowledgement at 24 Mbit/s: 134 bits in 2 symbols.
        assert_eq!(us(Phy::G, 14, 24_000_000), 20 + 8 + 6);
        // 1536 bytes at 54 Mbit/s: 12310 bits in 57 symbols.
        assert_eq!(us(Phy::G, 1536, 54_000_000), 20 + 4 * 57 + 6);
        // An MPDU of 1538 bytes at 65 Mbit/s: 12326 bits in 48 symbols after 36 µs of preamble.
        assert_eq!(us(Phy::N, 1538, 65_000_000), 36 + 4 * 48 + 6);
        assert_eq!(us(Phy::N, 1538, 54_000_000), us(Phy::G, 1538, 54_000_000));
        // A frame of maximum size of 802.15.4 has 133 bytes with preamble, delimiter and length; its ACK has
        // 11.
        assert_eq!(us(Phy::OQPSK_2450, 127, 250_000), 133 * 32);
        assert_eq!(us(Phy::OQPSK_2450, 5, 250_000), 11 * 32);
        // 100 bytes at 300 kbit/s: 814 bits in 68 symbols of 40 µs.
        assert_eq!(us(Phy::AH_1MHZ, 100, 300_000), 560 + 40 * 68);
    }

    #[test]
    fn symbols_carry_the_bits_of_their_rate() {
        for (_, phy) in Phy::ALL {
            assert!(phy.rates.windows(2).all(|w| w[0].bps < w[1].bps), "{}", phy.name);
            let Format::Ofdm { symbol, .. } = phy.format else { continue };
            for rate in phy.rates {
                let bits = rate.bps as f64 * symbol.0 as f64 / 1e9;
                assert_eq!(f64::from(rate.bits_per_symbol), bits, "{} {}", phy.name, rate.bps);
            }
        }
    }

    #[test]
    fn control_frames_take_the_highest_mandatory_rate_not_above_the_data_rate() {
        assert_eq!(Phy::G.control_rate_for(54_000_000), 24_000_000);
        assert_eq!(Phy::G.control_rate_for(18_000_000), 12_000_000);
        assert_eq!(Phy::B_LONG.control_rate_for(11_000_000), 2_000_000);
        for (data, answer) in [(65, 24), (19, 12), (13, 12), (6, 6)] {
            let rate = Phy::N.rates.iter().find(|r| r.ht && r.bps / 1_000_000 == data).unwrap();
            assert_eq!(Phy::N.control_rate_for(rate.bps), answer * 1_000_000);
        }
        assert_eq!(Phy::G.difs(), Span::from_micros(28));
        assert_eq!(Phy::N.difs(), Span::from_micros(37));
        assert_eq!(Phy::B_LONG.difs(), Span::from_micros(50));
        assert_eq!(Phy::AH_1MHZ.difs(), Span::from_micros(264));
    }
}
