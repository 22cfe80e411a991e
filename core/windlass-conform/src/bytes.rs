//! Histories as bytes. Any bytes are a history, so a fuzzer can generate them. Also the properties
//! of every history.

use windlass_cc::group::MAX_PATHS;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::{self, SLOW_STARTS};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{
    ALGORITHMS, Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Event, Group, Loss,
    Param, ParamKind, PathView, Phase, Rate, RateSample, Setup, Span, Time, Undo,
};

/// An algorithm with its parameters, a new connection, and its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The algorithm.
    pub params: AnyParams,
    /// The new connection.
    pub first: Conn,
    /// Each event with the connection after it.
    pub steps: Vec<(Conn, Event)>,
}

const PHASES: [Phase; 4] = [Phase::Open, Phase::Recovery, Phase::Loss, Phase::Cwr];
const UNDOS: [Undo; 3] = [Undo::Dsack, Undo::Eifel, Undo::Frto];

/// Number of a connection's values. A step lists the values that changed.
const FIELDS: usize = 14;

fn fields(c: &Conn) -> [u64; FIELDS] {
    [
        c.now.0,
        c.in_flight,
        c.flight_size,
        c.una,
        c.next_id,
        c.delivered,
        c.lost,
        c.sent,
        c.srtt.0,
        c.min_rtt.0,
        u64::from(c.mss),
        u64::from(c.flags),
        u64::from(c.entropy),
        PHASES.iter().position(|phase| *phase == c.phase).unwrap_or(0) as u64,
    ]
}

/// The connection with these values, in the order of its fields.
pub fn connection(f: &[u64; FIELDS]) -> Conn {
    let [
        now,
        in_flight,
        flight_size,
        una,
        next_id,
        delivered,
        lost,
        sent,
        srtt,
        min_rtt,
        rest @ ..,
    ] = *f;
    let [mss, flags, entropy, phase] = rest;
    Conn {
        now: Time(now),
        in_flight,
        flight_size,
        una,
        next_id,
        delivered,
        lost,
        sent,
        srtt: Span(srtt),
        min_rtt: Span(min_rtt),
        mss: mss as u32,
        flags: flags as u32,
        entropy: entropy as u32,
        phase: pick(&PHASES, phase),
    }
}

/// The acknowledgement with these values, in the order of its fields.
pub fn ack([acked, delivered, lost, ce, prior_in_flight, rtt]: [u64; 6], duplicate: bool) -> Ack {
    let (rtt, rate) = (Span(rtt), RateSample::NONE);
    Ack { acked, delivered, lost, ce, prior_in_flight, rtt, rate, duplicate }
}

/// The rate sample with these values, in the order of its fields.
pub fn rate(f: [u64; 5], app_limited: bool) -> RateSample {
    let [delivered, interval, prior_delivered, lost, tx_in_flight] = f;
    let interval = Span(interval);
    RateSample { delivered, interval, prior_delivered, lost, tx_in_flight, app_limited }
}

/// The path with these values, in the order of its fields.
pub fn path([cwnd, ssthresh, srtt, min_rtt, disclosed, mss]: [u64; 6], phase: Phase) -> PathView {
    let (srtt, min_rtt, mss) = (Span(srtt), Span(min_rtt), mss as u32);
    PathView { cwnd, ssthresh, srtt, min_rtt, disclosed, mss, phase }
}

fn pick<T: Copy>(from: &[T], n: u64) -> T {
    from[(n % from.len() as u64) as usize]
}

