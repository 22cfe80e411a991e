//! A packet log as text: one line per event, for people and for exact comparison.

use std::fmt::Write as _;
use std::path::Path;

use windlass_sim::{PacketEvent, PacketFate, RunResult};
use windlass_tcp::{Flags, Segment};

/// The log, with sequence numbers relative to each side's SYN. The columns are the time in microseconds, the
/// direction, the event, flags, first sequence number, payload, acknowledgement and window field.
pub fn text(result: &RunResult) -> String {
    let mut base = [None; 2];
    for e in &result.packets {
        if let Some(s) = e.segment.filter(|s| s.flags.has(Flags::SYN)) {
            base[usize::from(!e.forward)].get_or_insert(s.seq.0);
        }
    }
    let mut out = String::new();
    for e in &result.packets {
        let Some(s) = e.segment else { continue };
        let side = usize::from(!e.forward);
        let from = |base: Option<u32>, seq: u32| seq.wrapping_sub(base.unwrap_or(0));
        writeln!(
            out,
            "{:>9}.{:03} {} {} {:<3} seq {:>6} len {:>4} ack {:>6} win {}",
            e.time.0 / 1000,
            e.time.0 % 1000,
            if e.forward { "->" } else { "<-" },
            fate(e),
            flags(&s),
            from(base[side], s.seq.0),
            s.len,
            if s.flags.has(Flags::ACK) { from(base[1 - side], s.ack.0) } else { 0 },
            s.window,
        )
        .expect("a string takes everything");
    }
    out
}

fn fate(e: &PacketEvent) -> &'static str {
    match e.fate {
        PacketFate::Sent => "sent",
        PacketFate::Delivered => "recv",
        PacketFate::DroppedQueue => "full",
        PacketFate::DroppedError => "lost",
        PacketFate::DroppedThinned => "thin",
    }
}

fn flags(s: &Segment) -> String {
    [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::RST, 'R'), (Flags::PSH, 'P')]
        .iter()
        .filter(|(f, _)| s.flags.has(*f))
        .map(|(_, c)| *c)
        .chain(s.flags.has(Flags::ACK).then_some('.'))
        .collect()
}

/// Compares with `tests/golden/NAME.txt`, or writes that file if `WINDLASS_BLESS` is set.
pub fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_else(|e| {
        panic!(
            "{}: {e}; WINDLASS_BLESS=1 writes it, to be read before it is believed",
            path.display()
        )
    });
    if golden == text {
        return;
    }
    let at = golden.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{name} leaves its golden trace at line {}:\n  golden: {}\n  now:    {}",
        at + 1,
        golden.lines().nth(at).unwrap_or("(ends)"),
        text.lines().nth(at).unwrap_or("(ends)"),
    );
}
