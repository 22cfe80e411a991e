//! Hosts that provide a recording: ns-3 with Windlass's algorithms in its sockets, and any other program that
//! writes one.

use windlass_cc::AnyParams;
use windlass_conform::recording::Recording;
use windlass_run::RunError;
use windlass_sim::FlowResult;

use super::facts::Heard;
use super::{Figures, Simulated, Twin, Twins, is_coupled, prepared, scenario, simulated, standard};
use crate::bpf::record::{Record, What};
use crate::bpf::replay::{Replayed, replay};

/// Runs an algorithm in ns-3 on these networks (all, if none is named), and compares its recordings.
///
/// # Errors
///
/// Returns an error if a network does not exist, if ns-3 does not contain Windlass's algorithms, or if a run
/// failed.
pub fn ns3(params: &AnyParams, networks: &[String], seed: u64) -> Result<Twins, RunError> {
    let params = standard(*params);
    let scenario = prepared(scenario(&params), &params, networks)?;
    let mut recordings = Vec::new();
    for (flow, text) in crate::ns3::recorded(&scenario, &params, seed)? {
        let mut recording = windlass_conform::recording::read(flow.name.as_ref(), &text)
            .map_err(RunError::backend)?;
        recording.case.clone_from(&flow.name);
        // The check is of the requested algorithm; the stack's settings are ns-3's.
        let common = recording.params.common();
        recording.params = params;
        recording.params.set_common(&common);
        recordings.push((recording, Some(flow)));
    }
    of_one(recordings, seed)
}

/// Compares recordings, grouped by algorithm and host.
///
/// # Errors
///
/// Returns an error if a network could not be simulated.
pub fn recorded(recordings: &[Recording], seed: u64) -> Result<Vec<Twins>, RunError> {
    let mut groups: Vec<Vec<Crossing>> = Vec::new();
    for recording in recordings {
        let alike = |other: &Recording| {
            (other.params, &other.about) == (recording.params, &recording.about)
        };
        let crossing = (recording.clone(), None);
        match groups.iter_mut().find(|group| alike(&group[0].0)) {
            Some(group) => group.push(crossing),
            None => groups.push(vec![crossing]),
        }
    }
    groups.into_iter().map(|group| of_one(group, seed)).collect()
}

/// A recording, and the counts of the backend that created it, if any.
type Crossing = (Recording, Option<FlowResult>);

/// Compares the recordings of one algorithm in one host, in the order of the networks. Recordings of other
/// networks are only replayed.
fn of_one(mut crossings: Vec<Crossing>, seed: u64) -> Result<Twins, RunError> {
    let [(first, _), ..] = crossings.as_slice() else {
        return Err(RunError::backend("no recording given"));
    };
    let (params, host) = (first.params, first.about.clone());
    let counted = crossings.iter().all(|(_, flow)| flow.is_some());
    let mut twins = Vec::new();
    if !is_coupled(&params) {
        let mut scenario = prepared(scenario(&params), &params, &[])?;
        // The host determines how an acknowledgement is counted; the ns3 or Linux parameters of the algorithm
        // would hide this.
        let ack_limit = params.common().ack_limit;
        scenario.flows.iter_mut().for_each(|flow| flow.stack.ack_limit = ack_limit);
        for own in simulated(scenario, seed)? {
            let (named, others): (Vec<_>, Vec<_>) =
                crossings.into_iter().partition(|(recording, _)| recording.case == own.flow.name);
            crossings = others;
            twins.extend(named.into_iter().map(|crossing| twin(crossing, Some(own.clone()))));
        }
    }
    twins.extend(crossings.into_iter().map(|crossing| twin(crossing, None)));
    Ok(Twins { algorithm: params.info().id, host, recorded: true, counted, twins })
}

fn twin((recording, flow): Crossing, own: Option<Simulated>) -> Twin {
    let replayed = replayed(&recording);
    // Backends with counters provide retransmissions; otherwise the host's losses are the losses that its
    // algorithm received.
    let figures = |heard: &[Heard], counted: Option<&FlowResult>| {
        let told = Figures::of(heard, replayed.mss);
        Figures { again: counted.map_or(told.again, |flow| flow.retransmits), ..told }
    };
    let host = figures(&replayed.heard, flow.as_ref());
    let own = own.map(|own| (figures(&own.heard, flow.as_ref().and(Some(&own.flow))), own));
    let rates = recording.params.requirements().rate_samples;
    Twin::of(recording.case, replayed, host, own, rates)
}

