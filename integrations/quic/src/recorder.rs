//! Writes the events and answers of a controller to a recording.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_cc::{AnyParams, Conn, Control, Event};
use windlass_conform::recording;

/// Writes a recording that `windlass replay --recorded` replays. Copies of a controller write into the same recording. It
/// ends at the first write error.
#[derive(Clone)]
pub struct Recorder {
    name: String,
    about: String,
    out: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
}

impl Recorder {
    /// A recorder that writes to `out`. `about` is the recorded host, and `name` is its path.
    pub fn new(out: impl Write + Send + 'static, name: &str, about: &str) -> Recorder {
        let out: Box<dyn Write + Send> = Box::new(out);
        let out = Arc::new(Mutex::new(Some(out)));
        Recorder { name: name.to_owned(), about: about.to_owned(), out }
    }

    pub(crate) fn begin(&self, params: &AnyParams, conn: &Conn, answer: Control) {
        self.write(&recording::header(params, &self.name, &self.about, conn, answer));
    }

    pub(crate) fn note(&self, event: &Event, conn: &Conn, answer: Control) {
        self.write(&recording::line(event, conn, answer));
    }

    fn write(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = out.as_mut()
            && writeln!(writer, "{line}").is_err()
        {
            *out = None;
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recorder { name, about, .. } = self;
        write!(f, "Recorder({name}, {about})")
    }
}
