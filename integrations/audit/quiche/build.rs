//! Gives the program the versions of its libraries, from the lock file.

use std::env::var;
use std::fs::read_to_string;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = Path::new(&var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("Cargo.lock");
    let lock = read_to_string(lock).unwrap_or_default();
    for name in ["quiche"] {
        let versions: Vec<&str> = lock
            .split("[[package]]")
            .filter(|part| part.contains(&format!("name = \"{name}\"\n")))
            .filter_map(|part| part.split("version = \"").nth(1)?.split('"').next())
            .collect();
        println!("cargo:rustc-env=VERSIONS_{}={}", name.replace('-', "_"), versions.join(" "));
    }
}
