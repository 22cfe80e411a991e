//! Algorithms that are loaded permanently, and a reboot after that.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use windlass_cc::AnyParams;
use windlass_skip::skip;
use windlass_testbed::bpf::{self, Algorithm, pins};
use windlass_testbed::vm::{Job, Kernel};

use crate::objects::objects;
use crate::{job, run};

/// State after loading: the names that sockets can choose, and the listed names.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Loaded {
    offered: String,
    listed: Vec<String>,
    /// Files and folders that loading has left outside the file systems in memory.
    left: Vec<PathBuf>,
}

const STAYS: &str = "wl_reno";

fn loaded(left: Vec<PathBuf>) -> Result<Vec<u8>, String> {
    let offered = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let (offered, listed) = (offered.map_err(|e| e.to_string())?, pins::list());
    let listed = listed.map_err(|e| e.to_string())?;
    serde_json::to_vec(&Loaded { offered, listed, left }).map_err(|e| e.to_string())
}

pub fn load_to_stay() -> Result<Vec<u8>, String> {
    let before = tree();
    let params = AnyParams::by_name("reno").ok_or("no reno")?;
    let algorithm = Algorithm { params, name: STAYS.to_owned(), recording: false };
    match pins::load(&algorithm, Path::new(".")) {
        Err(bpf::Error::NoLinks) => {}
        done => done.map_err(|e| e.to_string())?,
    }
    loaded(tree().into_iter().filter(|path| !before.contains(path)).collect())
}

/// Returns the state after a boot with the files that an earlier boot left in its file system.
pub fn look_around(left: &[&str]) -> Result<Vec<u8>, String> {
    left.iter().try_for_each(fs::create_dir_all).map_err(|e| e.to_string())?;
    loaded(Vec::new())
}

/// Returns all files of the root file system.
fn tree() -> Vec<PathBuf> {
    let device = |path: &Path| fs::symlink_metadata(path).map(|m| m.dev()).ok();
    let (root, mut found, mut open) = (device(Path::new("/")), Vec::new(), vec!["/".into()]);
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir::<PathBuf>(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| device(path) == root) {
            if path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

/// The guest has no disk: files that the first boot leaves in its file system are copied into the second
/// guest.
pub fn forgets(kernel: &Kernel) {
    let files = match objects() {
        Ok(files) => files,
        Err(why) => return skip(why),
    };
    let boot = |args: &[&str]| {
        let answer = run(kernel, &Job { files: files.clone(), programs: true, ..job(args) });
        serde_json::from_slice::<Loaded>(&answer.output).expect("an answer")
    };
    let first = boot(&["load"]);
    if kernel.release.starts_with("6.1.") {
        // Nothing stays loaded.
        assert!(first.listed.is_empty() && !first.offered.contains(STAYS), "{first:?}");
        return;
    }
    assert!(first.listed == [STAYS] && first.offered.contains(STAYS), "{first:?}");
    let left = first.left.iter().map(|path| path.to_str().expect("a name"));
    let left: Vec<&str> = left.collect();
    // Only mount points: folders that have no effect on a boot.
    assert!(left.iter().all(|path| path.starts_with("/run")), "{left:?}");
    let second = boot(&[&["look"], &left[..]].concat());
    assert!(second.listed.is_empty() && !second.offered.contains("wl_"), "{second:?}");
}
