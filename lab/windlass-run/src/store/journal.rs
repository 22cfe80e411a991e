//! The journal file: one finished run per line, each line with a checksum.
//!
//! A line is `{"crc32":"89abcdef","record":{…}}`. The checksum (CRC-32 of zip and Ethernet) is over the
//! bytes of the record's JSON text. A line counts when its newline is written.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::StoreError;
use super::files;
use super::notice::Notice;
use crate::key::RunKey;
use crate::record::RunRecord;

/// Name of the journal in a batch's folder.
pub const JOURNAL: &str = "journal.jsonl";

/// Lines within this time are committed to the disk together.
const TOGETHER: Duration = Duration::from_millis(50);

const HEAD: &str = "{\"crc32\":\"";
const MIDDLE: &str = "\",\"record\":";
const TAIL: &str = "}\n";

/// The line of a record.
pub(super) fn encode(record: &RunRecord) -> Result<String, StoreError> {
    let not_finite = || StoreError::NotFinite { key: Box::new(RunKey::of(record)) };
    let json = serde_json::to_string(record).map_err(|_| not_finite())?;
    // JSON has no NaN and no infinity. serde_json writes them as null, so parsing the text fails.
    match serde_json::from_str::<RunRecord>(&json) {
        Ok(read) if read == *record => {}
        _ => return Err(not_finite()),
    }
    Ok(format!("{HEAD}{:08x}{MIDDLE}{json}{TAIL}", crc32fast::hash(json.as_bytes())))
}

/// The content of a line.
enum Line {
    /// A record.
    Record(Box<RunRecord>),
    /// An intact line that is not a record of this version.
    Foreign,
    /// An incomplete or changed line.
    Damaged,
}

fn decode(line: &[u8]) -> Line {
    let Some(json) = checked_json(line) else { return Line::Damaged };
    match serde_json::from_str(json) {
        Ok(record) => Line::Record(Box::new(record)),
        Err(_) => Line::Foreign,
    }
}

/// The record's text, if the line is complete and its checksum holds.
fn checked_json(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(HEAD.as_bytes())?;
    let (sum, rest) = rest.split_at_checked(8)?;
    let json = rest.strip_prefix(MIDDLE.as_bytes())?.strip_suffix(TAIL.as_bytes())?;
    let json = std::str::from_utf8(json).ok()?;
    (sum == format!("{:08x}", crc32fast::hash(json.as_bytes())).as_bytes()).then_some(json)
}

/// The content of a journal.
#[derive(Default)]
pub(super) struct Content {
    /// Records with their line numbers, from 1.
    pub(super) records: Vec<(usize, RunRecord)>,
    /// Notices about other lines.
    pub(super) notices: Vec<Notice>,
    /// Bytes of complete lines.
    len: u64,
    /// An incomplete line after them.
    half: Option<Notice>,
}

/// Reads the journal in `dir`, to which another instance may be writing. An incomplete line at its end is
/// not removed. Without a journal, the content is empty.
///
/// # Errors
///
/// It cannot be read, or is damaged before its last line.
pub(super) fn read(dir: &Path) -> Result<Content, StoreError> {
    let path = dir.join(JOURNAL);
    let mut content = Content::default();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(content),
        Err(e) => return Err(StoreError::io("open", &path)(e)),
    };
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    let mut foreign = None;
    for number in 1.. {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(StoreError::io("read", &path))?;
        if bytes == 0 {
            break;
        }
        match decode(&line) {
            Line::Record(record) => content.records.push((number, *record)),
            Line::Foreign => foreign.get_or_insert((number, 0)).1 += 1,
            Line::Damaged => {
                // An incomplete line is the last line, even if its writer has completed it since.
                let rest = reader.fill_buf().map_err(StoreError::io("read", &path))?;
                if !rest.is_empty() && line.ends_with(b"\n") {
                    return Err(StoreError::DamagedLine { path, line: number });
                }
                content.half = Some(Notice::CutOff { line: number, bytes });
                break;
            }
        }
        content.len += bytes as u64;
    }
    content.notices.extend(foreign.map(|(line, lines)| Notice::Foreign { line, lines }));
    Ok(content)
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes of complete lines.
    len: u64,
    /// An incomplete line could not be removed.
    broken: bool,
    /// Some lines may not be on disk.
    pending: bool,
    /// Time of the last wait for the disk.
    committed: Option<Instant>,
}

impl Journal {
    /// Opens or creates the journal in `dir`, and cuts off an incomplete line at its end.
    pub(super) fn open(dir: &Path) -> Result<(Journal, Content), StoreError> {
        let path = dir.join(JOURNAL);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        files::sync_folder(dir)?;
        let mut content = read(dir)?;
        let journal = Journal {
            file,
            path,
            len: content.len,
            broken: false,
            pending: false,
            committed: None,
        };
        if let Some(half) = content.half.take() {
            journal.cut_off()?;
            content.notices.push(half);
        }
        Ok((journal, content))
    }

    /// Shortens the file to its complete lines.
    fn cut_off(&self) -> Result<(), StoreError> {
        self.file
            .set_len(self.len)
            .and_then(|()| self.file.sync_data())
            .map_err(StoreError::io("mend", &self.path))
    }

    /// Adds a line with one write. Waits for the disk unless it did so shortly before.
    pub(super) fn append(&mut self, line: &str) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken { path: self.path.clone() });
        }
        if let Err(source) = self.file.write_all(line.as_bytes()) {
            self.broken = self.cut_off().is_err();
            return Err(StoreError::Io { action: "write", path: self.path.clone(), source });
        }
        self.pending = true;
        // The time since the last wait limits the work that a power cut can destroy.
        if self.committed.is_none_or(|at| at.elapsed() >= TOGETHER)
            && let Err(e) = self.commit()
        {
            self.broken = self.cut_off().is_err();
            return Err(e);
        }
        self.len += line.len() as u64;
        Ok(())
    }

    /// Waits until every line is on disk.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if self.pending {
            self.file.sync_data().map_err(StoreError::io("write", &self.path))?;
            self.pending = false;
            self.committed = Some(Instant::now());
        }
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A caller that needs the error calls `commit` before.
        let _ = self.commit();
    }
}