/// The bounds of a parameter's raw values.
fn range(param: &Param) -> (u64, u64) {
    match param.kind {
        ParamKind::Bytes { min, max }
        | ParamKind::Segments { min, max }
        | ParamKind::Count { min, max } => (min, max),
        ParamKind::Time { min, max } => (min.0, max.0),
        ParamKind::Ratio { min, max } => (min.0, max.0),
        ParamKind::Flag => (0, 1),
        ParamKind::Choice(words) => (0, words.len() as u64 - 1),
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn done(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads bytes; beyond the end they are zero.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let (now, later) = self.0.split_at(N.min(self.0.len()));
        out[..now.len()].copy_from_slice(now);
        self.0 = later;
        out
    }

    fn byte(&mut self) -> u64 {
        u64::from(self.take::<1>()[0])
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn numbers<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.number())
    }

    fn changed(&mut self, f: &mut [u64; FIELDS]) {
        let mask = u16::from_le_bytes(self.take());
        for (place, field) in f.iter_mut().enumerate() {
            if mask >> place & 1 == 1 {
                *field = self.number();
            }
        }
    }

    /// A value within the parameter's range for any number.
    fn raw(&mut self, param: &Param) -> u64 {
        let (min, max) = range(param);
        match (max - min).checked_add(1) {
            Some(size) => min + self.number().wrapping_sub(min) % size,
            None => self.number(),
        }
    }

    fn params(&mut self) -> AnyParams {
        let info = pick(ALGORITHMS, self.byte());
        let mut params = AnyParams::by_name(info.id).unwrap_or_default();
        let slow_start = pick(SLOW_STARTS, self.byte());
        let mut start = slow_start::AnyParams::by_name(slow_start.id).unwrap_or_default();
        let style = pick(&LossRecovery::ALL, self.byte()).1;
        let (initial_window, initial_ssthresh) = (self.number(), self.number());
        let ack_limit = u32::from_le_bytes(self.take());
        for (place, param) in info.params.iter().enumerate() {
            params.set(place, self.raw(param));
        }
        for (place, param) in slow_start.params.iter().enumerate() {
            start.set(place, self.raw(param));
        }
        params.set_common(&Setup {
            initial_window,
            initial_ssthresh,
            recovery: Some(style),
            ack_limit,
            slow_start: start,
            ..params.common()
        });
        params
    }

    fn event(&mut self) -> Event {
        let tag = self.byte();
        match tag % 8 {
            0 | 1 => Event::Ack(self.ack(tag & 8 != 0, tag & 16 != 0)),
            2 if tag & 8 == 0 => Event::Group(self.group()),
            2 => Event::CrossLayer(self.below()),
            3 => {
                let (from, to) = (self.byte(), self.byte());
                Event::Phase { from: pick(&PHASES, from), to: pick(&PHASES, to) }
            }
            4 => Event::Loss(Loss {
                bytes: self.number(),
                tx_in_flight: self.number(),
                lost_since_sent: self.number(),
                app_limited: tag & 8 != 0,
            }),
            5 => Event::Undo(pick(&UNDOS, self.byte())),
            6 => Event::IdleRestart { gap: Span(self.number()), reset: tag & 8 != 0 },
            _ => Event::Mss(self.number() as u32),
        }
    }

    fn group(&mut self) -> Group {
        let (count, own, mode) = (self.byte(), self.byte(), self.byte());
        let paths: Vec<PathView> = (0..count % (MAX_PATHS as u64 + 1))
            .map(|_| path(self.numbers(), pick(&PHASES, self.byte())))
            .collect();
        Group::new(paths).seen_from(own as usize, mode as u8)
    }

    fn below(&mut self) -> CrossLayer {
        let mut small = || u32::from_le_bytes(self.take());
        let (queue_len, queue_limit, hops) = (small(), small(), small());
        let (failure_share, battery) = (small(), small());
        CrossLayer {
            queue_len,
            queue_limit,
            hops,
            failure_share,
            battery,
            service_rate: Rate(self.number()),
            service_time: Span(self.number()),
            base_rtt: Span(self.number()),
        }
    }

    fn ack(&mut self, duplicate: bool, rated: bool) -> Ack {
        let mut ack = ack(self.numbers(), duplicate);
        if rated {
            ack.rate = rate(self.numbers(), self.byte() & 1 == 1);
        }
        ack
    }
}

/// Maximum number of events of a history. Longer histories find no more than a few hundred events
/// do.
const LONGEST: usize = 2_000;

