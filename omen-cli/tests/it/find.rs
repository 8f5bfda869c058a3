//! Search for logs: files, directories, globs.

use super::*;

/// A log with one finding, so that every checked file has a finding.
const ONE: &[u8] = b"?\n";

/// Returns the checked files, in order.
#[track_caller]
fn checked(folder: &TempDir, args: &[&str]) -> Vec<String> {
    let run = find(folder, args);
    assert_eq!(run.stderr, "");
    files(&run)
}

fn find(folder: &TempDir, args: &[&str]) -> Run {
    let args = ["check", "--format", "json"].iter().chain(args).copied();
    run(omen(args).current_dir(folder).write_stdin(ONE))
}

fn files(run: &Run) -> Vec<String> {
    json(run).0.iter().map(|finding| finding["file"].as_str().unwrap().to_owned()).collect()
}

fn tree(names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, ONE).unwrap();
    }
    folder
}

#[test]
fn logs_in_a_directory_are_checked_in_the_order_of_their_names() {
    let folder =
        tree(&["logs/b.jsonl", "logs/a.ndjson", "logs/c/x.json", "logs/notes.txt", "logs/a.jsonl~", "other.jsonl"]);
    let all = ["logs/a.ndjson", "logs/b.jsonl", "logs/c/x.json"];
    assert_eq!(checked(&folder, &["logs"]), all);
    assert_eq!(checked(&folder, &["logs/", "-j", "1"]), all);
    assert_eq!(checked(&folder, &["."]), [&all[..], &["other.jsonl"]].concat());
    assert_eq!(checked(&folder, &["other.jsonl", "logs", "-"]), [&["other.jsonl"], &all[..], &["-"]].concat());
    let absolute = folder.path().join("logs");
    assert!(checked(&folder, &[absolute.to_str().unwrap()])[0].ends_with("/logs/a.ndjson"));
}

#[test]
fn a_file_that_is_named_is_checked_whatever_its_name() {
    let folder = tree(&["notes.txt", ".hidden", "target/a.jsonl"]);
    write(folder.path(), ".ignore", b"target\n");
    assert_eq!(
        checked(&folder, &["notes.txt", ".hidden", "target/a.jsonl"]),
        ["notes.txt", ".hidden", "target/a.jsonl"]
    );
}

#[test]
fn what_is_found_twice_is_checked_once() {
    let folder = tree(&["logs/a.jsonl", "logs/b.jsonl"]);
    assert_eq!(checked(&folder, &["logs", ".", "logs/a.jsonl"]), ["logs/a.jsonl", "logs/b.jsonl"]);
    assert_eq!(checked(&folder, &["logs/b.jsonl", "logs"]), ["logs/b.jsonl", "logs/a.jsonl"]);
    // A file that is named twice is checked twice.
    assert_eq!(checked(&folder, &["logs/b.jsonl", "logs/b.jsonl"]).len(), 2);
}

#[test]
fn globs_are_for_shells_that_have_none() {
    let folder =
        tree(&["logs/a.jsonl", "logs/b.txt", "logs/old/c.jsonl", "logs/.hid.jsonl", "top.jsonl", "odd[1].jsonl"]);
    assert_eq!(checked(&folder, &["logs/*.jsonl"]), ["logs/a.jsonl"]);
    assert_eq!(checked(&folder, &["./logs/*"]), ["logs/a.jsonl", "logs/b.txt"]);
    assert_eq!(checked(&folder, &["**/*.jsonl"]), ["logs/a.jsonl", "logs/old/c.jsonl", "odd[1].jsonl", "top.jsonl"]);
    assert_eq!(checked(&folder, &["{logs,.}/?.jsonl"]), ["logs/a.jsonl"]);
    assert_eq!(checked(&folder, &["logs/.*"]), ["logs/.hid.jsonl"]);
    // It exists, so it is a path and not a glob.
    assert_eq!(checked(&folder, &["odd[1].jsonl"]), ["odd[1].jsonl"]);
    for (glob, why) in [("logs/*.gz", "no file matches"), ("none/*", "no file matches"), ("a[", "invalid glob: ")] {
        let run = find(&folder, &[glob, "top.jsonl"]);
        assert_eq!((run.code, files(&run)), (3, vec!["top.jsonl".to_owned()]));
        assert!(run.stderr.starts_with(&format!("omen: cannot read {glob}: {why}")), "{}", run.stderr);
    }
}

