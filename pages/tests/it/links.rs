//! The links of the pages lead to files that exist and, with a `#`, to headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the root")
}

/// The pages at the root, in `docs` and in the folders of `docs`.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![root(), root().join("docs")];
    let entries = |folder: &Path| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    folders.extend(entries(&root().join("docs")).filter(|path| path.is_dir()));
    let mut pages: Vec<_> = folders
        .iter()
        .flat_map(|folder| entries(folder))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// The lines that are not in a block of code.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    page.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((number + 1, line))
    })
}

/// The targets of the links in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text: String = heading.trim().to_lowercase().chars().filter(kept).collect();
    text.replace(' ', "-")
}

/// The anchors of a page. A heading that occurs again has a number.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    prose(page)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let anchor = anchor(line.trim_start_matches('#'));
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

/// What is wrong with a link of a page, if anything is.
fn fault(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.to_owned() } else { page.parent()?.join(path) };
    if !file.exists() {
        return Some(format!("`{target}`: no such file"));
    }
    let is_page = file.extension().is_some_and(|extension| extension == "md");
    if fragment.is_empty() || !is_page {
        return None;
    }
    let text = fs::read_to_string(&file).expect("a page");
    (!anchors(&text).contains(fragment)).then(|| format!("`{target}`: no such heading"))
}

#[test]
fn every_link_leads_somewhere() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for (number, line) in prose(&text) {
            for target in targets(line) {
                count += 1;
                let fault = fault(&page, target);
                faults.extend(fault.map(|fault| format!("{}:{number}: {fault}", page.display())));
            }
        }
    }
    assert!(count > 500, "only {count} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_link_to_nothing_is_found() {
    let page = root().join("docs/README.md");
    assert_eq!(fault(&page, "glossary.md#tool-boundary"), None);
    assert_eq!(fault(&page, "https://example.com/nothing"), None);
    assert_eq!(fault(&page, "missing.md").as_deref(), Some("`missing.md`: no such file"));
    assert_eq!(fault(&page, "glossary.md#missing").as_deref(), Some("`glossary.md#missing`: no such heading"));
    assert_eq!(anchors("# A `b`: C\n```\n# no\n```\n## A b c\n"), ["a-b-c", "a-b-c-1"].map(str::to_owned).into());
    assert!(targets("[a](b.md), [`c`](d.md#e)").eq(["b.md", "d.md#e"]));
}
