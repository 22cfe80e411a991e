//! A radio in front of the transmitters of a link, with the queues of both directions.

use windlass_cc::Time;

use super::config::LinkRadio;
use super::meter::{State, Times};
use super::{Machine, Way};
use crate::aqm::AqmQueue;
use crate::config::Config;
use crate::core::{Core, Entity};
use crate::evidence::RadioStates;
use crate::packet::PacketHandle;
use crate::results::{RadioResult, RadioUse, StationResult};
use crate::schedule::Schedule;

/// The radio of a link.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// Index of the link.
    link: usize,
    /// Queues of the uplink and of the downlink.
    queues: [AqmQueue; 2],
    machine: Machine,
    /// Way of the last frame. The other way precedes it if both could send.
    last: Way,
    /// Time of the pending event.
    armed: Time,
}

impl Gate {
    /// The gates of all links with a radio.
    pub(crate) fn all(config: &Config) -> Vec<Gate> {
        let of = |(i, radio): (usize, &LinkRadio)| Gate {
            link: i,
            queues: [radio.device, 1 - radio.device]
                .map(|end| AqmQueue::in_front(config, 2 * i + end)),
            machine: Machine::new(radio).recording(config.record.decisions),
            last: Way::Down,
            armed: Time::NEVER,
        };
        let radios = config.links.iter().enumerate();
        radios.filter_map(|(i, link)| Some((i, link.radio.as_deref()?))).map(of).collect()
    }

    /// Schedules the power cuts of the gate with this number.
    pub(crate) fn schedule_cuts(&self, core: &mut Core, number: u32) {
        for at in self.machine.cuts() {
            core.schedule(at, Entity::Gate(number));
        }
    }

    /// The link direction of a hop with this number: twice the number of its gate, and one more for
    /// the downlink.
    pub(crate) fn direction_of(config: &Config, number: u32) -> Option<u32> {
        let radios = config.links.iter().enumerate();
        let mut radios = radios.filter_map(|(i, link)| Some((i, link.radio.as_deref()?)));
        let (link, radio) = radios.nth(number as usize / 2)?;
        Some((2 * link + (radio.device ^ (number as usize % 2))) as u32)
    }

    pub(crate) fn queues(&self) -> &[AqmQueue; 2] {
        &self.queues
    }

    fn waiting(&self) -> [bool; 2] {
        self.queues.each_ref().map(|queue| !queue.queue.is_empty())
    }

    fn direction(&self, way: Way) -> usize {
        self.queues[way as usize].link as usize
    }

    fn busy_until(&self, core: &Core) -> Time {
        let ends = Way::BOTH.map(|way| core.links[self.direction(way)].busy_until());
        ends[0].max(ends[1])
    }

    /// Receives a packet for a direction: 0 for the uplink, 1 for the downlink.
    pub(crate) fn put(&mut self, core: &mut Core, number: u32, way: usize, handle: PacketHandle) {
        let way = Way::BOTH[way];
        self.proceed(core);
        let empty = self.queues[way as usize].queue.is_empty();
        let sending = core.links[self.direction(way)].busy_until() > core.now;
        // A packet that finds an open gate need not wait, so the limit of the queue is not for it.
        let open = self.busy_until(core) <= core.now
            && empty
            && self.machine.start(core.now, way) == Some(core.now);
        let busy_until = if open { self.busy_until(core) } else { Time::NEVER };
        self.queues[way as usize].enter(core, handle, busy_until);
        if empty && !self.queues[way as usize].queue.is_empty() {
            self.machine.arrive(core.now, way, sending);
        }
        self.transmit(core);
        self.lose_uplink(core);
        self.queues[way as usize].note_length();
        self.arm(core, number);
    }

    /// Handles the gate's event.
    pub(crate) fn on_due(&mut self, core: &mut Core, number: u32) {
        if core.now >= self.armed {
            self.armed = Time::NEVER;
        }
        self.proceed(core);
        self.arm(core, number);
    }

    /// Proceeds to the present time, and starts a frame that is due.
    fn proceed(&mut self, core: &mut Core) {
        self.machine.advance(core.now, self.waiting());
        self.transmit(core);
        self.lose_uplink(core);
    }

    /// Without power the device loses the packets that it holds.
    fn lose_uplink(&mut self, core: &mut Core) {
        if self.machine.is_off() {
            self.queues[Way::Up as usize].lose_all(core);
        }
    }

    /// Starts the next frame, if the link is idle and the radio allows it.
    fn transmit(&mut self, core: &mut Core) {
        let now = core.now;
        if self.busy_until(core) > now {
            return;
        }
        for way in [self.last.other(), self.last] {
            let waits = !self.queues[way as usize].queue.is_empty();
            if !waits || self.machine.start(now, way) != Some(now) {
                continue;
            }
            let direction = self.direction(way);
            if let Some((modulation, compressed)) = self.machine.modulation(now, way) {
                core.links[direction].follow(Schedule::Lora { modulation, compressed });
            }
            if self.queues[way as usize].transmit(core) {
                self.last = way;
                self.machine.sent(now, way, core.links[direction].busy_until());
                return;
            }
        }
    }

