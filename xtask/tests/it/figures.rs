//! What `cargo xtask figures` counts.

use std::fs;
use std::path::Path;

use xtask::figures::{Figures, MOST_LINES, MOST_SMALL_FILES, Module, Table, circles, of_workspace, sizes};

fn crate_of(files: &[(&str, &str)]) -> Vec<Module> {
    files.iter().map(|(file, source)| Module::new(Path::new(file), source)).collect()
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&[&str]]) {
    assert_eq!(circles(&crate_of(files)), expected, "{:#?}", crate_of(files));
}

#[test]
fn siblings_that_name_each_other_are_a_circle() {
    check(&[("a.rs", "use crate::b::B;"), ("b.rs", "fn f() { super::a::g() }")], &[&["a", "b"]]);
    check(&[("a.rs", "use crate::{b::B, c};"), ("b.rs", "use crate::{x::{Y as Z, W}, a::A};")], &[&["a", "b"]]);
    check(&[("a.rs", "use crate::b;"), ("b.rs", "use crate::c;"), ("c/mod.rs", "use crate::a;")], &[&["a", "b", "c"]]);
    // Whatever is below a module counts as the module's.
    check(&[("a/x.rs", "use crate::b;"), ("b/y.rs", "use crate::a::x;"), ("a.rs", ""), ("b.rs", "")], &[&["a", "b"]]);
    check(&[("a/x.rs", "use super::y;"), ("a/y.rs", "use super::x::{self, X};")], &[&["a::x", "a::y"]]);
}

#[test]
fn one_direction_is_no_circle() {
    check(&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c;"), ("c.rs", "")], &[]);
    check(&[("a.rs", "use crate::b;"), ("b.rs", "// see crate::a\n/// [`crate::a`]\nfn f() {}")], &[]);
    // A part may name its whole, and the whole its parts.
    check(&[("a.rs", "use self::x::X;"), ("a/x.rs", "use super::A; use crate::a::B;")], &[]);
    check(&[("lib.rs", "pub use crate::a::A;"), ("a.rs", "use crate::B;")], &[]);
    // Other crates have modules of the same name.
    check(&[("a.rs", "use crate::b;"), ("b.rs", "use other::a::A;")], &[]);
}

#[test]
fn a_package_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join("pack").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("Cargo.toml", "");
    write("src/lib.rs", "mod a;\nmod b;\n");
    write("src/a.rs", "use crate::b;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n");
    write("src/b.rs", "use crate::a;\n#[cfg(test)]\nmod tests;\n");
    write("tests/it/main.rs", "fn main() {}\n");
    write(
        "api.txt",
        "// As rustc tells it.\npub mod a\nimpl A for B\n#[non_exhaustive] pub enum a::E\nvariant a::E::V\n",
    );
    let found = of_workspace(folder.path()).expect("the figures");
    let expected = Figures {
        package: "pack".to_owned(),
        source: 2 + 2 + 3,
        tests: 5 + 1,
        cases: 1,
        public: Some(2),
        roots: 2,
        circles: vec![vec!["a".to_owned(), "b".to_owned()]],
    };
    assert_eq!(found, [expected]);
    let table = Table(found);
    assert!(!table.circles().is_kept());
    assert!(table.to_string().contains("\ncircle in pack: a, b\n"), "{table}");
}

#[test]
fn no_sibling_modules_need_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = Table(of_workspace(&root).expect("the figures"));
    assert!(table.circles().is_kept(), "move what both need below them:\n{table}");
}

#[test]
fn a_test_module_with_lints_of_its_own_is_no_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("pack/src");
    fs::create_dir_all(&source).expect("a folder");
    fs::write(folder.path().join("pack/Cargo.toml"), "").expect("a file");
    let tests = "#[cfg(test)]\nmod cases;\n\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n    use crate::b;\n}\n";
    fs::write(source.join("a.rs"), tests).expect("a file");
    fs::write(source.join("b.rs"), "use crate::a;\n").expect("a file");
    let found = of_workspace(folder.path()).expect("the figures");
    assert_eq!(found.first().map(|figures| (figures.source, figures.tests, figures.circles.len())), Some((4, 5, 0)));
}

#[test]
fn the_published_crates_do_not_grow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [lines, small] = sizes(&root).expect("the sizes");
    assert!(lines.is_kept(), "remove what the new code replaces, or raise `MOST_LINES` with a reason:\n{lines}");
    assert!(small.is_kept(), "move what has one user into the file of its user:\n{small}");
    // A bound far above the figure would permit to grow again what was removed.
    assert!(MOST_LINES < lines.found.expect("counted") + 4_000, "lower the bound:\n{lines}");
    assert!(MOST_SMALL_FILES < small.found.expect("counted") + 10, "lower the bound:\n{small}");
}

#[test]
fn lines_and_small_files_of_published_crates_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, lines: usize| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "//\n".repeat(lines)).expect("a file");
    };
    for (path, lines) in [
        ("omen-a/src/lib.rs", 40),
        ("omen-a/src/b/c.rs", 29),
        ("schema/src/lib.rs", 30),
        ("omen-a/tests/it.rs", 5),
        ("omen-a/build.rs", 5),
        ("xtask/src/lib.rs", 5),
    ] {
        write(path, lines);
    }
    let found = sizes(folder.path()).expect("the sizes").map(|figure| figure.found);
    assert_eq!(found, [Some(40 + 29 + 30), Some(1)]);
}
