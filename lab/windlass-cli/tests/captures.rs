//! A capture, read by Wireshark.

use std::process::Command;

use crate::support::{SMALL, done, forms, scenario};
use windlass_skip::skip;

fn tshark(args: &[&str]) -> Option<String> {
    match Command::new("tshark").args(args).output() {
        Ok(output) => {
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{err}");
            Some(String::from_utf8(output.stdout).expect("UTF-8"))
        }
        Err(_) => {
            skip("no tshark; captures were not read by Wireshark");
            None
        }
    }
}

#[test]
fn wireshark_reads_a_lossy_download_without_complaint() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let out = out.to_str().expect("plain");
    let said = done(&["run", &file, "--json", "--out", out, "--set", "record.capture=[\"wire\"]"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let (flow, links) = (&document["flows"][0], &document["links"]);
    let count = |v: &serde_json::Value| v.as_u64().expect("a count");
    let capture = forms(out.as_ref(), "captures", "case", "all").remove(0).join("1.pcapng");
    let capture = capture.to_str().expect("plain").to_owned();
    let read = |args: &[&str]| tshark(&[&["-r", &capture][..], args].concat());

    let Some(table) = read(&["-q", "-z", "io,stat,1"]) else { return };
    let packets: u64 = table
        .lines()
        .filter_map(|line| line.split_once("<>"))
        .map(|(_, row)| row.split('|').nth(1).and_then(|n| n.trim().parse::<u64>().ok()))
        .map(|n| n.unwrap_or_else(|| panic!("a row of {table}")))
        .sum();
    assert_eq!(packets, count(&links[0]["sent"]) + count(&links[1]["sent"]), "{table}");

    let matching = |filter: &str| {
        let validating = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
        let args =
            [&validating[..], &["-T", "fields", "-e", "frame.number", "-Y", filter]].concat();
        read(&args).expect("tshark").lines().count() as u64
    };
    assert_eq!(matching("_ws.malformed || _ws.expert.severity == error"), 0);
    assert_eq!(matching("tcp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\""), 0);
    assert_eq!(matching("tcp.checksum.status == \"Good\""), packets);
    assert_eq!(matching("tcp.len > 0"), count(&flow["data_segments"]));
    let lost = count(&links[0]["drops_error"]) + count(&links[1]["drops_error"]);
    assert!(lost > 0);
    assert_eq!(matching("frame.comment contains \"lost\""), lost);
}
