//! The ends of the streams of a multipath connection after the failure of a path.

use crate::multinet::{Net, Path, multipath};
use windlass_tcp::mptcp::MultipathConfig;

// RFC 8684-3.3.3-3
/// The receiver has sent only acknowledgements, and cannot know which of its subflows has failed.
#[test]
fn both_ends_of_the_stream_use_the_remaining_path() {
    for dead in 0..2 {
        for seed in 1..=5 {
            let mut paths = vec![Path::rated(10, 10), Path::rated(20, 10)];
            paths[dead].outages = vec![(300, u64::MAX / 2)];
            let p = multipath(MultipathConfig::default(), 2);
            let mut net = Net::transfer(p, 1_000_000, paths, seed);
            // A timeout for the data lost with the path, the rest of the data, the ends of the streams.
            net.run_until(5_000);
            let [client, server] = &net.ends;
            assert_eq!(server.read, 1_000_000, "path {dead}, seed {seed}");
            assert!(server.c.at_end() && client.c.at_end(), "path {dead}, seed {seed}");
            assert!(client.c.all_acknowledged() && server.c.all_acknowledged());
        }
    }
}
