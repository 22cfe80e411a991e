//! The language of scripts: valid and invalid texts, and the places of errors.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample;
use windlass_cc::Span;
use windlass_script::{
    Action, Bounds, Check, Event, Exchange, Line, Script, Stamp, TimestampsSpec, VirtualTime,
    World, load, play, play_lines,
};
use windlass_tcp::stack::LossDetection;

const HEAD: &str = "title t\nsource RFC 9293\n";

fn parse(rest: &str) -> Script {
    Script::parse(&format!("{HEAD}{rest}"), "a.script").unwrap_or_else(|e| panic!("{e}"))
}

fn events(rest: &str) -> Vec<Event> {
    parse(rest).lines.into_iter().map(|line| line.event).collect()
}

/// Returns the error in a script that consists of the head and these lines.
fn error(rest: &str) -> String {
    match Script::parse(&format!("{HEAD}{rest}"), "a.script") {
        Err(e) => e.to_string(),
        Ok(script) => panic!("this is a script: {script:?}"),
    }
}

#[test]
fn times_are_absolute_relative_or_ranges_with_now_as_default() {
    let script = parse("1s listen\n+1.5ms quiet\n+10us..2s > . 1\nquiet");
    let times: Vec<_> =
        script.lines.iter().map(|l| (l.when.relative, l.when.earliest, l.when.latest)).collect();
    let ms = Span::from_millis;
    assert_eq!(times[0], (false, ms(1_000), ms(1_000)));
    assert_eq!(times[1], (true, Span::from_micros(1_500), Span::from_micros(1_500)));
    assert_eq!(times[2], (true, Span::from_micros(10), ms(2_000)));
    assert_eq!(times[3], (true, Span::ZERO, Span::ZERO));
}

#[test]
fn remarks_and_empty_lines_are_ignored() {
    let script = parse("\n# a remark\n   # another\nlisten # and one more\n\n");
    assert_eq!(script.lines.len(), 1);
    assert_eq!((script.lines[0].number, script.lines[0].text.as_str()), (6, "listen"));
}

#[test]
fn expected_segment_may_have_free_values() {
    let Event::Out(s) = &events("> .E *+100 ack 5 win 1..9 ect <ts now *, sack 1-2 3-4, ...>")[0]
    else {
        panic!("a segment")
    };
    assert_eq!((s.seq, s.len, s.ack), (None, 100, Some(5)));
    assert_eq!(s.window, Some(Bounds { least: 1, most: 9 }));
    assert!(s.options.others && s.options.sack == [(1, 2), (3, 4)]);
    let named = TimestampsSpec::Given(Stamp::Named("now".into()), Stamp::Any);
    assert_eq!(s.options.timestamps, named);
}

#[test]
fn sequence_number_may_precede_the_initial_number() {
    let Event::In(s) = &events("< . -5+10 ack -1")[0] else { panic!("a segment") };
    assert_eq!((s.seq, s.len, s.ack), (Some(-5), 10, Some(-1)));
}

#[test]
fn settings_change_the_stack() {
    let script = parse(
        "set stack = rfc, sack = off\nset mss = 700, algorithm = cubic, loss_detection = rack\nwrite 7",
    );
    let s = &script.settings;
    assert_eq!(s.stack.loss_detection, LossDetection::Rack);
    assert!(!s.stack.sack && s.stack.mss == Some(700) && !s.stack.tlp);
    assert_eq!(s.algorithm.info().id, "cubic");
    assert_eq!(script.lines[0].event, Event::Act(Action::Write(7)));
}

#[test]
fn range_may_have_no_end() {
    let bounds = Bounds { least: 3, most: u64::MAX };
    assert_eq!(events("= cwnd 3..")[0], Event::Check(Check::Cwnd(bounds)));
    assert!(error("+1s.. > . 1").contains("this time has no end"));
}

#[test]
fn line_for_one_stack_needs_a_reason() {
    let script = parse("differs linux: because\nlinux: listen\nsim: +1ms connect");
    assert_eq!(script.lines[0].only, Some(World::Linux));
    assert_eq!(script.lines[1].only, Some(World::Sim));
    assert_eq!(script.differs.unwrap().reason, "because");
    let said = error("linux: listen");
    assert!(said.starts_with("a.script:3:1: a line is for one world only"), "{said}");
}

