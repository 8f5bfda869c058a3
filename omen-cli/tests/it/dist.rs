//! A release of the command as it was built for these tests: its wheel and its packages for npm are installed into clean
//! environments, and run there.

use std::path::PathBuf;
use std::process::{Command as Process, Output};

use omen_dist::{Content, ReleaseFile, pack, write};

use super::*;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The content of a release. Only the information for debuggers, most of what the tests build, is left out.
fn content(folder: &Path) -> Content {
    let binary = folder.join("omen");
    let mut strip = Process::new("strip");
    succeeds(strip.arg("-o").arg(&binary).arg(env!("CARGO_BIN_EXE_omen")));
    Content::collect(Path::new(ROOT), &binary).expect("a release")
}

/// Runs a program to its end, which has to succeed. Returns what it prints.
fn succeeds(command: &mut Process) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {said}");
    said
}

/// The name of a file of a release, by its beginning and its end.
fn named<'f>(files: &'f [ReleaseFile], start: &str, end: &str) -> &'f str {
    let is_it = |name: &&str| name.starts_with(start) && name.ends_with(end);
    files.iter().map(|file| &*file.name).find(is_it).unwrap_or_else(|| panic!("{start}…{end}"))
}

/// Whether a program can be started.
fn is_there(program: &str, args: &[&str]) -> bool {
    Process::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// The installed command checks logs as any other one does.
fn checks(omen: &Path) {
    let version = succeeds(Process::new(omen).arg("--version"));
    assert_eq!(version, format!("omen {}\n", env!("CARGO_PKG_VERSION")));
    for (args, code) in [
        (&["check", "schema/examples/valid"][..], 0),
        (&["check", "schema/examples/invalid/e4-token-expired.jsonl"], 1),
        (&["chekc"], 2),
        (&["check", "no-such-file"], 3),
    ] {
        let output = Process::new(omen).args(args).current_dir(ROOT).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_release_installs_without_rust_and_without_a_network() {
    let folder = TempDir::new().unwrap();
    let content = content(folder.path());
    let files = pack(&content).expect("it is packed");
    let release = folder.path().join("release");
    write(&files, &release).expect("it is written");
    for page in ["omen.1", "omen-check.1", "omen-gate-proxy.1"] {
        assert!(content.manual.iter().any(|entry| entry.path == page && !entry.bytes.is_empty()), "{page}");
    }
    lists_its_dependencies(&content);
    wheel(folder.path(), &release.join(named(&files, "omen_cli-", ".whl")));
    let (os, cpu) = content.system.platform.node;
    let own = release.join(named(&files, &format!("omen-cli-{os}-{cpu}-"), ".tgz"));
    npm(folder.path(), &release.join(format!("omen-cli-{}.tgz", content.version)), &own);
}

/// The licences of all that `cargo tree` has for this build are there.
fn lists_its_dependencies(content: &Content) {
    let text = std::str::from_utf8(&content.third_party.bytes).unwrap();
    let mut cargo = omen_testkit::cargo();
    cargo.args(["tree", "--locked", "--offline", "-p", "omen-cli", "--edges", "normal", "--prefix", "none"]);
    let tree = succeeds(cargo.args(["--format", "{p}"]).current_dir(ROOT));
    let mut count = 0;
    for line in tree.lines().filter(|line| !line.contains(" (/") && line.contains(" v")) {
        let name = line.split(' ').take(2).collect::<Vec<_>>().join(" ").replacen(" v", " ", 1);
        assert!(text.contains(&format!("\n- {name}: ")), "{name}");
        count += 1;
    }
    assert!(count > 100, "only {count} dependencies");
    assert!(text.contains("Permission is hereby granted, free of charge") && text.contains("Apache License"));
    // Packages for tests and build scripts alone are not in the binary.
    assert!(!text.contains("\n- assert_cmd ") && !text.contains("\n- typify "));
}

/// Into a virtual environment, which has no package besides.
fn wheel(folder: &Path, wheel: &Path) {
    if !is_there("python3", &["-m", "pip", "--version"]) {
        Need::Python.skip("`python3` with pip is not installed, so the wheel is not");
        return;
    }
    let environment = folder.join("environment");
    succeeds(Process::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment));
    let pip = |args: &[&str]| {
        let mut pip = Process::new("python3");
        pip.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(environment.join("bin/python"));
        pip.args(args).env_remove("PYTHONPATH");
        pip
    };
    succeeds(pip(&["install", "--no-index", "--no-deps"]).arg(wheel));
    checks(&environment.join("bin/omen"));
    let installed = ["share/man/man1/omen.1", "share/bash-completion/completions/omen"];
    let exist = || installed.map(|path| environment.join(path).is_file());
    assert_eq!(exist(), [true; 2]);
    let shown = succeeds(&mut pip(&["show", "omen-cli"]));
    assert!(shown.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))), "{shown}");
    // By the record, all of it is removed.
    succeeds(&mut pip(&["uninstall", "--yes", "omen-cli"]));
    assert!(exist() == [false; 2] && !environment.join("bin/omen").exists());
}

/// Into a folder without packages, from an empty cache.
fn npm(folder: &Path, main: &Path, of_platform: &Path) {
    if !is_there("npm", &["--version"]) {
        Need::Node.skip("`npm` is not installed, so its packages are not");
        return;
    }
    let prefix = folder.join("npm");
    fs::create_dir(&prefix).unwrap();
    let mut npm = Process::new("npm");
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix).args([main, of_platform]);
    succeeds(npm.env("npm_config_cache", folder.join("cache")).current_dir(&prefix));
    let omen: PathBuf = prefix.join("node_modules/.bin/omen");
    checks(&omen);
    // A log on standard input, which the command and not its launcher reads.
    let mut piped = Command::new(&omen);
    piped.args(["check", "-"]).write_stdin(log(BAD)).assert().code(1);
}
