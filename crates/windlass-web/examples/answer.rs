//! Answers requests as the module does, one a line: `same-bytes` holds the two against each other.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for request in io::stdin().lock().lines() {
        writeln!(out, "{}", windlass_web::answer(&request?))?;
    }
    Ok(())
}
