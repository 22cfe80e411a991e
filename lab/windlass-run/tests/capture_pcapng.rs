//! Captures, read by other programs.

use std::io::Write;
use std::num::NonZeroU32;
use std::process::Command;

use pcap_parser::pcapng::{Block, EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode};
use pcap_parser::{Linktype, PcapBlockOwned, PcapError, PcapNGReader, traits::PcapReaderIterator};
use windlass_cc::Time;
use windlass_run::capture::{
    COMMENT_LOST, COMMENT_QUEUE, COMMENT_THINNED, CaptureOptions, Tap, write_pcapng,
};
use windlass_sim::addresses::{FlowAddresses, node_address};
use windlass_sim::{PacketEvent, PacketFate};
use windlass_skip::skip;
use windlass_tcp::wire;
use windlass_tcp::{Flags, Options, SackBlock, Segment, Seq, Timestamps};

const LINKS: [&str; 2] = ["wire:client>server", "wire:server>client"];

fn flows() -> [FlowAddresses; 2] {
    [FlowAddresses::new(0, 0, 1), FlowAddresses::new(1, 0, 1)]
}

struct Log {
    events: Vec<PacketEvent>,
    now_ns: u64,
}

impl Log {
    fn event(&mut self, forward: bool, fate: PacketFate, flow: u32, segment: Option<Segment>) {
        let ip_len = segment.map_or(1028, |s| s.ip_len());
        let time = Time::from_millis(0) + windlass_cc::Span::from_micros(self.now_ns / 1000);
        let link = u32::from(!forward);
        self.events.push(PacketEvent {
            time,
            link,
            flow,
            forward,
            fate,
            segment,
            ip_len,
            path: None,
            quick_start: None,
        });
        self.now_ns += 1_001_000;
    }

    /// A packet that arrives.
    fn pass(&mut self, forward: bool, segment: Segment) {
        self.event(forward, PacketFate::Sent, 0, Some(segment));
        self.event(forward, PacketFate::Delivered, 0, Some(segment));
    }
}

fn syn_options(timestamps: Option<Timestamps>) -> Options {
    Options {
        mss: Some(1460),
        window_scale: Some(2),
        sack_permitted: true,
        timestamps,
        ..Options::default()
    }
}

fn data(seq: Seq, len: u32) -> Segment {
    let flags = Flags::ACK.with(Flags::PSH);
    let timestamps = Some(Timestamps { value: 7, echo: 8 });
    let options = Options { timestamps, ..Options::default() };
    Segment { seq, ack: Seq(501), len, window: 8760, flags, ecn: Default::default(), options }
}

fn ack(of: Seq, sack: Option<SackBlock>) -> Segment {
    let mut options =
        Options { timestamps: Some(Timestamps { value: 8, echo: 7 }), ..Options::default() };
    if let Some(block) = sack {
        options.sack[0] = block;
        options.sack_count = 1;
    }
    Segment {
        seq: Seq(501),
        ack: of,
        len: 0,
        window: 8760,
        flags: Flags::ACK,
        ecn: Default::default(),
        options,
    }
}

/// A transfer over the sequence wrap with a loss, its retransmission, a queue drop, a datagram and
/// the end.
fn log() -> Vec<PacketEvent> {
    let mut log = Log { events: Vec::new(), now_ns: 0 };
    let base = Seq(u32::MAX - 1000);
    let stamp = Some(Timestamps { value: 1, echo: 0 });
    let syn = Segment { seq: base, window: 8760, flags: Flags::SYN, ..Segment::default() };
    log.pass(true, Segment { options: syn_options(stamp), ..syn });
    let syn_ack = Segment {
        seq: Seq(500),
        ack: base.add(1),
        flags: Flags::SYN.with(Flags::ACK),
        options: syn_options(Some(Timestamps { value: 2, echo: 1 })),
        ..syn
    };
    log.pass(false, syn_ack);
    log.pass(true, Segment { len: 0, flags: Flags::ACK, ..data(base.add(1), 0) });
    let (first, second) = (data(base.add(1), 1460), data(base.add(1461), 1460));
    // Both are on their way when the first is lost; the retransmission equals it.
    log.event(true, PacketFate::Sent, 0, Some(first));
    log.event(true, PacketFate::Sent, 0, Some(second));
    log.event(true, PacketFate::DroppedError, 0, Some(first));
    log.event(true, PacketFate::Delivered, 0, Some(second));
    let block = SackBlock { left: base.add(1461), right: base.add(2921) };
    log.pass(false, ack(base.add(1), Some(block)));
    log.pass(true, first);
    log.pass(false, ack(base.add(2921), None));
    log.event(true, PacketFate::DroppedQueue, 0, Some(data(base.add(2921), 100)));
    log.pass(true, data(base.add(2921), 100));
    log.event(false, PacketFate::Sent, 0, Some(ack(base.add(3021), None)));
    log.event(false, PacketFate::DroppedThinned, 0, Some(ack(base.add(3021), None)));
    log.pass(false, ack(base.add(3021), None));
    log.event(true, PacketFate::Sent, 1, None);
    log.event(true, PacketFate::Delivered, 1, None);
    let fin = Flags::ACK.with(Flags::FIN);
    log.pass(true, Segment { flags: fin, ..data(base.add(3021), 0) });
    log.pass(false, Segment { flags: fin, ..ack(base.add(3022), None) });
    log.event(true, PacketFate::Sent, 0, Some(Segment { ack: Seq(502), ..ack(base, None) }));
    log.events
}

