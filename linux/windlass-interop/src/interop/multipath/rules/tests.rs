//! Each rule finds its violation, and no rule reports a connection without violations.

use windlass_cc::Time;
use windlass_sim::results::PathPacket;
use windlass_tcp::mptcp::Mapping;
use windlass_tcp::{Options, Seq};

use super::*;

const KEYS: [u64; 2] = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
const NONCES: [u32; 2] = [17, 19];

/// A connection, built packet by packet. Every sent packet arrives.
struct Story(Vec<PacketEvent>);

fn first(side: Side) -> u64 {
    keys::initial_data_seq(KEYS[side as usize]).wrapping_add(1)
}

fn credentials(side: Side) -> Credentials {
    Credentials { key: KEYS[side as usize], nonce: NONCES[side as usize] }
}

fn data(from: Side, at: u64, len: u16, subflow_offset: u32) -> Dss {
    let mapping = Mapping { data_seq: first(from).wrapping_add(at), subflow_offset, len };
    Dss { mapping: Some(mapping), ..Dss::default() }
}

impl Story {
    /// A connection that the sender has opened.
    fn begun() -> Story {
        let options = Options { window_scale: Some(0), ..Options::default() };
        let syn = Segment { flags: Flags::SYN, options, window: 5_000, ..Segment::default() };
        let answer = Segment { flags: Flags::SYN.with(Flags::ACK), ..syn };
        let third = Segment { seq: Seq(1), flags: Flags::ACK, options: Options::default(), ..syn };
        let capable = |sender_key, receiver_key| MpOption::Capable {
            sender_key,
            receiver_key,
            data_len: None,
        };
        let [ours, theirs] = KEYS;
        Story(Vec::new())
            .send(Side::Sender, 0, syn, capable(None, None))
            .send(Side::Receiver, 0, answer, capable(Some(theirs), None))
            .send(Side::Sender, 0, third, capable(Some(ours), Some(theirs)))
    }

    fn event(&mut self, from: Side, path: u8, fate: PacketFate, s: Segment, o: Option<MpOption>) {
        self.0.push(PacketEvent {
            time: Time(self.0.len() as u64),
            link: 0,
            flow: 0,
            forward: from == Side::Sender,
            fate,
            segment: Some(s),
            ip_len: s.ip_len(),
            path: Some(PathPacket { path, attempt: 0, option: o }),
            quick_start: None,
        });
    }

    fn send(mut self, from: Side, path: u8, s: Segment, option: MpOption) -> Story {
        self.event(from, path, PacketFate::Sent, s, Some(option));
        self.event(from, path, PacketFate::Delivered, s, Some(option));
        self
    }

    /// Adds a data segment on the first path. `offset` 1 is the byte after the SYN.
    fn data(self, offset: u32, len: u32, dss: Dss) -> Story {
        let s = Segment { seq: Seq(offset), len, flags: Flags::ACK, ..Segment::default() };
        self.send(Side::Sender, 0, s, MpOption::Dss(dss))
    }

    /// The receiver acknowledges this number of bytes of the stream.
    fn ack(self, bytes: u64, window: u16) -> Story {
        let s = Segment { seq: Seq(1), flags: Flags::ACK, window, ..Segment::default() };
        let data_ack = Some(first(Side::Sender).wrapping_add(bytes));
        self.send(Side::Receiver, 0, s, MpOption::Dss(Dss { data_ack, ..Dss::default() }))
    }

    fn join(self, token: u32, answer: u64, proof: [u8; 20]) -> Story {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let flags = Flags::SYN.with(Flags::ACK);
        let (backup, address) = (false, 1);
        let [ours, theirs] = NONCES;
        self.send(Side::Sender, 1, syn, MpOption::JoinSyn { backup, address, token, nonce: ours })
            .send(
                Side::Receiver,
                1,
                Segment { flags, ..syn },
                MpOption::JoinSynAck { backup, address, hmac: answer, nonce: theirs },
            )
            .send(
                Side::Sender,
                1,
                Segment { seq: Seq(1), flags: Flags::ACK, ..syn },
                MpOption::JoinAck { hmac: proof },
            )
    }

