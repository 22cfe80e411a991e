//! s2n-quic 1.91, with the feature of its core that allows other implementations of its trait.

use std::time::{Duration, Instant};

use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::congestion_controller::{
    CongestionController, Endpoint, PathInfo, Publisher,
};
use s2n_quic_core::time::Timestamp;
use windlass_cc::{Pacer, Rate, Time, pacer};

use crate::adapter::Congestion;
use crate::{Adapter, Factory, INITIAL_PACKETS};

/// A path's controller. A [`Factory`] makes it.
#[derive(Clone, Debug)]
pub struct S2n {
    adapter: Adapter,
    began: Instant,
    /// The library's time at `began`. `None` before the first packet.
    origin: Option<Timestamp>,
    pacer: Pacer,
    pacing: pacer::Params,
    app_limited: bool,
    /// Sending time of the newest acknowledged packet. Marks are reported before their acknowledgement and without a
    /// time.
    newest: Instant,
}

impl Endpoint for Factory {
    type CongestionController = S2n;

    fn new_congestion_controller(&mut self, path: PathInfo) -> S2n {
        let began = Instant::now();
        let initial_burst = INITIAL_PACKETS * u64::from(path.max_datagram_size);
        let pacing = pacer::Params { initial_burst, ..pacer::Params::default() };
        S2n {
            adapter: self.adapter(began, path.max_datagram_size),
            began,
            origin: None,
            pacer: Pacer::new(&pacing),
            pacing,
            app_limited: true,
            newest: began,
        }
    }
}

impl S2n {
    fn at(&self, time: Timestamp) -> Instant {
        let passed = self.origin.map(|origin| time.saturating_duration_since(origin));
        self.began + passed.unwrap_or_default()
    }

    /// The algorithm's rate, or the rate of RFC 9002 section 7.7: five quarters of the window per RTT.
    fn rate(&self, rtt: Duration) -> Rate {
        let asked = self.adapter.control().pacing;
        let nanos = u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX).max(1);
        if asked.0 > 0 {
            return asked;
        }
        Rate(self.adapter.window().saturating_mul(1_250_000_000) / nanos)
    }
}

impl CongestionController for S2n {
    /// Sending time.
    type PacketInfo = Timestamp;

    fn congestion_window(&self) -> u32 {
        saturated(self.adapter.window())
    }

    fn bytes_in_flight(&self) -> u32 {
        saturated(self.adapter.in_flight())
    }

    fn is_congestion_limited(&self) -> bool {
        !self.adapter.has_room()
    }

    /// Always false, because the window has room for a retransmission.
    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        _: &mut Pub,
    ) -> Timestamp {
        if sent_bytes > 0 {
            self.origin.get_or_insert(time_sent);
            let (now, bytes) = (self.at(time_sent), sent_bytes as u64);
            self.adapter.on_sent(now, bytes);
            self.app_limited = app_limited.unwrap_or(true);
            let passed = Time((now - self.began).as_nanos() as u64);
            let rate = self.rate(rtt.smoothed_rtt());
            self.pacer.on_sent(&self.pacing, passed, bytes, rate);
        }
        time_sent
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        _now: Timestamp,
        _: &RttEstimator,
        _: &mut Pub,
    ) {
        self.newest = self.at(time_sent);
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        newest_sent: Timestamp,
        bytes: usize,
        _: Timestamp,
        _: &RttEstimator,
        _: &mut dyn Generator,
        now: Timestamp,
        _: &mut Pub,
    ) {
        let (now, bytes) = (self.at(now), bytes as u64);
        let in_flight = self.adapter.in_flight().saturating_sub(bytes);
        self.adapter.on_ack(now, self.at(newest_sent), bytes);
        self.adapter.on_end_acks(now, in_flight, self.app_limited);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        sent: Timestamp,
        persistent: bool,
        _new_loss_burst: bool,
        _: &mut dyn Generator,
        now: Timestamp,
        _: &mut Pub,
    ) {
        let what = Congestion { sent: self.at(sent), lost: lost_bytes.into(), persistent };
        self.adapter.on_congestion(self.at(now), what);
    }

    fn on_explicit_congestion<Pub: Publisher>(&mut self, _: u64, now: Timestamp, _: &mut Pub) {
        let what = Congestion { sent: self.newest, lost: 0, persistent: false };
        self.adapter.on_congestion(self.at(now), what);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _: &mut Pub) {
        self.adapter.on_mtu(max_data_size);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _: &mut Pub) {
        self.adapter.on_discarded(bytes_sent as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.origin.map(|origin| origin + Duration::from_nanos(self.pacer.next().0))
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
