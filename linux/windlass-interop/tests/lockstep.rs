//! The lockstep comparison with Windlass's endpoint on both sides. It needs no kernel: equal sides must be
//! equal, and a changed rule must be found.

use windlass_cc::{Span, Time};
use windlass_interop::lockstep::{
    Act, Case, Clock, Deed, Finding, Options, Outcome, compare, shrink,
};
use windlass_interop::script::{
    Action, Check, Departure, Script, Seen, Stack, Tolerance, VirtualTime, World, play,
};
use windlass_tcp::Segment;

fn endpoint(options: &Options) -> VirtualTime {
    VirtualTime::new(&options.settings().expect("a known algorithm"))
}

/// Compares an endpoint with these options and an endpoint with the options of the case.
fn against(reference: &Options, case: &Case) -> Outcome {
    compare(case, &mut endpoint(reference), &mut endpoint(&case.options), Clock::Planned)
        .expect("played")
}

fn without_nagle(case: &Case) -> Options {
    Options { nagle: !case.options.nagle, ..case.options.clone() }
}

#[test]
fn endpoint_equals_itself_in_300_cases() {
    let mut segments = 0;
    for seed in 1..=300 {
        let case = Case::draw(seed);
        match against(&case.options, &case) {
            Outcome::Equal(some) => segments += some,
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(segments > 6_000, "only {segments} segments were compared");
}

/// Returns the first difference of a case from the same case with Nagle's algorithm switched.
fn nagle_finding(case: &Case) -> Option<Finding> {
    against(&without_nagle(case), case).difference().cloned()
}

#[test]
fn rule_of_one_side_is_found_and_shrunk_to_a_script_that_fails_on_one_side() {
    let (mut found, mut lines) = (0, [0; 2]);
    for seed in 1..=90 {
        let case = Case::draw(seed);
        let Some(first) = nagle_finding(&case) else { continue };
        found += 1;
        let signature = first.signature();
        let small = shrink(&case, 300, &mut |candidate| {
            nagle_finding(candidate).is_some_and(|finding| finding.signature() == signature)
        });
        let finding = nagle_finding(&small).expect("it still differs");
        lines[0] += first.script.lines().count();
        lines[1] += finding.script.lines().count();
        let mut script = Script::parse(&finding.script, "shrunk.script")
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", finding.script));
        script.settings = small.options.settings().expect("a known algorithm");
        let mut reference = endpoint(&without_nagle(&small));
        play(&script, World::Linux, &mut Tolerant(&mut reference))
            .unwrap_or_else(|e| panic!("seed {seed}: line {}: {}", e.line, e.came));
        let own = play(&script, World::Sim, &mut endpoint(&small.options));
        assert!(own.is_err(), "seed {seed}: both pass\n{}", finding.script);
    }
    assert!(found >= 15, "only {found} of 90 cases differ");
    assert!(lines[1] < lines[0], "{lines:?} lines before and after");
}

#[test]
fn finding_has_both_segments_both_states_and_the_exchange() {
    let nagle = Options { nagle: true, ..Options::plain() };
    let case = Case {
        acts: vec![
            Act { after: 5, deed: Deed::Write(200) },
            Act { after: 1, deed: Deed::Write(300) },
        ],
        options: Options::plain(),
        ..quiet_case()
    };
    let outcome = against(&nagle, &case);
    let finding = outcome.difference().expect("Nagle's algorithm holds the second segment");
    assert!(finding.endpoint.starts_with(". 201+300 ack 1"), "{}", finding.endpoint);
    assert!(finding.kernel.starts_with(". 201+300 ack 1"), "{}", finding.kernel);
    assert_eq!(finding.signature(), "early new data, after a write");
    assert!(finding.states.iter().all(|state| state.cwnd == Some(10)));
    let end = "116ms            write 200\n                 > . 1+200 ack 1\n117ms            write 300\n";
    assert!(finding.script.contains(end), "{}", finding.script);
}

/// A case in which only the opening happens.
fn quiet_case() -> Case {
    let mut case = Case::draw(1);
    case.rtt = 100;
    (case.active, case.spacing, case.lost_syns, case.fin) = (false, 0, 0, None);
    (case.acts, case.answers, case.sends) = (Vec::new(), Vec::new(), Vec::new());
    (case.fates, case.ack_fates, case.receiver.stalls) = (Vec::new(), Vec::new(), Vec::new());
    case.receiver.window = 64_512;
    case
}

/// An endpoint with a kernel's tolerance, as in scripts.
struct Tolerant<'a>(&'a mut VirtualTime);

impl Stack for Tolerant<'_> {
    fn now(&self) -> Time {
        self.0.now()
    }

    fn tolerance(&self, wait: Span) -> Tolerance {
        let early = Span::from_millis(5);
        let late = Span(Span::from_millis(10).0 + wait.0 / 8);
        Tolerance { early, late }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        self.0.act(action)
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        self.0.deliver(segment)
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        self.0.next(until)
    }

    fn look(&mut self, at: &Check) -> Result<Seen, String> {
        self.0.look(at)
    }
}
