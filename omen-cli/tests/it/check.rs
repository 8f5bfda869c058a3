//! The arguments of `omen check`, and its verdicts.

use super::*;

#[test]
fn a_log_without_errors_exits_0() {
    let run = run(omen(["check", "-"]).write_stdin(log(GOOD)));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("1 file, "), "{}", run.stdout);
}

#[test]
fn errors_exit_1() {
    assert_eq!(run(omen(["check"]).write_stdin(log(BAD))).code, 1);
}

#[test]
fn warnings_exit_0() {
    let run = run(omen(["check", "--format=json"]).write_stdin(log(WARNED)));
    let (findings, summary) = json(&run);
    assert_eq!(run.code, 0);
    assert_eq!((findings.len(), summary["warnings"].as_u64()), (1, Some(1)));
}

/// Of `-A`, `-W` and `-D` the last one applies, in any form.
#[test]
fn the_last_level_holds() {
    #[track_caller]
    fn check(args: &[&str], code: i32, severity: Option<&str>) {
        let args = ["check", "--format", "json"].iter().chain(args).copied();
        let run = run(omen(args).write_stdin(log(WARNED)));
        let (findings, _) = json(&run);
        let found = findings.iter().find(|finding| finding["code"] == "INV-012");
        assert_eq!(run.code, code);
        assert_eq!(found.map(|finding| finding["severity"].as_str().unwrap()), severity);
    }
    check(&["-D", "INV-012"], 1, Some("error"));
    check(&["-A", "INV-012"], 0, None);
    check(&["-W", "INV-012"], 0, Some("warning"));
    check(&["-D", "INV-012", "-A", "INV-012"], 0, None);
    check(&["-A", "INV-012", "-D", "INV-012"], 1, Some("error"));
    check(&["-A", "INV-012", "--deny=inv-012", "-WINV-012"], 0, Some("warning"));
    check(&["-D", "INV-012", "-A", "INV-011", "-", "-W", "INV-010"], 1, Some("error"));
}

#[test]
fn a_fixed_time_replaces_the_clock() {
    let late = run(
        omen(["check", "--now", "2999-01-01T00:00:00Z"]).write_stdin(log("valid/token-renewed-after-expiry.jsonl"))
    );
    assert_eq!(late.code, 1);
    assert!(late.stdout.contains("error[E4]"), "{}", late.stdout);
}

#[test]
fn each_file_is_a_stream_of_its_own() {
    let folder = folder(&[("a.jsonl", log(GOOD).as_bytes()), ("b.jsonl", log(BAD).as_bytes())]);
    let run = run(omen(["check", "--format", "json", "a.jsonl", "b.jsonl", "a.jsonl"]).current_dir(&folder));
    let (findings, summary) = json(&run);
    assert_eq!(run.code, 1);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["file"], "b.jsonl");
    // As one stream, the second `a.jsonl` would repeat the ids of the first.
    assert_eq!(summary["errors"], 1);
    assert_eq!((&summary["files"], &summary["episodes"]), (&3.into(), &3.into()));
    assert_eq!(summary["bytes"].as_u64(), Some((2 * log(GOOD).len() + log(BAD).len()) as u64));
}

#[test]
fn stdin_may_stand_among_files() {
    let folder = folder(&[("a.jsonl", log(GOOD).as_bytes())]);
    let run = run(omen(["check", "--format", "json", "a.jsonl", "-"]).current_dir(&folder).write_stdin("?\n"));
    let (findings, summary) = json(&run);
    assert_eq!((run.code, &findings[0]["file"], &summary["files"]), (1, &"-".into(), &2.into()));
}

#[test]
fn blank_lines_count_as_lines_but_not_as_packets() {
    let run = run(omen(["check", "--format", "json"]).write_stdin("\n  \r\n?\n\n\t\n?"));
    let (findings, summary) = json(&run);
    let places: Vec<_> =
        findings.iter().map(|found| (found["line"].as_u64(), found["packet_index"].as_u64())).collect();
    assert_eq!(places, [(Some(3), Some(0)), (Some(6), Some(1))]);
    assert_eq!(summary["packets"], 2);
}

/// Every example has the same findings through the command as through the library.
#[test]
fn every_example_gets_the_verdict_that_stands_beside_it() {
    let folder = TempDir::new().unwrap();
    let mut names = Vec::new();
    let mut expected = Vec::new();
    for (at, (path, text)) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).enumerate() {
        let name = format!("{at}.jsonl");
        write(folder.path(), &name, text.as_bytes());
        let expect: Value = serde_json::from_str(log(&path.replace(".jsonl", ".expect.json"))).unwrap();
        for finding in expect["findings"].as_array().unwrap() {
            expected.push(
                [&name.as_str().into(), &finding["packet_index"], &finding["code"], &finding["severity"]]
                    .map(Value::to_string),
            );
        }
        names.push(name);
    }
    let args = ["check", "--format", "json"].into_iter().chain(names.iter().map(String::as_str));
    let (findings, summary) = json(&run(omen(args).current_dir(&folder)));
    let mut found: Vec<_> = findings
        .iter()
        .map(|finding| ["file", "packet_index", "code", "severity"].map(|field| finding[field].to_string()))
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(summary["files"].as_u64(), Some(names.len() as u64));
}
