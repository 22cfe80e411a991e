//! One endpoint tested by packet scripts (`docs/src/guides/packet-scripts.md`): a test gives the configuration, which
//! may be one that no kernel has, and plays the lines in one or more parts.

use windlass_cc::{AnyParams, Time};
use windlass_script::{Event, Exchange, Line, VirtualTime, World, play_lines};
use windlass_tcp::{InitialWindow, Profile, StackConfig, stack};

pub use windlass_script::PEER_ISS;

/// Segments of 1000 bytes, an initial cwnd of ten segments, no options, immediate acknowledgements.
pub fn plain() -> Profile {
    Profile {
        stack: StackConfig {
            receive_buffer: 10_000,
            window_scaling: false,
            timestamps: false,
            sack: false,
            initial_window: InitialWindow::Segments(10),
            nagle: false,
            delayed_ack_segments: 1,
            limited_transmit: false,
            window_validation: false.into(),
            idle_restart: false,
            ..stack::RFC
        },
        params: AnyParams::by_name("reno").unwrap(),
        mtu: 1040,
    }
}

/// `plain()` with changes to its stack.
pub fn plain_with(change: impl FnOnce(&mut StackConfig)) -> Profile {
    let mut p = plain();
    change(&mut p.stack);
    p
}

/// The lines in which the application writes these bytes at 100 ms and ten segments of 1000 bytes leave.
pub fn ten(written: u64) -> String {
    let segments = (0..10).map(|n| format!("> . {}+1000\n", 1 + 1000 * n));
    format!("100ms write {written}\n{}", segments.collect::<String>())
}

/// [`ten`] on a connection with SACK.
pub fn ten_out(p: Profile, written: u64) -> Script {
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(written));
    s
}

pub struct Script {
    pub stack: VirtualTime,
    exchange: Exchange,
}

impl Script {
    pub fn new(p: Profile) -> Script {
        Script { stack: VirtualTime::with_profile(p), exchange: Exchange::default() }
    }

    /// An active open with an RTT of 100 ms; the peer offers 60000 bytes.
    pub fn connected(p: Profile) -> Script {
        Script::opened(p, "mss 1000")
    }

    /// [`connected`](Script::connected) with a peer that supports SACK.
    pub fn connected_with_sack(p: Profile) -> Script {
        Script::opened(p, "mss 1000, sackok")
    }

    fn opened(p: Profile, options: &str) -> Script {
        let mut s = Script::new(p);
        s.run(&format!(
            "connect
             > S 0 <...>
             100ms < S. 0 ack 1 win 60000 <{options}>
             > . 1 ack 1"
        ));
        s
    }

    /// Plays the next lines. The endpoint sends nothing else up to the last line.
    pub fn run(&mut self, lines: &str) -> &mut Script {
        let lines = Line::parse(&format!("{lines}\nquiet"), "the script")
            .unwrap_or_else(|e| panic!("{e} in\n{lines}"));
        if let Err(m) = play_lines(&lines, World::Sim, &mut self.stack, &mut self.exchange) {
            panic!("line {}, {}: {}\n{}", m.line, m.expected, m.came, m.exchange);
        }
        self
    }

    /// A segment arrives, in the notation after `<`. The caller asks the endpoint for its answers.
    pub fn arrives(&mut self, at: Time, text: &str) {
        let lines =
            Line::parse(&format!("< {text}"), "the segment").unwrap_or_else(|e| panic!("{e}"));
        let Event::In(spec) = &lines[0].event else { panic!("{text}") };
        let segment = self.exchange.peer.write(spec, at).unwrap_or_else(|e| panic!("{e}"));
        self.stack.endpoint.on_segment(&self.stack.profile, at, &segment);
    }
}
