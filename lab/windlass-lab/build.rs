//! Embeds the folders of papers and of examinations, so that the program runs them from anywhere.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    embed("papers")?;
    embed("examinations")
}

/// Writes the folders of the tree's folder `of`, with the texts of their files, as a list for `include!`.
fn embed(of: &str) -> io::Result<()> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(of).canonicalize()?;
    println!("cargo::rerun-if-changed={}", all.display());
    let mut code = String::from("&[\n");
    for folder in sorted(&all)?.iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        code.push_str(&format!("    ({:?}, &[\n", name(folder)));
        for file in sorted(folder)? {
            code.push_str(&format!("        ({:?}, include_str!({file:?})),\n", name(&file)));
        }
        code.push_str("    ]),\n");
    }
    code.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join(format!("{of}.rs")), code)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    all.sort();
    Ok(all)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
