//! `[[ignore]]` of `omen.toml`: findings that are omitted, with a reason and optionally a date.

use super::*;

/// Returns a folder with logs and ignores.
fn project(toml: &str) -> TempDir {
    let folder = folder(&[
        ("omen.toml", toml.as_bytes()),
        ("bad.jsonl", log(BAD).as_bytes()),
        ("warned.jsonl", log(WARNED).as_bytes()),
    ]);
    fs::create_dir(folder.path().join("old")).unwrap();
    write(folder.path(), "old/bad.jsonl", log(BAD).as_bytes());
    folder
}

/// Returns the logs with findings, and the standard error.
fn found(toml: &str, args: &[&str]) -> (Vec<String>, String) {
    let folder = project(toml);
    let run = run(omen(["check", "--format", "json", "."].iter().chain(args).copied()).current_dir(&folder));
    let (findings, summary) = json(&run);
    let count = |name: &str| summary[name].as_u64().unwrap_or_default();
    assert_eq!(count("errors") + count("warnings"), findings.len() as u64);
    assert_eq!(findings.len() as u64 + count("ignored"), 3, "{}", run.stdout);
    assert_eq!(run.code, i32::from(count("errors") > 0));
    (findings.iter().map(|finding| finding["file"].as_str().unwrap().to_owned()).collect(), run.stderr)
}

#[test]
fn a_finding_is_left_out_if_it_matches_all_that_is_given() {
    #[track_caller]
    fn check(keys: &str, expect: &[&str]) {
        assert_eq!(found(&format!("[[ignore]]\nreason = \"old\"\n{keys}\n"), &[]).0, expect, "{keys}");
    }
    let episode = "episode = \"corr_archive_trim_3\"";
    check("code = \"e4\"", &["warned.jsonl"]);
    check("code = \"INV-012\"", &["bad.jsonl", "old/bad.jsonl"]);
    check("code = \"E5\"", &["bad.jsonl", "old/bad.jsonl", "warned.jsonl"]);
    check("path = \"old/\"", &["bad.jsonl", "warned.jsonl"]);
    check("path = \"/bad.jsonl\"", &["old/bad.jsonl", "warned.jsonl"]);
    check("path = \"*.jsonl\"", &[]);
    check(episode, &["warned.jsonl"]);
    check(&format!("code = \"E4\"\npath = \"old\"\n{episode}"), &["bad.jsonl", "warned.jsonl"]);
    check(&format!("code = \"E5\"\n{episode}"), &["bad.jsonl", "old/bad.jsonl", "warned.jsonl"]);
    let directive: Value = serde_json::from_str(log(BAD).lines().nth(5).unwrap()).unwrap();
    let tool = directive["payload"]["execution_method"]["tool_id"].as_str().unwrap();
    check(&format!("tool = \"{tool}\""), &["warned.jsonl"]);
    check(&format!("tool = \"{tool}x\""), &["bad.jsonl", "old/bad.jsonl", "warned.jsonl"]);
}

/// Consequences of an omitted finding are omitted with it.
#[test]
fn consequences_of_ignored_findings_are_left_out() {
    let misspelt = log("valid/several-tokens.jsonl").replacen("\"DecisionPacket\"", "\"DecisionPakcet\"", 1);
    let folder = folder(&[
        ("log.jsonl", misspelt.as_bytes()),
        ("omen.toml", b"[[ignore]]\ncode = \"SCHEMA\"\nreason = \"a bug of version 2\"\n"),
    ]);
    // As an array, in which each packet has several lines.
    let packets: Vec<Value> = misspelt.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    write(folder.path(), "array.json", serde_json::to_string_pretty(&packets).unwrap().as_bytes());
    let array = json(&super::run(omen(["check", "--format=json", "array.json"]).current_dir(&folder)));
    let lines = json(&super::run(omen(["check", "--format=json", "log.jsonl"]).current_dir(&folder)));
    assert_eq!((array.0.len(), &array.1["ignored"]), (0, &lines.1["ignored"]));
    let run = run(omen(["check", "log.jsonl"]).current_dir(&folder));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("; 0 errors, 0 warnings; left out: "), "{}", run.stdout);
}

