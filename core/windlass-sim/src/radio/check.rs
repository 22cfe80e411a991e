//! Conditions that a radio must fulfil to be simulated.

use windlass_cc::Span;

use crate::link::QueueLimit;
use crate::radio::aggregation::{MAX_AIRTIME, MAX_BYTES, WINDOW};
use crate::radio::beacons::{self, MAX_NETWORKS};
use crate::radio::config::{FrameErrors, Hops, PathLoss, RadioConfig, StationConfig};
use crate::radio::energy::{MAX_UJ, MAX_UW};
use crate::radio::phy::Format;
use crate::radio::rate_adaptation;
use crate::radio::rates::Rates;
use crate::radio::scheduling::Rule;
use crate::radio::sleep::{POLLS, Polling};

/// Maximum number of stations of a radio: every pair has an entry in a table.
pub const MAX_STATIONS: usize = 2000;
/// Maximum distance of a station from the origin along each axis, millimetres: 1000 km.
pub const MAX_MM: i64 = 1_000_000_000;
/// Maximum contention window of a back-off.
const MAX_WINDOW: u32 = 65_535;
/// Maximum number of attempts of a frame.
pub const MAX_RETRIES: u32 = 255;
/// Maximum of powers and ratios, dBm and dB, and of their negative.
pub const MAX_DECIBELS: f64 = 300.0;
/// Minimum and maximum path-loss exponent.
pub const EXPONENTS: [f64; 2] = [0.1, 20.0];

impl RadioConfig {
    /// Checks that this radio can be simulated; `nodes` are the names of the network's nodes.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence without the radio's name.
    pub fn check(&self, nodes: &[String]) -> Result<(), String> {
        self.check_stations(nodes)?;
        self.check_phy()?;
        self.check_lowpan()?;
        self.check_powers()?;
        self.check_energy(nodes)?;
        self.check_errors()?;
        self.check_scheduling()?;
        self.check_hops(nodes)?;
        self.check_wifi()?;
        self.sleepers().try_for_each(|(station, _)| self.check_sleep(station, nodes))
    }

    fn check_stations(&self, nodes: &[String]) -> Result<(), String> {
        let n = self.stations.len();
        if !(2..=MAX_STATIONS).contains(&n) {
            let has = if n == 0 { "no station".to_string() } else { format!("{n} station(s)") };
            return Err(format!("it has {has}; a radio needs between 2 and {MAX_STATIONS}"));
        }
        let mut taken = vec![false; nodes.len()];
        for station in &self.stations {
            check_station(station, nodes)?;
            if std::mem::replace(&mut taken[station.node], true) {
                let name = &nodes[station.node];
                return Err(format!("node \"{name}\" has two stations; it may have one"));
            }
        }
        Ok(())
    }

    fn check_phy(&self) -> Result<(), String> {
        let phy = &self.phy;
        if phy.slot.0 == 0 || phy.sifs.0 == 0 || phy.turnaround >= phy.slot {
            return Err("slot and SIFS must take time, the turnaround less than a slot".into());
        }
        let (preamble, symbol) = match phy.format {
            Format::Dsss { .. } => (Span::ZERO, Span::ZERO),
            Format::Oqpsk { symbol } => (Span::ZERO, symbol),
            Format::Ofdm { preamble, symbol, extension, .. } => (preamble + extension, symbol),
        };
        if [phy.slot, phy.sifs, preamble, symbol].iter().any(|t| *t > Span::from_secs(1)) {
            return Err("slot, SIFS, preamble and symbol must take at most a second".into());
        }
        if phy.cw_min > phy.cw_max || phy.cw_max > MAX_WINDOW {
            return Err(format!(
                "the contention window must not shrink from {} to {}, nor exceed {MAX_WINDOW}",
                phy.cw_min, phy.cw_max
            ));
        }
        for (what, bps) in [
            ("data", self.data_rate_bps),
            ("control", self.control_rate_bps),
            ("broadcast", self.broadcast_rate_bps),
        ] {
            if phy.rate(bps).is_none() {
                let known: Vec<String> = phy.rates.iter().map(|r| megabits(r.bps)).collect();
                return Err(format!(
                    "{} has no {what} rate of {} Mbit/s; its rates are {} Mbit/s",
                    phy.name,
                    megabits(bps),
                    known.join(", ")
                ));
            }
        }
        if phy.lowest_mandatory() == 0 {
            return Err(format!("{} must have a mandatory rate", phy.name));
        }
        for (name, limit) in [("short", self.retries.short), ("long", self.retries.long)] {
            if !(1..=MAX_RETRIES).contains(&limit) {
                return Err(format!(
                    "the {name} retry limit must be between 1 and {MAX_RETRIES}, not {limit}"
                ));
            }
        }
        Ok(())
    }

