//! The package for Python is checked by the tools that `.ci/install` installs; `cargo xtask python` runs everything on an installed wheel.

use std::path::Path;
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
        .args(["--package", "omen"])
        .current_dir(&package)
        .env("PYTHONPATH", tools)
        .env("MYPYPATH", "python")
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