    /// Schedules the next event, if packets wait.
    fn arm(&mut self, core: &mut Core, number: u32) {
        let waiting = self.waiting();
        if waiting == [false; 2] {
            return;
        }
        let starts = Way::BOTH.into_iter().filter(|way| waiting[*way as usize]);
        let starts = starts.filter_map(|way| self.machine.start(core.now, way));
        let Some(next) = starts.chain(self.machine.change(waiting)).min() else { return };
        let next = next.max(self.busy_until(core));
        if next < self.armed {
            self.armed = next;
            core.schedule(next, Entity::Gate(number));
        }
    }

    /// The state at `now`.
    fn machine_at(&self, now: Time) -> Machine {
        let mut machine = self.machine.clone();
        machine.advance(now, self.waiting());
        machine
    }

    /// True if each moment up to `now` is counted in one state.
    pub(crate) fn counts_all_time(&self, now: Time) -> bool {
        self.machine_at(now).times().all_ns() == now.0
    }

    /// The states up to now, if they are recorded.
    pub(crate) fn states(&self) -> Option<RadioStates> {
        let states = self.machine.states()?.to_vec();
        Some(RadioStates { link: self.link, states })
    }

    fn radio<'a>(&self, config: &'a Config) -> Option<(usize, &'a LinkRadio)> {
        let link = &config.links[self.link];
        let radio = link.radio.as_deref()?;
        Some((link.ends[radio.device], radio))
    }

    /// Adds the radio's time and energy to the use of a flow's two nodes.
    pub(crate) fn add_use(
        &self,
        config: &Config,
        nodes: [usize; 2],
        now: Time,
        sum: Option<RadioUse>,
    ) -> Option<RadioUse> {
        let Some((device, radio)) = self.radio(config) else { return sum };
        if !nodes.contains(&device) {
            return sum;
        }
        let times = *self.machine_at(now).times();
        let active_s = seconds(times.ns(State::Transmit) + times.ns(State::Receive));
        let spent_j = joules(times.spent_fj(&radio.power));
        let none = RadioUse { sender_s: 0.0, receiver_s: 0.0, sender_j: None, receiver_j: None };
        let mut sum = sum.unwrap_or(none);
        let more = |all: Option<f64>| Some(all.unwrap_or(0.0) + spent_j);
        if nodes[0] == device {
            (sum.sender_s, sum.sender_j) = (sum.sender_s + active_s, more(sum.sender_j));
        }
        if nodes[1] == device {
            (sum.receiver_s, sum.receiver_j) = (sum.receiver_s + active_s, more(sum.receiver_j));
        }
        Some(sum)
    }

    /// Results up to `now`.
    pub(crate) fn result(&self, config: &Config, core: &Core) -> Option<RadioResult> {
        let (device, radio) = self.radio(config)?;
        let now = core.now;
        let machine = self.machine_at(now);
        let times = *machine.times();
        let ways = Way::BOTH.map(|way| &core.links[self.direction(way)]);
        let busy_ns: u64 = ways.iter().map(|link| link.busy_ns_by(now)).sum();
        let busy = if now.0 > 0 { busy_ns as f64 / now.0 as f64 } else { 0.0 };
        Some(RadioResult {
            name: config.links[self.link].name.clone(),
            busy,
            airtime: busy,
            stations: vec![StationResult {
                name: config.nodes[device].clone(),
                transmit_s: seconds(times.ns(State::Transmit)),
                receive_s: seconds(times.ns(State::Receive)),
                listen_s: seconds(times.ns(State::Listen) + times.ns(State::Connect)),
                idle_s: seconds(times.ns(State::Idle)),
                sleep_s: seconds(times.ns(State::Sleep)),
                connect_s: seconds(times.ns(State::Connect)),
                connections: machine.connections(),
                energy_j: Some(joules(times.spent_fj(&radio.power))),
                off_s: seconds(times.ns(State::Off)),
                rest_j: Some(joules(rest(radio, now).spent_fj(&radio.power))),
                battery_left_j: radio.battery_uj.map(|uj| {
                    let all = u128::from(uj) * 1_000_000_000;
                    joules(all.saturating_sub(times.spent_fj(&radio.power)))
                }),
                ..self.packets(core)
            }],
            routing: None,
            link: true,
        })
    }

    /// The packets of the uplink, in the terms of a station.
    fn packets(&self, core: &Core) -> StationResult {
        let now = core.now;
        let queue = &self.queues[Way::Up as usize];
        let link = &core.links[self.direction(Way::Up)];
        let (begun, waited_ns) = (link.counters.offered, queue.counters.taken_waited_ns);
        let mean = |sum: u64, n: u64| if n > 0 { sum as f64 / n as f64 } else { 0.0 };
        StationResult {
            offered: queue.counters.offered,
            delivered: link.counters.delivered,
            drops_queue: queue.counters.dropped,
            frame_errors: link.counters.dropped_error,
            inside: link.inside() + queue.queue.len(),
            transmissions: link.counters.offered,
            bytes: link.counters.bytes,
            airtime_s: seconds(link.busy_ns_by(now)),
            mean_queue_packets: mean(queue.waited_ns_by(now), now.0),
            mean_queue_delay_ms: mean(waited_ns, begun) / 1e6,
            mean_service_ms: mean(link.counters.busy_ns, begun) / 1e6,
            max_queue_packets: queue.counters.max_waiting,
            ..StationResult::default()
        }
    }
}

/// Times of a radio without packets.
fn rest(radio: &LinkRadio, now: Time) -> Times {
    let mut machine = Machine::new(radio);
    machine.advance(now, [false; 2]);
    *machine.times()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn joules(fj: u128) -> f64 {
    fj as f64 / 1e15
}