/// Reads a history; any bytes are one.
pub fn decode(bytes: &[u8]) -> History {
    let mut reader = Reader(bytes);
    let params = reader.params();
    let mut f = fields(&Conn::new(1_460));
    reader.changed(&mut f);
    let first = connection(&f);
    let mut steps = Vec::new();
    while !reader.done() && steps.len() < LONGEST {
        let event = reader.event();
        reader.changed(&mut f);
        steps.push((connection(&f), event));
    }
    History { params, first, steps }
}

/// Writes a history that [`decode`] reads.
pub fn encode(history: &History) -> Vec<u8> {
    let mut out = Vec::new();
    let p = &history.params;
    let (info, common) = (p.info(), p.common());
    let place = |list: &[&windlass_cc::Info], id: &str| {
        list.iter().position(|info| info.id == id).unwrap_or(0) as u8
    };
    out.push(place(ALGORITHMS, info.id));
    out.push(place(SLOW_STARTS, common.slow_start.info().id));
    let style = common.recovery.unwrap_or(p.requirements().recovery);
    out.push(LossRecovery::ALL.iter().position(|(_, s)| *s == style).unwrap_or(0) as u8);
    out.extend(common.initial_window.to_le_bytes());
    out.extend(common.initial_ssthresh.to_le_bytes());
    out.extend(common.ack_limit.to_le_bytes());
    for place in 0..info.params.len() {
        out.extend(p.get(place).unwrap_or(0).to_le_bytes());
    }
    for place in 0..common.slow_start.info().params.len() {
        out.extend(common.slow_start.get(place).unwrap_or(0).to_le_bytes());
    }
    let mut before = fields(&Conn::new(1_460));
    write_changed(&mut out, &mut before, &history.first);
    for (c, e) in &history.steps {
        write_event(&mut out, e);
        write_changed(&mut out, &mut before, c);
    }
    out
}

fn write_changed(out: &mut Vec<u8>, before: &mut [u64; FIELDS], c: &Conn) {
    let now = fields(c);
    let changed = |place: &usize| now[*place] != before[*place];
    let mask = (0..FIELDS).filter(changed).fold(0u16, |mask, place| mask | 1 << place);
    out.extend(mask.to_le_bytes());
    for place in (0..FIELDS).filter(changed) {
        out.extend(now[place].to_le_bytes());
    }
    *before = now;
}

fn write_event(out: &mut Vec<u8>, e: &Event) {
    let mut numbers: Vec<u64> = Vec::new();
    let (tag, bytes) = match e {
        Event::Ack(a) => {
            let rated = a.rate != RateSample::NONE;
            numbers.extend([a.acked, a.delivered, a.lost, a.ce, a.prior_in_flight, a.rtt.0]);
            let r = &a.rate;
            if rated {
                let Span(interval) = r.interval;
                numbers.extend([r.delivered, interval, r.prior_delivered, r.lost, r.tx_in_flight]);
            }
            let last = if rated { vec![u8::from(r.app_limited)] } else { Vec::new() };
            (u8::from(a.duplicate) << 3 | u8::from(rated) << 4, last)
        }
        Event::Phase { from, to } => (3, vec![phase_byte(*from), phase_byte(*to)]),
        Event::Loss(l) => {
            numbers.extend([l.bytes, l.tx_in_flight, l.lost_since_sent]);
            (4 | u8::from(l.app_limited) << 3, Vec::new())
        }
        Event::Undo(why) => (5, vec![UNDOS.iter().position(|u| u == why).unwrap_or(0) as u8]),
        Event::IdleRestart { gap, reset } => {
            numbers.push(gap.0);
            (6 | u8::from(*reset) << 3, Vec::new())
        }
        Event::Group(g) => (2, group_bytes(g)),
        Event::CrossLayer(l) => (2 | 1 << 3, below_bytes(l)),
        Event::Mss(old) => {
            numbers.push(u64::from(*old));
            (7, Vec::new())
        }
    };
    out.push(tag);
    for number in numbers {
        out.extend(number.to_le_bytes());
    }
    out.extend(bytes);
}

