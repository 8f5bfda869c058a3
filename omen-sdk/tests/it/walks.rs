//! The three walks of `docs/architecture.md` name existing functions in the files that they link to.

use std::fs;
use std::path::Path;

/// Returns the section, from its heading to the next one of the same level.
fn section(page: &str) -> &str {
    let (_, rest) = page.split_once("\n## Three walks\n").expect("the section");
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// Returns the links of a text: their labels and paths.
fn links(text: &str) -> Vec<(&str, &str)> {
    let mut links = Vec::new();
    for (at, _) in text.match_indices("](../") {
        let label = text[..at].rsplit_once('[').expect("a link begins").1;
        let path = text[at + "](../".len()..].split_once(')').expect("a link ends").0;
        links.push((label, path));
    }
    links
}

/// Returns whether a source defines an item of this name.
fn defines(source: &str, name: &str) -> bool {
    ["fn ", "mod ", "trait "].iter().any(|keyword| {
        source
            .match_indices(&format!("{keyword}{name}"))
            .any(|(at, found)| !source[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[test]
fn every_function_of_the_walks_is_where_its_link_leads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let links = links(section(&page));
    assert!(links.len() > 30, "{} links", links.len());
    let mut wrong = Vec::new();
    for (label, path) in links {
        let Ok(source) = fs::read_to_string(root.join(path)) else {
            wrong.push(format!("{path}: no such file"));
            continue;
        };
        let Some(name) = label.strip_prefix('`').and_then(|label| label.strip_suffix('`')) else { continue };
        let name = name.rsplit("::").next().unwrap();
        if !defines(&source, name) {
            wrong.push(format!("{path}: no item `{name}` ({label})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_only_begins_like_an_item_is_not_found() {
    assert!(defines("pub fn feed<E>(", "feed"));
    assert!(!defines("pub fn feed_all(", "feed"));
    assert!(!defines("self.feed(", "feed"));
}
