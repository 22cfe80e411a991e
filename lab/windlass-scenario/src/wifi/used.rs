//! Wi-Fi as devices use it: rate adaptation, aggregation and beacons.

use windlass_sim::radio::aggregation::{MAX_BYTES, WINDOW};
use windlass_sim::radio::beacons::{MAX_NETWORKS, SIZES};
use windlass_sim::radio::{Aggregation, Beacons, Minstrel, RadioConfig};

use crate::codec::{Codec, table};
use crate::fields::{Fields, probability, span};
use crate::problem::Problem;

table!(MINSTREL, "rate_adaptation", apply_minstrel, written_minstrel, Minstrel {
    interval: Codec::time(span), "time between updates of the averages, `1ms` to `60s`", "`\"100ms\"`";
    memory: Codec::share(probability), "weight of the previous value in the average, up to `99%`", "`0.75`";
    lookaround: Codec::share(probability), "share of the frames that sample another rate, `1%` to `50%`; with `aggregation` one sample per 16 frames plus twice the mean length of an aggregate", "`0.1`";
});

table!(AGGREGATION, "aggregation", apply_aggregation, written_aggregation, Aggregation {
    max_frames: Codec::whole(1, WINDOW), "frames of an aggregate, 1 to 64", "`64`";
    max_size: Codec::size_u32(1, MAX_BYTES), "bytes of an aggregate, including delimiters and padding", "`\"65535B\"`";
    max_airtime: Codec::time(span), "time of an aggregate on the air, at most `10ms`", "`\"5484us\"`";
});

table!(BEACONS, "beacons", apply_beacons, written_beacons, Beacons {
    interval: Codec::time(span), "time between beacons, `1ms` to `67s`", "`\"102.4ms\"`";
    size: Codec::size_u32(SIZES[0], SIZES[1]), "size of a beacon, from MAC header to check sequence, `40B` to `2332B`", "`\"150B\"`";
    networks: Codec::whole(1, MAX_NETWORKS), "beacons at each target time, one for each network that the access point announces, 1 to 32", "`1`";
});

/// Checks these keys of a cell.
pub(super) fn check(fields: &Fields, radio: &RadioConfig) -> Result<(), Problem> {
    for (key, checked) in [
        ("rate_adaptation", radio.check_rate_adaptation()),
        ("aggregation", radio.check_aggregation()),
        ("beacons", radio.check_beacons()),
    ] {
        if let (Err(message), Some(field)) = (checked, fields.field(key)) {
            return Err(field.error(message));
        }
    }
    Ok(())
}