    fn findings(self) -> Vec<String> {
        let trace = Trace::of(self.0);
        let mut findings = Findings::default();
        judge(&trace, &mut findings);
        findings.0.iter().map(ToString::to_string).collect()
    }

    /// Checks that there is exactly one finding, with this text.
    fn breaks(self, what: &str) {
        let findings = self.findings();
        assert!(findings.len() == 1 && findings[0].contains(what), "{what}: {findings:?}");
    }
}

#[test]
fn complete_connection_of_two_paths_has_no_findings() {
    let [ours, theirs] = [Side::Sender, Side::Receiver].map(credentials);
    let fin = Dss { data_fin: true, ..data(Side::Sender, 200, 1, 0) };
    let end = Segment { seq: Seq(201), flags: Flags::ACK, ..Segment::default() };
    let story = Story::begun()
        .data(1, 100, data(Side::Sender, 0, 100, 1))
        .ack(100, 5_000)
        .join(
            keys::token(theirs.key),
            keys::join_syn_ack_hmac(theirs, ours),
            keys::join_ack_hmac(ours, theirs),
        )
        .data(101, 100, data(Side::Sender, 100, 100, 101))
        .send(Side::Sender, 0, end, MpOption::Dss(fin))
        .ack(201, 5_000);
    assert_eq!(story.findings(), Vec::<String>::new());
}

#[test]
fn wrong_token_or_proof_is_found() {
    let [ours, theirs] = [Side::Sender, Side::Receiver].map(credentials);
    let token = keys::token(theirs.key);
    let answer = keys::join_syn_ack_hmac(theirs, ours);
    let proof = keys::join_ack_hmac(ours, theirs);
    let wrong = "token and proofs that follow";
    Story::begun().join(token ^ 1, answer, proof).breaks(wrong);
    Story::begun().join(token, answer ^ 1, proof).breaks(wrong);
    Story::begun().join(token, answer, keys::join_ack_hmac(theirs, ours)).breaks(wrong);
    let early = MpOption::JoinSyn { backup: false, address: 1, token, nonce: 1 };
    let syn = Segment { flags: Flags::SYN, ..Segment::default() };
    Story(Vec::new()).send(Side::Sender, 1, syn, early).breaks("a join of a connection");
}

#[test]
fn wrong_echo_and_unrequested_answer_are_found() {
    let third = Segment { seq: Seq(1), flags: Flags::ACK, ..Segment::default() };
    let capable =
        |sender_key, receiver_key| MpOption::Capable { sender_key, receiver_key, data_len: None };
    let echo = capable(Some(KEYS[0]), Some(KEYS[1] ^ 1));
    Story::begun().send(Side::Sender, 0, third, echo).breaks("echo of the peer's key");
    let flags = Flags::SYN.with(Flags::ACK);
    let answer = Segment { flags, ..Segment::default() };
    let unasked = Story(Vec::new()).send(Side::Receiver, 0, answer, capable(Some(1), None));
    unasked.breaks("MP_CAPABLE only if it was offered");
}

#[test]
fn payload_without_a_mapping_or_beyond_window_or_end_is_found() {
    let begun = || Story::begun().data(1, 100, data(Side::Sender, 0, 100, 1));
    begun().data(101, 50, Dss::default()).breaks("payload with a mapping");
    begun()
        .data(101, 50, data(Side::Sender, 120, 60, 91))
        .breaks("mappings that do not contradict");
    let far = data(Side::Sender, 4_990, 50, 101);
    begun().data(101, 50, far).breaks("the window's edge, offset 5000");
    let fin = Dss { data_fin: true, ..data(Side::Sender, 100, 1, 0) };
    let ended = || begun().data(101, 0, fin);
    ended().data(101, 50, data(Side::Sender, 100, 50, 101)).breaks("no data after DATA_FIN");
    let later = Dss { data_fin: true, ..data(Side::Sender, 101, 1, 0) };
    ended().data(101, 0, later).breaks("one end of the stream");
}

#[test]
fn acknowledgement_beyond_the_arrived_data_is_found() {
    let story = Story::begun().data(1, 100, data(Side::Sender, 0, 100, 1));
    story.ack(101, 5_000).breaks("no data acknowledgement beyond offset 100");
}