#[test]
fn error_names_its_place_and_the_remedy() {
    let cases = [
        ("lisen", "a.script:3:1: unknown event \"lisen\"; a line is"),
        ("+5 listen", "a.script:3:2: \"5\" is not a time; write a number and a unit"),
        ("+5h listen", "a.script:3:2: \"5h\" is not a time"),
        ("+99999s listen", "a.script:3:2: no script waits for longer than a day"),
        ("+1ms..2ms listen", "a.script:3:1: an action has exactly one time"),
        ("+2ms..1ms > . 1", "a.script:3:2: the range runs backward"),
        (
            "peer kernel",
            "a.script:3:1: this file has cases with a kernel as the peer; play it with",
        ),
        ("listen now", "a.script:3:8: unexpected \"now\"; remove it"),
        ("write", "a.script:3:6: the line ends here; write how many bytes to write"),
        ("write 0", "a.script:3:7: \"0\" is not a number from 1 to"),
        ("> X 1", "a.script:3:3: invalid flags \"X\"; flags are S, F, R, P"),
        ("> SS 1", "a.script:3:3: invalid flags \"SS\""),
        ("> S one", "a.script:3:5: \"one\" is not a sequence number; count bytes"),
        ("> S 1 ack", "a.script:3:10: the line ends here; write a number after ack"),
        ("> S 1 wim 5", "a.script:3:7: \"wim\" is not a part of a segment; a segment is written"),
        ("> S 1 win 1 win 2", "a.script:3:13: duplicate field"),
        ("> S 1 <mss 5", "a.script:3:7: the options do not end; write > behind them"),
        (
            "> . 1 <accecn ce 5>",
            "a.script:3:15: \"ce\" is not the next counter; write e1 N ce N e0 N",
        ),
        ("> . 1 <accecn e1 16777216>", "a.script:3:18: \"16777216\" is not a number from 0 to"),
        ("> S 1 <mess 5>", "a.script:3:8: no option is called \"mess\"; options are mss N"),
        ("> S 1 <mss 5, mss 6>", "a.script:3:15: duplicate option"),
        ("> . 1 <sack 1-2 3>", "a.script:3:17: \"3\" is not a SACK block; write LEFT-RIGHT"),
        ("> . 1 <sack 1-2 3-4 5-6 7-8>", "a.script:3:8: 4 SACK blocks; write 1 to 3"),
        ("> . 1 <ts 5 *>", "a.script:3:3: this timestamp is unpredictable"),
        ("< . *+5 ack 1", "a.script:3:3: a segment that arrives has definite values"),
        ("< . 1", "a.script:3:3: flag and acknowledgement number belong together"),
        ("< S 1 ack 5", "a.script:3:3: flag and acknowledgement number belong together"),
        ("= cwmd 5", "a.script:3:3: no value that can be seen is called \"cwmd\"; there are state"),
        ("= state OPEN", "a.script:3:9: no state is called \"OPEN\"; there are CLOSED, LISTEN"),
        ("set sakc = off", "a.script:3:5: no setting is called \"sakc\"; there are stack"),
        ("set sack off", "a.script:3:10: a setting is written NAME = VALUE; write = here"),
        ("set sack = no", "a.script:3:12: no switch position is called \"no\"; there are on, off"),
        ("set sack = off, stack = rfc", "a.script:3:17: the stack would undo earlier settings"),
        ("set algorithm = tcp", "a.script:3:17: no algorithm is called \"tcp\""),
        ("listen\nset sack = off", "a.script:4:1: \"set\" is after the first event"),
        ("title again", "a.script:3:1: the script has a title already"),
        ("differs linux because", "a.script:3:9: a colon is missing; write: differs linux: reason"),
        ("differs mars: why", "a.script:3:9: no world is called \"mars\"; there are sim, linux"),
        ("differs linux:", "the line ends here; write the reason"),
        ("", "a.script:3:1: nothing happens in the script"),
    ];
    for (text, expected) in cases {
        let said = error(text);
        assert!(said.contains(expected), "{text:?} gives\n  {said}\nand not\n  {expected}");
    }
}

#[test]
fn columns_count_characters_and_spans_count_bytes() {
    let e = Script::parse("title ä\nsource ö\nset sack = ü", "a.script").unwrap_err();
    assert_eq!((e.line, e.column), (3, 12));
    assert_eq!(e.span.len(), 2);
}

#[test]
fn a_script_has_a_title_and_a_source() {
    let said = Script::parse("listen", "b.script").unwrap_err().to_string();
    assert!(said.starts_with("b.script:1:7: the script has no title; write at its head"), "{said}");
    let said = Script::parse("title t\nlisten", "b.script").unwrap_err().to_string();
    assert!(said.contains("the script has no source"), "{said}");
}

