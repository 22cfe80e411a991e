//! Captures of Multipath TCP, read by Wireshark's dissector.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

use tempfile::NamedTempFile;
use windlass_cc::{AnyParams, Span, Time};
use windlass_run::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{
    Config, FlowConfig, LinkConfig, Multipath, ReadPolicy, Record, SubflowConfig, Traffic,
};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_sim::{PacketEvent, PacketFate, RunResult, Simulation};
use windlass_skip::skip;
use windlass_tcp::mptcp::{Dss, MpOption, MultipathConfig, keys};
use windlass_tcp::{Profile, stack};

const BYTES: u64 = 300_000;
const LINKS: [&str; 4] = ["left:a>b", "left:b>a", "right:a>b", "right:b>a"];

/// A transfer over two separate paths; the second path loses about every fiftieth packet.
fn ran(checksum: bool) -> RunResult {
    let link = |name: &str, ends, delay, loss| LinkConfig {
        name: name.into(),
        ends,
        rate_bps: 2_000_000,
        delay: Span::from_millis(delay),
        queue: QueueLimit::Packets(1_000),
        discipline: Discipline::DropTail,
        framing: Framing::NONE,
        loss: [loss, None].into(),
        down: Vec::new(),
        quick_start: None,
        back: None,
        radio: None,
        course: Default::default(),
    };
    let lossy = Some(LossModel::Drop { probability: 0.02 });
    let profile = Profile::new(stack::LINUX, AnyParams::by_name("lia").unwrap(), 1500);
    let subflow = |name: &str, via| SubflowConfig { name: name.into(), via: vec![via], profile };
    let config = MultipathConfig { checksum, ..MultipathConfig::default() };
    let flow = FlowConfig {
        name: "transfer".into(),
        from: 0,
        to: 1,
        profile: profile.into(),
        traffic: Traffic::Bulk { bytes: Some(BYTES) },
        read: ReadPolicy::Immediate,
        start: Time::ZERO,
        pauses: Vec::new(),
        multipath: Some(Box::new(Multipath {
            config,
            subflows: vec![subflow("left", 2), subflow("right", 3)],
            disjoint: false,
        })),
    };
    let config = Config {
        nodes: ["a", "b", "left", "right"].map(String::from).to_vec(),
        links: vec![
            link("left", [0, 2], 10, None),
            link("right", [0, 3], 30, lossy),
            link("left-end", [2, 1], 0, None),
            link("right-end", [3, 1], 0, None),
        ],
        radios: Vec::new(),
        flows: vec![flow],
        duration: Time::from_secs(30),
        seed: 3,
        record: Record { capture: vec![0, 1], ..Record::default() },
    };
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    simulation.run();
    simulation.finish().expect("closed books")
}

fn captured(result: &RunResult, checksums: bool) -> NamedTempFile {
    let addresses = FlowAddresses::new(0, 0, 1);
    let mut bytes = Vec::new();
    let flows = [CapturedFlow { addresses, checksums }];
    let options = CaptureOptions::default();
    write_pcapng(&mut bytes, &LINKS, &flows, &result.packets, options).expect("written");
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("written");
    file
}

/// The packets of a capture near the sender, including packets that the queue dropped.
fn sent(result: &RunResult) -> impl Iterator<Item = &PacketEvent> {
    let near = |p: &&PacketEvent| matches!(p.fate, PacketFate::Sent | PacketFate::DroppedQueue);
    result.packets.iter().filter(near)
}

fn option(p: &PacketEvent) -> Option<MpOption> {
    p.path.and_then(|path| path.option)
}

/// Runs tshark; `None` if it is not installed.
fn tshark(file: &NamedTempFile, arguments: &[&str]) -> Option<String> {
    let fixed =
        ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE", "mptcp.analyze_mappings:TRUE"];
    let fixed = fixed.into_iter().flat_map(|preference| ["-o", preference]);
    match Command::new("tshark").arg("-r").arg(file.path()).args(fixed).args(arguments).output() {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "tshark {arguments:?}: {errors}");
            Some(String::from_utf8(output.stdout).expect("text"))
        }
        Err(error) => {
            skip(format_args!(
                "tshark cannot be run ({error}); captures of Multipath TCP were not read by Wireshark"
            ));
            None
        }
    }
}

/// The values of one field in all packets that match a filter and have the field.
fn field(file: &NamedTempFile, field: &str, filter: &str) -> Vec<String> {
    let text = tshark(file, &["-T", "fields", "-e", field, "-Y", filter]).expect("it ran before");
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn hex(text: &str) -> u64 {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, if digits == text { 10 } else { 16 }).expect("a number")
}

#[test]
fn wireshark_joins_both_subflows_and_finds_keys_tokens_and_numbers_right() {
    let result = ran(false);
    let file = captured(&result, false);
    let Some(all) = tshark(&file, &["-Y", "mptcp"]) else { return };
    let with_option = sent(&result).filter(|p| option(p).is_some()).count();
    assert_eq!(all.lines().count(), with_option, "every option is dissected");
    // One connection of two subflows.
    let distinct =
        |of: &str| -> BTreeSet<String> { field(&file, of, "mptcp").into_iter().collect() };
    assert_eq!(distinct("mptcp.stream").len(), 1);
    assert_eq!(distinct("tcp.stream").len(), 2);
    let subflows = distinct("mptcp.analysis.subflows");
    assert!(subflows.contains("1 0 "), "the second subflow joins the first: {subflows:?}");
    let wrong = "_ws.malformed || _ws.expert.severity == error || tcp.checksum.status == \"Bad\" || \
                 mptcp.connection.echoed_key_mismatch || mptcp.connection.missing_algorithm || \
                 mptcp.connection.unsupported_algorithm || mptcp.dss.infinite_mapping || \
                 (mptcp.dss.missing_mapping && tcp.len > 0) || \
                 _ws.expert.message contains \"NOP in a row\"";
    assert_eq!(tshark(&file, &["-Y", wrong]).expect("it ran before"), "");
    keys_and_tokens(&result, &file);
    numbers(&result, &file);
}

