//! Tests of the imports in the sources: no crate has circular imports among its files, no file of
//! `windlass-cc` imports a higher layer, and an algorithm does not depend on the other algorithms.
//!
//! A `mod.rs` that re-exports definitions of its children is transparent: an import through it counts
//! as an import of the file with the definition. A type with methods in several files is defined in the
//! file above them. A file with an `impl` of such a type belongs to the type, and its import of this
//! type does not count. Other imports from the file above count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers of `windlass-cc`, from the bottom up. The files of a layer may import from this layer and
/// from earlier layers.
const LAYERS: &[&[&str]] = &[
    &["dispatch", "arithmetic::math", "time", "params"],
    &["event", "cross_layer", "group"],
    &["arithmetic", "pacer", "rate"],
    &["recovery", "info", "flavour"],
    &["controller", "congestion_avoidance", "setup", "prr", "slow_start", "rto"],
    &["loss_based", "coupling"],
    &["algorithms"],
    &["registry"],
];

/// The sources of a crate, by module path (`""` for the root).
struct Sources {
    text: BTreeMap<String, String>,
    /// Module and name of its re-exports, with the path behind them.
    shown: BTreeMap<(String, String), String>,
}

fn join(a: &str, b: &str) -> String {
    if a.is_empty() || b.is_empty() { format!("{a}{b}") } else { format!("{a}::{b}") }
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(above, _)| above)
}

/// The paths of a tree of imports: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or("").to_string()];
    };
    let (mut depth, mut item, mut paths) = (0, String::new(), Vec::new());
    for letter in rest.trim_end().trim_end_matches('}').chars().chain([',']) {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            paths.extend(expand(&item).into_iter().filter(|p| !p.is_empty()));
            item.clear();
        } else {
            item.push(letter);
        }
    }
    paths.into_iter().map(|p| format!("{head}{p}").replace("::self", "")).collect()
}

/// The sources in a folder, without comments and tests, by module path.
fn collect(folder: &Path, module: &str, text: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().expect("a name"));
        if path.is_dir() {
            collect(&path, &join(module, &name), text);
        } else if let Some(name) = name.strip_suffix(".rs") {
            let source = fs::read_to_string(&path).expect("a source");
            let tests = source.find("#[cfg(test)]").unwrap_or(source.len());
            let code = source[..tests].lines().filter(|l| !l.trim_start().starts_with("//"));
            let name = if matches!(name, "mod" | "lib") { "" } else { name };
            text.insert(join(module, name), code.collect::<Vec<_>>().join("\n"));
        }
    }
}

impl Sources {
    fn read(krate: &str) -> Sources {
        let mut text = BTreeMap::new();
        collect(&folder_of(krate).join("src"), "", &mut text);
        Sources::of(text)
    }

    fn of(text: BTreeMap<String, String>) -> Sources {
        let mut sources = Sources { text, shown: BTreeMap::new() };
        let modules: Vec<String> = sources.text.keys().cloned().collect();
        for module in &modules {
            for path in sources.uses(module, "pub use ") {
                let name = path.rsplit("::").next().unwrap_or("").to_string();
                sources.shown.insert((module.clone(), name), path);
            }
        }
        sources
    }

    /// Paths within the crate in a module's statements with these words, in full.
    fn uses(&self, module: &str, words: &str) -> Vec<String> {
        let text = &self.text[module];
        let mut paths = Vec::new();
        for (at, _) in text.match_indices(words) {
            if at == 0 || text[..at].ends_with(['\n', ' ']) {
                let tree = text[at + words.len()..].split(';').next().unwrap_or("");
                paths.extend(expand(tree));
            }
        }
        paths.iter().filter_map(|p| self.absolute(module, p)).collect()
    }

    fn absolute(&self, module: &str, path: &str) -> Option<String> {
        let (first, rest) = path.split_once("::").unwrap_or((path, ""));
        match first {
            "crate" => Some(rest.to_string()),
            "self" => Some(join(module, rest)),
            "super" if rest.starts_with("super") => self.absolute(parent(module), rest),
            "super" => Some(join(parent(module), rest)),
            child if self.text.contains_key(&join(module, child)) => Some(join(module, path)),
            _ => None,
        }
    }

    /// The modules with the definitions that a path names.
    fn behind(&self, path: &str) -> BTreeSet<String> {
        let mut module = String::new();
        let names: Vec<&str> = path.split("::").filter(|n| !n.is_empty()).collect();
        for (place, name) in names.iter().enumerate() {
            if self.text.contains_key(&join(&module, name)) {
                module = join(&module, name);
            } else if let Some(on) = self.shown.get(&(module.clone(), name.to_string())) {
                return self.behind(&join(on, &names[place + 1..].join("::")));
            } else {
                return BTreeSet::from([module]);
            }
        }
        // The module itself: all of its re-exports may be used.
        let shown = self.shown.iter().filter(|((of, _), _)| *of == module);
        shown.flat_map(|(_, path)| self.behind(path)).chain([module.clone()]).collect()
    }