/// Replays a recording.
fn replayed(recording: &Recording) -> Replayed {
    let (conn, control) = recording.first;
    let mut records = vec![Record { id: 0, number: 1, what: What::Begin, conn, control }];
    for (number, (event, conn, control)) in (2..).zip(&recording.events) {
        let what = What::Event(*event);
        records.push(Record { id: 0, number, what, conn: *conn, control: *control });
    }
    replay(&recording.params, &records, false)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_cc::{Ack, AnyController, Conn, Event, Phase, Ratio, Setup, Span, Time};
    use windlass_conform::recording::{header, line, read};

    use super::*;

    /// Recording of a host that runs these parameters and declares the parameters `said`.
    fn recording(case: &str, params: &AnyParams, said: &AnyParams) -> Recording {
        let rtt = Span::from_millis(40);
        let mut conn = Conn { now: Time(7), srtt: rtt, min_rtt: rtt, ..Conn::new(1448) };
        let mut controller = AnyController::init(params, &conn);
        let begun = controller.control(params, &conn);
        let mut lines = vec![header(said, case, "a host", &conn, begun)];
        for number in 1..=500 {
            let (from, to) = (Phase::Open, Phase::Recovery);
            let event = match number % 100 {
                98 => Event::Phase { from, to },
                99 => Event::Phase { from: to, to: from },
                _ => Event::Ack(Ack { rtt, ..Ack::of(1448) }),
            };
            if let Event::Phase { to, .. } = event {
                conn.phase = to;
            }
            conn.now = Time(conn.now.0 + 1_000_000);
            (conn.una, conn.delivered, conn.flight_size) =
                (conn.una + 1448, conn.delivered + 1448, 28_960);
            controller.apply(params, &conn, &event);
            lines.push(line(&event, &conn, controller.control(params, &conn)));
        }
        read(Path::new(case), &lines.join("\n")).expect("a recording")
    }

    fn cubic() -> AnyParams {
        AnyParams::by_name("cubic").expect("there")
    }

    #[test]
    fn recordings_are_replayed_and_compared_if_the_network_is_known() {
        let of = |case| recording(case, &cubic(), &cubic());
        let crossed = [of("my bench"), of("narrow"), of("clean"), of("narrow")];
        let all = recorded(&crossed, 1).expect("twins");
        let [twins] = all.as_slice() else { panic!("one algorithm, one host: {all:?}") };
        assert_eq!((twins.algorithm, twins.host.as_str()), ("cubic", "a host"));
        let names: Vec<&str> = twins.twins.iter().map(|twin| twin.network.as_str()).collect();
        assert_eq!(names, ["clean", "narrow", "narrow", "my bench"]);
        let [_, one, other, _] = twins.twins.as_slice() else { panic!("four: {names:?}") };
        assert_eq!((&one.simulated, &one.fact), (&other.simulated, &other.fact));
        for twin in &twins.twins {
            assert!(twin.replayed.is_equal() && twin.replayed.events == 501, "{:?}", twin.replayed);
            assert_eq!(twin.host.goodput_bps.round(), 1448.0 * 8e3);
            assert_eq!(twin.host.rtt_ms, Some(40.0));
            let known = twin.network != "my bench";
            assert_eq!((twin.simulated.is_some(), twin.fact.is_some()), (known, known));
        }
    }

    #[test]
    fn simulation_uses_the_hosts_ack_limit() {
        let hybla = |ack_limit| {
            let mut params = AnyParams::by_name("hybla").expect("there");
            params.set_common(&Setup { ack_limit, ..params.common() });
            let twins = recorded(&[recording("lossy", &params, &params)], 1).expect("twins");
            twins[0].twins[0].simulated.as_ref().expect("simulated").goodput_bps
        };
        let (one, all) = (hybla(1), hybla(u32::MAX));
        assert!(all > 1.1 * one, "Linux's Hybla counts one segment: {one} and {all} bit/s");
    }

    #[test]
    fn wrong_constant_is_found_and_the_first_event_is_named() {
        let mut wrong = cubic();
        let place = wrong.info().params.iter().position(|p| p.name == "keep").expect("keep");
        assert!(wrong.set(place, Ratio::of(8, 10).0));
        let twins = recorded(&[recording("clean", &wrong, &cubic())], 1).expect("twins");
        let replayed = &twins[0].twins[0].replayed;
        assert!(!replayed.is_equal() && replayed.missed == 0);
        let first = replayed.first.as_deref().expect("a difference");
        assert!(first.starts_with("event 99 (phase)"), "it shows at the window reduction: {first}");
    }
}
