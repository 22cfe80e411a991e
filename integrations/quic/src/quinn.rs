//! quinn 0.11.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::adapter::Congestion;
use crate::{Adapter, Factory};

#[derive(Clone)]
struct Quinn {
    adapter: Adapter,
    initial_window: u64,
    /// Sending time of the last packet, and its bytes according to quinn.
    last: Option<(Instant, u64)>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let adapter = self.adapter(now, current_mtu);
        Box::new(Quinn { initial_window: adapter.window(), adapter, last: None })
    }
}

impl Controller for Quinn {
    /// quinn reports the bytes of all packets of a batch that were sent so far.
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let before = self.last.filter(|(when, told)| *when == now && *told < bytes);
        self.last = Some((now, bytes));
        self.adapter.on_sent(now, bytes - before.map_or(0, |(_, told)| told));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.adapter.on_ack(now, sent, bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.adapter.on_end_acks(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
    ) {
        self.adapter.on_congestion(now, Congestion { sent, lost: lost_bytes, persistent });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.adapter.on_mtu(new_mtu);
    }

    /// The window plus one byte. quinn sends only while the bytes in flight stay below this value, so it would keep
    /// back the last packet of every full window.
    fn window(&self) -> u64 {
        self.adapter.window() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let control = self.adapter.control();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.adapter.window();
        metrics.ssthresh = Some(control.ssthresh);
        metrics.pacing_rate = Some(8 * control.pacing.0).filter(|rate| *rate > 0);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