    fn check_lowpan(&self) -> Result<(), String> {
        match &self.lowpan {
            Some(lowpan) if self.phy.is_lowpan() => lowpan.check(),
            None if !self.phy.is_lowpan() => Ok(()),
            _ => Err("802.15.4 and 6LoWPAN belong together: use both or neither".into()),
        }
    }

    fn check_powers(&self) -> Result<(), String> {
        for (what, value) in [
            ("transmit power (dBm)", self.tx_power_dbm),
            ("carrier-sense threshold (dBm)", self.carrier_sense_dbm),
            ("sensitivity (dBm)", self.sensitivity_dbm),
            ("noise figure (dB)", self.noise_figure_db),
            ("capture threshold (dB)", self.capture_db.unwrap_or(0.0)),
        ] {
            if !(-MAX_DECIBELS..=MAX_DECIBELS).contains(&value) {
                let most = MAX_DECIBELS;
                return Err(format!("the {what} must be between -{most} and {most}, not {value}"));
            }
        }
        if self.capture_db.is_some_and(|db| db < 0.0) {
            return Err("the capture threshold must be at least 0 dB".to_string());
        }
        match self.path_loss {
            PathLoss::Friis => Ok(()),
            PathLoss::LogDistance { exponent, reference_loss_db } => {
                let [least, most] = EXPONENTS;
                if !(least..=most).contains(&exponent) {
                    return Err(format!(
                        "the path-loss exponent must be between {least} and {most}, not {exponent}"
                    ));
                }
                if !(0.0..=MAX_DECIBELS).contains(&reference_loss_db) {
                    return Err(format!(
                        "the loss at 1 m must be between 0 and {MAX_DECIBELS} dB, not {reference_loss_db}"
                    ));
                }
                Ok(())
            }
            PathLoss::Disc { receive_mm, sense_mm } if receive_mm > sense_mm => Err(format!(
                "the sensing distance must be at least the reception distance, {} m, not {} m",
                metres(receive_mm as f64 / 1000.0),
                metres(sense_mm as f64 / 1000.0)
            )),
            PathLoss::Disc { .. } => Ok(()),
        }
    }

    fn check_energy(&self, nodes: &[String]) -> Result<(), String> {
        if let Some(c) = self.consumption {
            let powers = [c.transmit_uw, c.receive_uw, c.listen_uw, c.idle_uw, c.sleep_uw];
            if powers.iter().any(|uw| *uw > MAX_UW) {
                return Err(format!("a radio draws at most {} W", MAX_UW / 1_000_000));
            }
        }
        if let Some((s, _)) = self.off.iter().find(|(s, _)| *s >= self.stations.len()) {
            return Err(format!("station {s} is to go off, but there are {}", self.stations.len()));
        }
        for station in &self.stations {
            let Some(uj) = station.battery_uj else { continue };
            let name = &nodes[station.node];
            if self.consumption.is_none() {
                return Err(format!(
                    "station \"{name}\" has a battery, but the power that its radio draws is not known"
                ));
            }
            if !(1..=MAX_UJ).contains(&uj) {
                return Err(format!(
                    "the battery of station \"{name}\" must hold between 1 uJ and {} MJ",
                    MAX_UJ / 1_000_000_000_000
                ));
            }
        }
        Ok(())
    }

