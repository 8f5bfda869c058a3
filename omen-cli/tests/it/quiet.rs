//! Amount of output.

use super::*;

#[test]
fn quiet_leaves_findings_only() {
    let folder = folder(&[("bad.jsonl", log(BAD).as_bytes()), ("empty.jsonl", b"")]);
    let loud = run(omen(["check", "bad.jsonl", "empty.jsonl"]).current_dir(&folder));
    let quiet = run(omen(["check", "-q", "bad.jsonl", "empty.jsonl"]).current_dir(&folder));
    assert_eq!((quiet.code, quiet.stderr.as_str()), (1, ""));
    assert!(loud.stdout.starts_with(&quiet.stdout) && quiet.stdout.starts_with("error[E4]"), "{}", quiet.stdout);
    assert!(loud.stdout.contains("2 files, ") && !quiet.stdout.contains("2 files, "), "{}", quiet.stdout);
    // Programs get the summary; unreadable inputs are reported.
    let quiet = run(omen(["check", "--quiet", "--format=json", "bad.jsonl", "none.jsonl"]).current_dir(&folder));
    assert_eq!((quiet.code, &json(&quiet).1["errors"]), (3, &1.into()));
    assert!(quiet.stderr.starts_with("omen: cannot read none.jsonl: "), "{}", quiet.stderr);
}

#[test]
fn exit_zero_is_for_errors_in_logs() {
    let zero = run(omen(["check", "--exit-zero"]).write_stdin(log(BAD)));
    assert_eq!(zero.code, 0);
    assert!(zero.stdout.starts_with("error[E4]"), "{}", zero.stdout);
    assert_eq!(run(omen(["check", "--exit-zero", "-", "none.jsonl"]).write_stdin(log(BAD))).code, 3);
    assert_eq!(run(omen(["check", "--exit-zero", "-D", "E4"]).write_stdin(log(BAD))).code, 2);
}

#[test]
fn statistics_are_a_table_or_json() {
    for args in [["--format", "sarif"], ["--output", "json=findings.json"]] {
        let run = run(omen(["check", "--statistics"].into_iter().chain(args)).write_stdin(""));
        assert!(run.code == 2 && run.stderr.contains("--statistics"), "{}", run.stderr);
    }
}

#[test]
fn statistics_count_findings_by_code_and_type() {
    let folder = folder(&[("bad.jsonl", log(BAD).as_bytes()), ("more.jsonl", b"?\n?\n{}\n")]);
    write(folder.path(), "warned.jsonl", log(WARNED).as_bytes());
    let check = |args: &[&str]| {
        let args = ["check", "--statistics", "bad.jsonl", "more.jsonl", "warned.jsonl"].iter().chain(args).copied();
        run(omen(args).current_dir(&folder))
    };
    let as_json = check(&["--format", "json"]);
    let (mut lines, summary) = json(&as_json);
    assert_eq!((as_json.code, lines.len(), &summary["files"]), (1, 1, &3.into()));
    let statistics = lines.remove(0)["statistics"].take();
    let sum = |list: &str, key: &str| -> u64 {
        statistics[list].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    for key in ["errors", "warnings", "consequences"] {
        assert_eq!(Some(sum("by_code", key)), summary[key].as_u64(), "{key}");
        assert_eq!(sum("by_code", key), sum("by_packet_type", key), "{key}");
    }
    let row = |list: &str, key: &str, name: Value| {
        statistics[list].as_array().unwrap().iter().find(|row| row[key] == name).cloned().unwrap()
    };
    assert_eq!(row("by_code", "code", "JSON".into())["errors"], 2);
    assert_eq!(row("by_code", "code", "INV-012".into())["warnings"], 1);
    assert_eq!(row("by_packet_type", "packet_type", "TaskDirectivePacket".into())["errors"], 1);
    assert!(row("by_packet_type", "packet_type", Value::Null)["errors"].as_u64() > Some(2));

    let table = check(&[]).stdout;
    assert!(table.starts_with("  ROOTS   ERRORS  WARNINGS  CODE\n"), "{table}");
    assert!(table.contains("\n      2        2         0  JSON     "), "{table}");
    assert!(table.contains("\n      1        1         0  TaskDirectivePacket\n"), "{table}");
    assert!(table.contains("  (unknown)\n") && table.contains("\n\n3 files, "), "{table}");
    assert!(!table.contains("error["), "{table}");
    let clean = run(omen(["check", "--statistics"]).write_stdin(log(GOOD)));
    assert!(clean.stdout.starts_with("1 file, "), "{}", clean.stdout);
}

/// A person who names no input is informed about what is read.
#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_it_says_what_it_reads() {
    let folder = TempDir::new().unwrap();
    for (args, says) in [("check", true), ("check -", true), ("check -q", false)] {
        // Standard input and output are a terminal; standard error is not, so that it can be read.
        let command = format!("{} {args} 2> stderr", env!("CARGO_BIN_EXE_omen"));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "stdout"]).current_dir(&folder).write_stdin("?\n\x04").timeout(AT_ONCE);
        assert_eq!(script.output().unwrap().status.code(), Some(1));
        let expected = "omen: reading packets from standard input; end it with Ctrl-D, or pass a file\n";
        let stderr = fs::read_to_string(folder.path().join("stderr")).unwrap();
        assert_eq!(stderr, if says { expected } else { "" }, "{args}");
    }
}

#[test]
fn completions_know_codes_and_schemas() {
    for shell in ["bash", "fish", "zsh"] {
        let script = run(&mut omen(["completions", shell])).stdout;
        for name in ["PG-3", "DecisionPacket", "TokenId", "INV-012", "warnings"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    // fish needs the command to know the argument; a value without a list stays plain text.
    let fish = run(&mut omen(["completions", "fish"])).stdout;
    let lines = |subcommand: &str| {
        let start = format!("complete -c omen -n \"__fish_omen_using_subcommand {subcommand}\" -f -a \"");
        let (_, rest) = fish.split_once(&start).unwrap_or_else(|| panic!("{subcommand}"));
        rest.split_once("\"\n").unwrap().0.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let code = omen::Code::Inv004;
    assert!(lines("explain").contains(&format!("{code}\\t'{}'", code.info().title)));
    assert!(lines("new").contains(&"decide_act".to_owned()) && lines("schema").contains(&"TokenId".to_owned()));
    assert_eq!(lines("completions").len(), 5);
    // They are too many for the help.
    for command in ["explain", "schema", "check"] {
        let help = run(&mut omen([command, "--help"])).stdout;
        assert!(!help.contains("INV-004") && !help.contains("possible values: JSON"), "{help}");
    }
}
