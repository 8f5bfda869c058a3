//! The page of compile errors and the gallery show what the compile-fail tests have checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use omen_pages::docs;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/compile-errors.md")).expect("the page")
}

/// The programs that do not compile, by their paths from the root, without the extension.
fn programs() -> BTreeSet<String> {
    let folder = "compile-tests/tests/ui";
    let entries = fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
    let sources = entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let name = |path: PathBuf| format!("{folder}/{}", path.file_stem().expect("a name").to_string_lossy());
    let all: BTreeSet<_> = sources.map(name).collect();
    assert!(all.len() > 300, "{} programs", all.len());
    all
}

fn read(path: String) -> String {
    fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn without_main(source: &str) -> &str {
    source.trim_end().strip_suffix("fn main() {}").expect("a `main`").trim_end()
}

/// The blocks of a case: the program, the error, the fixed program.
fn blocks(region: &str) -> [&str; 3] {
    let parts: Vec<_> = region.split("\n```").collect();
    let [_, wrong, _, error, _, fixed, _] = parts[..] else { panic!("expected three blocks: {region}") };
    let content = |block: &'static str, part| -> &str {
        str::strip_prefix(part, block).unwrap_or_else(|| panic!("expected a block of {block}: {part}"))
    };
    [content("rust\n", wrong), content("text\n", error), content("rust\n", fixed)]
}

#[test]
fn the_typical_errors_are_the_snapshots() {
    let (page, programs) = (page(), programs());
    let mut names = BTreeSet::new();
    for region in page.split("<!-- generated: compile-error ").skip(1) {
        let (name, rest) = region.split_once(" -->").expect("a mark");
        let (shown, _) = rest.split_once("<!-- /generated -->").expect("an end");
        let path = programs.iter().find(|path| path.ends_with(&format!("/{name}"))).expect("a program");
        let (folder, _) = path.rsplit_once('/').expect("a folder");
        let [wrong, error, fixed] = blocks(shown);
        assert_eq!(error, read(format!("{path}.stderr")).trim_end(), "{name}");
        assert_eq!(wrong, without_main(&read(format!("{path}.rs"))), "{name}");
        let source = read(format!("{folder}/fixed/{name}.rs"));
        let (first, rest) = source.split_once('\n').expect("lines");
        assert_eq!(fixed, without_main(rest), "{name}");
        let (_, fix) = first.split_once(": ").expect("a fix");
        assert!(shown.contains(&format!("\nFixed: {fix}.\n")), "{name}");
        assert!(names.insert(name), "`{name}` is shown twice");
    }
    assert!((12..=16).contains(&names.len()), "{} typical errors: {names:?}", names.len());
}

#[test]
fn the_tables_list_every_program_once() {
    let page = page();
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && line.contains("/tests/ui/")).collect();
    let programs = programs();
    for path in &programs {
        let link = format!("(../{path}.rs) |");
        assert_eq!(rows.iter().filter(|row| row.ends_with(&link)).count(), 1, "{path}");
    }
    assert_eq!(rows.len(), programs.len());
}

#[test]
fn the_gallery_has_every_program() {
    let gallery = docs::gallery().expect("a gallery");
    for path in programs() {
        let (folder, name) = path.rsplit_once('/').expect("a folder");
        let fixed = read(format!("{folder}/fixed/{name}.rs"));
        let (_, fixed) = fixed.split_once('\n').expect("lines");
        for part in [
            format!("\n[`{name}`](../{path}.rs)\n\n```rust\n{}\n```\n", without_main(&read(format!("{path}.rs")))),
            format!("\n```text\n{}\n```\n", read(format!("{path}.stderr")).trim_end()),
            format!("\n```rust\n{}\n```\n", without_main(fixed)),
        ] {
            assert!(gallery.contains(&part), "{path}: {part}");
        }
    }
    for path in ["/home/", "/tmp/", "/usr/", "fn main() {}"] {
        assert!(!gallery.contains(path), "`{path}` is in the gallery");
    }
}

#[test]
fn an_unknown_program_is_an_error() {
    let error = docs::filled("<!-- generated: compile-error e1_none -->\n<!-- /generated -->").expect_err("no case");
    assert_eq!(error.to_string(), "unknown compile-fail case `e1_none`");
}
