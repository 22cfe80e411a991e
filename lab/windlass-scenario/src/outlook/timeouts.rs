//! Initial timeouts that expire before a response can arrive.

use windlass_cc::{Span, rto};
use windlass_sim::ConfigError;
use windlass_sim::config::{Config, Traffic};
use windlass_sim::link_radio::Access;
use windlass_sim::routing::link_of;

use super::{Leg, legs, time_over};
use crate::compile::compile;
use crate::units::Duration;
use crate::{Hop, Scenario};

/// IP bytes of an empty segment without options.
const BARE: u32 = 40;

/// A flow whose first timeout is shorter than its RTT over the idle path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyTimeout {
    /// Name of the flow, or `flow:subflow`.
    pub flow: String,
    /// Timeout before the first RTT sample.
    pub timeout: Span,
    /// RTT of the handshake, or of a request and its response, over idle links.
    pub rtt: Span,
    /// True if it is a flow of CoAP.
    pub coap: bool,
}

impl EarlyTimeout {
    pub(super) fn sentence(&self) -> String {
        let times = format!(
            "its initial timeout of {} is below the RTT of {} of the idle path",
            Duration(self.timeout),
            rounded(self.rtt)
        );
        match self.coap {
            true => format!(
                "{times}: requests are retransmitted before the answer can arrive; a longer one is `rto = {{ initial = \"{}\" }}` in `traffic`",
                Duration(self.enough())
            ),
            false => format!(
                "{times}: the SYN is sent twice, and the initial window becomes one segment; a longer one is `rto = {{ initial = \"{}\" }}` in `stack`",
                Duration(self.enough())
            ),
        }
    }

    /// Whole seconds that are at least twice the RTT.
    pub fn enough(&self) -> Span {
        Span::from_secs((2 * self.rtt.0).div_ceil(1_000_000_000))
    }
}

/// The flows whose first timeout is shorter than their RTT over the idle path.
///
/// # Errors
///
/// The simulator does not take the scenario.
pub fn early_timeouts(scenario: &Scenario) -> Result<Vec<EarlyTimeout>, ConfigError> {
    let config = compile(scenario, scenario.seed)?;
    Ok(legs(scenario, &config).iter().filter_map(|leg| of(leg, &config)).collect())
}

pub(super) fn of(leg: &Leg, config: &Config) -> Option<EarlyTimeout> {
    let (timer, sizes, coap) = match leg.flow.traffic {
        Traffic::CbrUdp(_) | Traffic::Media(_) => return None,
        // A QUIC library has its own timer.
        _ if leg.library.is_some() => return None,
        Traffic::Coap(coap) if !coap.confirmable => return None,
        Traffic::Coap(coap) => {
            let request = u32::try_from(coap.requests.sizes.mean).unwrap_or(u32::MAX);
            (coap.timer, [coap.request_size(request), coap.response_size()], true)
        }
        _ => (leg.flow.profile.stack.rto, [BARE; 2], false),
    };
    let timeout = initial(&timer)?;
    let back: Vec<_> = leg.hops.iter().map(|hop| hop.reversed()).collect();
    let there = time_over(config, &leg.hops, sizes[0]) + connecting(config, &leg.hops);
    let rtt = there + time_over(config, &back, sizes[1]);
    let flow = leg.flow.name.clone();
    (timeout < rtt).then_some(EarlyTimeout { flow, timeout, rtt, coap })
}

/// Time in which the cellular radios of links on a path connect for the first packet.
fn connecting(config: &Config, hops: &[Hop]) -> Span {
    let promotion = |hop: &Hop| match hop {
        Hop::Link(direction) => match &config.links[link_of(*direction)].radio.as_ref()?.access {
            Access::Cellular(cellular) => Some(cellular.promotion),
            Access::ClassA(_) => None,
        },
        Hop::Air { .. } => None,
    };
    hops.iter().filter_map(promotion).fold(Span::ZERO, |sum, time| sum + time)
}

/// The timeout of a timer before its first sample.
fn initial(timer: &rto::AnyParams) -> Option<Span> {
    let place = timer.info().params.iter().position(|param| param.name == "initial")?;
    timer.get(place).map(Span)
}

/// The RTT, rounded to a millisecond.
fn rounded(rtt: Span) -> Duration {
    Duration(Span::from_millis((rtt.0 + 500_000) / 1_000_000))
}
