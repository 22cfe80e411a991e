//! Objects: their folder, their build, and the name that is written into an object before it is loaded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object as _, ObjectSection as _};
use windlass_cc::AnyParams;

use super::Error;
use super::options::entry;
use crate::vm;

/// Path of the recipe in a checkout.
const RECIPE: &str = "tests/small-targets/kernel-object";
/// Placeholder in the shim for the algorithm's name. The kernel limits a name to 15 letters.
const NAME_TO_BE: &[u8] = b"NAME_TO_BE\0\0\0\0\0\0";
/// Maximum length of a name in bytes.
pub const NAME_LENGTH: usize = 15;

/// Version of the interface between the shim and the loader. A new version makes older objects unusable.
const SHIM: &str = "shim.6";

/// Returns the folder of the objects that were built with this version of the core and the shim.
pub fn folder() -> Result<PathBuf, Error> {
    let cache = vm::cache::folder().map_err(|e| Error::Object(e.to_string()))?;
    let version = windlass_run::VERSION.replace('+', "-");
    Ok(cache.join("bpf").join(format!("{version}-{SHIM}")))
}

/// Returns the file name of an algorithm's object in a folder of objects.
pub fn file(algorithm: &str) -> String {
    format!("{algorithm}.bpf.o")
}

/// The algorithm that an object passes the events to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Whose {
    /// Windlass's algorithm.
    #[default]
    Ours,
    /// The kernel's own C implementation of the same name, if the kernel exposes it to BPF programs
    /// ([`SHOWN`]).
    Kernels,
}

/// Identifiers of the algorithms whose C implementation a kernel exposes to BPF programs.
pub const SHOWN: [&str; 2] = ["reno", "cubic"];

/// Identifiers of the algorithms that couple the paths of a connection in a kernel's object (`COUPLED` of
/// `tests/small-targets/bpf.py`).
pub const COUPLED: [&str; 7] =
    ["lia", "olia", "balia", "d-lia", "wvegas", "mpfast-approx", "emreno-approx"];

impl Whose {
    /// Returns the folder of these objects.
    pub fn folder(self) -> Result<PathBuf, Error> {
        let ours = folder()?;
        Ok(if self == Whose::Ours { ours } else { ours.join(KERNELS) })
    }
}

/// Subfolder for objects that pass all events to the kernel's own algorithm.
const KERNELS: &str = "linux";

/// Reads the object of an algorithm from a folder of objects.
pub fn read(folder: &Path, params: &AnyParams) -> Result<Vec<u8>, Error> {
    let algorithm = params.info().id;
    let path = folder.join(file(algorithm));
    fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NotBuilt { algorithm },
        _ => Error::System { what: format!("reading {}", path.display()), source },
    })
}

/// Returns the objects of these algorithms as files for a guest, which finds them in its working folder. This
/// opens libbpf, so that the guest receives it with this program's libraries.
pub fn for_guest(
    algorithms: impl Iterator<Item = AnyParams>,
    whose: Whose,
) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for params in algorithms {
        check(&params)?;
        super::libbpf::check()?;
        let name = file(params.info().id);
        if !files.iter().any(|(known, _)| *known == name) {
            files.push((name, read(&whose.folder()?, &params)?));
        }
    }
    Ok(files)
}

/// Checks that an algorithm can run in a kernel with these parameters.
pub fn check(params: &AnyParams) -> Result<(), Error> {
    let id = params.info().id;
    let wanted = params.requirements();
    if matches!(params, AnyParams::Mfvl(_) | AnyParams::BcCps(_)) {
        return Err(Error::Unsupported(format!(
            "`{id}` needs a coordinator, or more data of the sibling paths than the kernel's objects have; `lia` and other coupled algorithms run there"
        )));
    }
    if wanted.cross_layer {
        return Err(Error::Unsupported(format!(
            "`{id}` needs data of the node's lower layers, which a kernel's TCP does not have"
        )));
    }
    let start = params.common().slow_start.info().id;
    if wanted.slow_start.is_some() && start != "standard" {
        return Err(Error::Unsupported(format!(
            "the slow start \"{start}\" is not built into the kernel's objects; write `slow_start = \"standard\"`"
        )));
    }
    Ok(())
}

/// Returns the identifiers of all algorithms that can run in a kernel.
pub fn algorithms() -> Vec<&'static str> {
    let all = windlass_cc::ALGORITHMS.iter().map(|info| info.id);
    all.filter(|id| AnyParams::by_name(id).is_some_and(|p| check(&standard(p)).is_ok())).collect()
}

/// Returns the parameters with the standard slow start, which is built into the objects.
fn standard(mut params: AnyParams) -> AnyParams {
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    params.set_common(&windlass_cc::Setup { slow_start, ..params.common() });
    params
}

/// Returns the object with the name written into it.
pub fn named(mut object: Vec<u8>, name: &str) -> Result<Vec<u8>, Error> {
    if name.is_empty() || name.len() > NAME_LENGTH || !name.bytes().all(is_plain) {
        return Err(Error::Unsupported(format!(
            "invalid name `{name}` for a congestion control: the kernel accepts 1 to {NAME_LENGTH} letters, digits and `_`"
        )));
    }
    let place = place_of_name(&object).ok_or_else(|| {
        Error::Object("its section .struct_ops has no field for the name".to_owned())
    })?;
    let room = &mut object[place..place + NAME_TO_BE.len()];
    room.fill(0);
    room[..name.len()].copy_from_slice(name.as_bytes());
    Ok(object)
}

