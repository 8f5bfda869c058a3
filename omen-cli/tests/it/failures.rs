//! Errors outside the log: of arguments, inputs and the output.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use super::*;

#[test]
fn usage_errors_exit_2() {
    #[track_caller]
    fn check(args: &[&str], expect: &str) {
        let run = run(omen(args.iter().copied()).write_stdin(""));
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(expect), "{}", run.stderr);
    }
    check(&["check", "-D", "INV-13"], "the codes of this kind are INV-001 to INV-012");
    check(&["check", "-A", "E4"], "the severity of `E4` is fixed");
    check(&["check", "-W", "SCHEMA"], "the severity of `SCHEMA` is fixed");
    for (code, other) in [("INV-001", "SCHEMA"), ("INV-009", "SCHEMA")] {
        let why = format!("`{code}` is always reported as `{other}`, with `{code}` in `also`, and the severity of");
        check(&["check", "-D", code], &why);
    }
    check(&["check", "-A", "INV-003,E4"], "the severity of `E4` is fixed");
    check(&["check", "-D", "warning"], "unknown code `warning`");
    check(&["check", "--now", "yesterday"], "yesterday");
    check(&["check", "--now", "2026-03-01T10:00:00"], "offset");
    check(&["check", "--format", "yaml"], "json");
    check(&["check", "--jobs", "0"], "--jobs");
    check(&["chekc"], "check");
    check(&["explain", "INV07"], "did you mean `INV-007`?");
    check(&["schema", "DecisionPaket"], "did you mean `DecisionPacket`?");
    check(&["schema", "q"], "`omen schema` lists");
    check(&["trace"], "FILE");
    check(&[], "Usage");
}

#[test]
fn an_unreadable_file_does_not_keep_the_others_from_being_judged() {
    let folder = folder(&[("bad.jsonl", log(BAD).as_bytes())]);
    let run = run(omen(["check", "--format", "json", "missing.jsonl", "bad.jsonl", "none/"]).current_dir(&folder));
    assert_eq!(run.code, 3);
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{}", run.stderr);
    assert!(errors[0].starts_with("omen: cannot read missing.jsonl: "), "{}", errors[0]);
    assert!(errors[1].starts_with("omen: cannot read none/: "), "{}", errors[1]);
    let (findings, summary) = json(&run);
    assert_eq!((findings.len(), &summary["files"]), (1, &1.into()));
}

#[test]
fn an_empty_input_is_noted() {
    for input in ["", "\n\n  \n"] {
        let run = run(omen(["check", "--format", "json"]).write_stdin(input));
        assert_eq!(run.code, 0);
        assert_eq!(run.stderr, "omen: note: <stdin> contains no packets\n");
        let (findings, summary) = json(&run);
        assert_eq!((findings.len(), &summary["packets"], &summary["files"]), (0, &0.into(), &1.into()));
    }
}

/// A file that can be opened but not read.
#[test]
#[cfg(target_os = "linux")]
fn a_read_error_exits_3() {
    for command in ["check", "trace"] {
        let run = run(&mut omen([command, "/proc/self/mem"]));
        assert_eq!(run.code, 3);
        assert!(run.stderr.starts_with("omen: cannot read /proc/self/mem: "), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_exits_3() {
    for args in [&["check", "-"][..], &["rules"], &["graph"], &["explain", "E4"], &["completions", "bash"], &["schema"]]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("omen: cannot write to stdout: "), "{args:?}");
    }
}

/// When the reader of the findings closes the pipe, the command stops at once without a message, although its input never ends.
#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_a_stream_quietly() {
    for format in ["human", "concise", "json", "sarif", "gitlab"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(["check", "--format", format, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feeder =
            std::thread::spawn(move || while std::io::Write::write_all(&mut stdin, b"?\n?\n?\n?\n").is_ok() {});
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());

        let mut complaint = String::new();
        child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        // Errors were found.
        assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(1), ""), "{format}");
        feeder.join().unwrap();
    }
}

/// In a live stream, findings are shown before the next packet arrives.
#[test]
fn findings_of_a_live_stream_are_not_held_back() {
    for jobs in ["1", "2", "8"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(["check", "--format", "json", "--jobs", jobs, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..2 {
            std::io::Write::write_all(&mut stdin, b"?\n").unwrap();
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            assert!(line.contains("\"code\":\"JSON\""), "{line}");
        }
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
}

/// When the output fails while the input pauses, the command does not wait for the input.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_a_stream_that_pauses() {
    for jobs in ["1", "2"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(["check", "--jobs", jobs, "-"])
            .stdin(Stdio::piped())
            .stdout(fs::File::options().write(true).open("/dev/full").unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, b"?\n").unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{jobs} threads");
        drop(stdin);
    }
}
