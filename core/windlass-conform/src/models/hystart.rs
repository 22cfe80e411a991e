//! HyStart++ (RFC 9406 section 4), for the initial slow start.

use windlass_cc::{Ack, Conn};

use super::windows::Windows;

/// State of the initial slow start; times in seconds.
#[derive(Default)]
pub struct HyStart {
    window_end: Option<u64>,
    last_min: Option<f64>,
    current_min: Option<f64>,
    samples: u32,
    /// cssBaselineMinRtt and the rounds so far, in conservative slow start.
    css: Option<(f64, u32)>,
}

impl HyStart {
    /// The RFC adds the growth before it judges the round; an implementation may judge first. The
    /// difference is three quarters of a segment, at the beginning and at the end of conservative
    /// slow start.
    pub const TOLERANCE: f64 = 2.0 * 0.75 * 1_460.0;

    /// Bytes that slow start adds for an acknowledgement that counts for `credit` bytes.
    pub fn opened(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let added = if self.css.is_some() { credit / 4.0 } else { credit };
        let end = *self.window_end.get_or_insert(c.next_id);
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            self.current_min = Some(self.current_min.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        self.judge();
        if c.una >= end {
            self.end_round(c, w, added);
        }
        added
    }

    fn judge(&mut self) {
        let Some(current) = self.current_min.filter(|_| self.samples >= 8) else { return };
        match (self.css, self.last_min) {
            (Some((baseline, _)), _) if current < baseline => self.css = None,
            (None, Some(last)) if current >= last + (last / 8.0).clamp(4e-3, 16e-3) => {
                self.css = Some((current, 0));
            }
            _ => {}
        }
    }

    fn end_round(&mut self, c: &Conn, w: &mut Windows, added: f64) {
        self.window_end = Some(c.next_id);
        (self.last_min, self.current_min, self.samples) = (self.current_min, None, 0);
        if let Some((_, rounds)) = &mut self.css {
            *rounds += 1;
            if *rounds == 5 {
                w.ssthresh = w.cwnd + added;
                self.css = None;
            }
        }
    }
}
