//! Pictures of findings as SVG: packets in flight, the bound, and the first event that breaks it.

use std::fmt::Write as _;

use windlass_cc::{Span, Time};

use super::trace::Trace;
use super::verdict::{Finding, seconds};

/// Size of the picture and of its margins (left, right, top, bottom), pixels.
const SIZE: [f64; 2] = [760.0, 380.0];
const MARGIN: [f64; 4] = [64.0, 20.0, 52.0, 48.0];
/// Colours of the stack, the second flow, the bound, and the event: C. Brewer's Dark2, with contrasts for print.
const STACK: &str = "#1b6fa8";
const RIVAL: &str = "#7570b3";
const BOUND: &str = "#2a7d4f";
const EVENT: &str = "#c2410c";
/// Approximate number of labels of an axis.
const TICKS: f64 = 6.0;
/// Period around an event without a bound.
const AROUND: Span = Span(1_000_000_000);

/// The picture of a finding with an event. `rival` is the trace of a second flow.
pub fn draw(
    title: &str,
    trace: &Trace,
    rival: Option<&Trace>,
    finding: &Finding,
) -> Option<String> {
    let event = finding.event.as_ref()?;
    let at = Time((event.at_s * 1e9) as u64);
    let [from, to] = finding.span.unwrap_or_else(|| period(finding, at));
    // The end of a trace without packets is 0.
    let span = [from, if trace.end > at { to.min(trace.end) } else { to }];
    let flights = trace.in_flight(span[0], span[1]);
    let other = rival.map(|rival| rival.in_flight(span[0], span[1])).unwrap_or_default();
    let bounds = finding.bounds.iter().flat_map(|b| &b.points).map(|(_, y)| *y);
    let most = flights.iter().chain(&other).map(|(_, y)| *y).chain(bounds).fold(4.0, f64::max);
    let frame = Frame { span, most: 1.08 * most };
    let mut svg = frame.open(title, &finding.measured);
    frame.axes(&mut svg);
    frame.steps(&mut svg, &other, RIVAL);
    frame.steps(&mut svg, &flights, STACK);
    frame.packets(&mut svg, trace);
    for bound in &finding.bounds {
        frame.bound(&mut svg, &bound.points);
    }
    frame.event(&mut svg, at, &event.what);
    frame.legend(&mut svg, !finding.bounds.is_empty(), rival.is_some());
    svg.push_str("</svg>\n");
    Some(svg)
}

/// The period of the bounds and of the event, with a quarter before and after.
fn period(finding: &Finding, at: Time) -> [Time; 2] {
    let points = || finding.bounds.iter().flat_map(|b| &b.points).map(|(time, _)| *time);
    let from = points().min().unwrap_or(Time(at.0.saturating_sub(AROUND.0))).min(at);
    let to = points().max().unwrap_or(at + AROUND).max(at);
    let more = Span((to.since(from).0 / 4).max(10_000_000));
    [Time(from.0.saturating_sub(more.0)), to + more]
}

/// Converts times and packets to pixels.
struct Frame {
    span: [Time; 2],
    most: f64,
}

// Writing to a `String` cannot fail, so results of `write!` are dropped below.
impl Frame {
    fn x(&self, time: Time) -> f64 {
        let [from, to] = self.span.map(seconds);
        let share = ((seconds(time) - from) / (to - from).max(1e-9)).clamp(0.0, 1.0);
        MARGIN[0] + share * (SIZE[0] - MARGIN[0] - MARGIN[1])
    }

    fn y(&self, packets: f64) -> f64 {
        let share = (packets / self.most).clamp(0.0, 1.0);
        SIZE[1] - MARGIN[3] - share * (SIZE[1] - MARGIN[2] - MARGIN[3])
    }

