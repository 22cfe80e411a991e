//! A multipath connection with one path, compared with a plain connection with segments of the same size.

use crate::multinet::{App, Net, Path, profile};
use windlass_cc::Time;
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile};
use windlass_tcp::stack::{NS3, RFC, RIVERBED};
use windlass_tcp::{Flags, StackConfig};

/// Bytes of a DSS in a segment.
const OPTION: u32 = 28;

/// The sending time of each segment with payload at the client, and the bytes of the segment.
fn data(
    algorithm: &str,
    stack: StackConfig,
    multipath: bool,
    lost: &[u64],
) -> Vec<(Time, u32, u32)> {
    let mss = if multipath { 1460 } else { 1460 - OPTION };
    let stack = StackConfig { mss: Some(mss), ..stack };
    let config = MultipathConfig { peer_capable: multipath, ..Default::default() };
    let p = MultipathProfile::new(config, vec![profile(algorithm, stack, 1500)]).unwrap();
    let apps = [App::sends(1_000_000), App::receives()];
    let mut net = Net::new([p.clone(), p], apps, vec![Path::clean(30)], 21);
    net.keep_log = true;
    net.drop_data = lost.to_vec();
    net.run_to_close(50_000);
    assert_eq!(net.ends[0].c.fallen_back(), !multipath);
    assert_eq!(net.ends[1].read, 1_000_000);
    let mut start = 0;
    let mut sent = Vec::new();
    for (at, from, out) in &net.log {
        let s = &out.segment;
        if *from == 0 && s.flags.has(Flags::SYN) {
            start = s.seq.0;
        } else if *from == 0 && s.len > 0 {
            sent.push((*at, s.seq.0.wrapping_sub(start), s.len));
        }
    }
    sent
}

// RFC 8684-3.1-5, 8684-3.7-2
#[test]
fn one_path_behaves_as_a_plain_connection() {
    for (name, stack) in [("rfc", RFC), ("ns3", NS3), ("riverbed", RIVERBED)] {
        for algorithm in ["reno", "newreno", "cubic", "vegas", "bbr"] {
            for lost in [&[][..], &[40], &[60, 61, 62, 90], &[1], &[5, 6, 7, 8, 9, 10, 200]] {
                let plain = data(algorithm, stack, false, lost);
                let multi = data(algorithm, stack, true, lost);
                let same = plain.iter().zip(&multi).take_while(|(a, b)| a == b).count();
                assert!(
                    plain == multi,
                    "{name} {algorithm} losing {lost:?}: {same} of {} segments agree, then {:?} and {:?}",
                    plain.len(),
                    plain.get(same),
                    multi.get(same),
                );
            }
        }
    }
}