fn capture(options: CaptureOptions) -> (Vec<u8>, u64) {
    let mut bytes = Vec::new();
    let count = write_pcapng(&mut bytes, &LINKS, &flows().map(Into::into), &log(), options)
        .expect("written");
    (bytes, count)
}

/// A packet from the independent reader.
pub struct Read {
    pub interface: u32,
    pub time_ns: u64,
    pub original: u32,
    pub data: Vec<u8>,
    comment: Option<String>,
    direction: u8,
}

impl Read {
    fn of(block: &EnhancedPacketBlock<'_>) -> Read {
        let option = |code| block.options.iter().find(|o| o.code == code).map(|o| o.value());
        Read {
            interface: block.if_id,
            time_ns: u64::from(block.ts_high) << 32 | u64::from(block.ts_low),
            original: block.origlen,
            data: block.data[..block.caplen as usize].to_vec(),
            comment: option(OptionCode::Comment)
                .map(|v| String::from_utf8_lossy(v).trim_end_matches('\0').to_owned()),
            direction: option(OptionCode(2)).expect("flags")[0] & 3,
        }
    }
}

/// The names of the interfaces and the packets of a file, from an independent reader.
pub fn read(bytes: &[u8]) -> (Vec<String>, Vec<Read>) {
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    let mut reader = PcapNGReader::new(1 << 20, bytes).expect("pcapng");
    loop {
        match reader.next() {
            Ok((consumed, PcapBlockOwned::NG(block))) => {
                match block {
                    Block::InterfaceDescription(i) => interfaces.push(interface_name(&i)),
                    Block::EnhancedPacket(p) => packets.push(Read::of(&p)),
                    Block::SectionHeader(_) => {}
                    other => panic!("unexpected block {other:?}"),
                }
                reader.consume(consumed);
            }
            Ok(_) => panic!("not pcapng"),
            Err(PcapError::Eof) => return (interfaces, packets),
            Err(PcapError::Incomplete(_)) => reader.refill().expect("more"),
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn interface_name(block: &InterfaceDescriptionBlock<'_>) -> String {
    assert_eq!(block.linktype, Linktype::RAW);
    assert_eq!(block.ts_resolution(), Some(1_000_000_000));
    let name = block.options.iter().find(|o| o.code == OptionCode::IfName).expect("a name");
    String::from_utf8_lossy(name.value()).trim_end_matches('\0').to_owned()
}

#[test]
fn an_independent_reader_finds_every_packet_that_was_sent() {
    let (bytes, count) = capture(CaptureOptions::default());
    let (interfaces, packets) = read(&bytes);
    assert_eq!(interfaces, LINKS);
    let log = log();
    let sent: Vec<_> = log
        .iter()
        .filter(|e| matches!(e.fate, PacketFate::Sent | PacketFate::DroppedQueue))
        .collect();
    assert_eq!((packets.len(), count), (sent.len(), sent.len() as u64));
    for (packet, event) in packets.iter().zip(sent) {
        assert_eq!(packet.interface, event.link);
        assert_eq!(packet.time_ns, event.time.as_nanos());
        assert_eq!(packet.original, event.ip_len);
        assert_eq!(packet.data.len() as u32, event.ip_len);
        assert_eq!(packet.direction, 2);
        match event.segment {
            Some(segment) => {
                let parsed = wire::parse(&packet.data).expect("valid");
                assert_eq!(parsed.segment, segment);
                assert_eq!(parsed.addresses, flows()[0].addresses(event.forward));
            }
            None => assert_eq!(wire::parse(&packet.data), Err(wire::WireError::NotTcp(17))),
        }
    }
}

#[test]
fn dropped_packets_have_comments_and_retransmissions_the_same_payload() {
    let (_, packets) = read(&capture(CaptureOptions::default()).0);
    let with = |text| -> Vec<&Read> {
        packets.iter().filter(|p| p.comment.as_deref() == Some(text)).collect()
    };
    let (lost, refused) = (with(COMMENT_LOST), with(COMMENT_QUEUE));
    assert_eq!((lost.len(), refused.len(), with(COMMENT_THINNED).len()), (1, 1, 1));
    assert_eq!(packets.iter().filter(|p| p.comment.is_some()).count(), 3);
    let again: Vec<&Read> =
        packets.iter().filter(|p| p.comment.is_none() && p.data == lost[0].data).collect();
    assert_eq!(again.len(), 1);
    assert!(again[0].time_ns > lost[0].time_ns);
}

#[test]
fn a_capture_at_the_far_end_has_the_arrived_packets() {
    let options = CaptureOptions { tap: Tap::Far, ..CaptureOptions::default() };
    let (bytes, count) = capture(options);
    let (_, packets) = read(&bytes);
    let log = log();
    let arrived: Vec<u64> =
        log.iter().filter(|e| e.fate == PacketFate::Delivered).map(|e| e.time.as_nanos()).collect();
    assert_eq!(packets.iter().map(|p| p.time_ns).collect::<Vec<_>>(), arrived);
    assert_eq!(count, arrived.len() as u64);
    assert!(packets.iter().all(|p| p.comment.is_none() && p.direction == 1));
}

#[test]
fn a_snap_length_cuts_packets_but_not_their_stated_size() {
    let snap = NonZeroU32::new(60);
    let (whole, cut) = (
        capture(CaptureOptions::default()).0,
        capture(CaptureOptions { snap_len: snap, ..Default::default() }).0,
    );
    let ((_, whole), (_, cut)) = (read(&whole), read(&cut));
    assert_eq!(whole.len(), cut.len());
    for (whole, cut) in whole.iter().zip(cut) {
        assert_eq!(cut.original, whole.original);
        assert_eq!(cut.data, whole.data[..whole.data.len().min(60)]);
    }
}

#[test]
fn an_event_of_an_unknown_link_or_flow_or_an_impossible_datagram_is_an_error() {
    let event = PacketEvent {
        time: Time::from_millis(0),
        link: 0,
        flow: 0,
        forward: true,
        fate: PacketFate::Sent,
        segment: None,
        ip_len: 28,
        path: None,
        quick_start: None,
    };
    let write = |event: PacketEvent| {
        write_pcapng(
            Vec::new(),
            &LINKS,
            &flows().map(Into::into),
            [&event],
            CaptureOptions::default(),
        )
    };
    assert_eq!(write(event).expect("an empty datagram"), 1);
    for bad in [
        PacketEvent { link: 2, ..event },
        PacketEvent { flow: 2, ..event },
        PacketEvent { ip_len: 27, ..event },
        PacketEvent { segment: Some(Segment { len: 65_536, ..Segment::default() }), ..event },
    ] {
        let error = write(bad).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let error =
        write_pcapng(full, &LINKS, &flows().map(Into::into), &log(), CaptureOptions::default());
    assert_eq!(error.expect_err("full").kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn nodes_and_flows_have_distinct_addresses() {
    assert_eq!(node_address(0).to_string(), "10.0.0.1");
    assert_eq!(node_address(253).to_string(), "10.0.0.254");
    assert_eq!(node_address(254).to_string(), "10.0.1.1");
    assert_eq!(node_address(254 * 256).to_string(), "10.1.0.1");
    assert_eq!(node_address(254 * 65_536 - 1).to_string(), "10.255.255.254");
    let pairs: std::collections::BTreeSet<(u16, u16)> = (0..40_000)
        .map(|flow| FlowAddresses::new(flow, 0, 1))
        .map(|a| (a.from.port(), a.to.port()))
        .collect();
    assert_eq!(pairs.len(), 40_000);
}

/// Runs tshark; `None` if it is not installed.
fn tshark(file: &std::path::Path, arguments: &[&str]) -> Option<String> {
    // Absolute sequence numbers and checked checksums, independent of the user's preferences.
    let fixed = ["-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
    let fixed = fixed.into_iter().chain(["-o", "ip.check_checksum:TRUE"]);
    match Command::new("tshark").arg("-r").arg(file).args(fixed).args(arguments).output() {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "tshark {arguments:?}: {errors}");
            Some(String::from_utf8(output.stdout).expect("text"))
        }
        Err(error) => {
            skip(format_args!("tshark cannot be run ({error})"));
            None
        }
    }
}

#[test]
fn tshark_reads_a_capture_without_complaint() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let (bytes, count) = capture(CaptureOptions::default());
    file.write_all(&bytes).expect("written");
    let Some(statistics) = tshark(file.path(), &["-q", "-z", "io,stat,1"]) else { return };
    let words: Vec<&str> = statistics.split_whitespace().collect();
    assert!(words.contains(&&*count.to_string()), "{statistics}");
    let filtered = |filter| tshark(file.path(), &["-Y", filter]).expect("it ran before");
    let all = filtered("ip");
    assert_eq!(all.lines().count() as u64, count, "{all}");
    // Status 0 is a wrong checksum, 1 a right one.
    let wrong = "_ws.malformed || tcp.checksum.status==0 || udp.checksum.status==0 || \
        ip.checksum.status==0 || _ws.expert.severity >= 0x800000";
    assert_eq!(filtered(wrong), "");
    let good = filtered("tcp.checksum.status==1 || udp.checksum.status==1");
    assert_eq!(good.lines().count() as u64, count);
    assert_eq!(filtered("tcp.analysis.retransmission").lines().count(), 2);
    assert_eq!(filtered("frame.comment contains \"lost\"").lines().count(), 1);
    assert_eq!(filtered("tcp.options.sack_le").lines().count(), 1);
    assert_eq!(filtered("tcp.options.mss_val == 1460").lines().count(), 2);
}
