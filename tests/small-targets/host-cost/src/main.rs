//! The life of the algorithm named, or of all of them one after the other: callgrind counts the instructions of
//! the entry points. Prints each algorithm's identifier, the name of its entry points and its bytes of state.

use cc_object::ENTRIES;
use cc_object::connection::{Connection, Meter, Stage};

struct Uncounted;

impl Meter for Uncounted {
    fn start(&mut self) {}
    fn stop(&mut self, _stage: Stage) {}
}

fn main() {
    let wanted = std::env::args().nth(1);
    for (entry, name) in ENTRIES.iter().zip(cc_object::NAMES) {
        if wanted.as_deref().is_none_or(|id| id == entry.info.id) {
            println!("{} {name} {}", entry.info.id, entry.state_bytes);
            Connection::new(entry).expect("room for the state").run(&mut Uncounted);
        }
    }
}
