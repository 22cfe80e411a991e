//! Recordings: vectors with the events that a host gave to an algorithm, and with the algorithm's answers there.
//!
//! A host writes [`header`] and then a [`line()`] for each event. [`read`] parses the recording for a replay.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_cc::{AnyParams, Conn, Control, Event, Rate};

use super::check::{CheckError, empty, files, walk};
use super::format::{ConnLine, Expect, FORMAT, Header, Line, SetupLine, VERSION};
use super::parameters::write_params;

/// The value of [`Header::source`] for a recording.
pub const SOURCE: &str = "recorded";

/// A parsed recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    /// The parameters of the header.
    pub params: AnyParams,
    /// The header's `case`: the path.
    pub case: String,
    /// The header's `about`: the host.
    pub about: String,
    /// The new connection, and the answer then.
    pub first: (Conn, Control),
    /// Each event, the connection after it, and the answer.
    pub events: Vec<(Event, Conn, Control)>,
}

/// The first line of a recording, without its line end: a new connection, and the answer then. `case` names the path,
/// `about` the host.
pub fn header(params: &AnyParams, case: &str, about: &str, conn: &Conn, answer: Control) -> String {
    let (own, slow_start) = write_params(params);
    json(&Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        algorithm: params.info().id.to_owned(),
        case: case.to_owned(),
        about: about.to_owned(),
        source: SOURCE.to_owned(),
        params: own,
        slow_start,
        setup: SetupLine::of(params),
        conn: ConnLine::of(conn, None),
        expect: exactly(answer),
    })
}

/// The line of an event, without its line end: the event of the algorithm, and its answer.
pub fn line(event: &Event, conn: &Conn, answer: Control) -> String {
    json(&Line::of(event, true, ConnLine::of(conn, None), exactly(answer)))
}

/// Parses a recording; `path` is for messages.
///
/// # Errors
///
/// The text is not a vector.
pub fn read(path: &Path, text: &str) -> Result<Recording, CheckError> {
    let mut recording = None;
    let header = walk(path, text, |params, conn, step| {
        let answer = answered(&step.expect);
        let recording = recording.get_or_insert_with(|| Recording {
            params: *params,
            case: String::new(),
            about: String::new(),
            first: (*conn, answer),
            events: Vec::new(),
        });
        recording.events.extend(step.event.map(|event| (event, *conn, answer)));
    })?;
    let recording = recording.ok_or_else(|| empty(path))?;
    Ok(Recording { case: header.case, about: header.about, ..recording })
}

/// Parses every recording at or below a path.
///
/// # Errors
///
/// A file cannot be read, or is not a vector.
pub fn read_all(path: &Path) -> Result<Vec<Recording>, CheckError> {
    let take = |file: PathBuf| match fs::read_to_string(&file) {
        Ok(text) => read(&file, &text),
        Err(error) => Err(CheckError::Io { path: file, error }),
    };
    files(path)?.into_iter().map(take).collect()
}

fn json(line: &impl serde::Serialize) -> String {
    serde_json::to_string(line).expect("words and numbers")
}

/// An answer with no tolerance. Volumes from 2^53 on, which are unbounded, are the nearest double.
fn exactly(answer: Control) -> Expect {
    let Control { cwnd, ssthresh, pacing } = answer;
    Expect {
        cwnd: cwnd as f64,
        ssthresh: Some(ssthresh as f64),
        pacing: (pacing.0 > 0).then_some(pacing.0 as f64),
        tolerance: 0.0,
        pacing_tolerance: None,
    }
}

/// The inverse: the answer of an expectation. Missing values mean no threshold and no pacing.
fn answered(expect: &Expect) -> Control {
    Control {
        cwnd: expect.cwnd as u64,
        ssthresh: expect.ssthresh.map_or(u64::MAX, |bytes| bytes as u64),
        pacing: Rate(expect.pacing.map_or(0, |rate| rate as u64)),
    }
}

#[cfg(test)]
mod tests {
    use windlass_cc::{ALGORITHMS, Ack, AnyController, Flavour, Phase, Setup, Span, Time};

    use super::*;
    use crate::check::check_text;

    /// A history of an algorithm with these parameters, recorded under a header with the parameters `said`.
    fn life(params: &AnyParams, said: &AnyParams) -> String {
        let mut conn = Conn { now: Time(1_000), entropy: u32::MAX, ..Conn::new(1448) };
        let mut controller = AnyController::init(params, &conn);
        let begun = controller.control(params, &conn);
        let mut lines = vec![header(said, "clean", "a test", &conn, begun)];
        let rtt = Span::from_millis(40);
        (conn.srtt, conn.min_rtt) = (rtt, rtt);
        let phase = |from, to| Event::Phase { from, to };
        let ack = Event::Ack(Ack { rtt, prior_in_flight: 28_960, ..Ack::of(1448) });
        let lose = [phase(Phase::Open, Phase::Recovery), phase(Phase::Recovery, Phase::Open)];
        for event in [ack; 40].into_iter().chain(lose).chain([ack; 40]) {
            conn.now = Time(conn.now.0 + 1_000_000);
            (conn.una, conn.delivered) = (conn.una + 1448, conn.delivered + 1448);
            conn.flight_size = 20 * 1448;
            if let Event::Phase { to, .. } = event {
                conn.phase = to;
            }
            controller.apply(params, &conn, &event);
            lines.push(line(&event, &conn, controller.control(params, &conn)));
        }
        lines.join("\n")
    }

    #[test]
    fn a_recording_of_every_algorithm_is_a_vector_that_it_passes() {
        for info in ALGORITHMS {
            for flavour in [Flavour::Rfc, Flavour::Linux, Flavour::Ns3] {
                let params = AnyParams::by_name(info.id).expect("there").flavoured(flavour);
                let text = life(&params, &params);
                let outcome = check_text(Path::new("life"), &text).expect(info.id);
                assert!(outcome.failure.is_none(), "{}: {:?}", info.id, outcome.failure);
                let told = read(Path::new("life"), &text).expect(info.id);
                assert_eq!((told.case.as_str(), told.about.as_str()), ("clean", "a test"));
                let (own, of_file) = (params.common(), told.params.common());
                let recovery = own.recovery.or(Some(params.requirements().recovery));
                assert_eq!(of_file, Setup { recovery, ..own }, "{}", info.id);
                let mut lines =
                    vec![header(&told.params, "clean", "a test", &told.first.0, told.first.1)];
                lines.extend(told.events.iter().map(|(e, c, answer)| line(e, c, *answer)));
                assert_eq!(lines.join("\n"), text, "{}", info.id);
            }
        }
    }

    #[test]
    fn an_answer_by_another_constant_than_the_headers_is_found() {
        let right = AnyParams::by_name("cubic").expect("there");
        let mut wrong = right;
        let keep = wrong.info().params.iter().position(|p| p.name == "keep").expect("keep");
        assert!(wrong.set(keep, windlass_cc::Ratio::of(8, 10).0));
        let outcome = check_text(Path::new("life"), &life(&wrong, &right)).expect("a vector");
        assert_eq!(outcome.failure.expect("a difference").line, 42, "the cut is where it shows");
    }
}
