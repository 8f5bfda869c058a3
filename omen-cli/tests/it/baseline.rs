//! `--baseline`: only new findings are reported.

use super::*;

/// Runs `omen check` in a folder.
fn check(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["check"].iter().chain(args).copied()).current_dir(folder))
}

/// Returns a folder with a log that has findings, and its baseline.
fn known(log: &str) -> TempDir {
    let folder = folder(&[("log.jsonl", log.as_bytes())]);
    let written = check(&folder, &["--baseline", "known.json", "--write-baseline", "log.jsonl"]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    folder
}

/// Returns the new findings, and the number of omitted ones.
#[track_caller]
fn new(folder: &TempDir, files: &[&str], code: i32) -> (Vec<Value>, u64) {
    let run = check(folder, &[&["--baseline", "known.json", "--format", "json"], files].concat());
    assert_eq!(run.code, code, "{}", run.stderr);
    let (findings, summary) = json(&run);
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(count("errors") + count("warnings"), findings.len() as u64);
    assert_eq!(count("ignored"), 0);
    (findings, count("baseline"))
}

/// Returns a log with a cascade, an unfinished episode, and lines that are not packets.
fn faulty() -> String {
    let misspelt = log("valid/several-tokens.jsonl").replacen("\"DecisionPacket\"", "\"DecisionPakcet\"", 1);
    format!("{misspelt}{}?\n?\n", log("invalid/e6-end-with-directive-open.jsonl"))
}

#[test]
fn known_findings_are_left_out_of_every_format() {
    let folder = known(&faulty());
    let total = json(&check(&folder, &["--format", "json", "log.jsonl"])).0.len();
    for format in formats::FORMATS {
        let run = check(&folder, &["--baseline=known.json", "--format", format, "log.jsonl"]);
        assert_eq!(run.code, 0, "{format}: {}", run.stdout);
        assert!(!run.stdout.contains("E6") || format == "sarif", "{format}: {}", run.stdout);
        let note = format!("left out: {total} in the baseline\n");
        let place = if format == "human" { &run.stdout } else { &run.stderr };
        assert!(place.ends_with(&note), "{format}: {place}");
    }
    let sarif: Value =
        serde_json::from_str(&check(&folder, &["--baseline=known.json", "--format=sarif", "log.jsonl"]).stdout)
            .unwrap();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    let statistics = check(&folder, &["--baseline=known.json", "--statistics", "log.jsonl"]);
    assert!(statistics.code == 0 && statistics.stdout.starts_with("1 file, "), "{}", statistics.stdout);
    let quiet = check(&folder, &["--baseline=known.json", "-q", "--format=concise", "log.jsonl"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
}

#[test]
fn a_finding_stays_known_while_its_log_changes() {
    let folder = known(&faulty());
    let check = |text: &str| {
        write(folder.path(), "log.jsonl", text.as_bytes());
        assert_eq!(new(&folder, &["log.jsonl"], 0).0, Vec::<Value>::new());
    };
    // Lines before it, in their own episode.
    check(&format!("\n\n{}{}", log(GOOD), faulty()));
    // Packets after it, in another episode.
    check(&format!("{}{}", faulty(), log(GOOD)));
    // The episodes in another order.
    check(&format!(
        "?\n{}{}?\n",
        log("invalid/e6-end-with-directive-open.jsonl"),
        faulty().lines().take(9).map(|line| format!("{line}\n")).collect::<String>()
    ));
}

/// Consequences of a known finding are not new: a broken episode stays broken as it continues.
#[test]
fn consequences_of_known_findings_are_known() {
    let all = faulty();
    let lines: Vec<&str> = all.lines().collect();
    let begin = |count: usize| -> String { lines.iter().take(count).map(|line| format!("{line}\n")).collect() };
    let folder = known(&begin(4));
    write(folder.path(), "log.jsonl", begin(7).as_bytes());
    let (findings, left_out) = new(&folder, &["log.jsonl"], 0);
    let (plain, summary) = json(&check(&folder, &["--format=json", "log.jsonl"]));
    assert_eq!((findings.len(), left_out), (0, plain.len() as u64));
    assert!(summary["consequences"].as_u64() > Some(0));
    // Consequences of a new finding are reported with it.
    let other = log(GOOD).replacen("BeliefUpdatePacket", "BeliefUpdatPacket", 1);
    write(folder.path(), "log.jsonl", format!("{}{other}", begin(7)).as_bytes());
    let (findings, _) = new(&folder, &["log.jsonl"], 1);
    assert!(findings.iter().any(|finding| !finding["follows_from"].is_null()), "{findings:?}");
}

#[test]
fn equal_findings_are_counted() {
    let folder = known("?\n?\n");
    let file = fs::read_to_string(folder.path().join("known.json")).unwrap();
    assert!(file.contains("\"count\":2") && file.lines().count() == 3, "{file}");
    write(folder.path(), "log.jsonl", b"?\n?\n?\n");
    let (findings, left_out) = new(&folder, &["log.jsonl"], 1);
    assert_eq!((findings.len(), left_out, &findings[0]["line"]), (1, 2, &3.into()));
    // A different text is a different finding.
    write(folder.path(), "log.jsonl", b"?\n!\n");
    let (findings, left_out) = new(&folder, &["log.jsonl"], 1);
    assert_eq!((findings.len(), left_out, &findings[0]["line"]), (1, 1, &2.into()));
}

/// A finding belongs to its log, so that of a log with another name is new. The lines after it would never be checked.
#[test]
fn the_end_of_a_check_is_always_reported() {
    let good = log("valid/read-only.jsonl");
    let ignored = b"[[ignore]]\ncode = \"JSON\"\nreason = \"old\"\n";
    let folder = folder(&[("log.jsonl", format!("{good}\0\0\n").as_bytes()), ("omen.toml", ignored)]);
    let both = check(&folder, &["--baseline", "known.json", "--write-baseline", "log.jsonl"]);
    assert_eq!(both.code, 1, "{}", both.stderr);
    let (findings, left_out) = new(&folder, &["log.jsonl"], 1);
    assert_eq!((findings.len(), left_out), (1, 0), "{findings:?}");
}

#[test]
fn a_renamed_log_has_new_findings() {
    let folder = known("?\n");
    fs::rename(folder.path().join("log.jsonl"), folder.path().join("other.jsonl")).unwrap();
    let run = check(&folder, &["--baseline=known.json", "other.jsonl"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stderr,
        "omen: note: 1 finding of the baseline no longer occurs; renew it with `--write-baseline`\n"
    );
}

#[test]
fn findings_that_are_gone_are_noted() {
    let folder = known("?\n!\n");
    write(folder.path(), "more.jsonl", b"?\n");
    let gone = |args: &[&str]| check(&folder, &[&["--baseline=known.json", "--exit-zero"], args].concat()).stderr;
    assert_eq!(gone(&["log.jsonl"]), "");
    // Another log says nothing about this one.
    assert_eq!(gone(&["more.jsonl"]), "");
    write(folder.path(), "log.jsonl", log(GOOD).as_bytes());
    assert_eq!(gone(&["more.jsonl"]), "");
    let note = "omen: note: 2 findings of the baseline no longer occur; renew it with `--write-baseline`\n";
    assert_eq!(gone(&["log.jsonl"]), note);
    assert_eq!(gone(&["-q", "log.jsonl"]), "");
    // A log that no longer exists is not read again.
    fs::remove_file(folder.path().join("log.jsonl")).unwrap();
    assert_eq!(gone(&["more.jsonl"]), note);
}

#[test]
fn the_file_is_sorted_and_renewed_log_by_log() {
    let folder = folder(&[("b.jsonl", b"?\n"), ("a.jsonl", log(BAD).as_bytes()), ("c.jsonl", b"!\n")]);
    let read = || fs::read_to_string(folder.path().join("known.json")).unwrap();
    let renew = |args: &[&str]| {
        let run = check(&folder, &[&["--baseline=known.json", "--write-baseline"], args].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr
    };
    // The baseline is in the same folder, and is not a log.
    assert_eq!(renew(&["."]), "omen: note: wrote known.json with 3 findings\n");
    let first = read();
    assert_eq!(
        renew(&["c.jsonl", "b.jsonl", "a.jsonl", "known.json"]),
        "omen: note: wrote known.json with 3 findings\n"
    );
    assert_eq!(read(), first);
    let content: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(content["version"], 1);
    let files: Vec<_> =
        content["findings"].as_array().unwrap().iter().map(|entry| entry["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.jsonl", "b.jsonl", "c.jsonl"]);
    let entry = &content["findings"][0];
    assert_eq!((&entry["code"], &entry["packet_id"]), (&"E4".into(), &"pkt_directive_1_try".into()));

    // Its fingerprints are those of the other formats.
    let sarif: Value = serde_json::from_str(&check(&folder, &["--format=sarif", "a.jsonl"]).stdout).unwrap();
    let fingerprint = sarif["runs"][0]["results"][0]["partialFingerprints"]["omenFinding/v1"].as_str().unwrap();
    assert_eq!(Some(entry["fingerprint"].as_str().unwrap()), fingerprint.strip_suffix(":0"));

    write(folder.path(), "a.jsonl", log(GOOD).as_bytes());
    fs::remove_file(folder.path().join("b.jsonl")).unwrap();
    renew(&["a.jsonl"]);
    let left: Value = serde_json::from_str(&read()).unwrap();
    assert_eq!(left["findings"], serde_json::json!([content["findings"][2]]));
}

/// The name of a log does not depend on the working directory.
#[test]
fn a_baseline_holds_in_every_working_directory() {
    let folder = folder(&[("omen.toml", b"[check]\ninputs = [\"logs\"]\nbaseline = \"ci/known.json\"\n")]);
    for name in ["logs", "ci", "work"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    write(folder.path(), "logs/log.jsonl", log(BAD).as_bytes());
    let check = |at: &str, args: &[&str]| {
        let args = ["check"].iter().chain(args).copied();
        run(omen(args).current_dir(folder.path().join(at)))
    };
    assert_eq!(check("work", &["--write-baseline"]).code, 0);
    for at in ["", "work", "logs", "ci"] {
        assert_eq!(check(at, &[]).code, 0, "{at}");
    }
    let absolute = folder.path().join("logs/log.jsonl");
    assert_eq!(check("", &[absolute.to_str().unwrap()]).code, 0);
    assert_eq!(check("", &["--no-config", "logs"]).code, 1);
    // The command line takes precedence.
    assert_eq!(check("", &["--baseline", "ci/other.json", "--write-baseline"]).code, 0);
    assert!(folder.path().join("ci/other.json").exists());
}

#[test]
fn a_baseline_that_is_broken_is_a_usage_error() {
    #[track_caller]
    fn refused(text: &str, expect: &str) {
        let folder = folder(&[("log.jsonl", b"?\n"), ("known.json", text.as_bytes())]);
        for args in
            [&["--baseline=known.json", "log.jsonl"][..], &["--baseline=known.json", "--write-baseline", "log.jsonl"]]
        {
            let run = check(&folder, args);
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
            assert!(run.stderr.starts_with(&format!("omen: invalid baseline known.json: {expect}")), "{}", run.stderr);
            assert!(run.stderr.ends_with("; fix it, or delete it and write a new one with `--write-baseline`\n"));
            assert_eq!(fs::read_to_string(folder.path().join("known.json")).unwrap(), text);
        }
    }
    let entry = "{\"file\":\"a\",\"code\":\"E4\",\"fingerprint\":\"b7e9733020c02a8b86f68e8c7933034a\",\"count\":1}";
    refused("<<<<<<< HEAD\n", "expected value at line 1 column 1");
    refused("{\"version\":1}", "missing field `findings` at line 1 column 13");
    refused("{\"version\":2,\"other\":[]}", "found version 2; expected version 1 at line 1 column 12");
    refused("{\"version\":1,\"findings\":[],\"x\":1}", "unknown field `x`");
    refused(
        &format!("{{\"version\":1,\"findings\":[\n{}\n]}}", entry.replace("\"b7", "\"B7")),
        "invalid fingerprint `B7e9733020c02a8b86f68e8c7933034a`; expected 32 hexadecimal digits at line 2 column 72",
    );
    refused(
        &format!("{{\"version\":1,\"findings\":[\n{}\n]}}", entry.replace(":1}", ":0}")),
        "invalid value: integer `0`",
    );
    refused(
        &format!("{{\"version\":1,\"findings\":[\n{entry},\n{entry}\n]}}"),
        "two entries have the fingerprint `b7e9",
    );
}

#[test]
fn a_baseline_that_cannot_be_used_is_a_usage_error() {
    let folder = folder(&[("log.jsonl", b"?\n"), ("omen.toml", b"[[ignore]]\ncode = \"JSON\"\nreason = \"old\"\n")]);
    for (args, why) in [
        (&["--baseline=none.json"][..], "omen: cannot read the baseline none.json: "),
        (&["--baseline=."], "omen: cannot read the baseline .: "),
        (&["--write-baseline"], "omen: `--write-baseline` needs a file to write; add `--baseline FILE`"),
        (
            &["--baseline=b", "--write-baseline", "--follow"],
            "error: the argument '--write-baseline' cannot be used with",
        ),
        (
            &["--follow", "--checkpoint=c"],
            "omen: `--checkpoint` continues the counts of an earlier run, and does not know",
        ),
    ] {
        let run = check(&folder, &[args, &["log.jsonl"]].concat());
        assert!(run.code == 2 && run.stderr.starts_with(why), "{}", run.stderr);
    }
    let missing = check(&folder, &["--baseline=none.json", "log.jsonl"]);
    assert!(missing.stderr.ends_with("; write it with `--write-baseline`\n"), "{}", missing.stderr);
    // Findings of unreadable logs would be lost.
    let run = check(&folder, &["--no-config", "--baseline=new.json", "--write-baseline", "log.jsonl", "none.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(
        run.stderr.ends_with("omen: new.json was not written, because an input could not be read\n"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("new.json").exists());
    let full = check(&folder, &["--no-config", "--baseline=no/such/known.json", "--write-baseline", "log.jsonl"]);
    assert_eq!(full.code, 3);
    assert!(full.stderr.starts_with("omen: cannot write no/such/known.json: "), "{}", full.stderr);
}

#[test]
fn a_baseline_has_a_size_that_people_can_review() {
    let lines: String = (0..=100_000).map(|number| format!("{number}?\n")).collect();
    let folder = folder(&[("log.jsonl", lines.as_bytes())]);
    let run = check(&folder, &["--baseline=known.json", "--write-baseline", "-q", "--format=concise", "log.jsonl"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("omen: there are more than 100000 different findings"), "{}", run.stderr);
    assert!(!folder.path().join("known.json").exists());
}
