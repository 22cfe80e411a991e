//! The comparison of sequence numbers, for all distances. The page "Robustness" of the book lists these tests.

use windlass_tcp::Seq;

/// Checks offsets at this distance from `near`, in streams that start at these numbers.
fn check(near: u64, distance: i64, bases: &[u32]) {
    let expected = near.checked_add_signed(distance);
    for &base in bases {
        let seq = Seq(base).add(near.wrapping_add_signed(distance));
        let found = seq.unwrap_near(Seq(base), near);
        assert_eq!(found, expected, "{near} {distance:+} from {base}");
    }
}

/// The nearest offset is unique for distances from -2^31 to 2^31 - 1.
const HALF: i64 = 1 << 31;
const BASES: [u32; 5] = [0, 1, u32::MAX, 0x8000_0000, 0x1234_5678];
const NEARS: [u64; 6] = [0, 1, 1 << 31, u32::MAX as u64, 1 << 32, (1 << 40) + 12_345];

#[test]
fn sequence_numbers_are_unwrapped_at_every_distance_next_to_a_boundary() {
    for near in NEARS {
        for boundary in [-HALF, -(1 << 16), 0, 1 << 16, HALF] {
            let all = (boundary - 20_000).max(-HALF)..(boundary + 20_000).min(HALF);
            all.for_each(|distance| check(near, distance, &BASES));
        }
        (-HALF..HALF).step_by(65_521).for_each(|distance| check(near, distance, &BASES));
    }
}

#[test]
#[ignore = "all 4,294,967,296 distances"]
fn sequence_numbers_are_unwrapped_at_all_distances() {
    (-HALF..HALF).for_each(|distance| check((1 << 40) + 12_345, distance, &[0x1234_5678]));
}
