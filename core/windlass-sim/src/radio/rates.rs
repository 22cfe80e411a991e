//! Rates of a radio's frames and of their answers.

use windlass_cc::Span;

use crate::radio::config::RadioConfig;
use crate::radio::phy::{CONTROL_BYTES, Phy, Rate};
use crate::radio::rate_adaptation::{Adapter, Cost, PAYLOAD};
use crate::random::Stream;

/// Index of the rate of data frames. A station that adapts its rate uses a later index.
pub const DATA: u8 = 0;
/// Index of the rate of RTS and CTS, and of the answers to frames of the first three rates.
pub const CONTROL: u8 = 1;
/// Index of the rate of broadcasts and beacons.
pub const BROADCAST_RATE: u8 = 2;
/// Index of the first rate of rate adaptation.
const FIRST_CHOICE: u8 = 3;

/// Rates of a radio. Frames refer to them by index.
#[derive(Clone, Debug)]
pub struct Rates {
    all: Vec<Rate>,
    /// Index of the rate of the answer, for each rate.
    answers: Vec<u8>,
}

impl Rates {
    /// Returns the rates of a radio that has been checked: the three configured rates. With rate adaptation,
    /// also the rates that stations choose from, and the rates of their answers.
    ///
    /// # Panics
    ///
    /// Panics if the configuration has not been checked and has a rate that the PHY does not have.
    pub fn new(config: &RadioConfig) -> Rates {
        let phy = &config.phy;
        let rate = |bps| phy.rate(bps).expect("a checked configuration");
        let given = [config.data_rate_bps, config.control_rate_bps, config.broadcast_rate_bps];
        let mut rates = Rates { all: given.map(rate).to_vec(), answers: vec![CONTROL; 3] };
        if config.rate_adaptation.is_some() {
            rates.all.extend(choices(phy, config.data_rate_bps));
            let chosen = usize::from(FIRST_CHOICE)..rates.all.len();
            for place in chosen {
                let answer = phy.control_rate_for(rates.all[place].bps);
                let known = rates.all.iter().position(|r| r.bps == answer).unwrap_or_else(|| {
                    rates.all.push(rate(answer));
                    rates.all.len() - 1
                });
                rates.answers.push(known as u8);
            }
            rates.answers.resize(rates.all.len(), CONTROL);
        }
        rates
    }

    /// Rate with this index.
    pub fn at(&self, place: u8) -> Rate {
        self.all[usize::from(place)]
    }

    /// Index of the rate of the answer to a frame of this rate.
    pub fn answer(&self, place: u8) -> u8 {
        self.answers[usize::from(place)]
    }

    /// All rates, by index.
    pub fn all(&self) -> &[Rate] {
        &self.all
    }

    /// Returns the rate adaptation of one station; `None` if the radio's rates are fixed.
    pub(super) fn adapter(config: &RadioConfig, stream: Stream) -> Option<Adapter> {
        let settings = config.rate_adaptation?;
        let phy = &config.phy;
        let back_off = Span(u64::from(phy.cw_min) * phy.slot.0 / 2);
        let cost = |rate: Rate| {
            let answer = phy.rate(phy.control_rate_for(rate.bps)).unwrap_or(rate);
            let fixed = phy.difs() + back_off + phy.preamble(rate) + phy.sifs;
            Cost {
                overhead: (fixed + phy.airtime(CONTROL_BYTES, answer)).0 as f64,
                bits: f64::from(8 * PAYLOAD) * 1e9 / rate.bps.max(1) as f64,
            }
        };
        let rates = Rates::choices(phy, config.data_rate_bps);
        let rates = rates.map(|(place, rate)| (place, cost(rate)));
        Some(Adapter::new(settings, config.aggregation.is_some(), rates, stream))
    }

    /// Rates that stations choose from, with their indices, in ascending order.
    pub fn choices(phy: &Phy, most_bps: u64) -> impl Iterator<Item = (u8, Rate)> {
        (FIRST_CHOICE..).zip(choices(phy, most_bps))
    }
}

/// Rates that stations choose from: the HT rates if the PHY has HT, otherwise all rates, up to `most_bps`.
fn choices(phy: &Phy, most_bps: u64) -> impl Iterator<Item = Rate> + use<> {
    let (rates, is_ht) = (phy.rates, phy.is_ht());
    rates.iter().copied().filter(move |r| r.ht == is_ht && r.bps <= most_bps)
}
