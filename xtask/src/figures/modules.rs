//! Dependencies between the modules of a crate, read from the paths in their sources.
//!
//! Only paths that begin with `crate::`, `super::` or `self::` are seen. A parent module's re-exports count as its own
//! items, so a module that names a sibling's item through the parent does not appear to depend on the sibling.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module: one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its path from the crate root; empty for the root itself.
    pub path: Vec<String>,
    /// Paths from the crate root that its source names.
    pub names: BTreeSet<Vec<String>>,
}

impl Module {
    /// Creates the module of a file, from its path below `src/`.
    #[must_use]
    pub fn new(file: &Path, source: &str) -> Self {
        let file = file.with_extension("");
        let mut path: Vec<_> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
            path.pop();
        }
        let names = names(source).into_iter().filter_map(|name| absolute(&path, &name)).collect();
        Self { path, names }
    }
}

/// Returns groups of modules with the same parent that depend on each other, directly or through other modules of the group.
#[must_use]
pub fn circles(modules: &[Module]) -> Vec<Vec<String>> {
    let mut arrows: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    let known: BTreeSet<&[String]> = modules.iter().map(|module| &*module.path).collect();
    for module in modules {
        for name in &module.names {
            let common = module.path.iter().zip(name).take_while(|(one, other)| one == other).count();
            // Both are below their common parent: neither contains the other.
            if let (Some(from), Some(to)) = (module.path.get(..=common), name.get(..=common))
                && known.contains(to)
            {
                arrows.entry(from.to_vec()).or_default().insert(to.to_vec());
            }
        }
    }
    let reached: BTreeMap<_, _> = arrows.keys().map(|from| (from, reachable(&arrows, from))).collect();
    let mut groups = BTreeSet::new();
    for (from, to) in &reached {
        let group: BTreeSet<_> =
            to.iter().filter(|to| reached.get(to).is_some_and(|back| back.contains(*from))).cloned().collect();
        if !group.is_empty() {
            groups.insert(group);
        }
    }
    groups.into_iter().map(|group| group.iter().map(|path| path.join("::")).collect()).collect()
}

fn reachable(arrows: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>, from: &Vec<String>) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(arrows.get(next).into_iter().flatten().filter(|to| found.insert((*to).clone())));
    }
    found
}

/// Returns a path from the crate root, or `None` if it leads out of the crate.
fn absolute(module: &[String], name: &[&str]) -> Option<Vec<String>> {
    let mut path = match name.first() {
        Some(&"crate") => Vec::new(),
        _ => module.to_vec(),
    };
    for part in name {
        match *part {
            "crate" | "self" => {}
            "super" => {
                path.pop()?;
            }
            part => path.push(part.to_owned()),
        }
    }
    Some(path)
}

/// Returns the paths in a source that are relative to its crate or module, each split into its parts.
fn names(source: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices("::") {
        let (before, _) = source.split_at(at);
        let start = before.rfind(|c: char| !is_name(c)).map_or(0, |last| last + 1);
        let (Some(first), Some(mut rest)) = (source.get(start..at), source.get(at + 2..)) else { continue };
        // `a::crate` is not a path, and in `super::super::a` the first `super` counts.
        let is_start =
            ["crate", "super", "self"].contains(&first) && !before.get(..start).is_some_and(|b| b.ends_with("::"));
        if is_start && !in_comment(before) {
            tree(&mut rest, &[first], &mut found);
        }
    }
    found
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether the last line of a text is inside a comment.
fn in_comment(before: &str) -> bool {
    before.rsplit('\n').next().is_some_and(|line| line.contains("//"))
}

/// Reads what follows a prefix: a name with an optional tail, or a group of these in braces.
fn tree<'t>(rest: &mut &'t str, prefix: &[&'t str], found: &mut Vec<Vec<&'t str>>) {
    *rest = rest.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        *rest = group;
        loop {
            tree(rest, prefix, found);
            // A path may be followed by ` as name`.
            let Some(end) = rest.find([',', '}', ';']) else { return };
            let (_, after) = rest.split_at(end);
            *rest = after.get(1..).unwrap_or_default();
            if !after.starts_with(',') {
                return;
            }
        }
    }
    let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    if name.is_empty() {
        return;
    }
    let path = [prefix, &[name]].concat();
    match after.strip_prefix("::") {
        Some(more) => {
            *rest = more;
            tree(rest, &path, found);
        }
        None => found.push(path),
    }
}