/// Checks that the keys and tokens of the packets equal the values that the dissector derives.
fn keys_and_tokens(result: &RunResult, file: &NamedTempFile) {
    let key = sent(result).find_map(|p| match option(p) {
        Some(MpOption::Capable { sender_key: Some(a), receiver_key: Some(b), .. }) => Some([a, b]),
        _ => None,
    });
    let [client, server] = key.expect("a handshake");
    let ack = "tcp.options.mptcp.sendkey && tcp.options.mptcp.recvkey";
    let shown = |name: &str| field(file, name, ack).first().map(|text| hex(text));
    assert_eq!(shown("tcp.options.mptcp.sendkey"), Some(client));
    assert_eq!(shown("tcp.options.mptcp.recvkey"), Some(server));
    let joins = field(file, "tcp.options.mptcp.recvtok", "tcp.options.mptcp.recvtok");
    assert!(!joins.is_empty());
    assert!(joins.iter().all(|token| hex(token) == u64::from(keys::token(server))), "{joins:?}");
    // Generated fields: its own SHA-256 of the keys.
    let expected: BTreeSet<u64> = field(file, "mptcp.expected_token", "mptcp.expected_token")
        .iter()
        .flat_map(|line| line.split(',').map(hex).collect::<Vec<_>>())
        .collect();
    assert!(expected.contains(&keys::token(server).into()), "{expected:?}");
    let numbers: BTreeSet<u64> = field(file, "mptcp.expected_idsn", "mptcp.expected_idsn")
        .iter()
        .flat_map(|line| line.split(',').map(hex).collect::<Vec<_>>())
        .collect();
    assert!(numbers.contains(&keys::initial_data_seq(client)), "{numbers:?}");
}

/// Checks that relative data sequence numbers run from 1 to the end of the stream.
fn numbers(result: &RunResult, file: &NamedTempFile) {
    let forward = "ip.src != 10.0.0.2 && tcp.len > 0 && tcp.options.mptcp.subtype == 2";
    let rows = tshark(
        file,
        &["-T", "fields", "-e", "mptcp.dsn", "-e", "tcp.len", "-e", "tcp.stream", "-Y", forward],
    );
    let rows = rows.expect("it ran before");
    let mut reach = 0;
    let mut streams = BTreeSet::new();
    for row in rows.lines() {
        let cells: Vec<&str> = row.split('\t').collect();
        let [dsn, len, stream] = cells[..] else { panic!("{row}") };
        // The first of several numbers is the payload's.
        let dsn = hex(dsn.split(',').next().expect("a number"));
        assert!((1..=BYTES).contains(&dsn), "{row}");
        reach = reach.max(dsn + len.parse::<u64>().expect("a length"));
        streams.insert(stream.to_owned());
    }
    assert_eq!(reach, BYTES + 1);
    assert_eq!(streams.len(), 2, "both subflows carry data");
    let acks = field(file, "mptcp.ack", "ip.src == 10.0.0.2 && mptcp.ack");
    let most = acks.iter().map(|ack| hex(ack.split(',').next().expect("a number"))).max();
    // Data, and the DATA_FIN.
    assert_eq!(most, Some(BYTES + 2));
    let ends = field(file, "frame.number", "tcp.options.mptcp.datafin.flag == 1");
    let told = sent(result).filter(|p| matches!(option(p), Some(MpOption::Dss(d)) if d.data_fin));
    assert_eq!(ends.len(), told.count());
}

#[test]
fn wireshark_finds_checksums_if_they_are_enabled() {
    let result = ran(true);
    let file = captured(&result, true);
    let Some(all) = tshark(&file, &["-Y", "tcp.options.mptcp.checksumreq.flags == 1"]) else {
        return;
    };
    assert!(all.lines().count() >= 3, "all segments of the first handshake ask: {all}");
    // The dissector shows only that a DSS has a checksum field, not its value.
    let dss = |p: &PacketEvent| {
        matches!(option(p), Some(MpOption::Dss(Dss { data_ack: Some(_), mapping: Some(_), .. })))
    };
    let whole = "tcp.options.mptcp.subtype == 2 && tcp.option_len == 28";
    let told = sent(&result).filter(|p| dss(p)).count();
    assert_eq!(field(&file, "frame.number", whole).len(), told);
    assert_eq!(field(&file, "frame.number", "_ws.malformed"), Vec::<String>::new());
}

#[test]
fn each_subflow_has_an_address_of_the_clients_own() {
    let flow = FlowAddresses::new(5, 0, 1);
    assert_eq!(flow.subflow(0, 0), flow);
    let second = flow.subflow(1, 0);
    assert_eq!((second.from.to_string(), second.to), ("172.16.0.1:49157".to_owned(), flow.to));
    assert_eq!(flow.subflow(1, 1).from.to_string(), "172.16.0.1:1029");
    let opened = flow.opened_by_to().subflow(2, 0);
    assert_eq!((opened.from, opened.to.to_string()), (flow.from, "172.17.0.2:49152".to_owned()));
    let clients: BTreeSet<_> = (0..256)
        .flat_map(|i| (0..100).map(move |attempt| FlowAddresses::new(i, 0, 1).subflow(1, attempt)))
        .map(|flow| flow.from.port())
        .collect();
    assert_eq!(clients.len(), 25_600);
}