fn phase_byte(phase: Phase) -> u8 {
    PHASES.iter().position(|known| *known == phase).unwrap_or(0) as u8
}

fn group_bytes(g: &Group) -> Vec<u8> {
    let mut out = vec![g.paths().len() as u8, g.place() as u8, g.mode()];
    for path in g.paths() {
        let (Span(srtt), Span(min_rtt), mss) = (path.srtt, path.min_rtt, u64::from(path.mss));
        for number in [path.cwnd, path.ssthresh, srtt, min_rtt, path.disclosed, mss] {
            out.extend(number.to_le_bytes());
        }
        out.push(phase_byte(path.phase));
    }
    out
}

fn below_bytes(l: &CrossLayer) -> Vec<u8> {
    let small = [l.queue_len, l.queue_limit, l.hops, l.failure_share, l.battery];
    let large = [l.service_rate.0, l.service_time.0, l.base_rtt.0];
    let mut out: Vec<u8> = small.iter().flat_map(|number| number.to_le_bytes()).collect();
    out.extend(large.iter().flat_map(|number| number.to_le_bytes()));
    out
}

/// Checks the properties of every algorithm over any history. The error names the property that
/// fails.
pub fn check(history: &History) -> Result<(), String> {
    let here = play(history)?;
    let room = with_origin(history, 0);
    let there = with_origin(history, far(history));
    if play(&room)? != play(&there)? {
        return Err("the origin of clock, stream or counts matters".to_owned());
    }
    match here == play(history)? {
        true => Ok(()),
        false => Err("a replay is not the same".to_owned()),
    }
}

/// The answers. Each must be within its range, and a second request must give the same answer.
fn play(history: &History) -> Result<Vec<Control>, String> {
    let History { params, first, steps } = history;
    let mut state = AnyController::init(params, first);
    let mut answers = vec![state.control(params, first)];
    let steady = steps.iter().all(|(c, e)| c.mss == first.mss && !matches!(e, Event::Mss(_)));
    for (number, (c, e)) in steps.iter().enumerate() {
        state.apply(params, c, e);
        let before = state;
        let answer = state.control(params, c);
        if state.control(params, c) != answer || state != before {
            return Err(format!("event {number}: control is not pure"));
        }
        let least = if steady { u64::from(first.mss.max(1)) } else { 1 };
        if !(least..=MAX_WINDOW).contains(&answer.cwnd) && least <= MAX_WINDOW {
            return Err(format!("event {number}: {answer:?}"));
        }
        let mut fields = 0;
        state.trace(&mut |_, _| fields += 1);
        if fields != state.info().trace.len() {
            return Err(format!("event {number}: {fields} trace fields"));
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// A distant origin. If an algorithm measures with a clock that ticks, as the kernel does, the
/// position of a time between two ticks matters. The distant origin keeps this position.
fn far(history: &History) -> u64 {
    let tick = match &history.params {
        AnyParams::Westwood(setup) => setup.own.clock.0.max(1),
        _ => 1,
    };
    (1 << 61) / tick * tick
}

/// The same history with small clocks and counts, moved to another origin.
fn with_origin(history: &History, origin: u64) -> History {
    let small = |value: u64| (value >> 3) + origin;
    let moved = |c: &Conn| Conn {
        now: Time(small(c.now.0)),
        una: small(c.una),
        next_id: small(c.next_id),
        delivered: small(c.delivered),
        lost: small(c.lost),
        sent: small(c.sent),
        ..*c
    };
    let event = |e: &Event| match *e {
        Event::Ack(a) if a.rate != RateSample::NONE => {
            let prior_delivered = small(a.rate.prior_delivered);
            Event::Ack(Ack { rate: RateSample { prior_delivered, ..a.rate }, ..a })
        }
        other => other,
    };
    History {
        params: history.params,
        first: moved(&history.first),
        steps: history.steps.iter().map(|(c, e)| (moved(c), event(e))).collect(),
    }
}
