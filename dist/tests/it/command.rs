//! The program behind `cargo xtask dist`.

use std::process::Command;

use super::root;

/// Runs it with a binary. Returns the exit code and what it prints on standard error, without the first word.
fn dist(binary: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_omen-dist"));
    command.args(["dist", "--binary", binary, "--out"]).arg(&out).current_dir(root());
    let output = command.output().unwrap();
    assert!(!out.exists(), "nothing is written");
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said.strip_prefix("error: ").expect("an error").to_owned())
}

#[test]
fn a_file_that_is_not_the_command_is_refused() {
    let (code, error) = dist("no/such/omen");
    assert_eq!(code, Some(1));
    assert!(error.starts_with("no/such/omen: No such file or directory"), "{error}");
    let (code, error) = dist("Cargo.toml");
    assert_eq!(code, Some(1));
    assert!(error.starts_with("Cargo.toml: expected a program for Linux, in the format ELF: "), "{error}");
}

/// A program that is another one.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_program_that_is_not_the_command_is_refused() {
    let (code, error) = dist(env!("CARGO_BIN_EXE_omen-dist"));
    assert_eq!(code, Some(1));
    assert!(error.contains("omen-dist --version` failed: exit status: 2"), "{error}");
}