    /// True if a path names a type of a file above the module, and the module has methods of this type.
    fn continues(&self, module: &str, path: &str) -> bool {
        let name = path.rsplit("::").next().unwrap_or("");
        let own = |line: &str| {
            let line = line.strip_prefix("impl").unwrap_or("");
            let of = if line.starts_with('<') {
                line.split_once("> ").map(|(_, of)| of)
            } else {
                line.strip_prefix(' ')
            };
            of.and_then(|of| of.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with([' ', '<']) && !rest.contains(" for "))
        };
        let above = |other: &String| other.is_empty() || module.starts_with(&format!("{other}::"));
        !name.is_empty()
            && self.behind(path).iter().all(above)
            && self.text[module].lines().any(own)
    }

    /// The imports of each module.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |module: &String| {
            let text = &self.text[module];
            let mut paths = self.uses(module, "use ");
            let children =
                self.text.keys().filter(|other| !module.is_empty() && parent(other) == module);
            let starts =
                children.filter_map(|child| child.rsplit("::").next().map(|c| format!("{c}::")));
            for start in starts.chain(["crate::".into(), "super::".into()]) {
                let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                for (at, _) in
                    text.match_indices(&start).filter(|(at, _)| !text[..*at].ends_with(word))
                {
                    let path = text[at..].split(|c| !word(c)).next().unwrap_or("");
                    // A group of imports is expanded elsewhere. A macro and its paths belong to all
                    // layers. A visibility is not an import.
                    let other = text[..at].ends_with('$')
                        || text[..at].ends_with("(in ")
                        || text[at..][path.len()..].starts_with('!');
                    if !path.ends_with("::") && !other {
                        paths.extend(self.absolute(module, path));
                    }
                }
            }
            let shown = self.uses(module, "pub use ");
            paths.retain(|path| !shown.contains(path) && !self.continues(module, path));
            let found = paths.iter().flat_map(|path| self.behind(path));
            found.filter(|other| other != module).collect()
        };
        self.text.keys().map(|module| (module.clone(), of(module))).collect()
    }
}

/// All modules that a module imports, directly or indirectly.
fn reached(from: &[&str], imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut ahead: Vec<String> = from.iter().map(|m| m.to_string()).collect();
    while let Some(module) = ahead.pop() {
        ahead.extend(imports[&module].iter().filter(|m| found.insert(m.to_string())).cloned());
    }
    found
}

