//! Multipath TCP.

use windlass_cc::{Span, Time};
use windlass_sim::loss::LossModel;
use windlass_sim::results::PacketFate;
use windlass_tcp::Flags;
use windlass_tcp::mptcp::{MpOption, Scheduler};

use super::super::Direction;
use super::super::Side;
use super::super::Side::{Receiver, Sender};
use super::super::faults::{Fault, What, Which};
use super::super::findings::Findings;
use super::super::plan::{Case, KernelSocket, Multipath, Outage, Plan};
use super::super::script::Step::*;
use super::super::trace::Trace;
use super::handshake::{both_ways, request_response};

const BYTES: u64 = 2_000_000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = transfers();
    cases.extend(deaths());
    cases.extend(handshakes());
    cases.extend(fallbacks());
    cases
}

fn plan(change: impl FnOnce(&mut Multipath)) -> Plan {
    Plan::transfer(BYTES).multipath(change)
}

fn transfers() -> Vec<Case> {
    let lossy = |mut plan: Plan| {
        plan.loss = [(); 2].map(|()| Some(LossModel::Drop { probability: 0.02 }));
        plan.patience = Time::from_secs(60);
        plan
    };
    vec![
        Case::new(
            "mptcp-transfer",
            "two paths carry 2 MB, and DATA_FIN closes (RFC 8684 sections 3.1 to 3.3)",
            plan(|_| {}),
        )
        .check(both_carry),
        Case::new(
            "mptcp-passive-sender",
            "the passive opener sends the data over both paths",
            passive_sender().multipath(|_| {}),
        )
        .check(both_carry),
        Case::new(
            "mptcp-both-ways",
            "two streams of 1 MB at once, with data acknowledgements on mappings",
            both_ways(1_000_000).multipath(|_| {}),
        )
        .check(both_carry),
        Case::new(
            "mptcp-request-response",
            "requests and answers take turns on a connection of two paths",
            request_response().multipath(|_| {}),
        ),
        Case::new(
            "mptcp-checksums",
            "both ends request checksums of the data, and all checksums are right (RFC 8684 section 3.3.1)",
            plan(|m| {
                m.config.checksum = true;
                m.kernel = KernelSocket::Checksums;
            }),
        )
        .check(both_carry),
        Case::new(
            "mptcp-redundant",
            "data that arrive on both paths are delivered once",
            plan(|m| m.config.scheduler = Scheduler::Redundant),
        ),
        Case::new(
            "mptcp-slow-reader",
            "a stopped reader closes the window of the connection; after it reads, the stream continues",
            slow_reader().multipath(|m| m.config.receive_buffer = 200_000),
        ),
        Case::new(
            "mptcp-random-loss",
            "every byte arrives despite 2 % loss in both directions on both paths",
            lossy(plan(|_| {})),
        ),
        Case::new(
            "mptcp-random-loss-both-ways",
            "every byte of two simultaneous streams arrives over both lossy paths",
            lossy(both_ways(500_000).multipath(|_| {})),
        ),
    ]
}

/// Paths that deliver nothing from the middle of the run.
fn deaths() -> Vec<Case> {
    let silent = |path| {
        let outage = Outage { path, from: ms(250), to: Time::NEVER };
        let mut plan = plan(|m| m.outages = vec![outage]);
        plan.patience = Time::from_secs(60);
        // A subflow on a dead path is not closed by a FIN.
        plan.ends.iter_mut().for_each(|end| end.script.retain(|step| *step != Over));
        plan
    };
    vec![
        Case::new(
            "mptcp-second-path-dies",
            "data lost on the second path are retransmitted on the first (RFC 8684 section 3.3.6)",
            silent(1),
        ),
        Case::new(
            "mptcp-first-path-dies",
            "the connection survives the end of its first subflow",
            silent(0),
        ),
        Case::new(
            "mptcp-path-returns",
            "a path that delivers nothing for a second carries data again afterwards",
            slow(plan(|m| m.outages = vec![Outage { path: 1, from: ms(250), to: ms(1_250) }])),
        )
        .check(|trace, findings| {
            let after = ms(1_250);
            let back = trace.packets.iter().filter(|p| {
                let on_second = p.path.is_some_and(|path| path.path == 1);
                let data = p.forward && p.segment.is_some_and(|s| s.len > 1_000);
                on_second && data && p.fate == PacketFate::Delivered && p.time > after
            });
            let count = back.count();
            findings.expect(count > 50, "more than 50 segments on the restored path", count);
        }),
    ]
}

