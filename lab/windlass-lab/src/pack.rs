//! Artefact packs: a folder of results as one archive that repeats itself.
//!
//! A pack has the runs, their scenarios and seeds, the tables, the figures, the versions, checksums, a script and a
//! README in the form of ACM's artefact evaluation. It has no times and no absolute paths, so that the same folder
//! gives the same bytes. [`check`] makes every run again from its scenario and its seed, and compares the bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::run::store::Batch;
use crate::run::{Failed, RunError, RunRecord, Runner, Task, VERSION, World};
use crate::scenario::Scenario;

/// Folder of the modules of Python classes in a pack.
const CLASSES: &str = "classes";
/// The checksums of all other files.
const SUMS: &str = "SHA256SUMS";
/// Files that belong to one machine or one call.
const LEFT_OUT: [&str; 6] =
    ["batch.lock", "meta.json", "failures.jsonl", "pace.json", "slurm.sh", "README.md"];

/// The reason why a folder cannot be packed, or a pack cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The folder or the pack is not usable.
    #[error("{0}")]
    Input(String),
    /// A file cannot be read or written.
    #[error("{path} cannot be {verb}: {source}", path = path.display())]
    File {
        /// `read` or `written`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A run cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn file<'a>(verb: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> PackError + 'a {
    move |source| PackError::File { verb, path: path.to_path_buf(), source }
}

/// Content of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Number of files.
    pub files: usize,
    /// Number of runs.
    pub runs: usize,
    /// Files that contain an absolute path of this machine, and are therefore left out.
    pub left_out: Vec<String>,
    /// Modules of Python classes that are neither in the current folder nor in `PYTHONPATH`.
    pub missing: Vec<String>,
}

/// Packs a folder of results into a tar archive with the top folder `name`.
///
/// # Errors
///
/// The folder has no runs, or a file cannot be read or written.
pub fn pack(dir: &Path, name: &str, out: &Path) -> Result<Packed, PackError> {
    let batch = runs(dir)?;
    let commands: Vec<String> =
        batch.invocations().unwrap_or_default().into_iter().map(|i| i.command).collect();
    let paths = absolute(&commands);
    let mut files = BTreeMap::new();
    let mut left_out = Vec::new();
    for path in listed(dir)? {
        let place = relative(dir, &path);
        let bytes = fs::read(&path).map_err(file("read", &path))?;
        let told =
            |bytes: &[u8], path: &str| bytes.windows(path.len()).any(|w| w == path.as_bytes());
        match (paths.iter().any(|path| told(&bytes, path)), String::from_utf8(bytes)) {
            (true, Ok(text)) => drop(files.insert(place, shortened(text, &paths).into_bytes())),
            (true, Err(_)) => left_out.push(place),
            (false, Ok(text)) => drop(files.insert(place, text.into_bytes())),
            (false, Err(e)) => drop(files.insert(place, e.into_bytes())),
        }
    }
    let mut missing = Vec::new();
    for module in modules(&files) {
        match source_of(&module) {
            Some(bytes) => drop(files.insert(format!("{CLASSES}/{}", path_of(&module)), bytes)),
            None => missing.push(module),
        }
    }
    let mut commands: Vec<String> =
        commands.into_iter().map(|command| shortened(command, &paths)).collect();
    commands.dedup();
    let made = batch.records();
    files.insert("README.md".to_owned(), readme(name, made, &commands).into_bytes());
    files.insert("repeat.sh".to_owned(), REPEAT.as_bytes().to_vec());
    files.insert("commands.txt".to_owned(), (commands.join("\n") + "\n").into_bytes());
    let sums: String =
        files.iter().map(|(place, bytes)| format!("{}  {place}\n", sum(bytes))).collect();
    files.insert(SUMS.to_owned(), sums.into_bytes());
    let mut archive = tar::Builder::new(Vec::new());
    for (place, bytes) in &files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(if place == "repeat.sh" { 0o755 } else { 0o644 });
        // The time and the owner are always the same, so that the archive depends only on the files.
        header.set_mtime(0);
        archive
            .append_data(&mut header, format!("{name}/{place}"), bytes.as_slice())
            .map_err(file("written", out))?;
    }
    let bytes = archive.into_inner().map_err(file("written", out))?;
    let write = || fs::File::create(out)?.write_all(&bytes);
    write().map_err(file("written", out))?;
    Ok(Packed { files: files.len(), runs: made.len(), left_out, missing })
}