fn is_plain(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || letter == b'_'
}

fn place_of_name(object: &[u8]) -> Option<usize> {
    let file = object::File::parse(object).ok()?;
    let (start, size) = file.section_by_name(".struct_ops")?.file_range()?;
    let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
    let section = object.get(start..start.checked_add(size)?)?;
    let within = section.windows(NAME_TO_BE.len()).position(|w| w == NAME_TO_BE)?;
    Some(start + within)
}

/// Returns the checkout of Windlass that contains a folder.
pub fn checkout(from: &Path) -> Result<PathBuf, Error> {
    let found = from.ancestors().find(|folder| folder.join(RECIPE).exists());
    found.map(Path::to_path_buf).ok_or_else(|| Error::Build {
        algorithm: "the core".to_owned(),
        why: format!(
            "{} is not in a checkout of Windlass, which has the algorithms' source and the recipe ({RECIPE}); give one with `--source`",
            from.display()
        ),
    })
}

/// Checks that this machine can build objects by the checkout's recipe.
///
/// # Errors
///
/// Returns an error that names the missing tool and how to get it.
pub fn check_tools(checkout: &Path) -> Result<(), Error> {
    let failed = |why| Error::Build { algorithm: "an algorithm".to_owned(), why };
    match Command::new(checkout.join(RECIPE)).arg("--check").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        Err(e) => Err(failed(format!("cannot run {RECIPE}, which needs python3: {e}"))),
    }
}

/// Builds objects by the checkout's recipe into the folder that runs read. Returns their paths.
pub fn build(checkout: &Path, algorithms: &[AnyParams]) -> Result<Vec<PathBuf>, Error> {
    let to = folder()?;
    fs::create_dir_all(&to).map_err(Error::on(format!("making the folder {}", to.display())))?;
    let work = tempfile::tempdir_in(&to).map_err(Error::on("making a folder to build in"))?;
    let names: Vec<&str> = algorithms.iter().map(|params| params.info().id).collect();
    let output = Command::new(checkout.join(RECIPE))
        .arg("--out")
        .arg(work.path())
        .args(algorithms.iter().map(|params| format!("{}={}", params.info().id, entry(params))))
        .output();
    let why = match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(e) => Some(format!("cannot run {RECIPE}: {e}")),
    };
    if let Some(why) = why {
        let why = format!("{why}\n`windlass doctor` lists the missing tools");
        return Err(Error::Build { algorithm: names.join(", "), why });
    }
    let kernels = Whose::Kernels.folder()?;
    fs::create_dir_all(&kernels).map_err(Error::on(format!("making {}", kernels.display())))?;
    let mut made = Vec::new();
    for name in names {
        if SHOWN.contains(&name) {
            keep(&work.path().join(KERNELS).join(file(name)), &kernels.join(file(name)))?;
        }
        let (from, to) = (work.path().join(file(name)), to.join(file(name)));
        keep(&from, &to)?;
        made.push(to);
    }
    Ok(made)
}

fn keep(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).map_err(Error::on(format!("keeping {}", to.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_script_couples_the_same_algorithms() {
        let script = include_str!("../../../../tests/small-targets/bpf.py");
        let line = script.lines().find_map(|line| line.strip_prefix("COUPLED = ")).expect("there");
        let variants: Vec<String> = serde_json::from_str(line).expect("a list");
        let name = |id: &str| id.trim_end_matches("-approx").replace('-', "");
        assert_eq!(
            variants.iter().map(|v| v.to_lowercase()).collect::<Vec<_>>(),
            COUPLED.map(name)
        );
    }

    #[test]
    fn algorithms_with_a_coordinator_are_refused_and_all_others_are_listed() {
        let mfvl = AnyParams::by_name("mfvl").expect("there");
        assert!(check(&mfvl).unwrap_err().to_string().contains("coordinator"));
        let all = algorithms();
        assert!(["cubic", "tcp-modified", "lia"].iter().all(|id| all.contains(id)));
        assert!(!all.contains(&"mfvl") && !all.contains(&"bc-cps"));
    }

    #[test]
    fn unsupported_slow_start_is_refused_and_the_error_names_standard() {
        let mut params = AnyParams::by_name("cubic").expect("there");
        let slow_start = windlass_cc::slow_start::AnyParams::by_name("hystart").expect("there");
        params.set_common(&windlass_cc::Setup { slow_start, ..params.common() });
        let said = check(&params).unwrap_err().to_string();
        assert!(said.contains("slow_start = \"standard\""), "{said}");
    }

    #[test]
    fn too_long_name_is_refused() {
        for name in ["", "a_name_of_16_let", "with space"] {
            let said = named(Vec::new(), name).unwrap_err().to_string();
            assert!(said.contains("1 to 15 letters"), "{said}");
        }
    }
}
