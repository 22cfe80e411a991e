//! Events of sibling paths and of lower layers as lines, and invalid lines.

use proptest::prelude::*;
use windlass_cc::{Conn, CrossLayer, Event, Group, PathView, Phase, Rate, Span};
use windlass_conform::format::{ConnLine, Expect, Line};

const EXPECT: Expect =
    Expect { cwnd: 1.0, ssthresh: None, pacing: None, tolerance: 1.0, pacing_tolerance: None };

fn line(e: &Event) -> String {
    let line = Line::of(e, false, ConnLine::of(&Conn::new(1_000), None), EXPECT);
    serde_json::to_string(&line).unwrap()
}

fn event(text: &str) -> Result<Event, String> {
    serde_json::from_str::<Line>(text).map_err(|e| e.to_string())?.to_event()
}

prop_compose! {
    fn any_path()(
        (cwnd, ssthresh, disclosed) in any::<(u64, u64, u64)>(),
        (srtt, min_rtt) in (prop::option::of(0..u64::MAX), prop::option::of(0..u64::MAX)),
        mss in any::<u32>(),
        phase in prop::sample::select(vec![Phase::Open, Phase::Recovery, Phase::Loss, Phase::Cwr]),
    ) -> PathView {
        let span = |time: Option<u64>| time.map_or(Span::NONE, Span);
        let (srtt, min_rtt) = (span(srtt), span(min_rtt));
        PathView { cwnd, ssthresh, srtt, min_rtt, disclosed, mss, phase }
    }
}

proptest! {
    #[test]
    fn a_group_reads_back_from_its_line(
        paths in prop::collection::vec(any_path(), 1..9), own in 0..8usize, mode in any::<u8>(),
    ) {
        let told = Event::Group(Group::new(paths).seen_from(own, mode));
        prop_assert_eq!(event(&line(&told)), Ok(told));
    }

    #[test]
    fn a_snapshot_of_lower_layers_reads_back_from_its_line(
        small in any::<[u32; 5]>(), large in any::<[u64; 3]>(),
    ) {
        let [queue_len, queue_limit, hops, failure_share, battery] = small;
        let [rate, service, base] = large;
        let told = Event::CrossLayer(CrossLayer {
            queue_len, queue_limit, hops, failure_share, battery,
            service_rate: Rate(rate), service_time: Span(service), base_rtt: Span(base),
        });
        prop_assert_eq!(event(&line(&told)), Ok(told));
    }
}

#[test]
fn an_invalid_group_is_refused_with_a_remedy() {
    let view = PathView { srtt: Span::from_millis(40), ..PathView::EMPTY };
    let text = line(&Event::Group(Group::new([view, view]).seen_from(1, 0)));
    let refused = |from: &str, to: &str, says: &str| {
        assert_ne!(text, text.replace(from, to), "{from}");
        let told = event(&text.replace(from, to)).unwrap_err();
        assert!(told.contains(says), "{told}");
    };
    refused("\"own\":1", "\"own\":2", "`own` is 2; it must be a place in `paths`, 0 to 1");
    refused("\"own\":1,", "", "lacks `own`");
    refused("\"phase\":\"open\"", "\"phase\":\"ajar\"", "one of open, recovery, loss, cwr");
    refused("\"disclosed\":0,", "", "disclosed");
    let one = serde_json::to_string(&windlass_conform::paths::PathLine::of(&view)).unwrap();
    let nine = [one.as_str(); 9].join(",");
    refused(&[one.as_str(); 2].join(","), &nine, "`paths` lists 9; a connection has 1 to 8");
    refused(&[one.as_str(); 2].join(","), "", "`paths` lists 0");
}