/// The modules of the Python classes in the scenarios, each once.
fn modules(files: &BTreeMap<String, Vec<u8>>) -> std::collections::BTreeSet<String> {
    let scenarios = files.iter().filter(|(place, _)| place.starts_with("scenarios/"));
    let texts = scenarios.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    let classes = texts.flat_map(|text| text.split("\"python:").skip(1));
    classes.filter_map(|class| Some(class.split_once(':')?.0.to_owned())).collect()
}

/// The file of a module, relative to a folder of `PYTHONPATH`.
fn path_of(module: &str) -> String {
    format!("{}.py", module.replace('.', "/"))
}

/// The source of a module in `PYTHONPATH` or in the current folder, in Python's order.
fn source_of(module: &str) -> Option<Vec<u8>> {
    let path = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([PathBuf::from(".")]);
    folders.find_map(|folder| fs::read(folder.join(path_of(module))).ok())
}

/// Unpacks an archive into `out`, and returns the pack's folder there.
///
/// # Errors
///
/// The archive is not a pack, or the folder exists.
pub fn unpack(archive: &Path, out: &Path) -> Result<PathBuf, PackError> {
    let bytes = fs::read(archive).map_err(file("read", archive))?;
    let not_a_pack = || PackError::Input(format!("{} is not a pack", archive.display()));
    let mut files = tar::Archive::new(bytes.as_slice());
    let mut top: Option<PathBuf> = None;
    for entry in files.entries().map_err(|_| not_a_pack())? {
        let mut entry = entry.map_err(|_| not_a_pack())?;
        let place = entry.path().map_err(|_| not_a_pack())?.into_owned();
        let plain = place.components().all(|c| matches!(c, Component::Normal(_)));
        let Some(first) = place.components().next().filter(|_| plain) else {
            return Err(not_a_pack());
        };
        let folder = out.join(first);
        if top.is_none() && folder.exists() {
            return Err(PackError::Input(format!(
                "{} exists already; remove it, or choose another folder with --out",
                folder.display()
            )));
        }
        top.get_or_insert(folder);
        let path = out.join(&place);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(file("read", archive))?;
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(out))?;
            fs::write(&path, &content)
        };
        write().map_err(file("written", &path))?;
    }
    top.ok_or_else(not_a_pack)
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Files whose bytes differ from their checksums, and files that are missing.
    pub changed: Vec<String>,
    /// Runs with the same bytes.
    pub equal: usize,
    /// Runs with other bytes.
    pub unlike: Vec<String>,
    /// Runs that cannot be repeated here, with the reason.
    pub not_made: Vec<String>,
}

/// Checks the files of a pack's folder, and makes every run again. Calls `done` after each.
///
/// # Errors
///
/// The folder is not a pack, or a scenario cannot be read.
pub fn check(dir: &Path, runner: &Runner, done: impl Fn() + Sync) -> Result<Checked, PackError> {
    let sums = dir.join(SUMS);
    let text = fs::read_to_string(&sums).map_err(|_| {
        PackError::Input(format!("{} is not a pack: it has no {SUMS}", dir.display()))
    })?;
    let mut checked = Checked::default();
    for line in text.lines() {
        let (expected, place) = line.split_once("  ").unwrap_or((line, ""));
        match fs::read(dir.join(place)) {
            Ok(bytes) if sum(&bytes) == expected => {}
            _ => checked.changed.push(place.to_owned()),
        }
    }
    let batch = runs(dir)?;
    let scenarios = scenarios(&dir.join("scenarios"))?;
    let mut tasks = Vec::new();
    let mut expected = BTreeMap::new();
    for record in batch.records() {
        let told = format!("{} at {} with seed {}", record.experiment, record.point, record.seed);
        let scenario = scenarios.get(&record.scenario_hash);
        match (record.world == World::Sim.to_string(), scenario) {
            (false, _) => checked.not_made.push(format!("{told}: it ran on {}", record.world)),
            (true, None) => checked.not_made.push(format!("{told}: its scenario is missing")),
            (true, Some(scenario)) => {
                let task = Task {
                    experiment: record.experiment.clone(),
                    point: record.point.clone(),
                    seed: record.seed,
                    scenario: scenario.clone(),
                    scenario_hash: record.scenario_hash.as_str().into(),
                    world: World::Sim,
                };
                expected.insert(task.key(), record);
                tasks.push(task);
            }
        }
    }
    let results = Mutex::new((0, Vec::new()));
    let failed = runner.execute(&tasks, |task, ran, _| {
        let again = task.record(&ran);
        let equal = expected.get(&task.key()).is_some_and(|record| bytes(record) == bytes(&again));
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        match equal {
            true => results.0 += 1,
            false => results.1.push(format!("{} seed {}", task.point, task.seed)),
        }
        done();
        Ok::<(), RunError>(())
    })?;
    (checked.equal, checked.unlike) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    checked.unlike.sort();
    checked.not_made.extend(failed.iter().map(Failed::to_string));
    Ok(checked)
}

