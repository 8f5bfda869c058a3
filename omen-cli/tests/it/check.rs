//! Arguments of `omen check`, and its verdicts.

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

/// The last one of `-A`, `-W` and `-D` applies, in any form.
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
    check(&["-A", "INV-011,inv-012"], 0, None);
    check(&["-D", "warnings"], 1, Some("error"));
    check(&["-D", "warnings", "-W", "INV-012"], 0, Some("warning"));
    check(&["-W", "INV-012", "-D", "warnings,INV-003"], 1, Some("error"));
    check(&["-A", "INV-012", "-D", "warnings"], 0, None);
    check(&["-A", "Warnings"], 0, None);
}

/// A packet that is not in a log yet can be checked by itself.
#[test]
fn packets_are_checked_as_far_as_is_asked() {
    let decision = run(&mut omen(["new", "DecisionPacket"])).stdout;
    let subpar = decision.replace("\"decision_outcome\":\"VERIFY_FIRST\"", "\"decision_outcome\":\"ACT\"");
    let subpar = subpar.replace("\"quality_tier\":\"PAR\"", "\"quality_tier\":\"SUBPAR\"");
    assert_ne!(subpar, decision);
    let unknown = subpar.replacen("\"payload\":{", "\"payload\":{\"x\":1,", 1);
    let written = decision.replace('\u{2026}', "tea");
    let check = |text: &str, stage: &str| {
        let run = run(omen(["check", "--format", "json", "--stage", stage, "-"]).write_stdin(text));
        assert_eq!(run.stderr, "");
        let codes = json(&run).0.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        (run.code, codes)
    };
    for (text, stage, code, codes) in [
        (&written, "packet", 0, &[][..]),
        // Placeholders are reported only for an accepted packet (D1, D89).
        (&decision, "packet", 0, &["CLAIM"]),
        (&decision, "schema", 0, &[]),
        (&decision, "episode", 1, &["E1"]),
        (&subpar, "schema", 0, &[]),
        (&subpar, "packet", 1, &["INV-002"]),
        (&unknown, "schema", 1, &["SCHEMA"]),
        (&unknown, "packet", 1, &["SCHEMA"]),
    ] {
        let (found, mut reported) = check(text, stage);
        reported.dedup();
        assert_eq!((found, reported), (code, codes.iter().map(|code| (*code).to_owned()).collect()), "{stage}: {text}");
    }

    let people = run(omen(["check", "--stage", "schema", "-"]).write_stdin(subpar.as_str()));
    assert_eq!((people.code, people.stderr.as_str()), (0, "omen: note: lines were checked only against the schema\n"));
    let quiet = run(omen(["check", "-q", "--stage", "packet", "-"]).write_stdin(written.as_str()));
    assert_eq!((quiet.code, quiet.stderr.as_str(), quiet.stdout.as_str()), (0, "", ""));
    assert_eq!(run(&mut omen(["check", "--stage", "packets", "-"])).code, 2);
}

#[test]
fn a_fixed_time_replaces_the_clock() {
    let late = run(
        omen(["check", "--now", "2999-01-01T00:00:00Z"]).write_stdin(log("valid/token-renewed-after-expiry.jsonl"))
    );
    assert_eq!(late.code, 1);
    assert!(late.stdout.contains("error[E4]"), "{}", late.stdout);
}

/// In a pipeline, a typo in a path must not look like success.
#[test]
fn no_packets_can_be_a_failure() {
    let folder = folder(&[("empty.jsonl", b"\n"), ("bad.jsonl", log(BAD).as_bytes())]);
    fs::create_dir(folder.path().join("none")).unwrap();
    let check = |args: &[&str]| run(omen(["check"].iter().chain(args).copied()).current_dir(&folder));
    let error = "omen: no packets were found; pass logs, or omit `--fail-on-empty`\n";
    for (args, note) in [
        (["none"], "omen: note: none contains no logs (*.jsonl, *.ndjson, *.json)\n"),
        (["empty.jsonl"], "omen: note: empty.jsonl contains no packets\n"),
        (["-"], "omen: note: <stdin> contains no packets\n"),
    ] {
        let plain = check(&args);
        assert_eq!((plain.code, plain.stderr.as_str()), (0, note));
        for more in [&["--fail-on-empty"][..], &["--fail-on-empty", "--exit-zero"]] {
            let run = check(&[&args, more].concat());
            assert_eq!((run.code, run.stderr), (3, format!("{note}{error}")));
        }
        assert_eq!(check(&[&args[..], &["--fail-on-empty", "-q"]].concat()).stderr, error);
    }
    assert_eq!(check(&["--fail-on-empty", "none", "empty.jsonl", "bad.jsonl"]).code, 1);
}

#[test]
fn mistakes_in_the_arguments_are_explained() {
    #[track_caller]
    fn refused(args: &[&str], expect: &str) {
        let folder = folder(&[("log.jsonl", log(GOOD).as_bytes())]);
        let run = run(omen(["check", "log.jsonl"].iter().chain(args).copied()).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains(expect), "{}", run.stderr);
    }
    let commas = "is parsed as a file, and does not exist; separate codes by commas: ";
    refused(&["-A", "INV-011", "INV-012"], &format!("omen: `INV-012` {commas}`-A CODE,INV-012`\n"));
    refused(&["-A", "INV-011", "E4"], &format!("omen: `E4` {commas}"));
    refused(&["-D", "INV-011", "warnings"], &format!("omen: `warnings` {commas}"));
    refused(&["--checkpoint", "state"], "omen: `--checkpoint` records how far logs were followed; add `--follow`");
    refused(&["--max-findings=-1"], "'--max-findings <N>': expected a number of findings, at least 0");
    refused(&["--exclude", "["], "omen: invalid pattern `[`: ");
    // A file may have such a name.
    let folder = folder(&[("INV-012", log(GOOD).as_bytes())]);
    assert_eq!(run(omen(["check", "-A", "INV-011", "INV-012"]).current_dir(&folder)).code, 0);
    assert_eq!(run(omen(["check", "INV-011"]).current_dir(&folder)).code, 3);
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
