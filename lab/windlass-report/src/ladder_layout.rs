//! Positions of everything in a ladder: times become heights.
//!
//! Heights never contradict time: a later event is never above an earlier event, on either side.
//! Within this limit, events of one side keep the distance [`SPACING`] so that their labels are
//! readable. Long silences are cut to [`LONGEST_GAP`].

use super::model::{Ladder, Message};

/// Advance of one character in pixels: 0.6 em, as in most monospaced fonts.
pub(super) const ADVANCE: f64 = 6.7;
/// Font size in pixels.
pub(super) const FONT: f64 = 11.0;
/// Minimum vertical distance of two events on one side.
pub(super) const SPACING: f64 = 17.0;
/// Height of the usual one-way delay.
const DELAY_HEIGHT: f64 = 56.0;
/// Largest height between two neighbouring events.
pub(super) const LONGEST_GAP: f64 = 90.0;
/// Height of the heading with the ends' names.
const TOP: f64 = 44.0;
/// Distance between a lifeline and its text.
pub(super) const MARGIN: f64 = 9.0;
/// Maximum ratio of height to width of an arrow at which labels follow their arrows. If one arrow
/// is steeper, all labels of the ladder are horizontal, because turned labels would overlap
/// horizontal labels.
const STEEPEST_LABEL: f64 = 0.625;
/// Maximum width between the lifelines that is used to keep arrows flat.
const GENTLE_WIDTH: f64 = 560.0;

/// A point in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At {
    pub x: f64,
    pub y: f64,
}

/// One drawn message.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    /// Start of the arrow.
    pub from: At,
    /// End of the arrow: at the other side, or midway if the message is lost.
    pub to: At,
    /// True if it was lost.
    pub lost: bool,
    /// True if it goes from left to right.
    pub rightward: bool,
    /// Anchor of the label, at the sender's end.
    pub label_at: At,
    /// Rotation of the label in degrees, clockwise.
    pub label_angle: f64,
}

/// A silence that is drawn shorter than its duration.
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
    /// Silences that are cut short.
    pub cuts: Vec<Cut>,
    /// True if events were moved apart.
    pub spread: bool,
    /// Digits after the point that distinguish the times.
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

/// Computes the layout of a ladder.
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

/// Delays by direction. Lost messages are drawn with the slope of their neighbours.
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
        // Without a measured delay any scale is possible; the exchange's length gives one.
        let guess = if last > first { (last - first) / messages.len() as f64 } else { 1.0 };
        let usual = median(delays(&|_| true)).unwrap_or(guess);
        Delays {
            rightward: median(delays(&|m| m.rightward)).unwrap_or(usual),
            leftward: median(delays(&|m| !m.rightward)).unwrap_or(usual),
            usual,
        }
    }

    /// Arrival time of a message. For a lost message, the expected time: its sending time plus the
    /// usual delay, limited so that its arrow does not intersect its neighbours' arrows.
    fn arrival(&self, messages: &[Message], at: usize) -> f64 {
        let message = &messages[at];
        if let Some(received) = message.received_s {
            return received;
        }
        let delay = if message.rightward { self.rightward } else { self.leftward };
        let same_way = |m: &&Message| m.rightward == message.rightward;
        let arrivals = |m: &Message| m.received_s;
        let earlier = messages[..at].iter().filter(same_way).filter_map(arrivals);
        let later = messages[at + 1..].iter().filter(same_way).filter_map(arrivals);
        let usual = message.sent_s + delay;
        usual.max(earlier.fold(message.sent_s, f64::max)).min(later.fold(f64::INFINITY, f64::min))
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Both ends of all messages in drawing order. Arrivals at a time come before sendings at this
/// time, because they cause them. A message without delay leaves before it arrives.
fn events(messages: &[Message], delays: &Delays) -> Vec<Event> {
    let mut events = Vec::with_capacity(messages.len() * 2);
    for (message, m) in messages.iter().enumerate() {
        let arrives = delays.arrival(messages, message).max(m.sent_s);
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

/// Gives every event its height. Returns the silences that are cut, and true if any event was moved
/// apart.
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
        // Rounding may make a gap slightly too short, which needs no remark.
        spread |= y + 0.5 < *side + SPACING;
        y = y.max(*side + SPACING);
        *side = y;
        event.y = y;
        previous = Some((event.time, y));
    }
    (cuts, spread)
}

/// Heights of the start and the end of each message.
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
    /// True if labels follow their arrows.
    turned: bool,
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
        // Labels stay in the sender's half; the drawing is widened to limit moderate slopes.
        let between =
            (label / 0.44 + 2.0 * MARGIN).max(340.0).max((drop / STEEPEST_LABEL).min(GENTLE_WIDTH));
        let left_x = side(remarks(true), &ladder.left);
        let right_x = left_x + between;
        Columns {
            left_x,
            right_x,
            width: right_x + side(remarks(false), &ladder.right),
            // A small tolerance, because the width may have been chosen to meet the limit exactly.
            turned: drop <= (STEEPEST_LABEL + 1e-9) * between,
        }
    }
}