    fn check_scheduling(&self) -> Result<(), String> {
        match self.scheduling.window {
            0 | 1 => Err("the window of its scheduling must be at least 2 slots".to_string()),
            _ => Ok(()),
        }
    }

    /// Checks the parameters of rate adaptation.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence.
    pub fn check_rate_adaptation(&self) -> Result<(), String> {
        let Some(m) = self.rate_adaptation else { return Ok(()) };
        let [least, most] = rate_adaptation::INTERVALS;
        if Rates::choices(&self.phy, self.data_rate_bps).next().is_none() {
            return Err("the rate of data frames is below every rate that rate adaptation can choose, which with \
                        802.11n are 6.5 Mbit/s and more"
                .into());
        }
        if self.lowpan.is_some() {
            return Err(format!("{} has one rate; rate adaptation needs several", self.phy.name));
        }
        if !(least..=most).contains(&m.interval) {
            return Err("rate adaptation must update its averages each 1 ms to 60 s".into());
        }
        if !(0.0..=0.99).contains(&m.memory) {
            return Err("the memory of rate adaptation must be 0 to 99 %".into());
        }
        if !(0.01..=0.5).contains(&m.lookaround) {
            return Err("rate adaptation must sample with 1 to 50 % of the frames".into());
        }
        Ok(())
    }

    /// Checks the parameters of aggregation.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence.
    pub fn check_aggregation(&self) -> Result<(), String> {
        let Some(a) = self.aggregation else { return Ok(()) };
        if !self.phy.is_ht() {
            let name = self.phy.name;
            return Err(format!("{name} aggregates no frames; 802.11n does"));
        }
        if self.scheduling.rule != Rule::Fifo {
            return Err("frames are aggregated in the order of arrival (`fifo`) only".into());
        }
        if !(1..=WINDOW).contains(&a.max_frames) {
            return Err(format!("an aggregate holds 1 to {WINDOW} frames"));
        }
        if !(1..=MAX_BYTES).contains(&a.max_size) {
            return Err(format!("an aggregate holds 1 to {MAX_BYTES} bytes"));
        }
        if a.max_airtime == Span::ZERO || a.max_airtime > MAX_AIRTIME {
            return Err("the airtime of an aggregate must be above 0 and at most 10 ms".into());
        }
        Ok(())
    }

    /// Checks the parameters of beacons. The access point need not be known yet.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence.
    pub fn check_beacons(&self) -> Result<(), String> {
        let Some(b) = self.beacons else { return Ok(()) };
        let ([soonest, latest], [least, most]) = (beacons::INTERVALS, beacons::SIZES);
        if !(soonest..=latest).contains(&b.interval) {
            return Err("beacons must come each 1 ms to 67.1 s, usually each 102.4 ms".into());
        }
        if !(least..=most).contains(&b.size) {
            return Err(format!("a beacon must have {least} to {most} bytes"));
        }
        if !(1..=MAX_NETWORKS).contains(&b.networks) {
            return Err(format!("an access point announces 1 to {MAX_NETWORKS} networks"));
        }
        let one = self.phy.rate(self.broadcast_rate_bps).map(|rate| self.phy.airtime(b.size, rate));
        if one.is_some_and(|one| one.0 * u64::from(b.networks) >= b.interval.0) {
            return Err("beacons alone would take all the airtime".into());
        }
        Ok(())
    }

    fn check_wifi(&self) -> Result<(), String> {
        self.check_rate_adaptation()?;
        self.check_aggregation()?;
        let centred = matches!(self.hops, Hops::Star { .. });
        if self.beacons.is_some() && (self.lowpan.is_some() || !centred) {
            return Err("beacons need an 802.11 access point that all stations talk to".into());
        }
        self.check_beacons()
    }

