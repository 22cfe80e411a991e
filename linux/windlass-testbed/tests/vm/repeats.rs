//! A guest repeats its run exactly, alone and in parallel with other guests.

use std::time::{Duration, Instant};
use std::{fs, thread};

use windlass_skip::skip;
use windlass_testbed::vm::Kernel;

use crate::{job, run};

/// Returns all values that could depend on chance in a machine: randomness, the clock, addresses in memory,
/// and the schedule of the threads.
pub fn traces() -> Result<Vec<u8>, String> {
    let mut random = [0; 64];
    std::io::Read::read_exact(
        &mut fs::File::open("/dev/urandom").map_err(|e| e.to_string())?,
        &mut random,
    )
    .map_err(|e| e.to_string())?;
    let started = Instant::now();
    let beats: Vec<_> = (0..200)
        .map(|i| {
            let started = Instant::now();
            thread::spawn(move || thread::sleep(Duration::from_micros(10 * i))).join().ok();
            started.elapsed()
        })
        .collect();
    // Each nap lets the clock jump to the next timer, repeatedly while the host is busy with this program.
    let mut naps = 0_u64;
    for i in 0..3_000_u64 {
        thread::sleep(Duration::from_micros(1 + i * 7919 % 20));
        naps = naps.wrapping_mul(31).wrapping_add(started.elapsed().as_nanos() as u64);
    }
    let date = std::time::SystemTime::now();
    let stat = fs::read_to_string("/proc/stat").map_err(|e| e.to_string())?;
    Ok(format!("{random:?} {beats:?} {naps} {date:?} {:p}\n{stat}", &raw const random).into_bytes())
}

pub fn repeats(kernel: &Kernel) {
    let first = run(kernel, &job(&["traces"]));
    for _ in 0..2 {
        let again = run(kernel, &job(&["traces"]));
        assert_eq!(difference(&first.output, &again.output), None);
        assert_eq!((first.boot, first.virtual_time), (again.boot, again.virtual_time));
    }
}

/// Returns the first line in which two answers differ.
pub fn difference(one: &[u8], two: &[u8]) -> Option<(String, String)> {
    let [one, two] = [one, two].map(String::from_utf8_lossy);
    let differ = one.lines().zip(two.lines()).find(|(one, two)| one != two);
    differ.map(|(one, two)| (one.to_string(), two.to_string()))
}

/// Linux 7.3 sometimes differs by nanoseconds on a busy machine, for a cause that we have not found. The run then counts as
/// skipped.
pub fn at_once(kernel: &Kernel) {
    let alone = run(kernel, &job(&["traces"])).output;
    thread::scope(|scope| {
        let guests: Vec<_> =
            (0..3).map(|_| scope.spawn(|| run(kernel, &job(&["traces"])).output)).collect();
        for guest in guests {
            let different = difference(&alone, &guest.join().expect("a guest"));
            match different {
                Some((alone, beside)) if kernel.release.starts_with("7.3") => {
                    skip(format_args!(
                        "Linux 7.3 did not repeat its run beside others: {alone:.60}, {beside:.60}"
                    ));
                }
                different => assert_eq!(different, None),
            }
        }
    });
}