fn arrow(message: &Message, sent: f64, received: f64, columns: &Columns) -> Arrow {
    let Columns { left_x, right_x, turned, .. } = *columns;
    let (start, end) = if message.rightward { (left_x, right_x) } else { (right_x, left_x) };
    let from = At { x: start, y: sent };
    let whole = At { x: end, y: received };
    let lost = message.received_s.is_none();
    let to = if lost { At { x: (start + end) / 2.0, y: (sent + received) / 2.0 } } else { whole };
    let slope = (received - sent) / (right_x - left_x);
    let towards = if message.rightward { 1.0 } else { -1.0 };
    let drop = if turned { MARGIN * slope } else { 0.0 };
    Arrow {
        from,
        to,
        lost,
        rightward: message.rightward,
        label_at: At { x: start + towards * MARGIN, y: sent + drop - 3.5 },
        label_angle: if turned { towards * libm::atan(slope).to_degrees() } else { 0.0 },
    }
}

/// Width of a text in the ladder's font.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * ADVANCE
}

/// The text of a time at a lifeline.
pub(super) fn time_text(seconds: f64, decimals: usize) -> String {
    format!("{seconds:.decimals$}")
}

/// The number of digits, three to six, at which different times have different texts.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(sent_s: f64, received_s: Option<f64>, rightward: bool) -> Message {
        let label = "seq 321201 len 1460".to_owned();
        Message { sent_s, received_s, rightward, label, remark: None }
    }

    fn ladder(messages: Vec<Message>) -> Ladder {
        let ends = ["server", "client"].map(str::to_owned);
        let [left, right] = ends;
        Ladder { left, right, messages, ..Ladder::default() }
    }

    /// Corners of a label's box, turned like the label: its baseline, and the font's height.
    fn label_box(arrow: &Arrow, label: &str) -> [(f64, f64); 4] {
        let (sin, cos) = arrow.label_angle.to_radians().sin_cos();
        let width = text_width(label) * if arrow.rightward { 1.0 } else { -1.0 };
        let height = -FONT * 0.8;
        [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)].map(|(x, y)| {
            (arrow.label_at.x + x * cos - y * sin, arrow.label_at.y + x * sin + y * cos)
        })
    }

    /// True if two convex quadrilaterals overlap, by the separating-axis theorem.
    fn overlap(a: &[(f64, f64); 4], b: &[(f64, f64); 4]) -> bool {
        let parted_along_an_edge_of = |shape: &[(f64, f64); 4]| {
            (0..4).any(|at| {
                let (p, q) = (shape[at], shape[(at + 1) % 4]);
                let normal = (p.1 - q.1, q.0 - p.0);
                let reach = |s: &[(f64, f64); 4]| {
                    let along = s.map(|c| c.0 * normal.0 + c.1 * normal.1);
                    let low = along.into_iter().fold(f64::INFINITY, f64::min);
                    (low, along.into_iter().fold(f64::NEG_INFINITY, f64::max))
                };
                let ((a_low, a_high), (b_low, b_high)) = (reach(a), reach(b));
                a_high <= b_low || b_high <= a_low
            })
        };
        !parted_along_an_edge_of(a) && !parted_along_an_edge_of(b)
    }

    /// An exchange over a path with variable delay and without reordering, in both directions.
    fn exchange() -> impl Strategy<Value = Vec<Message>> {
        let one = (0u32..40_000, any::<bool>(), prop::bool::weighted(0.1), 1.0f64..2.0);
        (prop::collection::vec(one, 1..40), 1u32..300_000).prop_map(|(steps, delay)| {
            let (mut now, mut last) = (0.0, [0.0f64; 2]);
            let mut messages = Vec::new();
            for (gap, rightward, lost, queue) in steps {
                // Half of the gaps are zero, because bursts make ladders crowded.
                now += if gap % 2 == 0 { 0.0 } else { f64::from(gap) * 1e-6 };
                let last = &mut last[usize::from(rightward)];
                let arrives = last.max(now + f64::from(delay) * 1e-6 * queue);
                *last = if lost { *last } else { arrives };
                messages.push(message(now, (!lost).then_some(arrives), rightward));
            }
            messages
        })
    }

    proptest! {
        #[test]
        fn arrows_run_down_and_time_never_runs_up(messages in exchange()) {
            let plan = layout(&ladder(messages.clone()));
            let mut events = Vec::new();
            for (arrow, m) in plan.arrows.iter().zip(&messages) {
                prop_assert!(arrow.to.y > arrow.from.y);
                events.push((m.sent_s, arrow.from.y));
                events.extend(m.received_s.map(|t| (t, arrow.to.y)));
                prop_assert!(arrow.to.y < plan.height && arrow.label_at.x < plan.width);
            }
            for a in &events {
                for b in &events {
                    prop_assert!(a.0 >= b.0 || a.1 <= b.1, "{a:?} is earlier and lower than {b:?}");
                }
            }
        }

        #[test]
        fn labels_never_overlap(messages in exchange()) {
            let plan = layout(&ladder(messages.clone()));
            let boxes: Vec<_> =
                plan.arrows.iter().zip(&messages).map(|(a, m)| label_box(a, &m.label)).collect();
            for (at, one) in boxes.iter().enumerate() {
                for (other, two) in boxes.iter().enumerate().skip(at + 1) {
                    prop_assert!(!overlap(one, two), "labels {at} and {other}: {one:?} {two:?}");
                }
            }
        }

        #[test]
        fn times_at_a_lifeline_keep_their_distance(messages in exchange()) {
            let plan = layout(&ladder(messages));
            for x in [plan.left_x, plan.right_x] {
                let ends = plan.arrows.iter().flat_map(|a| [a.from, a.to]);
                let mut heights: Vec<f64> = ends.filter(|at| at.x == x).map(|at| at.y).collect();
                heights.sort_by(f64::total_cmp);
                prop_assert!(heights.windows(2).all(|w| w[1] - w[0] >= SPACING - 1e-6));
            }
        }
    }

    #[test]
    fn a_lost_packet_ends_midway_and_as_steep_as_its_neighbours() {
        let plan = layout(&ladder(vec![
            message(0.0, Some(0.02), true),
            message(0.1, None, true),
            message(0.2, Some(0.22), true),
        ]));
        let lost = &plan.arrows[1];
        assert!(lost.lost);
        assert_eq!(lost.to.x, (plan.left_x + plan.right_x) / 2.0);
        let drop = plan.arrows[0].to.y - plan.arrows[0].from.y;
        assert!((lost.to.y - lost.from.y - drop / 2.0).abs() < 1e-9);
    }

    #[test]
    fn packets_far_enough_apart_are_drawn_to_scale() {
        let plan =
            layout(&ladder(vec![message(0.0, Some(0.02), true), message(0.01, Some(0.03), true)]));
        assert!(!plan.spread && plan.cuts.is_empty());
        let heights = [&plan.arrows[0], &plan.arrows[1]].map(|a| (a.from.y, a.to.y));
        assert!((heights[1].0 - heights[0].0 - DELAY_HEIGHT / 2.0).abs() < 1e-9);
        assert!((heights[0].1 - heights[0].0 - DELAY_HEIGHT).abs() < 1e-9);
    }

    #[test]
    fn a_burst_is_spread_and_a_long_silence_is_cut() {
        let plan = layout(&ladder(vec![
            message(0.0, Some(0.02), true),
            message(0.0, Some(0.02), true),
            message(5.0, Some(5.02), true),
        ]));
        assert!(plan.spread);
        assert_eq!(plan.cuts.len(), 1);
        assert!((plan.cuts[0].seconds - 4.98).abs() < 1e-9);
        assert!(plan.height < 500.0);
    }

    #[test]
    fn times_have_enough_digits_to_differ() {
        let digits =
            |second| decimals(&[message(0.0, Some(1.0), true), message(second, None, true)]);
        assert_eq!(digits(0.5), 3);
        assert_eq!(digits(0.0002), 4);
        assert_eq!(digits(0.000_000_1), 6);
    }

    #[test]
    fn an_empty_ladder_has_two_lifelines_and_nothing_else() {
        let plan = layout(&ladder(Vec::new()));
        assert!(plan.arrows.is_empty() && plan.height.is_finite() && plan.right_x > plan.left_x);
    }
}