#[test]
fn git_ignores_and_excludes_hold_for_what_is_found() {
    let folder = tree(&["a.jsonl", "old/b.jsonl", "tmp/c.jsonl", "tmp/keep.jsonl"]);
    fs::create_dir(folder.path().join(".git")).unwrap();
    write(folder.path(), ".git/x.jsonl", ONE);
    write(folder.path(), ".gitignore", b"tmp/*\n!tmp/keep.jsonl\n");
    assert_eq!(checked(&folder, &["."]), ["a.jsonl", "old/b.jsonl", "tmp/keep.jsonl"]);
    assert_eq!(checked(&folder, &["tmp"]), ["tmp/keep.jsonl"]);
    assert_eq!(checked(&folder, &["--no-ignore", "tmp"]), ["tmp/c.jsonl", "tmp/keep.jsonl"]);
    assert_eq!(checked(&folder, &["tmp/c.jsonl"]), ["tmp/c.jsonl"]);
    assert_eq!(checked(&folder, &["--exclude", "old,/a.*", "."]), ["tmp/keep.jsonl"]);
    assert_eq!(checked(&folder, &["--exclude", "old/", "--exclude", "tmp", "*", "old/*"]), ["a.jsonl", "old/b.jsonl"]);
    let run = find(&folder, &["--exclude", "a{b"]);
    assert!(run.code == 2 && run.stderr.contains("invalid pattern `a{b`"), "{}", run.stderr);
}

#[test]
fn a_directory_without_logs_is_noted() {
    let folder = tree(&["logs/notes.txt"]);
    let found = find(&folder, &["logs"]);
    assert_eq!(
        (found.code, found.stderr.as_str()),
        (0, "omen: note: logs contains no logs (*.jsonl, *.ndjson, *.json)\n")
    );
    assert_eq!(find(&folder, &["-q", "logs"]).stderr, "");
}

#[test]
fn standard_input_is_read_once() {
    let folder = tree(&["a.jsonl"]);
    let run = find(&folder, &["-", "a.jsonl", "-"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert_eq!(run.stderr, "omen: `-` is given twice; standard input can be read only once\n");
}

/// Neither links nor pipes in a directory prevent the command from ending.
#[test]
#[cfg(unix)]
fn a_directory_with_loops_and_pipes_is_searched_once() {
    use std::os::unix::fs::symlink;

    let folder = tree(&["logs/a.jsonl", "more/b.jsonl"]);
    pipe(&folder, "logs/pipe.jsonl");
    symlink("..", folder.path().join("logs/up")).unwrap();
    symlink("../more/b.jsonl", folder.path().join("logs/link.jsonl")).unwrap();
    symlink("loop.jsonl", folder.path().join("logs/loop.jsonl")).unwrap();
    symlink("logs", folder.path().join("also")).unwrap();
    let args = ["check", "--format", "json", "logs", "also"];
    let run = run(omen(args).current_dir(&folder).timeout(AT_ONCE));
    assert_eq!(files(&run), ["logs/a.jsonl", "logs/link.jsonl", "also/a.jsonl", "also/link.jsonl"]);
    assert_eq!(run.stderr, "");
}

/// A directory that cannot be read, by a user to whom permissions apply.
#[test]
#[cfg(unix)]
fn a_directory_that_cannot_be_read_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    let folder = tree(&["logs/a.jsonl", "logs/closed/b.jsonl"]);
    let set =
        |path: &str, mode| fs::set_permissions(folder.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    set("", 0o755);
    set("logs/closed", 0o000);
    // The superuser can read everything, and anyone may run a copy.
    let binary = folder.path().join("omen");
    fs::copy(env!("CARGO_BIN_EXE_omen"), &binary).unwrap();
    let mut command = std::process::Command::new(&binary);
    command.args(["check", "--format", "json", "logs"]).current_dir(&folder);
    if fs::read_dir(folder.path().join("logs/closed")).is_ok() {
        command.uid(65534).gid(65534);
    }
    // A process that another test starts while the copy is open for writing inherits the descriptor until it executes its
    // program.
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    set("logs/closed", 0o755);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert_eq!(stderr, "omen: cannot read logs/closed: Permission denied (os error 13)\n");
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"file\":\"logs/a.jsonl\""));
}
