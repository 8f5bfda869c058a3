//! `omen diff`: new and fixed findings of a run.

use super::*;

/// Writes the output of a run on a log to a file.
fn output(folder: &TempDir, name: &str, log: &str) {
    write(folder.path(), "log.jsonl", log.as_bytes());
    let run = run(omen(["check", "--format", "json", "log.jsonl"]).current_dir(folder));
    write(folder.path(), name, run.stdout.as_bytes());
}

fn diff(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["diff"].iter().chain(args).copied()).current_dir(folder))
}

#[test]
fn what_is_new_and_what_is_gone_is_shown() {
    let folder = TempDir::new().unwrap();
    output(&folder, "old.json", &format!("?\n{}", log(BAD)));
    output(&folder, "new.json", &format!("\n\n{}{}", log(WARNED), log(BAD)));
    let human = diff(&folder, &["old.json", "new.json"]);
    let lines: Vec<&str> = human.stdout.lines().collect();
    assert_eq!((human.code, human.stderr.as_str(), lines.len()), (1, "", 3));
    assert!(lines[0].starts_with("+ log.jsonl:3:") && lines[0].contains(": warning[INV-012] "), "{}", lines[0]);
    assert!(lines[1].starts_with("- log.jsonl:1:1: error[JSON] "), "{}", lines[1]);
    assert_eq!(lines[2], "1 new, 1 gone, 1 unchanged");

    let as_json = diff(&folder, &["--format=json", "old.json", "new.json"]);
    let (findings, summary) = json(&as_json);
    assert_eq!((as_json.code, summary), (1, serde_json::json!({"new": 1, "gone": 1, "unchanged": 1})));
    let changes: Vec<_> = findings.iter().map(|finding| (&finding["change"], &finding["code"])).collect();
    assert_eq!(changes, [(&"new".into(), &"INV-012".into()), (&"gone".into(), &"JSON".into())]);
    // The other fields are those of the run.
    let text = fs::read_to_string(folder.path().join("new.json")).unwrap();
    let mut finding = findings[0].clone();
    finding.as_object_mut().unwrap().remove("change");
    assert!(text.lines().any(|line| serde_json::from_str::<Value>(line).unwrap() == finding), "{finding}");

    // Only new findings are a failure.
    output(&folder, "less.json", log(BAD));
    let less = diff(&folder, &["old.json", "less.json"]);
    assert!(less.code == 0 && less.stdout.ends_with("\n0 new, 1 gone, 1 unchanged\n"), "{}", less.stdout);
    let same = diff(&folder, &["old.json", "old.json"]);
    assert_eq!((same.code, same.stdout.as_str()), (0, "0 new, 0 gone, 2 unchanged\n"));
}

#[test]
fn equal_findings_are_counted() {
    let folder = TempDir::new().unwrap();
    output(&folder, "two.json", "?\n?\n");
    output(&folder, "three.json", "?\n?\n?\n");
    let more = diff(&folder, &["two.json", "three.json"]);
    assert!(more.code == 1 && more.stdout.starts_with("+ log.jsonl:3:1: "), "{}", more.stdout);
    assert!(more.stdout.ends_with("\n1 new, 0 gone, 2 unchanged\n"), "{}", more.stdout);
    let less = diff(&folder, &["three.json", "two.json"]);
    assert!(less.code == 0 && less.stdout.ends_with("\n0 new, 1 gone, 2 unchanged\n"), "{}", less.stdout);
}

#[test]
fn the_later_run_may_come_from_a_pipe() {
    let folder = TempDir::new().unwrap();
    output(&folder, "old.json", log(BAD));
    let new = run(omen(["check", "--format=json", "log.jsonl"]).current_dir(&folder)).stdout;
    let piped = run(omen(["diff", "old.json", "-"]).current_dir(&folder).write_stdin(new));
    assert_eq!((piped.code, piped.stdout.as_str()), (0, "0 new, 0 gone, 1 unchanged\n"));
    let twice = run(omen(["diff", "-", "old.json"]).current_dir(&folder).write_stdin(""));
    assert!(twice.code == 2 && twice.stderr.starts_with("omen: OLD is read twice; "), "{}", twice.stderr);
}

/// A missing finding would look fixed.
#[test]
fn an_output_that_is_not_complete_is_refused() {
    let folder = TempDir::new().unwrap();
    output(&folder, "whole.json", log(BAD));
    let whole = fs::read_to_string(folder.path().join("whole.json")).unwrap();
    let first = whole.lines().next().unwrap();
    for (text, why) in [
        (
            format!("{first}\n"),
            "there is no summary at the end: expected the complete output of `omen check --format json`",
        ),
        (String::new(), "there is no summary at the end: "),
        (first[..first.len() / 2].to_owned(), "line 1: expected a line of `omen check --format json`: EOF while"),
        (log(BAD).to_owned(), "line 1: expected a line of `omen check --format json`: missing field"),
        (format!("{first}\n\u{feff}\n"), "line 2: expected a line of `omen check --format json`: "),
        (
            whole.replace("\"errors\":1", "\"errors\":2"),
            "line 2: the summary counts more findings than are listed; check without",
        ),
        (format!("{whole}{whole}"), "line 3: expected nothing after the summary; compare one run with one run"),
    ] {
        write(folder.path(), "broken.json", text.as_bytes());
        for args in [["broken.json", "whole.json"], ["whole.json", "broken.json"]] {
            let run = diff(&folder, &args);
            assert_eq!(run.code, 3, "{}", run.stderr);
            assert!(run.stderr.starts_with(&format!("omen: cannot read broken.json: {why}")), "{}", run.stderr);
            assert!(!run.stdout.contains("unchanged"), "{}", run.stdout);
        }
    }
    // A run that could not read all of its inputs says so in its summary.
    let partial = run(omen(["check", "--format", "json", "log.jsonl", "none.jsonl"]).current_dir(&folder));
    assert_eq!(json(&partial).1["unreadable"], 1, "{}", partial.stdout);
    write(folder.path(), "partial.json", partial.stdout.as_bytes());
    for args in [["partial.json", "whole.json"], ["whole.json", "partial.json"]] {
        let refused = diff(&folder, &args);
        let why = "omen: cannot read partial.json: line 2: this run could not read all its inputs, so findings may be missing";
        assert!(refused.code == 3 && refused.stderr.starts_with(why), "{}", refused.stderr);
    }
    let missing = diff(&folder, &["none.json", "whole.json"]);
    assert!(missing.code == 3 && missing.stderr.starts_with("omen: cannot read none.json: "), "{}", missing.stderr);
}
