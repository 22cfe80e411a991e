//! Packet by packet: the exchange of Reno-BER's figure 10, and golden traces of textbook examples.

use crate::common::trace::{assert_golden, text};
use crate::common::{
    MSS, Traffic, download, flow, link, listed, network, profile, rfc_with_initial_window, run,
};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, ReadPolicy};
use windlass_sim::loss::LossModel;
use windlass_sim::{PacketEvent, PacketFate, RunResult};
use windlass_tcp::InitialWindow;
use windlass_tcp::stack::RIVERBED;

/// A transfer of `segments` full segments over one captured link of 10 Mbit/s and 20 ms.
fn transfer(algorithm: &'static str, segments: u64, loss: Option<LossModel>) -> Config {
    let mut wire = link([0, 1], 10_000_000, 20);
    wire.loss[0] = loss;
    let mut stack = rfc_with_initial_window(4);
    stack.timestamps = false;
    stack.sack = false;
    let bulk = Traffic::Bulk { bytes: Some(segments * MSS) };
    let mut config = network(
        vec![wire],
        vec![flow([0, 1], profile(stack, algorithm), bulk)],
        Time::from_secs(100),
    );
    config.record.capture = vec![0];
    config
}

fn golden(name: &str, config: Config) -> RunResult {
    let result = run(config);
    assert_golden(name, &text(&result));
    result
}

#[test]
fn slow_start_without_loss() {
    let r = golden("slow_start", transfer("reno", 20, None));
    assert_eq!((r.flows[0].data_segments, r.flows[0].retransmits), (20, 0));
}

// Frame 1 is the SYN. The first segment carries the ACK of the handshake, so that frame 1 + k is the first
// transmission of segment k.

#[test]
fn one_loss_is_repaired_by_renos_fast_retransmit() {
    let r = golden("reno_one_loss", transfer("reno", 30, listed(&[10])));
    let f = &r.flows[0];
    assert_eq!((f.retransmits, f.fast_retransmits, f.rto_count), (1, 1, 0));
}

#[test]
fn two_losses_in_a_window_are_one_recovery_for_newreno() {
    let r = golden("newreno_two_losses", transfer("newreno", 30, listed(&[10, 12])));
    let f = &r.flows[0];
    assert_eq!((f.retransmits, f.fast_retransmits, f.rto_count), (2, 1, 0));
}

#[test]
fn two_losses_in_a_window_cost_reno_a_recovery_and_a_timeout() {
    let r = golden("reno_two_losses", transfer("reno", 30, listed(&[10, 12])));
    let f = &r.flows[0];
    // The partial acknowledgement ends the recovery. Then a single segment is in flight, which causes one
    // duplicate.
    assert_eq!((f.retransmits, f.fast_retransmits, f.rto_count), (2, 1, 1));
}

#[test]
fn tahoe_goes_back_to_one_segment() {
    let r = golden("tahoe_one_loss", transfer("tahoe", 30, listed(&[10])));
    let f = &r.flows[0];
    assert_eq!((f.fast_retransmits, f.rto_count), (1, 0));
}

#[test]
fn the_loss_of_the_last_segment_waits_for_the_timer() {
    let r = golden("rto_last_segment", transfer("reno", 6, listed(&[7])));
    assert_eq!((r.flows[0].retransmits, r.flows[0].rto_count), (1, 1));
}

#[test]
fn a_closed_window_is_probed() {
    let mut config = transfer("reno", 11, None);
    config.flows[0].profile_mut().stack.receive_buffer = 4 * MSS;
    config.flows[0].read = ReadPolicy::Delayed(Span::from_millis(4000));
    let r = golden("zero_window", config);
    assert_eq!(r.flows[0].delivered_bytes, 11 * MSS);
    let closed = r.packets.iter().filter_map(|p| p.segment).any(|s| s.window == 0);
    assert!(closed, "the window never closed");
}