    fn check_errors(&self) -> Result<(), String> {
        let disc = matches!(self.path_loss, PathLoss::Disc { .. });
        match &self.errors {
            FrameErrors::None => Ok(()),
            FrameErrors::Model(model) => model.check(),
            FrameErrors::Snr if disc => Err("errors by signal to noise need a path loss with \
                powers (log-distance or Friis), not a disc"
                .to_string()),
            FrameErrors::Snr => Ok(()),
        }
    }

    fn check_hops(&self, nodes: &[String]) -> Result<(), String> {
        let n = self.stations.len();
        match &self.hops {
            Hops::Star { centre } if *centre >= n => {
                Err(format!("station {centre} does not exist; there are {n}"))
            }
            Hops::Star { centre } => (0..n)
                .filter(|s| s != centre)
                .try_for_each(|s| self.check_pair([s, *centre], nodes)),
            Hops::Pairs(pairs) => pairs.iter().try_for_each(|pair| {
                if let Some(s) = pair.iter().find(|s| **s >= n) {
                    return Err(format!("station {s} does not exist; there are {n}"));
                }
                if pair[0] == pair[1] {
                    let name = &nodes[self.stations[pair[0]].node];
                    return Err(format!("a hop cannot lead from \"{name}\" to itself"));
                }
                self.check_pair(*pair, nodes)
            }),
            Hops::InRange => self.pairs().into_iter().try_for_each(|p| self.check_pair(p, nodes)),
            Hops::Aodv(aodv) => {
                aodv.params.check()?;
                self.in_range().into_iter().try_for_each(|p| self.check_pair(p, nodes))
            }
        }
    }

    /// Checks that two stations with a hop between them receive each other, and that answers arrive in time.
    fn check_pair(&self, pair: [usize; 2], nodes: &[String]) -> Result<(), String> {
        let [a, b] = pair.map(|s| &self.stations[s]);
        let [name, other] = [a, b].map(|s| &nodes[s.node]);
        let reach = self.reach(a.position, b.position);
        let apart = metres(reach.distance_m);
        if !reach.receivable {
            let why = match (self.path_loss, reach.power_dbm) {
                (PathLoss::Disc { receive_mm, .. }, _) => {
                    format!("and frames are received up to {} m", metres(receive_mm as f64 / 1e3))
                }
                (_, Some(power)) => format!(
                    "frames arrive at {power:.1} dBm, and at least {:.1} dBm are needed",
                    self.sensitivity_dbm
                ),
                _ => String::new(),
            };
            return Err(format!(
                "station \"{name}\" is out of range of \"{other}\": they are {apart} m apart, {why}"
            ));
        }
        if 2 * reach.delay.0 > self.phy.slot.0 {
            return Err(format!(
                "station \"{name}\" is {apart} m from \"{other}\": a signal takes more than half a \
                 slot of {} µs that far, and every acknowledgement would come too late",
                self.phy.slot.0 as f64 / 1000.0
            ));
        }
        Ok(())
    }

