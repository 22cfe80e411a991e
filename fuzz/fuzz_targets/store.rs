//! Bytes as the files of a results folder after a crash: it is opened or refused in one line, a second opening finds the same runs
//! without a repair, and a new run is kept.
#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use windlass_run::RunRecord;
use windlass_run::store::{Batch, Invocation, RunKey, Store};

/// A kept run in its line of a journal.
const LINE: &[u8] = include_bytes!("../seeds/store/whole");
/// Between the files of an input: the journal, the journal of a part, and the list of calls.
const NEXT_FILE: &[u8] = b"\n#\n";

fuzz_target!(|data: &[u8]| {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let dir = dir.expect("a temporary folder");
    let part = dir.path().join("parts/0");
    fs::create_dir_all(&part).expect("a folder");
    let mut rest = data;
    for path in
        [dir.path().join("journal.jsonl"), part.join("journal.jsonl"), dir.path().join("meta.json")]
    {
        let end = rest.windows(NEXT_FILE.len()).position(|bytes| bytes == NEXT_FILE);
        let (file, after) =
            end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + NEXT_FILE.len()..]));
        rest = after;
        if !file.is_empty() {
            fs::write(path, with_sums(file)).expect("written");
        }
    }
    if data.first().is_some_and(|byte| byte % 2 == 0) {
        fs::write(part.join("finished"), "").expect("written");
    }
    let shared = Batch::share(dir.path()).map(|(batch, _)| batch.records().to_vec());
    let mut batch = match Batch::open(dir.path()) {
        Ok((batch, _)) => batch,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return;
        }
    };
    assert_eq!(shared.expect("a folder that opens can be read").len(), batch.records().len());
    let known = batch.records().to_vec();
    let new = new_record();
    let kept = batch.has(&RunKey::of(&new)) || batch.append(new.clone()).is_ok();
    assert!(kept, "a new run is not kept");
    let call = Invocation::now("0.1.0", "windlass".into(), vec![1]);
    if let Err(error) = batch.add_invocation(&call) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    drop(batch);
    let (again, _) = Batch::open(dir.path()).expect("the folder was repaired");
    // The runs of a part stand behind those of the folder, and so behind the new run.
    assert!(known.iter().all(|run| again.records().contains(run)), "a run is lost");
    assert_eq!(again.records().len(), known.len() + usize::from(!known.contains(&new)));
    assert!(again.has(&RunKey::of(&new)));
});

/// The lines with the right checksum if theirs begins with `0`, which the fuzzer cannot guess.
fn with_sums(file: &[u8]) -> Vec<u8> {
    const HEAD: &[u8] = b"{\"crc32\":\"";
    const MIDDLE: &[u8] = b"\",\"record\":";
    let mut all = Vec::new();
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        let json =
            line.get(HEAD.len() + 8 + MIDDLE.len()..).and_then(|rest| rest.strip_suffix(b"}\n"));
        match json {
            Some(json) if line.starts_with(HEAD) && line[HEAD.len()] == b'0' => {
                all.extend(
                    [
                        HEAD,
                        format!("{:08x}", crc32fast::hash(json)).as_bytes(),
                        MIDDLE,
                        json,
                        b"}\n",
                    ]
                    .concat(),
                );
            }
            _ => all.extend(line),
        }
    }
    all
}

/// A run that no input contains, by its experiment.
fn new_record() -> RunRecord {
    let line: serde_json::Value = serde_json::from_slice(LINE).expect("a line of a journal");
    let mut record: RunRecord = serde_json::from_value(line["record"].clone()).expect("a record");
    record.experiment = "a new run".into();
    record
}
