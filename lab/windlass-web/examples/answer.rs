//! Answers requests like the module, with one request in each line: `same-bytes` compares both. With
//! `--times` it prints the milliseconds of each request instead of the response.

use std::io::{self, BufRead, Write};
use std::time::Instant;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let times = std::env::args().any(|word| word == "--times");
    for request in io::stdin().lock().lines() {
        let (request, began) = (request?, Instant::now());
        let answer = windlass_web::answer(&request);
        match times {
            true => writeln!(out, "{}", began.elapsed().as_secs_f64() * 1e3)?,
            false => writeln!(out, "{answer}")?,
        }
    }
    Ok(())
}
