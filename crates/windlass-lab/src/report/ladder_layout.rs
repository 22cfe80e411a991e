//! Where everything of a ladder stands: times become heights.
//!
//! Heights never contradict time: of two events the later one never stands higher, on either
//! side. Within that, events of one side keep [`SPACING`] so that their labels can be read, and
//! long silences are cut to [`LONGEST_GAP`].

use super::model::{Ladder, Message};

/// Advance of one character in pixels: 0.6 em is what monospaced fonts agree on.
pub(super) const ADVANCE: f64 = 6.7;
/// Font size in pixels.
pub(super) const FONT: f64 = 11.0;
/// Least vertical distance of two events on one side.
pub(super) const SPACING: f64 = 17.0;
/// Height that the usual one-way delay takes.
const DELAY_HEIGHT: f64 = 56.0;
/// Largest height between two neighbouring events.
pub(super) const LONGEST_GAP: f64 = 90.0;
/// Height of the heading with the ends' names.
const TOP: f64 = 44.0;
/// Distance from a lifeline to the text beside it.
pub(super) const MARGIN: f64 = 9.0;
/// Steepest arrow whose label follows its slope; a steeper one's label lies flat.
const STEEPEST_LABEL: f64 = 32.0;

/// A point in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub x: f64,
    pub y: f64,
}

/// One drawn message.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    /// Where it leaves.
    pub from: At,
    /// Where it ends: at the other side, or midway when lost.
    pub to: At,
    /// Whether it was lost.
    pub lost: bool,
    /// Whether it goes from left to right.
    pub rightward: bool,
    /// Anchor of the label, at the sender's end.
    pub label_at: At,
    /// Rotation of the label in degrees, clockwise.
    pub label_angle: f64,
}

/// A silence that is drawn shorter than it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Height of its upper end.
    pub from_y: f64,
    /// Height of its lower end.
    pub to_y: f64,
    /// Its length in seconds.
    pub seconds: f64,
}

/// The whole drawing.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// Position of the left lifeline.
    pub left_x: f64,
    /// Position of the right lifeline.
    pub right_x: f64,
    /// Messages, as in the ladder.
    pub arrows: Vec<Arrow>,
    /// Silences cut short.
    pub cuts: Vec<Cut>,
    /// Whether events were moved apart.
    pub spread: bool,
    /// Digits after the point that tell the times apart.
    pub decimals: usize,
}

/// One end of a message.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: f64,
    message: usize,
    arrival: bool,
    left: bool,
    y: f64,
}

/// Lays a ladder out.
pub(super) fn layout(ladder: &Ladder) -> Layout {
    let delays = Delays::of(&ladder.messages);
    let mut events = events(&ladder.messages, &delays);
    let (cuts, spread) = set_heights(&mut events, DELAY_HEIGHT / delays.usual);
    let heights = ends(&events, ladder.messages.len());
    let decimals = decimals(&ladder.messages);
    let columns = Columns::of(ladder, decimals, &heights);
    let arrow = |(message, &(sent, received)): (&Message, &(f64, f64))| {
        arrow(message, sent, received, &columns)
    };
    Layout {
        width: columns.width,
        height: events.iter().map(|e| e.y).fold(TOP, f64::max) + 28.0,
        left_x: columns.left_x,
        right_x: columns.right_x,
        arrows: ladder.messages.iter().zip(&heights).map(arrow).collect(),
        cuts,
        spread,
        decimals,
    }
}

/// Delays by direction, to draw lost messages as steep as their neighbours.
struct Delays {
    rightward: f64,
    leftward: f64,
    usual: f64,
}

impl Delays {
    fn of(messages: &[Message]) -> Delays {
        let delays = |pick: &dyn Fn(&Message) -> bool| -> Vec<f64> {
            let all = messages.iter().filter(|m| pick(m));
            all.filter_map(|m| Some(m.received_s? - m.sent_s)).filter(|d| *d > 0.0).collect()
        };
        let times = messages.iter().flat_map(|m| [Some(m.sent_s), m.received_s]).flatten();
        let first = times.clone().fold(f64::INFINITY, f64::min);
        let last = times.fold(f64::NEG_INFINITY, f64::max);
        // Without a single measured delay any scale will do; take one from the exchange's length.
        let guess = if last > first { (last - first) / messages.len() as f64 } else { 1.0 };
        let usual = median(delays(&|_| true)).unwrap_or(guess);
        Delays {
            rightward: median(delays(&|m| m.rightward)).unwrap_or(usual),
            leftward: median(delays(&|m| !m.rightward)).unwrap_or(usual),
            usual,
        }
    }