    fn open(&self, title: &str, measured: &str) -> String {
        let [width, height] = SIZE;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{1}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{0}</text>\n\
             <text x=\"{1}\" y=\"34\">{2}</text>\n",
            escape(title),
            MARGIN[0],
            escape(measured)
        )
    }

    fn axes(&self, svg: &mut String) {
        let (bottom, right) = (self.y(0.0), SIZE[0] - MARGIN[1]);
        for (tick, label) in ticks(0.0, self.most) {
            let y = self.y(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{} {y:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                MARGIN[0],
                MARGIN[0] - 6.0,
                y + 4.0
            );
        }
        for (tick, label) in ticks(seconds(self.span[0]), seconds(self.span[1])) {
            let x = self.x(Time((tick * 1e9).round() as u64));
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {bottom:.1}v5\" stroke=\"black\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 18.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{} {bottom:.1}H{right}\" stroke=\"black\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">Time (s)</text>\n\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">Full packets in flight</text>",
            MARGIN[0],
            (MARGIN[0] + right) / 2.0,
            SIZE[1] - 8.0,
            (MARGIN[2] + bottom) / 2.0
        );
    }

    /// A step function. A column of pixels shows its smallest and largest value.
    fn steps(&self, svg: &mut String, points: &[(Time, f64)], colour: &str) {
        let Some((_, first)) = points.first() else { return };
        let mut path = format!("M{:.1} {:.1}", self.x(self.span[0]), self.y(*first));
        for column in points.chunk_by(|a, b| self.x(a.0).floor() == self.x(b.0).floor()) {
            let values = || column.iter().map(|(_, y)| *y);
            let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
            let (x, last) = (self.x(column[0].0), column[column.len() - 1].1);
            let [low, high, last] = [low, high, last].map(|y| self.y(y));
            let _ = write!(path, "H{x:.1}V{low:.1}V{high:.1}V{last:.1}");
        }
        let _ = writeln!(
            svg,
            "<path d=\"{path}H{:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>",
            self.x(self.span[1])
        );
    }

    /// Packets as ticks below the axis; lost packets as crosses.
    fn packets(&self, svg: &mut String, trace: &Trace) {
        let bottom = self.y(0.0);
        let (mut sent, mut lost, mut last) = (String::new(), String::new(), -1.0);
        for packet in trace.sent(self.span[0], self.span[1]) {
            let x = self.x(packet.sent);
            if packet.is_lost() {
                let _ = write!(lost, "M{:.1} {:.1}l6 6m0-6l-6 6", x - 3.0, bottom - 9.0);
            }
            if x >= last + 0.5 {
                last = x;
                let _ = write!(sent, "M{x:.1} {bottom:.1}v-3");
            }
        }
        let _ = writeln!(
            svg,
            "<path d=\"{sent}\" stroke=\"{STACK}\"/><path d=\"{lost}\" stroke=\"{EVENT}\" stroke-width=\"1.4\"/>"
        );
    }

    fn bound(&self, svg: &mut String, points: &[(Time, f64)]) {
        let all: Vec<String> =
            points.iter().map(|(t, y)| format!("{:.1} {:.1}", self.x(*t), self.y(*y))).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{BOUND}\" stroke-width=\"1.8\" stroke-dasharray=\"6 4\"/>",
            all.join("L")
        );
    }

    fn event(&self, svg: &mut String, at: Time, what: &str) {
        let (x, top) = (self.x(at), MARGIN[2]);
        // The text stays inside of the picture.
        let (anchor, dx) = if x > SIZE[0] / 2.0 { ("end", -5.0) } else { ("start", 5.0) };
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {top}V{:.1}\" stroke=\"{EVENT}\" stroke-width=\"1.4\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{EVENT}\">{:.3} s: {}</text>",
            self.y(0.0),
            x + dx,
            top + 12.0,
            seconds(at),
            escape(what)
        );
    }

    fn legend(&self, svg: &mut String, bound: bool, rival: bool) {
        let entries = [
            (true, STACK, "", "the stack"),
            (rival, RIVAL, "", "the second flow"),
            (bound, BOUND, " stroke-dasharray=\"6 4\"", "bound"),
            (true, EVENT, "", "first event; × lost packet"),
        ];
        let mut x = MARGIN[0];
        for (_, colour, dashes, name) in entries.into_iter().filter(|entry| entry.0) {
            let _ = writeln!(
                svg,
                "<path d=\"M{x} 44h18\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/><text x=\"{}\" y=\"48\">{name}</text>",
                x + 22.0
            );
            x += 44.0 + 6.2 * name.len() as f64;
        }
    }
}

/// Round numbers in a range, with their texts.
fn ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let rough = (to - from).max(1e-9) / TICKS;
    let power = libm::exp10(libm::log10(rough).floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (from / step).ceil() as i64;
    let decimals = (-libm::log10(step).floor()).max(0.0) as usize;
    let all = (first..).map(|n| n as f64 * step).take_while(|tick| *tick <= to);
    all.map(|tick| (tick, format!("{tick:.decimals$}"))).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside_the_range() {
        let texts =
            |from, to| ticks(from, to).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(0.0, 100.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(15.9, 16.1), ["15.90", "15.95", "16.00", "16.05", "16.10"]);
    }

    #[test]
    fn picture_has_the_event_and_the_bound() {
        let at = Time::from_millis(1_500);
        let bound = |y| vec![(Time::from_secs(1), y), (Time::from_secs(2), y)];
        let finding = Finding::fails("30 < 40", at, "too many").bounded([bound(10.0)]);
        let svg = draw("Burst", &Trace::default(), None, &finding).expect("a picture");
        assert!(svg.contains("1.500 s: too many") && svg.contains("stroke-dasharray"));
        assert!(svg.contains("30 &lt; 40"));
        assert_eq!(draw("", &Trace::default(), None, &Finding::pass("")), None);
    }
}
