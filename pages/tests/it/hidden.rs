//! What is public and hidden from the documentation, in the sources and in the generated code, is reviewed.
//!
//! Macros and generated code reach other crates only through what is public. Each such item stands in `hidden.json`, with what
//! it is for and why nothing can be forged with it. A new one fails this test until it stands there, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use omen_pages::expand::{Options, Part, command};
use serde::Deserialize;
use xtask::package::libraries;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reviewed {
    /// The file, or the part of the generated code.
    place: String,
    /// The item's first line, as far as its name.
    item: String,
    /// What it is for.
    purpose: String,
    /// Why nothing can be forged with it.
    reason: String,
}

#[test]
fn every_hidden_item_is_reviewed() {
    let found: BTreeSet<_> = in_sources().into_iter().chain(in_generated_code()).collect();
    let reviewed: Vec<Reviewed> = serde_json::from_str(include_str!("hidden.json")).expect("hidden.json");
    for Reviewed { place, item, purpose, reason } in &reviewed {
        assert!(purpose.len() > 20 && reason.len() > 20, "{place}: `{item}` has no purpose or no reason");
    }
    let listed: BTreeSet<_> = reviewed.iter().map(|one| (one.place.clone(), one.item.clone())).collect();
    assert_eq!(listed.len(), reviewed.len(), "an item is listed twice");
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(new.is_empty(), "hidden, and not in hidden.json with what it is for and why it forges nothing: {new:#?}");
    assert!(gone.is_empty(), "in hidden.json, and not hidden any more: {gone:#?}");
}

#[test]
fn every_form_of_a_hidden_item_is_found() {
    let forms = "#[doc(hidden)]\npub fn plain(text: &str) -> Text {\n    /// Docs.\n    #[doc(hidden)]\n    #[must_use]\n    \
                 // A comment.\n    const fn after_attributes() {}\n#[doc(hidden, alias = \"a\")]\npub use a::{B, C};\n\
                 #[cfg_attr(all(), doc(hidden))] pub struct One<T>(T);\nmod inner {\n    #![doc(hidden)]\n}\n";
    let items: Vec<_> = hidden(forms).into_iter().collect();
    assert_eq!(items, ["const fn after_attributes", "file", "pub fn plain", "pub struct One", "pub use a::{B, C}"]);
}

fn in_sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut files = Vec::new();
    for name in libraries().expect("the manifests") {
        rust_files(&root.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "the sources are there");
    let items = files.into_iter().flat_map(|file| {
        let place = file.strip_prefix(root).expect("within the workspace").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).expect("a source file");
        hidden(&text).into_iter().map(move |item| (place.clone(), item))
    });
    items.collect()
}

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn in_generated_code() -> Vec<(String, String)> {
    let mut items = Vec::new();
    for part in Part::value_variants() {
        let mut out = Vec::new();
        command(&Options { part: Some(*part) }, &mut out).expect("the schema files have no mistake");
        let text = String::from_utf8(out).expect("generated code is UTF-8");
        items.extend(hidden(&text).into_iter().map(|item| (format!("generated: {part:?}"), item)));
    }
    items
}

/// What a text hides from the documentation: the line after the attribute that is neither an attribute nor a comment, up to where
/// parameters, bounds or a body begin.
fn hidden(text: &str) -> BTreeSet<String> {
    let mut items = BTreeSet::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let is_comment = line.starts_with("//");
        if is_comment || !line.contains("doc(") || !line.contains("hidden") || !line.starts_with('#') {
            continue;
        }
        if line.starts_with("#![") {
            items.insert("file".to_owned());
            continue;
        }
        // What stands behind the attribute in the same line, or in the next line that is an item.
        let behind = line.rsplit_once(")]").map_or("", |(_, behind)| behind.trim());
        let item = if behind.is_empty() {
            lines.by_ref().find(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))
        } else {
            Some(behind)
        };
        items.insert(shortened(item.expect("an attribute has an item")));
    }
    items
}

fn shortened(item: &str) -> String {
    let ends: &[char] = if item.starts_with("pub use") { &[';'] } else { &['(', '<', '{', ';', ':', '='] };
    // A path that is exported has colons, which are not the end of its name.
    let end = item.find(ends).unwrap_or(item.len());
    item.get(..end).unwrap_or(item).trim().to_owned()
}

#[test]
fn the_review_is_in_order() {
    let reviewed: Vec<Reviewed> = serde_json::from_str(include_str!("hidden.json")).expect("hidden.json");
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    for Reviewed { place, item, .. } in &reviewed {
        let before = last.insert(place, item);
        assert!(before.is_none_or(|before| before < item.as_str()), "{place}: `{item}` is out of order");
    }
}
