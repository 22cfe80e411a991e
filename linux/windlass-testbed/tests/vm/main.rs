//! Linux in virtual time. This program is its own guest, so it has its own harness: in a guest `guest_main`
//! takes over. Elsewhere the tests of a kernel run one after the other, in parallel with the tests of the
//! other kernel. Arguments select tests by a part of their name.

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod dualpi2;
mod loading;
mod missing;
mod objects;
mod paths;
mod repeats;
mod transfers;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use windlass_skip::skip;
use windlass_testbed::vm::{self, Answer, Job, Kernel, Series};

type Test = fn(&Kernel);

const TESTS: [(&str, Test); 13] = [
    ("a_job_has_its_arguments_and_files_and_its_answer_arrives_whole", answers::echoes),
    ("failed_or_panicked_job_is_reported_to_the_caller", answers::fails),
    ("failed_guest_reports_its_last_console_lines", answers::goes_down),
    ("hanging_guest_is_stopped_at_the_time_limit", answers::hangs),
    ("a_guest_ends_with_the_process_that_started_it", answers::ends_with_its_caller),
    ("clock_and_randomness_repeat", repeats::repeats),
    ("every_algorithm_carries_a_transfer_and_repeats_to_the_byte", transfers::transfers),
    ("concurrent_guests_do_not_affect_each_other", repeats::at_once),
    ("pinned_algorithm_is_gone_after_a_reboot", loading::forgets),
    ("floods_of_dualpi2_have_the_known_marks_and_drops", dualpi2::floods),
    ("loads_of_dualpi2_have_the_known_delays_marks_and_drops", dualpi2::grids),
    ("tcp_over_dualpi2_has_the_delay_and_marks_of_the_simulator", dualpi2::transfers),
    ("coupled_paths_see_each_other_and_take_less_of_a_bottleneck", paths::coupled),
];

fn main() -> ExitCode {
    vm::guest_main(serve);
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["check", series] => {
            let said = vm::check(series.parse().expect("a series"));
            println!("{}", said.map_or_else(|e| e.to_string(), |()| "nothing is missing".into()));
        }
        ["run", what] => {
            let kernel = kernels().next().expect("a kernel");
            println!("{:?}", vm::run(&kernel, &job(&[what])));
        }
        chosen => tests(chosen),
    }
    ExitCode::SUCCESS
}

fn tests(chosen: &[&str]) {
    let chosen: Vec<&&str> = chosen.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_chosen =
        |name: &str| chosen.is_empty() || chosen.iter().any(|part| name.contains(**part));
    let timed = |name: String, test: &dyn Fn()| {
        let started = Instant::now();
        test();
        println!("test {name} ... ok ({:.1?})", started.elapsed());
    };
    if is_chosen("missing_requirements_are_reported") {
        timed(
            "missing_requirements_are_reported".to_string(),
            &missing::missing_requirements_are_reported,
        );
    }
    let all_of = |kernel: Kernel| {
        for (name, test) in TESTS.iter().filter(|(name, _)| is_chosen(name)) {
            timed(format!("{name} on {}", kernel.release), &|| test(&kernel));
        }
    };
    let kernels: Vec<_> = kernels().collect();
    thread::scope(|scope| {
        for kernel in kernels {
            scope.spawn(move || all_of(kernel));
        }
    });
}

/// Returns a kernel of each available series.
fn kernels() -> impl Iterator<Item = Kernel> {
    Series::ALL.into_iter().filter_map(|series| {
        let kernel =
            vm::check(series).and_then(|()| vm::prepare(series, &mut |what| eprintln!("{what}")));
        kernel.inspect_err(|e| skip(format_args!("Linux {series} in virtual time: {e}"))).ok()
    })
}

/// Does the guest's job.
fn serve(args: &[String]) -> Result<Vec<u8>, String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["echo", rest @ ..] => {
            let file = fs::read("papers/one.bin").map_err(|e| e.to_string())?;
            Ok([rest.join("|").as_bytes(), &file].concat())
        }
        ["fail"] => Err("there is no such scenario".to_string()),
        ["panic"] => panic!("index {} out of range", 7),
        ["exit"] => {
            eprintln!("these were its last words");
            std::process::exit(3)
        }
        ["hang"] => loop {
            std::hint::spin_loop();
        },
        ["traces"] => repeats::traces(),
        ["transfers"] => transfers::transfers_of_all(),
        ["load"] => loading::load_to_stay(),
        ["paths", algorithm, network] => paths::two_paths(algorithm, network),
        ["dualpi2", "flood"] => dualpi2::flood_all(),
        ["dualpi2", "grid", l, classic, plain] => dualpi2::grid([l, classic, plain]),
        ["dualpi2", algorithm, flows, ecn] => dualpi2::transfer(algorithm, flows, ecn),
        ["look", left @ ..] => loading::look_around(left),
        other => Err(format!("there is no job {other:?}")),
    }
}

fn job(args: &[&str]) -> Job {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    Job { args, timeout: Duration::from_secs(300), ..Job::default() }
}

fn run(kernel: &Kernel, job: &Job) -> Answer {
    vm::run(kernel, job).unwrap_or_else(|e| panic!("{:?}: {e}", job.args))
}
