//! Header prediction and bursts give the same endpoint as the full path, in every field. Prediction processes most
//! segments of a stream without loss.

use crate::pipe::App;
use crate::transfer::{millis, mostly_delivered, side, start, transfer};
use proptest::prelude::*;
use windlass_cc::{ALGORITHMS, AnyParams, Span, Time};
use windlass_tcp::stack::PRESETS;
use windlass_tcp::{Profile, Seq};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100, failure_persistence: None, max_shrink_iters: 20_000, ..Default::default()
    })]

    #[test]
    fn the_short_paths_equal_the_full_paths(
        a in side(), b in side(), at in start(), delay in millis(0..300),
        fates in prop::collection::vec(mostly_delivered(), 0..300),
    ) {
        transfer([a, b], at, delay, false, fates, Some(0));
    }
}

#[test]
fn the_short_path_takes_most_segments_of_a_stream_without_loss() {
    for preset in PRESETS {
        for algorithm in ALGORITHMS {
            let params = AnyParams::by_name(algorithm.id).expect("a registered algorithm");
            let profile = Profile::new(preset.config, params, 576);
            let sides = [
                (profile, App::sends(30_000), Seq(u32::MAX - 9)),
                (profile, App::receives(), Seq(7)),
            ];
            let predicted =
                transfer(sides, Time::ZERO, Span::from_millis(10), false, vec![], Some(0));
            let marks =
                preset.config.ecn.is_on() && params.requirements().ecn != windlass_cc::Ecn::None;
            let share = predicted.expect("paths are compared");
            assert!(marks || share >= 70, "{}, {}: {share} of some 90", preset.name, algorithm.id);
        }
    }
}
