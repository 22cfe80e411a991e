//! The events and answers of a controller, recorded and replayed on the `windlass-cc` library.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use windlass_cc::{AnyParams, Ratio};
use windlass_conform::check::check_text;
use windlass_conform::recording;
use windlass_quic::adapter::Congestion;
use windlass_quic::{Adapter, Recorder, Shared};

/// A file that the test can read while it is written.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Rounds of ten packets, and a loss in every tenth.
fn life(params: AnyParams) -> String {
    let (epoch, page) = (Instant::now(), Page::default());
    let ms = |n: u64| epoch + Duration::from_millis(n);
    let mut adapter = Adapter::new(params, epoch, epoch, 1200, &Shared::new(&params));
    adapter.recorded_by(Recorder::new(page.clone(), "rounds", "a test"));
    for round in 1..=40 {
        (0..10).for_each(|_| adapter.on_sent(ms(round * 50), 1200));
        if round % 10 == 0 {
            let lost = Congestion { sent: ms(round * 50), lost: 1200, persistent: false };
            adapter.on_congestion(ms(round * 50 + 39), lost);
        }
        (0..9).for_each(|_| adapter.on_ack(ms(round * 50 + 40), ms(round * 50), 1200));
        adapter.on_end_acks(ms(round * 50 + 40), 0, false);
    }
    drop(adapter);
    String::from_utf8(page.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn a_replay_of_a_recorded_controller_gives_its_answers() {
    for info in windlass_cc::ALGORITHMS {
        let params = AnyParams::by_name(info.id).unwrap();
        let outcome = check_text(Path::new(info.id), &life(params)).unwrap();
        assert!(outcome.failure.is_none(), "{}: {:?}", info.id, outcome.failure);
        assert!(outcome.answers > 80, "{}: {}", info.id, outcome.answers);
    }
}

#[test]
fn one_with_a_wrong_constant_is_not() {
    let right = AnyParams::by_name("cubic").unwrap();
    let mut wrong = right;
    let keep = wrong.info().params.iter().position(|p| p.name == "keep").unwrap();
    assert!(wrong.set(keep, Ratio::of(8, 10).0));
    let text = life(wrong);
    let told = recording::read(Path::new("life"), &text).unwrap();
    let mut said = right;
    said.set_common(&told.params.common());
    let head = recording::header(&said, "rounds", "a test", &told.first.0, told.first.1);
    let rest = text.split_once('\n').unwrap().1;
    let outcome = check_text(Path::new("life"), &format!("{head}\n{rest}")).unwrap();
    assert!(outcome.failure.is_some(), "the cut is another");
}