    fn arrival(&self, message: &Message) -> f64 {
        let delay = if message.rightward { self.rightward } else { self.leftward };
        message.received_s.unwrap_or(message.sent_s + delay)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Both ends of all messages in the order in which they are drawn. At one instant arrivals come
/// first, for they cause what is sent; but a message without delay leaves before it arrives.
fn events(messages: &[Message], delays: &Delays) -> Vec<Event> {
    let mut events = Vec::with_capacity(messages.len() * 2);
    for (message, m) in messages.iter().enumerate() {
        let arrives = delays.arrival(m);
        let event =
            |time, arrival| Event { time, message, arrival, left: m.rightward != arrival, y: 0.0 };
        events.extend([event(m.sent_s, false), event(arrives, true)]);
    }
    let rank = |e: &Event| match e.arrival {
        true if e.time > messages[e.message].sent_s => 0,
        false => 1,
        true => 2,
    };
    events.sort_by(|a, b| {
        a.time.total_cmp(&b.time).then(rank(a).cmp(&rank(b))).then(a.message.cmp(&b.message))
    });
    events
}

/// Gives every event its height. Returns the silences cut and whether anything was moved apart.
fn set_heights(events: &mut [Event], pixels_per_second: f64) -> (Vec<Cut>, bool) {
    let mut cuts = Vec::new();
    let mut spread = false;
    let mut previous: Option<(f64, f64)> = None;
    let mut lowest = [f64::NEG_INFINITY; 2];
    for event in events {
        let mut y = TOP + 16.0;
        if let Some((time, height)) = previous {
            let gap = (event.time - time) * pixels_per_second;
            y = height + gap.min(LONGEST_GAP);
            if gap > LONGEST_GAP {
                cuts.push(Cut { from_y: height, to_y: y, seconds: event.time - time });
            }
        }
        let side = &mut lowest[usize::from(event.left)];
        // Rounding may leave a gap a hair short without any need to say so.
        spread |= y + 0.5 < *side + SPACING;
        y = y.max(*side + SPACING);
        *side = y;
        event.y = y;
        previous = Some((event.time, y));
    }
    (cuts, spread)
}

/// Heights at which each message leaves and arrives.
fn ends(events: &[Event], messages: usize) -> Vec<(f64, f64)> {
    let mut ends = vec![(0.0, 0.0); messages];
    for event in events {
        let end = &mut ends[event.message];
        *(if event.arrival { &mut end.1 } else { &mut end.0 }) = event.y;
    }
    ends
}

/// Horizontal division of the drawing.
struct Columns {
    left_x: f64,
    right_x: f64,
    width: f64,
}

impl Columns {
    fn of(ladder: &Ladder, decimals: usize, heights: &[(f64, f64)]) -> Columns {
        let widest =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(text_width).fold(0.0, f64::max);
        let remarks = |rightward: bool| {
            let sent = ladder.messages.iter().filter(|m| m.rightward == rightward);
            widest(&mut sent.filter_map(|m| m.remark.as_deref()))
        };
        let times = ladder.messages.iter().flat_map(|m| [Some(m.sent_s), m.received_s]).flatten();
        let time = times.map(|t| text_width(&time_text(t, decimals))).fold(0.0, f64::max);
        let side = |remark: f64, name: &str| {
            let beside = MARGIN + time + if remark > 0.0 { MARGIN + remark } else { 0.0 };
            beside.max(text_width(name) / 2.0 + MARGIN) + 4.0
        };
        let label = widest(&mut ladder.messages.iter().map(|m| m.label.as_str()));
        let drop = heights.iter().map(|(sent, received)| received - sent).fold(0.0, f64::max);
        // Labels stay in the sender's half; moderate slopes are kept gentle.
        let between = (label / 0.44 + 2.0 * MARGIN).max(340.0).max((drop * 1.6).min(560.0));
        let left_x = side(remarks(true), &ladder.left);
        let right_x = left_x + between;
        Columns { left_x, right_x, width: right_x + side(remarks(false), &ladder.right) }
    }
}

fn arrow(message: &Message, sent: f64, received: f64, columns: &Columns) -> Arrow {
    let Columns { left_x, right_x, .. } = *columns;
    let (start, end) = if message.rightward { (left_x, right_x) } else { (right_x, left_x) };
    let from = At { x: start, y: sent };
    let whole = At { x: end, y: received };
    let lost = message.received_s.is_none();
    let to = if lost { At { x: (start + end) / 2.0, y: (sent + received) / 2.0 } } else { whole };
    let slope = (received - sent) / (right_x - left_x);
    let steep = slope.atan().to_degrees();
    let follows = steep <= STEEPEST_LABEL;
    let towards = if message.rightward { 1.0 } else { -1.0 };
    let drop = if follows { MARGIN * slope } else { 0.0 };
    Arrow {
        from,
        to,
        lost,
        rightward: message.rightward,
        label_at: At { x: start + towards * MARGIN, y: sent + drop - 3.5 },
        label_angle: if follows { towards * steep } else { 0.0 },
    }
}

/// Width of a text in the ladder's font.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * ADVANCE
}

/// A time as it stands beside a lifeline.
pub(super) fn time_text(seconds: f64, decimals: usize) -> String {
    format!("{seconds:.decimals$}")
}

/// Digits, three to six, with which different times look different.
fn decimals(messages: &[Message]) -> usize {
    let mut times: Vec<f64> =
        messages.iter().flat_map(|m| [Some(m.sent_s), m.received_s]).flatten().collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let tell_apart = |digits: &usize| {
        times.windows(2).all(|w| time_text(w[0], *digits) != time_text(w[1], *digits))
    };
    (3..6).find(tell_apart).unwrap_or(6)
}
