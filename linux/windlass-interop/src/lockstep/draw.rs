//! Cases from seeds.

use windlass_sim::random::{Purpose, Stream};

use super::case::{Act, Case, Deed, Fate, Options, Receiver, Send};

/// Round-trip times, milliseconds; up to [`JITTER`] more are added.
const RTTS: [u32; 9] = [4, 10, 20, 40, 60, 100, 150, 250, 500];
const JITTER: u32 = 7;
/// Windows of the peer, bytes.
const WINDOWS: [u32; 8] = [4_096, 6_144, 16_384, 16_384, 32_768, 32_768, 64_512, 64_512];
/// A window of less than two full segments, which few peers have.
const TINY_WINDOW: u32 = 2_048;
/// Data segments whose fate is drawn.
const FATED: u32 = 60;

/// The kind of traffic.
#[derive(Clone, Copy)]
enum Traffic {
    /// A few large writes.
    Bulk,
    /// Many small writes.
    Messages,
    /// The peer asks, the application answers.
    Requests,
    /// The peer sends.
    Download,
    /// Writes with long silences between them.
    Sparse,
}

struct Dice(Stream);

impl Dice {
    /// Evenly from `least` to `most`.
    fn range(&mut self, least: u32, most: u32) -> u32 {
        least + (self.0.next_u64() % u64::from(most - least + 1)) as u32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() as u32 - 1) as usize]
    }

    fn percent(&mut self, chance: u32) -> bool {
        self.range(0, 99) < chance
    }
}

impl Case {
    /// The case of a seed, always the same.
    pub fn draw(seed: u64) -> Case {
        let mut dice = Dice(Stream::new(seed, 0, Purpose::Application));
        let traffic = dice.pick(&[
            Traffic::Bulk,
            Traffic::Bulk,
            Traffic::Messages,
            Traffic::Requests,
            Traffic::Download,
            Traffic::Sparse,
        ]);
        let options = draw_options(&mut dice);
        let rtt = dice.pick(&RTTS) + dice.range(0, JITTER);
        let mut case = Case {
            seed,
            active: dice.percent(40),
            rtt,
            spacing: dice.pick(&[0, 0, 1, 3]),
            lost_syns: u32::from(dice.percent(8)),
            acts: Vec::new(),
            reads_at_once: dice.percent(85),
            answers: Vec::new(),
            receiver: draw_receiver(&mut dice),
            fates: draw_fates(&mut dice, rtt, options.ecn),
            ack_fates: draw_ack_fates(&mut dice),
            sends: Vec::new(),
            fin: None,
            options,
        };
        draw_traffic(&mut dice, traffic, &mut case);
        draw_end(&mut dice, &mut case);
        case
    }
}

fn draw_options(dice: &mut Dice) -> Options {
    Options {
        algorithm: dice.pick(&["reno", "cubic", "cubic"]).to_owned(),
        sack: dice.percent(85),
        timestamps: dice.percent(60),
        ecn: dice.percent(25),
        nagle: dice.percent(60),
        window_scaling: dice.percent(70),
        initial_window: dice.pick(&[10, 10, 10, 4, 2]),
        mss: dice.pick(&[1_460, 1_460, 1_000, 536]),
    }
}

fn draw_receiver(dice: &mut Dice) -> Receiver {
    let stalls = if dice.percent(15) {
        vec![(dice.range(1, 6), dice.pick(&[150, 500, 1_500, 4_000]))]
    } else {
        Vec::new()
    };
    Receiver {
        every: dice.pick(&[1, 2, 2, 2, 4]),
        delay: dice.pick(&[25, 40, 40, 120, 200]),
        window: if dice.percent(4) { TINY_WINDOW } else { dice.pick(&WINDOWS) },
        dsack: dice.percent(80),
        stalls,
    }
}

fn draw_fates(dice: &mut Dice, rtt: u32, ecn: bool) -> Vec<(u32, Fate)> {
    let percent = dice.pick(&[0, 0, 3, 3, 8, 20]);
    let mut fates = Vec::new();
    for number in 0..FATED {
        if !dice.percent(percent) {
            continue;
        }
        let fate = match dice.range(0, 9) {
            0 | 1 => Fate::Late(dice.range(1, 2 * rtt)),
            2 => Fate::Twice(dice.range(0, rtt)),
            3..=5 if ecn => Fate::Mark,
            _ => Fate::Lose,
        };
        fates.push((number, fate));
    }
    fates
}

fn draw_ack_fates(dice: &mut Dice) -> Vec<(u32, Fate)> {
    let percent = dice.pick(&[0, 0, 0, 5, 15]);
    let mut fates = Vec::new();
    for number in 0..FATED {
        if dice.percent(percent) {
            let fate = if dice.percent(75) { Fate::Lose } else { Fate::Late(dice.range(1, 30)) };
            fates.push((number, fate));
        }
    }
    fates
}

fn draw_traffic(dice: &mut Dice, traffic: Traffic, case: &mut Case) {
    match traffic {
        Traffic::Bulk => {
            for _ in 0..dice.range(1, 3) {
                write(dice, case, (0, 30), (2_000, 30_000));
            }
        }
        Traffic::Messages => {
            for _ in 0..dice.range(4, 20) {
                let longest = dice.pick(&[0, 20, 300]);
                write(dice, case, (0, longest), (20, 700));
            }
        }
        Traffic::Sparse => {
            for _ in 0..dice.range(2, 4) {
                write(dice, case, (200, 3_000), (1_000, 15_000));
            }
        }
        Traffic::Requests => draw_requests(dice, case),
        Traffic::Download => draw_download(dice, case),
    }
}