#[test]
fn an_ignore_that_has_ended_is_reported() {
    #[track_caller]
    fn check(until: &str, args: &[&str], code: i32, expect: &str) {
        let toml = format!("[check]\n\n[[ignore]]\ncode = \"JSON\"\nreason = \"until tokens\"\nuntil = {until}\n");
        let folder = folder(&[("omen.toml", toml.as_bytes()), ("log.jsonl", b"?\n")]);
        let run =
            run(omen(["check", "--format", "json", "log.jsonl"].iter().chain(args).copied()).current_dir(&folder));
        assert_eq!((run.code, run.stderr.as_str()), (code, expect));
    }
    let used = "omen: note: left out: 1 ignored\n";
    let ended = "omen: note: omen.toml:3:1: this `[[ignore]]` expired on 2026-03-31 (until tokens); fix the findings that it covers, or extend `until`\n";
    check("2026-03-31", &["--now", "2026-03-31T23:59:59Z"], 0, used);
    check("2026-03-31", &["--now", "2026-04-01T00:00:00Z"], 1, ended);
    check("2026-03-31", &["--now", "2026-04-01T01:00:00+02:00"], 0, used);
    // By the system clock.
    check("2026-03-31", &[], 1, ended);
    check("9999-12-31", &[], 0, used);
}

#[test]
fn an_ignore_that_is_not_used_is_reported() {
    let toml = "[[ignore]]\ncode = \"E5\"\nreason = \"x\"\n[[ignore]]\npath = \"old\"\ncode = \"E6\"\nreason = \"x\"\n[[ignore]]\npath = \"gone\"\nreason = \"x\"\n";
    let (files, notes) = found(toml, &[]);
    assert_eq!(files.len(), 3);
    let note = |line: u32| format!("omen: note: omen.toml:{line}:1: this `[[ignore]]` matches no finding; remove it\n");
    assert_eq!(notes, format!("{}{}", note(1), note(4)));
    // At an earlier stage, there are fewer findings.
    let folder = project(toml);
    let early = run(omen(["check", "--stage=packet", "--format=json", "."]).current_dir(&folder));
    assert_eq!(early.stderr, "");
    // The logs of the entry were not read.
    let run = run(omen(["check", "-q", "bad.jsonl"]).current_dir(&folder));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
}

#[test]
fn ignored_findings_are_not_in_the_baseline() {
    let folder = project("[[ignore]]\ncode = \"E4\"\nreason = \"x\"\n");
    let run = run(omen(["check", "--baseline=known.json", "--write-baseline", "."]).current_dir(&folder));
    assert_eq!((run.code, run.stderr.as_str()), (0, "omen: note: wrote known.json with 1 finding\n"));
}