/// A record as text. The quantities after a warm-up are left out: the recording for them is not a part of the scenario.
fn bytes(record: &RunRecord) -> Option<String> {
    let plain = RunRecord { steady: Vec::new(), version: VERSION.to_owned(), ..record.clone() };
    serde_json::to_string(&plain).ok()
}

fn runs(dir: &Path) -> Result<Batch, PackError> {
    let none = |why: String| PackError::Input(format!("{} has no runs: {why}", dir.display()));
    if !dir.join(crate::run::store::JOURNAL).is_file() {
        return Err(none("choose a folder that `--out` of a command has written".to_owned()));
    }
    let (batch, _) = Batch::share(dir).map_err(|e| none(e.to_string()))?;
    match batch.records().is_empty() {
        true => Err(none("its journal is empty".to_owned())),
        false => Ok(batch),
    }
}

/// The scenarios of a folder by their hashes.
fn scenarios(dir: &Path) -> Result<BTreeMap<String, Arc<Scenario>>, PackError> {
    let mut all = BTreeMap::new();
    for path in listed(dir)? {
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        let name = path.display().to_string();
        let scenario =
            Scenario::from_str(&text, &name).map_err(|e| PackError::Input(e.to_string()))?;
        all.insert(World::Sim.hash(&scenario), Arc::new(scenario));
    }
    Ok(all)
}

/// The files of a folder that a pack has, sorted.
fn listed(dir: &Path) -> Result<Vec<PathBuf>, PackError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(file("read", dir))? {
        let path = entry.map_err(file("read", dir))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(listed(&path)?);
        } else if !LEFT_OUT.contains(&name.as_str()) && !name.ends_with(".log") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The place within the folder, with `/` on every system.