/// Handshakes of the second subflow with faults.
fn handshakes() -> Vec<Case> {
    let with = |from, which, what| plan(|m| m.faults = vec![Fault { from, which, what }]);
    let later = What::Twice(Span::from_millis(5));
    let never = |path| Outage { path, from: Time::ZERO, to: Time::NEVER };
    vec![
        Case::new(
            "mptcp-lost-join",
            "a join with a lost SYN completes about a second later, and the data do not wait for it",
            slow(with(Sender, Which::Syn(1, 1), What::Drop)),
        )
        .check(both_carry),
        Case::new(
            "mptcp-lost-join-ack",
            "the third segment of a join is retransmitted until the fourth arrives (RFC 8684 section 3.2)",
            with(Sender, Which::Ack(1, 1), What::Drop),
        )
        .check(both_carry),
        Case::new(
            "mptcp-duplicate-join",
            "a duplicate SYN of a join creates one subflow",
            with(Sender, Which::Syn(1, 1), later),
        )
        .check(both_carry),
        Case::new(
            "mptcp-path-never-up",
            "if one path never delivers, the connection uses the other path",
            plan(|m| m.outages = vec![never(1)]),
        ),
    ]
}

/// One end does not support Multipath TCP.
fn fallbacks() -> Vec<Case> {
    vec![
        Case::new(
            "mptcp-kernel-without",
            "with a plain TCP peer the connection is plain TCP (RFC 8684 section 3.7)",
            plan(|m| m.kernel = KernelSocket::Plain),
        )
        .check(plain),
        Case::new(
            "mptcp-ours-without",
            "the connection is plain TCP if Windlass's server has Multipath TCP turned off",
            plan(|m| m.config.peer_capable = false),
        )
        .check(plain)
        .only(Direction::KernelSends),
    ]
}

/// A plan that takes some seconds.
fn slow(mut plan: Plan) -> Plan {
    plan.rate_bps = 3_000_000;
    plan.patience = Time::from_secs(30);
    plan
}

fn ms(n: u64) -> Time {
    Time::from_millis(n)
}

fn passive_sender() -> Plan {
    Plan::new(
        vec![Listen, Open(1), Send(BYTES), Close, End, Over],
        vec![Connect, Open(1), Received(BYTES), End, Close, Over],
    )
}

fn slow_reader() -> Plan {
    let mut plan = Plan::new(
        vec![Connect, Send(BYTES), Close, End, Over],
        vec![
            Listen,
            Open(1),
            StopReading,
            Pause(Span::from_secs(2)),
            Read,
            Received(BYTES),
            End,
            Close,
            Over,
        ],
    );
    plan.patience = Time::from_secs(30);
    plan
}

/// Returns an end's delivered payload on each path, bytes.
fn carried(trace: &Trace, side: Side) -> [u64; 2] {
    let forward = side == Sender;
    let mut carried = [0; 2];
    for p in
        trace.packets.iter().filter(|p| p.forward == forward && p.fate == PacketFate::Delivered)
    {
        if let (Some(path), Some(s)) = (p.path, &p.segment) {
            carried[usize::from(path.path)] += u64::from(s.len);
        }
    }
    carried
}

/// Checks that the second subflow was established, and that each path carried a part of the data. The part is small if the subflow joins late.
fn both_carry(trace: &Trace, findings: &mut Findings) {
    let proofs = trace
        .packets
        .iter()
        .filter_map(|p| p.path?.option)
        .filter(|option| matches!(option, MpOption::JoinAck { .. }));
    findings.expect(proofs.count() > 0, "the third segment of a join", "none");
    let carried = carried(trace, Sender);
    let least = carried.iter().sum::<u64>() / 20;
    findings.expect(
        carried.iter().all(|bytes| *bytes >= least),
        "at least a twentieth of the data on each path",
        format!("{carried:?} bytes"),
    );
}

/// Checks that only the client's SYN and its answer have an option of Multipath TCP.
fn plain(trace: &Trace, findings: &mut Findings) {
    let beyond = trace.packets.iter().filter(|p| {
        let syn = p.segment.is_some_and(|s| s.flags.has(Flags::SYN));
        !syn && p.path.is_some_and(|path| path.option.is_some())
    });
    let count = beyond.count();
    findings.expect(count == 0, "no option of Multipath TCP after the SYNs", count);
    findings.expect(
        carried(trace, Sender)[1] == 0 && carried(trace, Receiver)[1] == 0,
        "one path in use",
        "data on the second",
    );
}
