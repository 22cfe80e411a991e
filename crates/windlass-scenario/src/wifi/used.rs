//! Wi-Fi as devices use it: rate adaptation, aggregation and beacons.

use windlass_sim::radio::aggregation::{MAX_BYTES, WINDOW};
use windlass_sim::radio::beacons::{MAX_NETWORKS, SIZES};
use windlass_sim::radio::{Aggregation, Beacons, LateCapture, Minstrel, RadioConfig};

use crate::codec::{Codec, Pairs, changed, table};
use crate::fields::{Field, Fields, choice, probability, span, word_of};
use crate::problem::Problem;
use crate::quote::{inline, quote};
use crate::schema::{Section, Shape};
use crate::tree::Value;

table!(MINSTREL, "rate_adaptation", apply_minstrel, minstrel_pairs, Minstrel {
    interval: Codec::time(span), "time between updates of the averages, `1ms` to `60s`", "`\"100ms\"`";
    memory: Codec::share(probability), "weight of the previous value in the average, up to `99%`", "`0.75`";
    lookaround: Codec::share(probability), "share of the frames that sample another rate, `1%` to `50%`; with `aggregation` one sample per 16 frames plus twice the mean length of an aggregate", "`0.1`";
});

table!(AGGREGATION, "aggregation", apply_aggregation, aggregation_pairs, Aggregation {
    max_frames: Codec::whole(1, WINDOW), "frames of an aggregate, 1 to 64", "`64`";
    max_size: Codec::size_u32(1, MAX_BYTES), "bytes of an aggregate, including delimiters and padding", "`\"65535B\"`";
    max_airtime: Codec::time(span), "time of an aggregate on the air, at most `10ms`", "`\"5484us\"`";
});

table!(BEACONS, "beacons", apply_beacons, beacons_pairs, Beacons {
    interval: Codec::time(span), "time between beacons, `1ms` to `67s`", "`\"102.4ms\"`";
    size: Codec::size_u32(SIZES[0], SIZES[1]), "size of a beacon, from MAC header to check sequence, `40B` to `2332B`", "`\"150B\"`";
    networks: Codec::whole(1, MAX_NETWORKS), "beacons at each target time, one for each network that the access point announces, 1 to 32", "`1`";
});

/// A word for the usual settings, `none`, or a table.
pub(super) fn word_or(word: &'static str, section: &'static Section) -> Shape {
    Shape::Either(vec![Shape::Words(vec!["none", word]), Shape::Table(section)])
}

fn of<T: Copy + Default + 'static>(
    field: &Field,
    word: &'static str,
    section: &Section,
    apply: fn(&mut T, &Fields) -> Result<(), Problem>,
) -> Result<Option<T>, Problem> {
    if let Value::Text(_) = field.node.value {
        return Ok(choice(&[("none", false), (word, true)])(field)?.then(T::default));
    }
    changed(field, section, T::default(), apply).map(Some)
}

/// Reads these keys of a cell.
pub(super) fn read(fields: &Fields, radio: &mut RadioConfig) -> Result<(), Problem> {
    let minstrel = |f: &Field| of(f, "minstrel", &MINSTREL, apply_minstrel);
    radio.rate_adaptation = fields.or("rate_adaptation", minstrel, None)?;
    let check = |key, checked: Result<(), String>| match (checked, fields.field(key)) {
        (Err(message), Some(field)) => Err(field.error(message)),
        _ => Ok(()),
    };
    check("rate_adaptation", radio.check_rate_adaptation())?;
    let aggregation = |f: &Field| of(f, "a-mpdu", &AGGREGATION, apply_aggregation);
    radio.aggregation = fields.or("aggregation", aggregation, None)?;
    check("aggregation", radio.check_aggregation())?;
    let beacons = |f: &Field| of(f, "usual", &BEACONS, apply_beacons);
    radio.beacons = fields.or("beacons", beacons, None)?;
    check("beacons", radio.check_beacons())?;
    radio.late_capture =
        fields.or("late_capture", choice(&LateCapture::ALL), radio.late_capture)?;
    Ok(())
}

/// The keys that differ from the usual values, with their TOML text.
pub(super) fn written(radio: &RadioConfig) -> Pairs {
    let mut pairs = Vec::new();
    let tables = [
        ("rate_adaptation", radio.rate_adaptation.as_ref().map(minstrel_pairs)),
        ("aggregation", radio.aggregation.as_ref().map(aggregation_pairs)),
        ("beacons", radio.beacons.as_ref().map(beacons_pairs)),
    ];
    pairs.extend(tables.into_iter().filter_map(|(key, t)| Some((key, inline(&t?)))));
    if radio.late_capture != LateCapture::default() {
        pairs.push(("late_capture", quote(word_of(&LateCapture::ALL, &radio.late_capture))));
    }
    pairs
}
