//! The life of the algorithm named, or of all of them one after the other: callgrind counts the instructions of
//! the entry points. `timer:NAME` is the life of a timer. Prints each algorithm's identifier, the name of its entry points and its bytes of state.

use cc_object::ENTRIES;
use cc_object::connection::{Connection, Meter, Stage};
use cc_object::timers::LIVES;

struct Uncounted;

impl Meter for Uncounted {
    fn start(&mut self) {}
    fn stop(&mut self, _stage: Stage) {}
}

fn main() {
    let wanted = std::env::args().nth(1);
    if let Some(id) = wanted.as_deref().and_then(|wanted| wanted.strip_prefix("timer:")) {
        let life = LIVES.iter().find(|life| life.id == id).expect("a timer");
        life.run(&mut Uncounted);
        return;
    }
    if wanted.as_deref() == Some("timers") {
        LIVES.iter().for_each(|life| println!("{} {}", life.id, life.state_bytes));
        return;
    }
    for (entry, name) in ENTRIES.iter().zip(cc_object::NAMES) {
        if wanted.as_deref().is_none_or(|id| id == entry.info.id) {
            println!("{} {name} {}", entry.info.id, entry.state_bytes);
            Connection::new(entry).expect("room for the state").run(&mut Uncounted);
        }
    }
}