fn write(dice: &mut Dice, case: &mut Case, after: (u32, u32), bytes: (u32, u32)) {
    let after = dice.range(after.0, after.1);
    case.acts.push(Act { after, deed: Deed::Write(dice.range(bytes.0, bytes.1)) });
}

fn draw_requests(dice: &mut Dice, case: &mut Case) {
    let mut at = 0;
    for _ in 0..dice.range(2, 6) {
        let len = dice.range(20, 400);
        let after = dice.range(case.rtt, 3 * case.rtt + 300);
        case.sends.push(Send { after, at, len, marked: false });
        at += len;
        let answer = dice.pick(&[100, 700, 3_000, 9_000]);
        case.answers.push((at, answer + dice.range(0, 500)));
    }
    case.reads_at_once = true;
}

fn draw_download(dice: &mut Dice, case: &mut Case) {
    let full = u32::from(dice.pick(&[case.options.mss, 1_000, 1_460]));
    let small = dice.percent(40);
    let mut at = 0;
    for _ in 0..dice.range(3, 20) {
        let len = if small || dice.percent(15) { dice.range(20, full) } else { full };
        let after = dice.pick(&[0, 0, 0, 1, 5, 60, 250]);
        let marked = case.options.ecn && dice.percent(15);
        case.sends.push(Send { after, at, len, marked });
        at += len;
    }
    // Losses that the peer repairs, overtaking and duplicates.
    for _ in 0..dice.pick(&[0, 0, 1, 2]) {
        let place = dice.range(0, case.sends.len() as u32 - 1) as usize;
        let mut again = Send { marked: false, ..case.sends[place].clone() };
        again.after = dice.range(0, 250);
        let further = (case.sends.len() - place) as u32;
        let to = place + dice.range(1, further) as usize;
        case.sends.insert(to, again);
        if dice.percent(70) {
            case.sends.remove(place);
        }
    }
    if !case.reads_at_once {
        for _ in 0..dice.range(1, 3) {
            case.acts.push(Act { after: dice.range(50, 700), deed: Deed::Read });
        }
    }
    if dice.percent(30) {
        write(dice, case, (0, 200), (20, 3_000));
    }
}

fn draw_end(dice: &mut Dice, case: &mut Case) {
    if dice.percent(50) {
        let deed = dice.pick(&[Deed::Shutdown, Deed::Close]);
        case.acts.push(Act { after: dice.pick(&[0, 0, 50, 400, 2_000]), deed });
    }
    if dice.percent(50) {
        case.fin = Some(dice.pick(&[0, 30, 300, 1_500, 3_000]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_case_every_time_and_another_seed_another_case() {
        let cases: Vec<Case> = (1..200).map(Case::draw).collect();
        assert_eq!(cases, (1..200).map(Case::draw).collect::<Vec<_>>());
        for pair in cases.windows(2) {
            assert_ne!(Case { seed: 0, ..pair[0].clone() }, Case { seed: 0, ..pair[1].clone() });
        }
    }

    #[test]
    fn everything_that_a_case_can_have_is_drawn_within_300_seeds() {
        let cases: Vec<Case> = (1..=300).map(Case::draw).collect();
        let some = |what: &str, has: &dyn Fn(&Case) -> bool| {
            let count = cases.iter().filter(|case| has(case)).count();
            assert!((5..295).contains(&count), "{count} of 300 cases have {what}");
        };
        let fate = |c: &Case, wanted: fn(&Fate) -> bool| c.fates.iter().any(|f| wanted(&f.1));
        some("an active open", &|c| c.active);
        some("a lost SYN", &|c| c.lost_syns > 0);
        some("small writes", &|c| c.acts.iter().filter(|a| is_small(a)).count() > 3);
        some("silences", &|c| c.acts.iter().any(|a| a.after > 1_000));
        some("answers", &|c| !c.answers.is_empty());
        some("a close", &|c| c.acts.iter().any(|a| a.deed == Deed::Close));
        some("a FIN of the peer", &|c| c.fin.is_some());
        some("losses", &|c| fate(c, |f| *f == Fate::Lose));
        some("overtaking", &|c| fate(c, |f| matches!(f, Fate::Late(_))));
        some("duplicates", &|c| fate(c, |f| matches!(f, Fate::Twice(_))));
        some("marks", &|c| fate(c, |f| *f == Fate::Mark));
        some("lost acknowledgements", &|c| c.ack_fates.iter().any(|f| f.1 == Fate::Lose));
        some("a closed window", &|c| !c.receiver.stalls.is_empty());
        some("a tiny window", &|c| c.receiver.window == TINY_WINDOW);
        some("late reads", &|c| !c.reads_at_once);
        some("holes in the peer's data", &|c| c.sends.windows(2).any(|s| s[1].at < s[0].at));
        some("no SACK", &|c| !c.options.sack);
        some("ECN", &|c| c.options.ecn);
        some("no Nagle", &|c| !c.options.nagle);
    }

    fn is_small(act: &Act) -> bool {
        matches!(act.deed, Deed::Write(bytes) if bytes <= 700)
    }
}