/// The page has every key of the schema.
#[test]
fn the_page_and_the_schema_have_the_keys() {
    let printed = run(&mut omen(["schema", "config"]));
    let schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    let page = include_str!("../../../docs/configuration.md");
    let keys = schema["properties"]["ignore"]["items"]["properties"].as_object().unwrap();
    assert_eq!(keys.len(), 6);
    let toml = page
        .split("```toml\n")
        .find(|block| block.starts_with("[[ignore]]"))
        .and_then(|block| block.split("```").next())
        .unwrap();
    for key in keys.keys() {
        assert!(toml.contains(&format!("\n{key} = ")), "{key} is not in docs/configuration.md");
    }
    let folder = project(toml);
    let run = run(omen(["check", "--quiet", "warned.jsonl"]).current_dir(&folder));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn mistakes_are_reported_with_their_places() {
    #[track_caller]
    fn refused(toml: &str, expect: &[&str]) {
        let folder = project(toml);
        let run = run(omen(["check", "bad.jsonl"]).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{toml}");
        let lines: Vec<_> = run.stderr.lines().collect();
        assert_eq!(lines.len(), expect.len(), "{}", run.stderr);
        for (line, expect) in lines.iter().zip(expect) {
            assert!(line.starts_with(&format!("omen: omen.toml:{expect}")), "{line}\n{expect}");
        }
    }
    let with = |line: &str| format!("[[ignore]]\nreason = \"x\"\n{line}\n");
    refused("ignore = 1\n", &["1:1: expected an array of tables for `ignore`, found an integer; write `[[ignore]]`"]);
    refused(
        "[ignore]\ncode = \"E4\"\n",
        &["1:2: expected an array of tables for `ignore`, found a table; write `[[ignore]]`"],
    );
    refused("ignore = [1]\n", &["1:11: expected a table in `ignore`, found an integer; write `[[ignore]]`"]);
    refused("[[ignroe]]\n", &["1:3: unknown key `ignroe`; did you mean `ignore`?"]);
    refused("[[ignore]]\ncode = \"E4\"\n", &["1:1: missing key `ignore.reason`; add why these findings are accepted"]);
    refused(&with(""), &["1:1: `[[ignore]]` would ignore every finding; add `code`, `path`, `episode` or `tool`"]);
    refused(&with("cod = \"E4\""), &["1:1: `[[ignore]]` would", "3:1: unknown key `ignore.cod`; did you mean `code`?"]);
    refused(&with("code = \"E4\"\nx = 1"), &["4:1: unknown key `ignore.x`; expected one of `code`, `path`, `episode`"]);
    refused(
        &with("code = \"E44\""),
        &["3:8: invalid code in `ignore.code`: unknown code `E44`; the codes of this kind are E1 to E7; `omen rules`"],
    );
    refused(
        &with("code = [\"E4\"]"),
        &["3:8: expected a string for `ignore.code`, found an array; the code of the findings"],
    );
    refused(&with("path = \"[\""), &["3:8: invalid pattern `[`: "]);
    refused(&with("tool = \"\""), &["3:8: expected a text for `ignore.tool`, found an empty string; the `tool_id`"]);
    refused(
        "[[ignore]]\ncode = \"E4\"\nreason = \" \"\n",
        &["3:10: expected a text for `ignore.reason`, found an empty string; why"],
    );
    refused(
        &with("code = \"E4\"\nuntil = \"2026-01-01\""),
        &["4:9: expected a date for `ignore.until`, found a string; such as `until = 2026-12-31`, without quotes"],
    );
    refused(
        &with("code = \"E4\"\nuntil = 2026-01-01T00:00:00Z"),
        &["4:9: expected a date without a time for `ignore.until`; such as"],
    );
    refused(&with("code = \"E4\"\nuntil = 2026-02-30"), &["4:9: invalid TOML: "]);
}

/// Packets with other text around them have their tool inside.
#[test]
fn the_tool_of_a_wrapped_packet_is_recognized() {
    let directive: Value = serde_json::from_str(log(BAD).lines().nth(5).unwrap()).unwrap();
    let tool = directive["payload"]["execution_method"]["tool_id"].as_str().unwrap();
    let ignore = format!("[[ignore]]\nreason = \"old\"\ntool = \"{tool}\"\n");
    let wrapped = |wrap: &dyn Fn(&str) -> String| log(BAD).lines().map(wrap).collect::<String>();
    let prefixed = wrapped(&|line| format!("2026-11-24T10:00:00Z stdout F {line}\n"));
    let inside = wrapped(&|line| format!("{{\"log\":{}}}\n", Value::from(line)));
    for (log, args) in [(prefixed, &["--prefix"][..]), (inside, &["--field", "/log"])] {
        let folder = folder(&[("omen.toml", ignore.as_bytes()), ("log.jsonl", log.as_bytes())]);
        let run =
            run(omen(["check", "--format", "json", "log.jsonl"].iter().chain(args).copied()).current_dir(&folder));
        let (findings, summary) = json(&run);
        assert_eq!(
            (run.code, findings.len(), &summary["ignored"]),
            (0, 0, &Value::from(1)),
            "{args:?}: {}",
            run.stdout
        );
    }
}
