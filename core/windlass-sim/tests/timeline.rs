//! Counts per interval: their sums are the totals, and counting changes nothing else.

use crate::common::{dumbbell, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::queue::{CoDel, Discipline};

fn counted(config: &Config, bin: Span) -> Config {
    let mut config = config.clone();
    config.record.bins = bin;
    config
}

/// A drop-tail queue, and a CoDel queue, whose drops are counted elsewhere.
fn configs() -> [Config; 2] {
    let plain = dumbbell(2, "cubic", Time::from_secs(20));
    let mut codel = plain.clone();
    codel.links[0].discipline = Discipline::CoDel(CoDel::DEFAULT);
    [plain, codel]
}

#[test]
fn intervals_add_up_to_the_totals() {
    for config in configs() {
        let result = run(counted(&config, Span::from_millis(100)));
        let timeline = result.timeline.expect("recorded");
        for (flow, total) in timeline.flows.iter().zip(&result.flows) {
            assert_eq!((flow.delivered_bytes.len(), flow.cwnd_bytes.len()), (200, 200));
            assert_eq!(flow.delivered_bytes.iter().sum::<u64>(), total.delivered_bytes);
            assert_eq!(flow.cwnd_bytes.last(), Some(&total.cwnd_bytes));
        }
        let mut all = 0;
        for (drops, total) in timeline.drops.iter().zip(&result.links) {
            assert_eq!(drops.iter().sum::<u64>(), total.drops, "{}", total.name);
            all += total.drops;
        }
        assert!(all > 0, "packets are dropped");
    }
}

#[test]
fn counting_changes_nothing_else() {
    for config in configs() {
        let (plain, mut with) = (run(config.clone()), run(counted(&config, Span::from_millis(7))));
        assert!(with.timeline.take().is_some() && plain.timeline.is_none());
        assert_eq!(plain, with);
    }
}

#[test]
fn an_incomplete_last_interval_is_left_out() {
    let config = dumbbell(1, "reno", Time::from_secs(1));
    let timeline = run(counted(&config, Span::from_millis(300))).timeline.expect("recorded");
    assert_eq!(timeline.drops[0].len(), 3);
    let long = run(counted(&config, Span::from_secs(2))).timeline.expect("recorded");
    assert!(long.drops.iter().all(Vec::is_empty));
}
