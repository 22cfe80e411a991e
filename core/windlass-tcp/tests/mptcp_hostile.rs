//! Segments and options that no correct peer sends: no panic, deadlines advance, and delivered data are not
//! changed.

use crate::multinet::{Net, Path, multipath, scheduled};
use proptest::prelude::*;
use windlass_cc::Span;
use windlass_tcp::mptcp::{Dss, Mapping, MpOption, Outgoing, Scheduler};
use windlass_tcp::{Flags, Segment, Seq, Timestamps};

/// A number at or near a number in an earlier segment, or any number.
fn near() -> impl Strategy<Value = (bool, i64)> {
    prop_oneof![
        4 => (-3000i64..3000).prop_map(|d| (true, d)),
        1 => any::<i64>().prop_map(|d| (false, d)),
    ]
}

#[derive(Clone, Debug)]
struct Forged {
    /// The earlier segment that it imitates, and whether it returns to its sender.
    like: usize,
    back: bool,
    path: usize,
    seq: (bool, i64),
    ack: (bool, i64),
    data: (bool, i64),
    data_ack: (bool, i64),
    len: u32,
    map_len: u16,
    window: u16,
    flags: u8,
    kind: u8,
    key: u64,
}

prop_compose! {
    fn forged()(
        like in any::<usize>(), back in any::<bool>(), path in 0usize..4,
        numbers in (near(), near(), near(), near()),
        len in prop_oneof![Just(0u32), 1u32..1500],
        map_len in prop_oneof![0u16..3, any::<u16>()],
        window in any::<u16>(),
        flags in prop_oneof![3 => Just(0x10u8), 1 => any::<u8>()],
        kind in 0u8..13, key in any::<u64>(),
    ) -> Forged {
        let (seq, ack, data, data_ack) = numbers;
        Forged { like, back, path, seq, ack, data, data_ack, len, map_len, window, flags, kind, key }
    }
}

fn moved(from: u64, (near, by): (bool, i64)) -> u64 {
    if near { from.wrapping_add_signed(by) } else { by as u64 }
}

impl Forged {
    fn build(&self, log: &[Outgoing]) -> Outgoing {
        let like = log[self.like % log.len()];
        let mut dss = Dss::default();
        if let Some(MpOption::Dss(seen)) = like.option {
            dss = seen;
        }
        let mapping = dss.mapping.unwrap_or_default();
        let option = match self.kind {
            0 => None,
            1 => like.option,
            2 => Some(MpOption::Capable { sender_key: None, receiver_key: None, data_len: None }),
            3 => Some(MpOption::Capable {
                sender_key: Some(self.key),
                receiver_key: Some(self.key),
                data_len: Some(self.map_len),
            }),
            4 => Some(MpOption::JoinSyn {
                backup: false,
                address: 9,
                token: self.key as u32,
                nonce: self.map_len.into(),
            }),
            5 => Some(MpOption::JoinAck { hmac: [self.map_len as u8; 20] }),
            6 => Some(MpOption::FastClose { key: self.key }),
            7 => Some(MpOption::RemoveAddress { address: self.path as u8 }),
            _ => Some(MpOption::Dss(Dss {
                data_ack: self
                    .kind
                    .is_multiple_of(2)
                    .then(|| moved(dss.data_ack.unwrap_or(0), self.data_ack)),
                mapping: (self.kind > 8).then(|| Mapping {
                    data_seq: moved(mapping.data_seq, self.data),
                    subflow_offset: moved(mapping.subflow_offset.into(), self.seq) as u32,
                    len: if self.kind > 10 { self.len as u16 } else { self.map_len },
                }),
                data_fin: self.kind == 12,
            })),
        };
        let mut segment = Segment {
            seq: Seq(moved(like.segment.seq.0.into(), self.seq) as u32),
            ack: Seq(moved(like.segment.ack.0.into(), self.ack) as u32),
            len: self.len,
            window: self.window,
            flags: Flags(self.flags.into()),
            ..Segment::default()
        };
        segment.options.timestamps =
            like.segment.options.timestamps.map(|t| Timestamps { value: t.value + 1, ..t });
        Outgoing { path: self.path, segment, option, ..like }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, max_shrink_iters: 2_000, ..Default::default()
    })]

    // RFC 8684-3.3.1-11, 8684-3.3.4-2
    #[test]
    fn forged_segments_do_no_more_than_end_the_connection(
        scheduler in prop::sample::select(Scheduler::ALL.map(|s| s.1).to_vec()),
        forged in prop::collection::vec((0u64..400, forged()), 1..60),
        seed in any::<u64>(),
    ) {
        let p = multipath(scheduled(scheduler), 2);
        let paths = vec![Path::rated(5, 10), Path::rated(30, 2)];
        let mut net = Net::transfer(p, 150_000, paths, seed);
        net.keep_log = true;
        net.trusting = true;
        let mut forged = forged;
        forged.sort_by_key(|f| f.0);
        net.run_until(2);
        for (at, f) in &forged {
            net.run_until(*at);
            let log: Vec<Outgoing> = net.log.iter().map(|l| l.2).collect();
            let like = &net.log[f.like % log.len()];
            let to = if f.back { like.1 } else { 1 - like.1 };
            let before = net.ends.each_ref().map(|e| (e.c.received(), e.c.acknowledged()));
            net.inject(to, &f.build(&log));
            for (end, before) in net.ends.iter().zip(before) {
                prop_assert!(end.c.received() >= before.0 && end.c.acknowledged() >= before.1);
                prop_assert!(end.c.deadline() >= net.now + Span(0));
            }
        }
        // Ten minutes are enough for the rest to fail or to arrive.
        net.run_until(1_000_000);
    }
}
