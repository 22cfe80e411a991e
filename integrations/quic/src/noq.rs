//! noq 1.4.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::adapter::Congestion;
use crate::{Adapter, Factory};

#[derive(Clone, Debug)]
struct Noq {
    adapter: Adapter,
    initial_window: u64,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let adapter = self.adapter(now, current_mtu);
        Box::new(Noq { initial_window: adapter.window(), adapter })
    }
}

impl Controller for Noq {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _pn: u64) {
        self.adapter.on_sent(now, bytes.into());
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
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
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let lost = if is_ecn { 0 } else { lost_bytes };
        self.adapter.on_congestion(now, Congestion { sent, lost, persistent });
    }

    fn on_spurious_congestion_event(&mut self) {
        self.adapter.on_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.adapter.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.adapter.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let control = self.adapter.control();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = Some(control.ssthresh);
        metrics.pacing_rate = Some(control.pacing.0).filter(|rate| *rate > 0);
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
