//! Bursts of losses by packet on links whose packets are far apart.

use std::collections::BTreeMap;

use windlass_cc::Span;
use windlass_sim::config::{Config, FlowConfig, Traffic};
use windlass_sim::loss::LossModel;
use windlass_sim::routing::Direction;
use windlass_sim::session::Exchanges;

use super::Leg;
use crate::Hop;
use crate::units::Duration;

/// Packets further apart than this are too sparse for bursts, because the bad states of radio channels are shorter.
const APART: Span = Span::from_secs(1);
/// A transfer of at most this many packets is too short for its window to keep packets close together.
const FEW: u64 = 10;

/// A warning for each link whose bursts advance with each packet while its packets are far apart on average. Links with
/// equal warnings share one warning.
pub(super) fn sentences(legs: &[Leg], config: &Config, duration: Span) -> Vec<String> {
    let mut packets: BTreeMap<Direction, Option<u64>> = BTreeMap::new();
    for leg in legs {
        let sent = packets_of(&leg.flow, duration);
        for hop in &leg.hops {
            let Hop::Link(direction) = *hop else { continue };
            // Acknowledgements, responses and handshakes cross the other direction about as often.
            for direction in [direction, direction ^ 1] {
                let all = packets.entry(direction).or_insert(Some(0));
                *all = all.zip(sent).map(|(all, more)| all.saturating_add(more));
            }
        }
    }
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for (i, link) in config.links.iter().enumerate() {
        let say = (0..2).find_map(|d| {
            let Some(LossModel::GilbertElliott { bad_to_good, .. }) = &link.loss[d] else {
                return None;
            };
            let n =
                packets.get(&((2 * i + d) as Direction)).copied().flatten().filter(|n| *n > 0)?;
            sentence(Span(duration.0 / n), 1.0 / bad_to_good.max(1e-9))
        });
        let Some(say) = say else { continue };
        match told.iter_mut().find(|(known, _)| *known == say) {
            Some((_, links)) => links.push(&link.name),
            None => told.push((say, vec![&link.name])),
        }
    }
    let with_names = |(say, links): (String, Vec<&str>)| match links.as_slice() {
        [first, .., last] => format!("each of {} links, {first} to {last}: {say}", links.len()),
        _ => format!("link {}: {say}", links[0]),
    };
    told.into_iter().map(with_names).collect()
}

fn sentence(gap: Span, packets: f64) -> Option<String> {
    let burst = Span((gap.0 as f64 * packets) as u64);
    let seconds = |span: Span| Duration(Span::from_secs(span.0.div_ceil(1_000_000_000)));
    (gap >= APART).then(|| {
        format!(
            "its loss bursts advance with each packet, and packets are {} apart on average, so that a burst of {packets:.1} packets lasts for {}; \
             `mean_good` and `mean_bad` in `loss` make bursts in time",
            seconds(gap),
            seconds(burst)
        )
    })
}

/// The approximate number of packets of a flow; `None` if the congestion window determines the time between its
/// packets.
fn packets_of(flow: &FlowConfig, duration: Span) -> Option<u64> {
    let time = duration.0.saturating_sub(flow.start.0);
    let each = |bytes: u64| bytes.div_ceil(u64::from(flow.profile.mss()).max(1)).max(1);
    let every = |gap: u64, bytes: u64| Some((time / gap.max(1)).saturating_mul(each(bytes)));
    match flow.traffic {
        Traffic::Bulk { bytes } => bytes.map(each).filter(|n| *n <= FEW),
        Traffic::RequestResponse { .. } | Traffic::Media(_) | Traffic::Custom(_) => None,
        Traffic::Messages(m) => every(m.gaps.mean, m.sizes.mean),
        Traffic::Sessions(ref sessions) => match sessions.exchanges {
            Exchanges::Messages(m) => every(m.gaps.mean, m.sizes.mean),
            Exchanges::Requests { .. } => None,
        },
        Traffic::Coap(c) => every(c.requests.gaps.mean, 1),
        Traffic::CbrTcp(cbr) => every(cbr.interval.0, cbr.packet),
        Traffic::CbrUdp(cbr) => every(cbr.interval.0, 1),
    }
}
