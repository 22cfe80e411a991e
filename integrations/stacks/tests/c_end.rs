//! Ends in shared libraries, with the functions of the header.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::skipped;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::RunResult;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, ExternalError, PacketEnd};
use windlass_stacks::c_end::{CEnd, CTcp, Setting};

/// A link that carries one datagram of 68 bytes per millisecond, for ten seconds.
const SCENARIO: &str = r#"
duration = "10s"
[[link]]
name = "air"
between = ["device", "server"]
rate = "544kbps"
delay = "30ms"
[[flow]]
name = "readings"
from = "device"
to = "server"
start = "500ms"
traffic = { kind = "cbr", rate = "1kbps", packet = "40B", transport = "udp" }
"#;

/// A library compiled from C; `None` without a compiler.
fn compiled(name: &str, source: &Path) -> Option<PathBuf> {
    let thread = std::thread::current();
    let name = format!("{name}-{}.so", thread.name().unwrap_or_default().replace(':', "-"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    cc.arg("-I").arg(home.join("include")).arg(source).arg("-o").arg(&out);
    match cc.output() {
        Err(e) => {
            skipped(&format!("there is no C compiler: {e}"));
            None
        }
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(out)
        }
    }
}

fn telemetry() -> Option<PathBuf> {
    compiled("telemetry", &example())
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/telemetry.c")
}

/// The example with a replacement for its function `windlass_end_NAME`.
fn changed(name: &str, function: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    let function_name = format!("windlass_end_{name}");
    let example = example();
    let text = format!(
        "#define {function_name} the_example_s\n#include \"{}\"\n#undef {function_name}\n{function}\n",
        example.display()
    );
    std::fs::write(&source, text).unwrap();
    compiled(name, &source)
}

fn setting(sends: bool, options: &str) -> Setting {
    let config = compile(&Scenario::from_str(SCENARIO, "test").unwrap(), 1).unwrap();
    Setting {
        ends: FlowAddresses::of_flow(0, &config.flows[0]).addresses(sends),
        mtu: 1500,
        sends,
        start: config.flows[0].start,
        seed: 1,
        options: options.to_owned(),
    }
}

fn run(ends: &mut [(u32, &mut dyn PacketEnd)]) -> Result<RunResult, ExternalError> {
    external::run(&compile(&Scenario::from_str(SCENARIO, "test").unwrap(), 1).unwrap(), ends)
}

#[test]
fn the_example_of_the_book_sends_a_datagram_whenever_it_says() {
    let Some(library) = telemetry() else { return };
    // At 0.5 s, and then every quarter of a second until the end. The last datagram does not arrive in time.
    let mut device = CEnd::open(&library, &setting(true, "250")).unwrap();
    let flow = run(&mut [(0, &mut device)]).unwrap().flows.remove(0);
    assert_eq!(flow.packets_sent, 39);
    assert_eq!(flow.delivered_bytes, 38 * 40);
    let mut device = CEnd::open(&library, &setting(true, "")).unwrap();
    assert_eq!(run(&mut [(0, &mut device)]).unwrap().flows[0].packets_sent, 10);
}

#[test]
fn two_ends_of_one_library_have_their_own_variables() {
    let Some(library) = telemetry() else { return };
    let mut quick = CEnd::open(&library, &setting(true, "100")).unwrap();
    let mut slow = CEnd::open(&library, &setting(true, "4000")).unwrap();
    let start = Time::from_millis(500);
    for end in [&mut quick, &mut slow] {
        assert_eq!(end.deadline(Time::ZERO), start);
        assert_eq!(end.transmit(start).map(|packet| packet.len()), Some(68));
    }
    assert_eq!(quick.deadline(start), Time::from_millis(600));
    assert_eq!(slow.deadline(start), Time::from_millis(4_500));
}

#[test]
fn an_invalid_library_is_an_error() {
    let Some(library) = telemetry() else { return };
    let refused =
        |path: &Path, options| CEnd::open(path, &setting(true, options)).err().expect("an error");
    assert!(refused(Path::new("nowhere.so"), "").starts_with("nowhere.so: No such file"));
    assert!(refused(&library, "-5").ends_with("windlass_end_open refuses the setting"));
    let older = changed("version", "uint32_t windlass_end_version(void) { return 9; }").unwrap();
    assert!(refused(&older, "").ends_with("speaks version 9 of windlass_end.h, not 1"));
    let lacking = changed("deadline", "").unwrap();
    assert!(
        refused(&lacking, "").ends_with("has no function `windlass_end_deadline` (windlass_end.h)")
    );
    let text = CTcp::open(&library, &setting(true, "")).err().expect("an error");
    assert!(
        text.ends_with("has no function `windlass_tcp_connect`, so its application is its own"),
        "{text}"
    );
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/c_end.rs");
    assert!(refused(&source, "").contains("c_end.rs: it: invalid ELF header"));
}

#[test]
fn an_end_that_sends_an_invalid_packet_ends_the_run() {
    // A datagram with the protocol number of TCP.
    let text = "
        size_t windlass_end_transmit(void *end, uint64_t now, uint8_t *packet, size_t room) {
            size_t len = the_example_s(end, now, packet, room);
            if (len > 0) { packet[9] = 6; }
            return len;
        }";
    let Some(library) = changed("transmit", text) else { return };
    let mut device = CEnd::open(&library, &setting(true, "250")).unwrap();
    let wrong = ExternalError::NoPacket { host: 0, at: Time::from_millis(500) };
    assert_eq!(run(&mut [(0, &mut device)]), Err(wrong));
}