    /// The stations that sleep, with their schedules.
    pub fn sleepers(&self) -> impl Iterator<Item = (usize, Polling)> + '_ {
        let polling = |(i, s): (usize, &StationConfig)| Some((i, s.sleep?));
        self.stations.iter().enumerate().filter_map(polling)
    }

    /// The other end of a station's only hop.
    pub(super) fn parent(&self, station: usize) -> Option<usize> {
        let other = |[a, b]: [usize; 2]| match station {
            s if s == a => Some(b),
            s if s == b => Some(a),
            _ => None,
        };
        let mut others = self.pairs().into_iter().filter_map(other);
        others.next().filter(|first| others.all(|o| o == *first))
    }

    /// Checks that a station can sleep as configured.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence without the radio's name.
    pub fn check_sleep(&self, station: usize, nodes: &[String]) -> Result<(), String> {
        let Some(polling) = self.stations[station].sleep else { return Ok(()) };
        let name = &nodes[self.stations[station].node];
        if self.lowpan.is_none() {
            let phy = self.phy.name;
            return Err(format!(
                "station \"{name}\" cannot sleep: {phy} has no data requests; use 802.15.4"
            ));
        }
        let [least, most] = POLLS;
        let fast = polling.fast_poll.unwrap_or(polling.poll_interval);
        if !(least..=most).contains(&polling.poll_interval) || fast < least {
            return Err(format!(
                "station \"{name}\" must poll at intervals of 1 ms to 1 day, for example every 2 s"
            ));
        }
        if fast > polling.poll_interval {
            return Err(format!(
                "station \"{name}\" must not poll less often while it waits for an answer than at other times"
            ));
        }
        let star = matches!(self.hops, Hops::Star { centre } if centre == station);
        match self.parent(station).filter(|_| !star && !matches!(self.hops, Hops::Aodv(_))) {
            None => Err(format!(
                "station \"{name}\" cannot sleep: others may be routed through it; only a station with a single \
                 hop sleeps, over which its parent keeps packets for it"
            )),
            Some(parent) if self.stations[parent].sleep.is_some() => {
                let parent = &nodes[self.stations[parent].node];
                Err(format!(
                    "station \"{name}\" cannot sleep: its parent \"{parent}\" sleeps too, and must be ready \
                     when it asks"
                ))
            }
            Some(_) => Ok(()),
        }
    }

    /// Maximum number of hops that routes may use; each direction counts as one.
    pub(crate) fn max_hops(&self) -> usize {
        let n = self.stations.len();
        match &self.hops {
            Hops::Star { .. } => 2 * n,
            Hops::Pairs(pairs) => 2 * pairs.len(),
            Hops::InRange => n.saturating_mul(n),
            // Flows on disjoint paths have their own hops.
            Hops::Aodv(aodv) => n.saturating_mul(n).saturating_add(4 * aodv.disjoint.len()),
        }
    }

    /// The pairs of stations between which packets may be routed.
    pub fn pairs(&self) -> Vec<[usize; 2]> {
        let n = self.stations.len();
        match &self.hops {
            Hops::Star { centre } => (0..n).filter(|s| s != centre).map(|s| [s, *centre]).collect(),
            Hops::Pairs(pairs) => pairs.clone(),
            Hops::InRange => self.in_range(),
            Hops::Aodv(_) => (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b])).collect(),
        }
    }

    /// The pairs of stations that can receive each other.
    pub fn in_range(&self) -> Vec<[usize; 2]> {
        let n = self.stations.len();
        let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        let receivable = |[a, b]: &[usize; 2]| {
            let [a, b] = [a, b].map(|s| self.stations[*s].position);
            self.reach(a, b).receivable
        };
        all.filter(receivable).collect()
    }
}

fn check_station(station: &StationConfig, nodes: &[String]) -> Result<(), String> {
    let Some(name) = nodes.get(station.node) else {
        return Err(format!("node {} does not exist; there are {}", station.node, nodes.len()));
    };
    let p = station.position;
    if [p.x_mm, p.y_mm].iter().any(|mm| !(-MAX_MM..=MAX_MM).contains(mm)) {
        return Err(format!("station \"{name}\" is more than 1000 km from the origin"));
    }
    match station.queue {
        QueueLimit::Packets(0) | QueueLimit::Bytes(0) => Err(format!(
            "station \"{name}\" must have room for at least one packet: the one being sent counts"
        )),
        _ => Ok(()),
    }
}

fn megabits(bps: u64) -> String {
    format!("{}", bps as f64 / 1e6)
}

/// Metres, rounded to a decimetre.
fn metres(m: f64) -> String {
    format!("{}", libm::round(m * 10.0) / 10.0)
}
