//! The package for Python is checked by the tools that `.ci/install` installs; `cargo xtask python` runs everything on an installed wheel.

use std::path::{Path, PathBuf};
use std::process::Command;

use omen_testkit::Need;
use xtask::python::TOOLS;

#[test]
fn the_package_is_typed() {
    assert_eq!(Need::PythonPackage.variable(), Some(TOOLS));
    let Some(tools) = Need::PythonPackage.path() else { return };
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-python");
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("python3")
        .args(["-m", "mypy", "--strict", "--cache-dir"])
        .arg(folder.path())
        .args(what_programs_see(&package.join("python/omen")))
        .current_dir(&package)
        .env("PYTHONPATH", tools)
        .env("MYPYPATH", "python")
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the stubs, and the modules without one. A module that uses what is behind the stub of another one is checked without stubs,
/// by `tests/test_types.py` of the package.
fn what_programs_see(folder: &Path) -> Vec<PathBuf> {
    let files = |folder: &Path| {
        let files = std::fs::read_dir(folder).expect("the package").map(|entry| entry.expect("an entry").path());
        files.collect::<Vec<_>>()
    };
    let is = |path: &Path, end: &str| path.extension().is_some_and(|extension| extension == end);
    let mut found = files(folder);
    found.extend(files(&folder.join("adapters")));
    found.retain(|path| {
        is(path, "pyi") || is(path, "py") && !path.with_extension("pyi").exists() && !path.ends_with("_moves.py")
    });
    assert!(found.len() >= 15, "{found:?}");
    found
}