/// Returns every line of the committed scripts.
fn committed_lines() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/scripts");
    let mut lines = Vec::new();
    for script in load(&folder).unwrap() {
        let text = fs::read_to_string(&script.file).unwrap();
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    lines
}

/// Generates a line with at most one changed character.
fn line() -> impl Strategy<Value = String> {
    let damaged = (sample::select(committed_lines()), any::<sample::Index>(), any::<char>());
    let damaged = damaged.prop_map(|(line, at, c)| {
        let at = if line.is_empty() { 0 } else { at.index(line.chars().count()) };
        line.chars().enumerate().map(|(i, old)| if i == at { c } else { old }).collect()
    });
    prop_oneof![4 => sample::select(committed_lines()), 1 => damaged]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Same property as in `fuzz/fuzz_targets/script.rs`, for lines that are nearly valid.
    #[test]
    fn any_text_is_refused_at_a_place_in_it_or_can_be_played(
        lines in proptest::collection::vec(line(), 1..30)
    ) {
        let text = format!("{HEAD}{}", lines.join("\n"));
        match Script::parse(&text, "a.script") {
            Err(e) => prop_assert!(text.get(e.span.clone()).is_some() && e.line <= text.lines().count() + 1),
            Ok(script) => {
                let _ = play(&script, World::Sim, &mut VirtualTime::new(&script.settings));
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_at_a_place_in_them(text in ".{0,200}") {
        let e = Script::parse(&text, "a.script").expect_err("no title");
        prop_assert!(text.get(e.span).is_some());
    }
}

#[test]
fn endpoint_shows_values_that_kernels_do_not_have() {
    let text = "set timestamps = off, sack = off\nlisten\n< S 0 <mss 1000>\n> S. 0 ack 1 <mss 1460>\n< . 1 ack 1\n\
        write 1000\n> . 1+1000\n= phase open\n= in_flight_bytes 1000\n= cwnd_bytes 9000..10999";
    let played = |text: &str| {
        let script = parse(text);
        play(&script, World::Sim, &mut VirtualTime::new(&script.settings)).map_err(|m| m.came)
    };
    assert_eq!(played(text), Ok(()));
    assert_eq!(played(&text.replace("phase open", "phase loss")), Err("open".to_owned()));
    assert_eq!(played(&text.replace("bytes 1000", "bytes 1001")), Err("1000".to_owned()));
    assert!(error("= phase closed").contains("there are open, recovery, loss, cwr"));
}

#[test]
fn part_of_a_script_has_no_head_and_continues_the_exchange() {
    let mut stack = VirtualTime::new(&parse("listen").settings);
    let mut exchange = Exchange::default();
    let mut part = |text: &str| {
        let lines = Line::parse(text, "part").unwrap_or_else(|e| panic!("{e}"));
        play_lines(&lines, World::Sim, &mut stack, &mut exchange).map_err(|m| m.came)
    };
    assert_eq!(part("+5ms connect"), Ok(()), "the SYN is for the next part");
    assert_eq!(part("5ms > S 0 <...>\n+10ms quiet"), Ok(()));
    assert_eq!(part("+1ms < S. 0 ack 1 <mss 1000>\n16ms > . 1 ack 1"), Ok(()));
    assert_eq!(part("+1ms quiet\n= srtt 11ms"), Ok(()));
}

#[test]
fn accurate_ecn_has_a_flag_a_setting_an_option_and_values() {
    use windlass_tcp::accurate_option::{EcnOption, EcnOrder};
    use windlass_tcp::stack::EcnFeedback;
    let script = parse(
        "set ecn = accurate-counter\n< SEWA 0 ect1 <accecn e0 1 ce 0 e1 16777215>\n\
         > S.A * <accecn e1 5 ce 6>\n= delivered_ce 3\n= delivered_e0_bytes 1..9",
    );
    assert_eq!(script.settings.stack.ecn, EcnFeedback::AccurateCounter);
    let [Event::In(syn), Event::Out(answer)] = [&script.lines[0].event, &script.lines[1].event]
    else {
        panic!("two segments")
    };
    assert_eq!(syn.flags.ace(), 0b111);
    let option = |order, counters: &[u32]| Some(EcnOption::new(order, counters));
    assert_eq!(syn.options.accurate_ecn, option(EcnOrder::Ect0First, &[1, 0, 16_777_215]));
    assert_eq!(answer.options.accurate_ecn, option(EcnOrder::Ect1First, &[5, 6]));
    let three = Bounds { least: 3, most: 3 };
    assert_eq!(script.lines[2].event, Event::Check(Check::DeliveredCe(three)));
}
