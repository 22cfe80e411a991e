//! The tables of keys in the reference, generated from the declarations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::read::SCENARIO;
use crate::schema::{Section, Shape};

/// The sections that a value of this form may have, and the sections within these, by name.
pub(crate) fn sections(shape: &Shape, found: &mut BTreeMap<&'static str, &'static Section>) {
    let mut add = |section: &'static Section| {
        let all = std::iter::successors(Some(section), |section| section.common);
        for section in all {
            if found.insert(section.name, section).is_none() {
                (section.own)().iter().for_each(|key| sections(&key.shape, found));
            }
        }
    };
    match shape {
        Shape::Table(section) => add(section),
        Shape::Kinds(kinds) => kinds.kinds.iter().flat_map(|(_, all)| *all).for_each(|s| add(s)),
        Shape::List(item) => sections(item, found),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| sections(shape, found)),
        _ => {}
    }
}

/// A Markdown table with the keys of these groups: key, meaning and default. A group is a section or several that are
/// joined by `+`, such as `link+line`. With several groups, the first column has the name of the group's first section.
///
/// # Errors
///
/// The name of a section that does not exist.
pub fn key_table<'a>(groups: &[&'a str]) -> Result<String, &'a str> {
    let mut all = BTreeMap::new();
    sections(&Shape::Table(&SCENARIO), &mut all);
    let first = |text: &'static str| if groups.len() > 1 { text } else { "" };
    let mut out = format!(
        "{}| key | is | default |\n{}| --- | --- | --- |\n",
        first("| table "),
        first("| --- ")
    );
    for group in groups {
        let mut label = format!("| `{}` ", group.split('+').next().unwrap_or_default());
        for name in group.split('+') {
            for key in (all.get(name).ok_or(name)?.own)() {
                if groups.len() > 1 {
                    out += &std::mem::replace(&mut label, "| ".to_owned());
                }
                // Writing to a String cannot fail.
                let _ = writeln!(out, "| `{}` | {} | {} |", key.name, key.meaning, key.default);
            }
        }
    }
    Ok(out)
}