/// The folders of the workspace that have crates.
const GROUPS: [&str; 3] = ["core", "lab", "linux"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder_of(krate: &str) -> PathBuf {
    let places = GROUPS.map(|group| root().join(group).join(krate));
    places.into_iter().find(|folder| folder.is_dir()).expect("the folder of a crate")
}

/// The crates of the workspace, by the names of their folders.
fn crates() -> Vec<String> {
    let listed = |group| fs::read_dir(root().join(group)).expect("a folder of crates").flatten();
    let mut names: Vec<String> = GROUPS
        .into_iter()
        .flat_map(listed)
        .filter(|entry| entry.path().join("src").is_dir())
        .map(|entry| entry.file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    names
}

/// The page with the drawing of the layers.
const PAGE: &str = include_str!("../../../docs/src/inside/architecture.md");

/// The crates that a crate depends on, from its manifest.
fn known_to(krate: &str) -> Vec<String> {
    let manifest = fs::read_to_string(folder_of(krate).join("Cargo.toml")).expect("a manifest");
    let head = |section: &&str| section.split(']').next().unwrap_or("").to_string();
    let sections = manifest.split("\n[").filter(|section| {
        head(section).ends_with("dependencies") && !head(section).ends_with("dev-dependencies")
    });
    let names = sections.flat_map(str::lines).filter(|line| line.starts_with("windlass-"));
    names.map(|line| line.split(['.', ' ']).next().unwrap_or("").to_string()).collect()
}

/// The imports on a circular path, as `from -> to`, so that the message shows the places that can break
/// the circle.
fn circular(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let ahead: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|module| (module, reached(&[module], imports))).collect();
    let pairs = imports.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let name = |module: &str| if module.is_empty() { "lib" } else { module }.to_string();
    pairs
        .filter(|(from, to)| ahead[to].contains(*from))
        .map(|(from, to)| format!("{} -> {}", name(from), name(to)))
        .collect()
}

#[test]
fn no_file_leads_back_to_itself() {
    let mut found = String::new();
    for krate in crates() {
        let circle = circular(&Sources::read(&krate).imports());
        if !circle.is_empty() {
            found += &format!("{krate}:\n    {}\n", circle.join("\n    "));
        }
    }
    assert!(found.is_empty(), "files that import each other:\n{found}");
}

/// The circular imports of a crate with these files.
fn planted(files: &[(&str, &str)]) -> Vec<String> {
    let text = files.iter().map(|(module, text)| (module.to_string(), text.to_string())).collect();
    circular(&Sources::of(text).imports())
}

#[test]
fn a_circle_is_found_wherever_it_leads() {
    let through_a_window = [
        ("", "mod a;\nmod b;\npub use b::Low;"),
        ("a", "use crate::Low;\npub struct High(Low);"),
        ("b", "pub struct Low;\nfn f() -> crate::a::High {}"),
    ];
    assert_eq!(planted(&through_a_window), ["a -> b", "b -> a"]);
    let by_a_detour = [
        ("a", "use crate::b::{B, C as Other};"),
        ("b", "use super::c;\npub struct B;"),
        ("c", "use super::a::A;"),
    ];
    assert_eq!(planted(&by_a_detour), ["a -> b", "b -> c", "c -> a"]);
    let grandparent = [
        ("a", "mod b;\nuse b::B;\npub struct P;"),
        ("a::b", "mod c;\npub use c::B;"),
        ("a::b::c", "use super::super::P;\npub struct B;"),
    ];
    assert_eq!(planted(&grandparent), ["a -> a::b::c", "a::b::c -> a"]);
    let child = [
        ("a", "mod b;\nuse b::B;\npub struct A(B);\npub struct P;"),
        ("a::b", "use super::{A, P};\npub struct B;"),
    ];
    assert_eq!(planted(&child), ["a -> a::b", "a::b -> a"]);
}

#[test]
fn methods_in_a_separate_file_are_not_circular_but_other_imports_are() {
    let parent = ("a", "mod b;\nuse b::B;\npub struct A(B);\npub struct P;");
    assert!(planted(&[parent, ("a::b", "use super::A;\npub struct B;\nimpl A {}")]).is_empty());
    assert!(
        planted(&[parent, ("a::b", "use super::A;\npub struct B;\nimpl<T> A<T> {}")]).is_empty()
    );
    assert!(
        !planted(&[parent, ("a::b", "use super::{A, P};\npub struct B;\nimpl A {}")]).is_empty()
    );
    assert!(
        !planted(&[parent, ("a::b", "use super::A;\npub struct B;\nimpl From<B> for A {}")])
            .is_empty()
    );
    let sibling = [
        ("a", "pub struct A;\nuse crate::b::B;"),
        ("b", "use crate::a::A;\npub struct B;\nimpl A {}"),
    ];
    assert!(!planted(&sibling).is_empty());
}

#[test]
fn no_file_of_the_core_imports_one_above_it() {
    let imports = Sources::read("windlass-cc").imports();
    let layer = |module: &str| {
        let within = |word: &str| module == word || module.starts_with(&format!("{word}::"));
        let named = |words: &&[&str]| words.iter().any(|word| within(word));
        LAYERS.iter().position(named).unwrap_or_else(|| panic!("{module} has no layer"))
    };
    for (module, below) in imports.iter().filter(|(module, _)| !module.is_empty()) {
        for other in below {
            assert!(!other.is_empty(), "{module} imports the root");
            assert!(layer(other) <= layer(module), "{module} imports {other}");
        }
    }
}

#[test]
fn cubic_with_the_standard_slow_start_imports_only_its_dependencies() {
    let imports = Sources::read("windlass-cc").imports();
    let cubic = ["algorithms::loss::cubic", "loss_based", "slow_start::standard"];
    let used: Vec<String> = reached(&cubic, &imports).into_iter().collect();
    let expected = [
        "algorithms::loss::cubic::linux",
        "arithmetic::math",
        "arithmetic::window",
        "congestion_avoidance",
        "controller",
        "cross_layer",
        "event",
        "flavour",
        "group",
        "info",
        "params",
        "prr",
        "recovery",
        "setup",
        "slow_start",
        "time",
    ];
    assert_eq!(used, expected);
}

#[test]
fn the_page_has_the_files_of_the_core_layer_by_layer() {
    let table = PAGE.split_once("| | files | import |\n").expect("the table").1;
    let rows: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), LAYERS.len());
    for (row, layer) in rows.iter().zip(LAYERS) {
        for word in *layer {
            let path = word.replace("::", "/");
            let named = [".rs", "/"].iter().any(|end| row.contains(&format!("`{path}{end}")));
            assert!(named, "`{path}` is not in this row: {row}");
        }
    }
}

#[test]
fn the_page_draws_each_crate_above_its_dependencies() {
    let drawing = PAGE.split("```").nth(1).expect("a drawing");
    let line = |krate: &str| drawing.lines().position(|line| line.contains(krate));
    for krate in crates() {
        assert!(PAGE.contains(&format!("`{krate}`")), "{krate} is not named");
        let Some(above) = line(&krate) else { continue };
        for known in known_to(&krate) {
            let below = line(&known).unwrap_or_else(|| panic!("{known} is not drawn"));
            assert!(above < below, "{krate} knows {known} and is not drawn above it");
        }
    }
}
