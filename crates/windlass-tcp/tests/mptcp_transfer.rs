//! Whatever the paths do, every byte of a multipath connection arrives once and in order and both
//! ends close.

mod multinet;

use multinet::{App, Net, Path, multipath, scheduled};
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};

#[test]
fn two_clean_paths_share_a_transfer() {
    for (name, scheduler) in Scheduler::ALL {
        let p = multipath(scheduled(scheduler), 2);
        let mut net = Net::transfer(p, 300_000, vec![Path::rated(10, 10), Path::rated(30, 10)], 7);
        net.run_to_close(100_000);
        let [client, server] = &net.ends;
        assert_eq!(server.read, 300_000, "{name}");
        assert!(client.c.all_acknowledged());
        assert_eq!((client.c.failure(), server.c.failure()), (None, None));
        assert_eq!((client.c.stats().joins, server.c.stats().joins), (1, 1), "{name}");
        for path in 0..2 {
            assert!(client.c.path_stats(path).data_bytes > 10_000, "{name}: path {path} idle");
        }
    }
}

#[test]
fn both_ends_send_at_once() {
    let config = MultipathConfig::default();
    let both = App::sends(200_000);
    let p = multipath(config, 2);
    let mut net =
        Net::new([p.clone(), p], [both, both], vec![Path::rated(5, 20), Path::rated(20, 5)], 3);
    net.run_to_close(100_000);
    assert_eq!((net.ends[0].read, net.ends[1].read), (200_000, 200_000));
}