/// One packet of the log at the client: the time in nanoseconds since the first data segment arrived, the
/// type, the first sequence number or the acknowledgement, and the window.
type Row = (u64, &'static str, u32, u16);

fn rows(r: &RunResult) -> Vec<Row> {
    let number = |e: &PacketEvent, seq: u32| {
        let syn = r.packets.iter().filter(|p| p.forward == e.forward);
        let first = syn.filter_map(|p| p.segment).next().expect("a SYN");
        seq.wrapping_sub(first.seq.0)
    };
    let data = |e: &&PacketEvent| {
        let arrives = matches!(e.fate, PacketFate::Delivered | PacketFate::DroppedError);
        e.forward && arrives && e.segment.is_some_and(|s| s.len > 0)
    };
    let zero = r.packets.iter().find(data).expect("data").time;
    let server = r.packets.iter().find(|e| e.forward).and_then(|e| e.segment).expect("a SYN");
    let row = |e: &PacketEvent| {
        let s = e.segment.expect("TCP only");
        let at = e.time.since(zero).0;
        if data(&e) {
            let what = if e.fate == PacketFate::DroppedError { "lost" } else { "data" };
            return Some((at, what, number(e, s.seq.0), s.window));
        }
        let acks = !e.forward && e.fate == PacketFate::Sent;
        acks.then(|| (at, "ack", s.ack.0.wrapping_sub(server.seq.0), s.window))
    };
    r.packets.iter().filter(|e| e.time >= zero).filter_map(row).collect()
}

#[test]
fn figure_10_receive_window_and_third_duplicate_match() {
    // Reno-BER's stack with six segments in flight, of which the fifth is lost. The client reads 6 ms after
    // data arrives. A frame takes 1.2304 ms. An acknowledgement, padded to 64 bytes, takes 67.2 us on each of
    // two links.
    let mut stack = RIVERBED;
    stack.initial_window = InitialWindow::Segments(6);
    let mut config = download(stack, 20 * MSS, listed(&[1 + 5]));
    config.flows[0].read = ReadPolicy::Delayed(Span::from_millis(6));
    config.record.capture = vec![1];
    let r = run(config);
    assert_golden("figure_10", &text(&r));
    let rows = rows(&r);
    let expected: [Row; 21] = [
        // Six segments, back to back. Each pair is acknowledged. The client has read nothing, so that the
        // receive window is reduced from 8760 to 5840 and 2920 bytes.
        (0, "data", 1, 8760),
        (1_230_400, "data", 1461, 8760),
        (1_230_400, "ack", 2921, 5840),
        (2_460_800, "data", 2921, 8760),
        (3_691_200, "data", 4381, 8760),
        (3_691_200, "ack", 5841, 2920),
        (4_921_600, "lost", 5841, 8760),
        // The client reads. The receive window is full again, and this acknowledgement is not a duplicate.
        (6_000_000, "ack", 5841, 8760),
        // The sixth segment arrives out of order and causes the first duplicate.
        (6_152_000, "data", 7301, 8760),
        (6_152_000, "ack", 5841, 8760),
        // After the window update, the server sends four segments from 8761, up to the edge of the window.
        // The update reached the server 20.1344 ms after it was sent, and a segment needs 22.4608 ms.
        (48_595_200, "data", 8761, 8760),
        (48_595_200, "ack", 5841, 8760),
        (49_825_600, "data", 10_221, 8760),
        (49_825_600, "ack", 5841, 8760),
        (51_056_000, "data", 11_681, 8760),
        (51_056_000, "ack", 5841, 8760),
        (52_286_400, "data", 13_141, 8760),
        (52_286_400, "ack", 5841, 8760),
        // The third duplicate, sent at 49.8256 ms, triggers the retransmission of the lost segment. The
        // segment fills the gap and the whole window, until the client reads 6 ms later.
        (92_420_800, "data", 5841, 8760),
        (92_420_800, "ack", 14_601, 0),
        (98_420_800, "ack", 14_601, 8760),
    ];
    assert_eq!(rows[..expected.len()], expected);
    let (update, third, journey) = (6_000_000, 49_825_600, 20_134_400 + 22_460_800);
    assert_eq!((rows[10].0, rows[18].0), (update + journey, third + journey));
    let f = &r.flows[0];
    assert_eq!((f.retransmits, f.fast_retransmits, f.rto_count), (1, 1, 0));
}