fn relative(dir: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(dir).unwrap_or(path).components();
    parts.map(|c| c.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

/// The absolute paths in commands, the longest first.
fn absolute(commands: &[String]) -> Vec<String> {
    let words = commands.iter().flat_map(|c| c.split([' ', '=', '\'', '"', '(', ')', ',']));
    let mut paths: Vec<String> = words
        .filter(|word| word.len() > 1 && Path::new(word).is_absolute())
        .map(str::to_owned)
        .collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    paths.dedup();
    paths
}

/// The text with file names in place of these paths.
fn shortened(text: String, paths: &[String]) -> String {
    paths.iter().fold(text, |text, path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        text.replace(path.as_str(), name)
    })
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The script of a pack.
const REPEAT: &str = "#!/bin/sh\n\
    # Makes every run of this pack again, and compares the bytes.\n\
    set -eu\n\
    exec windlass unpack --check \"$(dirname \"$0\")\"\n";

fn readme(name: &str, records: &[RunRecord], commands: &[String]) -> String {
    let runs = records.len();
    let seeds: std::collections::BTreeSet<u64> = records.iter().map(|r| r.seed).collect();
    let seeds: Vec<String> = seeds.into_iter().map(|seed| seed.to_string()).collect();
    let worlds: std::collections::BTreeSet<&str> =
        records.iter().map(|r| r.world.as_str()).collect();
    let worlds: Vec<&str> = worlds.into_iter().collect();
    let simulated: f64 = records.iter().map(|r| r.end_s).sum();
    format!(
        "# Artefact: {name}\n\n\
         The artefact has {runs} runs of Windlass {VERSION} with their scenarios, seeds and tables. It repeats itself.\n\n\
         ## Available\n\n\
         Place this archive in a public repository that gives a DOI, and write the DOI here: `DOI`.\n\
         The software is Windlass {VERSION}, under the licences MIT and Apache 2.0.\n\n\
         ## Functional\n\n\
         | part | content |\n| --- | --- |\n\
         | `scenarios/` | every point as a complete scenario file |\n\
         | `journal.jsonl` | the result of each run, one per line |\n\
         | `*.csv`, `*.parquet` | tables of the runs |\n\
         | `classes/` | modules of algorithms in Python, if the runs have such algorithms; `repeat.sh` executes them |\n\
         | `*.svg`, `*.pdf`, `*.png`, `*.tex` | figures and tables, with their commands in the metadata |\n\
         | `commands.txt` | the commands that made the results |\n\
         | `{SUMS}` | checksums of all files |\n\n\
         Requirements: the command `windlass` of version {VERSION}, one processor, 1 GB of memory, no network and no\n\
         special hardware. Backends of the runs: {}. Simulated time of all runs together: {simulated:.0} s.\n\
         One run alone: `windlass run scenarios/EXPERIMENT/POINT@FORM.toml --set seed=SEED`.\n\n\
         ## Reproduced\n\n\
         `./repeat.sh` makes the {runs} runs again and compares the bytes of each result. It ends with exit code 0 if all\n\
         are equal, and otherwise names the runs that differ. The seeds are {}.\n\n\
         The commands of the results:\n\n```sh\n{}\n```\n",
        worlds.join(", "),
        seeds.join(", "),
        commands.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Folder;

    const TEXT: &str = "duration = '5s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n\
        loss = { model = 'drop', probability = '1%' }\n[[flow]]\nfrom = 'a'\nto = 'b'\nalgorithm = 'reno'";

    /// A folder with three runs that an absolute path has made.
    fn results(dir: &Path) {
        let scenario = Arc::new(Scenario::from_str(TEXT, "s.toml").expect("a scenario"));
        let task = |seed| Task {
            experiment: "s".to_owned(),
            point: "all".to_owned(),
            seed,
            scenario: scenario.clone(),
            scenario_hash: scenario.hash().into(),
            world: World::Sim,
        };
        let runner = Runner::new(1);
        let (tasks, command) =
            ((1..=3).map(task).collect(), "windlass run /home/me/s.toml --seeds 3");
        let mut folder = Folder::open(dir, tasks, None, command, &runner).expect("a folder");
        folder.fill(&runner, |_| ()).expect("runs");
        fs::write(dir.join("note.txt"), "from /home/me/s.toml").expect("a file");
    }

    #[test]
    fn a_pack_repeats_itself_and_a_changed_run_or_file_is_found() {
        let dir = tempfile::tempdir().expect("a folder");
        let [made, out] = ["made", "out"].map(|name| dir.path().join(name));
        results(&made);
        let [one, two] = ["one.tar", "two.tar"].map(|name| dir.path().join(name));
        let packed = pack(&made, "artefact", &one).expect("a pack");
        pack(&made, "artefact", &two).expect("a pack");
        assert_eq!(packed.runs, 3);
        let bytes = fs::read(&one).expect("bytes");
        assert_eq!(bytes, fs::read(&two).expect("bytes"), "the archive depends only on the files");
        assert!(!bytes.windows(8).any(|w| w == b"/home/me"), "an absolute path is in the pack");
        assert!(packed.left_out.iter().all(|f| f.ends_with(".parquet")), "{:?}", packed.left_out);
        let folder = unpack(&one, &out).expect("a folder");
        let checked = check(&folder, &Runner::new(1), || ()).expect("a check");
        assert_eq!((checked.equal, checked.unlike.len(), checked.changed.len()), (3, 0, 0));
        let wrong = unpack(&one, &out).expect_err("it exists").to_string();
        assert!(wrong.contains("exists already"), "{wrong}");
        // Another scenario gives other bytes under the name of the same run.
        let text = fs::read_to_string(folder.join("note.txt")).expect("text");
        assert_eq!(text, "from s.toml");
        fs::write(folder.join("note.txt"), "other").expect("a file");
        let checked = check(&folder, &Runner::new(1), || ()).expect("a check");
        assert_eq!(checked.changed, ["note.txt"]);
    }

    #[test]
    fn pack_takes_modules_of_classes_in_scenarios_only() {
        let text = "algorithm = \"python:mine.own:Aimd/newreno@d63fd171\"\nalgorithm = \"reno\"";
        let files = [("scenarios/s/all.toml", text), ("note.txt", "\"python:other:A\"")];
        let files = files.map(|(place, text)| (place.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(modules(&files.into()).into_iter().collect::<Vec<_>>(), ["mine.own"]);
        assert_eq!(path_of("mine.own"), "mine/own.py");
    }

    #[test]
    fn a_folder_without_runs_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let wrong = pack(dir.path(), "x", &dir.path().join("x.tar")).expect_err("no runs");
        assert!(wrong.to_string().contains("choose a folder that `--out`"), "{wrong}");
    }
}
