//! Ladder diagrams as SVG.

use std::fmt::Write;

use super::ladder_layout::{Arrow, At, Cut, FONT, Layout, MARGIN, layout, time_text};
use super::model::{Ladder, Message};

/// Maximum height of a drawing that stays readable when it is scaled to one printed page.
const ONE_PAGE: f64 = 1300.0;

/// A drawn ladder.
pub(super) struct Drawing {
    /// The SVG element, safe to embed into a page and complete as a separate file.
    pub svg: String,
    /// Remark for the caption about changed distances in the drawing, in whole sentences.
    pub remark: String,
    /// Digits after the point of its times.
    pub decimals: usize,
}

/// Draws a ladder.
pub(super) fn draw(ladder: &Ladder) -> Drawing {
    let plan = layout(ladder);
    let mut svg = opening(ladder, &plan);
    lifelines(&mut svg, ladder, &plan);
    for cut in &plan.cuts {
        silence(&mut svg, &plan, cut);
    }
    // All lines come before all texts, so that no line crosses a letter.
    for arrow in &plan.arrows {
        shaft(&mut svg, arrow);
    }
    for (arrow, message) in plan.arrows.iter().zip(&ladder.messages) {
        texts(&mut svg, &plan, arrow, message);
    }
    svg.push_str("</svg>");
    Drawing { svg, remark: liberties(&plan), decimals: plan.decimals }
}

fn liberties(plan: &Layout) -> String {
    let mut said = vec!["Times at both sides are in seconds."];
    if plan.spread {
        said.push(
            "Packets that are nearly simultaneous are drawn apart, just enough for their labels \
             not to overlap; the order of events is kept.",
        );
    }
    if !plan.cuts.is_empty() {
        said.push("Silences marked by dots are drawn shorter than they were.");
    }
    said.join(" ")
}

/// Escapes text for XML and HTML.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

// Writing to a `String` cannot fail, so results of `write!` are dropped below.

fn opening(ladder: &Ladder, plan: &Layout) -> String {
    let (width, height) = (plan.width.ceil(), plan.height.ceil());
    let lost = plan.arrows.iter().filter(|a| a.lost).count();
    let label = escape(&format!(
        "Packet exchange between {} and {}: {} packets, {lost} lost. The table below holds them all.",
        ladder.left,
        ladder.right,
        plan.arrows.len(),
    ));
    // A tall drawing is split over several printed pages; a shorter drawing is scaled to a page.
    let tall = if plan.height > ONE_PAGE { " tall" } else { "" };
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder-drawing{tall}\" role=\"img\" \
         aria-label=\"{label}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-size=\"{FONT}\" \
         font-family=\"'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace\">"
    );
    svg
}

fn lifelines(svg: &mut String, ladder: &Ladder, plan: &Layout) {
    for (x, name) in [(plan.left_x, &ladder.left), (plan.right_x, &ladder.right)] {
        let (name, bottom) = (escape(name), plan.height - 8.0);
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"20\" text-anchor=\"middle\" font-weight=\"bold\" \
             fill=\"currentColor\">{name}</text>\
             <line class=\"lifeline\" x1=\"{x:.1}\" y1=\"32\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" \
             stroke=\"currentColor\" stroke-width=\"1.5\"/>"
        );
    }
}

fn silence(svg: &mut String, plan: &Layout, cut: &Cut) {
    let middle = (cut.from_y + cut.to_y) / 2.0;
    for x in [plan.left_x, plan.right_x] {
        let (top, bottom) = (middle - 11.0, middle + 11.0);
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" \
             style=\"stroke:var(--paper,#fff)\" stroke-width=\"4\"/>\
             <line class=\"silence\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" \
             stroke=\"currentColor\" stroke-width=\"1.5\" stroke-dasharray=\"1.5 3.5\"/>"
        );
    }
    let centre = At { x: (plan.left_x + plan.right_x) / 2.0, y: middle + 4.0 };
    let said = format!("{} s without a packet leaving or arriving", brief(cut.seconds));
    text(svg, "silence-length", centre, "middle", 0.0, &said);
}

fn brief(seconds: f64) -> String {
    if seconds >= 0.1 { format!("{seconds:.2}") } else { format!("{seconds:.4}") }
}

fn shaft(svg: &mut String, arrow: &Arrow) {
    let Arrow { from, to, .. } = arrow;
    let (class, dash) =
        if arrow.lost { ("message lost", " stroke-dasharray=\"5 3\"") } else { ("message", "") };
    let _ = write!(
        svg,
        "<g class=\"{class}\"><line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" \
         stroke=\"currentColor\" stroke-width=\"1.1\"{dash}/>",
        from.x, from.y, to.x, to.y
    );
    if arrow.lost {
        cross(svg, *to);
    } else {
        head(svg, arrow);
    }
    svg.push_str("</g>");
}

fn cross(svg: &mut String, at: At) {
    const R: f64 = 5.5;
    let (left, right, top, bottom) = (at.x - R, at.x + R, at.y - R, at.y + R);
    let _ = write!(
        svg,
        "<path class=\"cross\" d=\"M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}\
         L{right:.1} {top:.1}\" stroke=\"#D55E00\" stroke-width=\"2.4\" fill=\"none\"/>"
    );
}

fn head(svg: &mut String, arrow: &Arrow) {
    let Arrow { from, to, .. } = arrow;
    let angle = libm::atan2(to.y - from.y, to.x - from.x).to_degrees();
    let _ = write!(
        svg,
        "<path d=\"M0 0L-9 -3.4L-9 3.4Z\" fill=\"currentColor\" \
         transform=\"translate({:.1} {:.1}) rotate({angle:.2})\"/>",
        to.x, to.y
    );
}

fn texts(svg: &mut String, plan: &Layout, arrow: &Arrow, message: &Message) {
    let anchor = |to_the_right: bool| if to_the_right { "start" } else { "end" };
    text(svg, "label", arrow.label_at, anchor(arrow.rightward), arrow.label_angle, &message.label);
    let outside = |x: f64, y: f64| {
        let sign = if x == plan.left_x { -1.0 } else { 1.0 };
        (At { x: x + sign * MARGIN, y: y + 4.0 }, sign, anchor(sign > 0.0))
    };
    let sent = time_text(message.sent_s, plan.decimals);
    let (at, sign, end) = outside(arrow.from.x, arrow.from.y);
    text(svg, "time", at, end, 0.0, &sent);
    if let Some(remark) = &message.remark {
        let widest = super::ladder_layout::text_width(&sent);
        let at = At { x: at.x + sign * (widest + MARGIN), y: at.y };
        text(svg, "remark", at, end, 0.0, remark);
    }
    if let Some(received) = message.received_s {
        let (at, _, end) = outside(arrow.to.x, arrow.to.y);
        text(svg, "time", at, end, 0.0, &time_text(received, plan.decimals));
    }
}

/// A text with an outline in the page's colour, so that it is readable over lines.
fn text(svg: &mut String, class: &str, at: At, anchor: &str, angle: f64, said: &str) {
    let turn = if angle == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({angle:.2} {:.1} {:.1})\"", at.x, at.y)
    };
    let look = if class == "remark" { " font-style=\"italic\"" } else { "" };
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\"{look}{turn} \
         fill=\"currentColor\" style=\"stroke:var(--paper,#fff);stroke-width:3.5px;\
         stroke-linejoin:round;paint-order:stroke\">{}</text>",
        at.x,
        at.y,
        escape(said)
    );
}
