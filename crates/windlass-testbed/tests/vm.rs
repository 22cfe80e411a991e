//! Linux in virtual time. This program is its own guest, so it brings its own harness: in a guest
//! `guest_main` takes over, elsewhere the tests run one after the other.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use windlass_testbed::live::{self, Options};
use windlass_testbed::vm::{self, Answer, Error, Job, Kernel, Series};

mod common;

type Test = fn(&Kernel);

const TESTS: [(&str, Test); 1] =
    [("every_algorithm_of_the_kernel_carries_a_transfer_and_repeats_to_the_byte", transfers)];

fn main() -> ExitCode {
    vm::guest_main(serve);
    for series in Series::ALL {
        let kernel = vm::check(series).and_then(|()| vm::prepare(series, &mut |_| {}));
        let kernel = match kernel {
            Ok(kernel) => kernel,
            Err(e) => {
                eprintln!("*** SKIPPED: Linux {series} in virtual time: {e} ***");
                continue;
            }
        };
        for (name, test) in TESTS {
            let started = Instant::now();
            test(&kernel);
            println!("test {name} ({series}) ... ok, {:.1?}", started.elapsed());
        }
    }
    ExitCode::SUCCESS
}

/// What the guest does.
fn serve(args: &[String]) -> Result<Vec<u8>, String> {
    match args[0].as_str() {
        "transfer" => transfer(&args[1]),
        other => Err(format!("there is no job `{other}`")),
    }
}

fn job(args: &[&str]) -> Job {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    Job { args, timeout: Duration::from_secs(300), ..Job::default() }
}

/// A megabyte over a path that drops some packets.
fn transfer(algorithm: &str) -> Result<Vec<u8>, String> {
    let link = common::link(20_000_000, 10);
    let flow = common::bulk(windlass_tcp::stack::LINUX, algorithm, Some(1_000_000));
    let config = common::config(vec![link], vec![flow]);
    let options = Options { bound: None, spin: windlass_cc::Span::ZERO, ..Options::default() };
    let outcome = live::run(&config, &options).map_err(|e| e.to_string())?;
    Ok(format!("{outcome:#?}").into_bytes())
}

fn transfers(kernel: &Kernel) {
    for algorithm in ["cubic"] {
        let [one, two] = [(); 2].map(|()| {
            vm::run(kernel, &job(&["transfer", algorithm])).unwrap_or_else(|e| panic!("{e}"))
        });
        println!(
            "{}\n{} {:?} {:?} {:?}",
            String::from_utf8_lossy(&one.output),
            one.console,
            one.boot,
            one.virtual_time,
            one.host_time
        );
        assert!(one.output == two.output, "{}", String::from_utf8_lossy(&two.output));
    }
}
