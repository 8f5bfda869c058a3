//! Snapshots of a small set of logs in each format. `OMEN_BLESS=1` updates them.

use super::*;
use crate::human::check_snapshot;

#[test]
fn each_format_is_as_reviewed() {
    let folder = set();
    for format in FORMATS {
        let run = check(&folder, format, SET);
        assert_eq!(run.code, 3, "{format}");
        assert!(run.stderr.starts_with("omen: cannot read missing.jsonl: "), "{format}: {}", run.stderr);
        valid::any(format, &run.stdout);
        match format {
            "sarif" => {
                // The rules have tests of their own.
                let mut value: Value = serde_json::from_str(&run.stdout).unwrap();
                value["runs"][0]["tool"]["driver"].as_object_mut().unwrap().remove("rules");
                check_snapshot("formats/sarif.json", &(serde_json::to_string_pretty(&value).unwrap() + "\n"));
            }
            "junit" => check_snapshot("formats/junit.xml", &run.stdout),
            "markdown" => check_snapshot("formats/markdown.md", &run.stdout),
            "gitlab" => check_snapshot("formats/gitlab.json", &run.stdout),
            format => check_snapshot(&format!("formats/{format}.txt"), &run.stdout),
        }
    }
}

#[test]
fn each_format_is_valid_without_findings() {
    let folder = folder(&[("clean.jsonl", log(GOOD).as_bytes()), ("empty.jsonl", b"")]);
    for format in FORMATS {
        for files in [&["clean.jsonl"][..], &["empty.jsonl"], &["clean.jsonl", "empty.jsonl", "clean.jsonl"]] {
            let run = check(&folder, format, files.iter().copied());
            assert_eq!(run.code, 0, "{format}");
            valid::any(format, &run.stdout);
        }
    }
    assert_eq!(check(&folder, "concise", ["clean.jsonl"]).stdout, "");
    assert_eq!(check(&folder, "github", ["clean.jsonl"]).stdout, "");
    assert_eq!(check(&folder, "gitlab", ["clean.jsonl"]).stdout, "[\n]\n");
}

#[test]
fn each_format_reports_an_input_that_cannot_be_read() {
    let folder = folder(&[("clean.jsonl", log(GOOD).as_bytes())]);
    for format in FORMATS {
        let run = check(&folder, format, ["missing.jsonl", "clean.jsonl", "gone.jsonl"]);
        assert_eq!((run.code, run.stderr.lines().count()), (3, 2), "{format}");
        valid::any(format, &run.stdout);
        if ["sarif", "junit", "github", "gitlab", "markdown"].contains(&format) {
            assert!(["missing.jsonl", "gone.jsonl"].iter().all(|name| run.stdout.contains(name)), "{}", run.stdout);
        }
    }
    let sarif: Value = serde_json::from_str(&check(&folder, "sarif", ["missing.jsonl"]).stdout).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    let sarif: Value = serde_json::from_str(&check(&folder, "sarif", ["clean.jsonl"]).stdout).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0], serde_json::json!({ "executionSuccessful": true }));
}

/// Each format shows as many findings as `--format json`, each at its position.
#[test]
fn no_format_loses_a_finding() {
    let folder = set();
    let (findings, _) = json(&check(&folder, "json", SET));
    let lines =
        |finding: &Value| (finding["file"].to_string(), finding["line"].as_u64(), finding["packet_id"].to_string());
    let cases: BTreeSet<_> = findings.iter().map(lines).collect();
    assert_eq!(valid::concise(&check(&folder, "concise", SET).stdout), findings.len());
    assert_eq!(valid::sarif(&check(&folder, "sarif", SET).stdout), findings.len());
    assert_eq!(valid::junit(&check(&folder, "junit", SET).stdout), cases.len());
    // One more issue for the missing file.
    assert_eq!(valid::gitlab(&check(&folder, "gitlab", SET).stdout), findings.len() + 1);

    let all = run(omen(["check", "--all", "--format", "markdown"].into_iter().chain(SET)).current_dir(&folder));
    assert_eq!(valid::markdown(&all.stdout), findings.len() + 1);

    let sarif: Value = serde_json::from_str(&check(&folder, "sarif", SET).stdout).unwrap();
    for (result, finding) in sarif["runs"][0]["results"].as_array().unwrap().iter().zip(&findings) {
        let place = &result["locations"][0]["physicalLocation"];
        let is_root = finding["follows_from"].is_null();
        let level = if is_root { &finding["severity"] } else { &Value::from("note") };
        assert_eq!((&result["ruleId"], &result["level"]), (&finding["code"], level));
        assert_eq!(place["artifactLocation"]["uri"], finding["file"]);
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        assert_eq!(
            (&place["region"]["startLine"], &place["region"]["startColumn"]),
            (&finding[if finding["line"].is_null() { "directive_line" } else { "line" }], &finding["column"])
        );
        let related = result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"].as_u64();
        assert_eq!(related, finding["follows_from"]["line"].as_u64());
    }
}

/// A mistake is one alert, and one issue in a merge request: its consequences have a lower severity.
#[test]
fn consequences_are_of_the_lowest_severity() {
    let folder = set();
    let (findings, _) = json(&check(&folder, "json", SET));
    let issues: Vec<Value> = serde_json::from_str(&check(&folder, "gitlab", SET).stdout).unwrap();
    let severity = |finding: &Value| match (finding["follows_from"].is_null(), finding["severity"].as_str()) {
        (false, _) => "info",
        (true, Some("error")) => "major",
        (true, _) => "minor",
    };
    let expect: Vec<_> = findings.iter().map(severity).collect();
    assert!(expect.contains(&"info"));
    let found: Vec<_> = issues.iter().filter_map(|issue| issue["severity"].as_str()).collect();
    // The last one is the missing log.
    assert_eq!(found, [&expect[..], &["blocker"]].concat());
}

#[test]
fn roots_leaves_consequences_out_of_every_format() {
    let folder = set();
    let (all, summary) = json(&check(&folder, "json", SET));
    let roots: Vec<&Value> = all.iter().filter(|finding| finding["follows_from"].is_null()).collect();
    assert!(roots.len() < all.len());
    let with = |format: &str| {
        let run = run(omen(["check", "--roots", "--format", format].into_iter().chain(SET)).current_dir(&folder));
        valid::any(format, &run.stdout);
        assert_eq!(run.code, 3);
        assert!(!run.stdout.contains("follows from line"), "{format}: {}", run.stdout);
        run
    };
    FORMATS.iter().for_each(|format| drop(with(format)));
    let (findings, totals) = json(&with("json"));
    assert_eq!((findings.iter().collect::<Vec<_>>(), totals), (roots.clone(), summary));
    assert_eq!(valid::sarif(&with("sarif").stdout), roots.len());
    assert_eq!(valid::gitlab(&with("gitlab").stdout), roots.len() + 1);
    assert_eq!(valid::concise(&with("concise").stdout), roots.len());
    // Repetitions on a line are not consequences.
    let repeated =
        format!("{{\"header\":{{{}}}}}", (0..9).map(|number| format!("\"x{number}\":1")).collect::<Vec<_>>().join(","));
    let count = |args: &[&str]| json(&super::run(omen(args.iter().copied()).write_stdin(repeated.as_str()))).0.len();
    assert_eq!(count(&["check", "--format=json", "--roots"]), count(&["check", "--format=json"]));
    assert_eq!(super::run(&mut omen(["check", "--roots", "--all"])).code, 2);
}

/// GitHub accepts 1 MiB, and refuses a larger summary as a whole.
#[test]
fn a_summary_of_a_job_is_bounded() {
    let long = format!("{{\"{}\":1}}\n", "|".repeat(5_000));
    for (line, expect) in [("?\n", 20_000), (&*long, 3_000)] {
        let run =
            run(omen(["check", "--format", "markdown", "--max-findings", "30000"]).write_stdin(line.repeat(expect)));
        let shown = valid::markdown(&run.stdout);
        assert!(run.stdout.len() > 900_000 && shown > 50, "{}", run.stdout.len());
        let last = run.stdout.lines().last().unwrap();
        let left_out: usize = last.strip_suffix(" more findings are not shown here.").unwrap().parse().unwrap();
        let (found, _) = json(&super::run(omen(["check", "--format", "json"]).write_stdin(line.repeat(expect))));
        assert_eq!(shown + left_out, found.len());
    }
    let few = run(omen(["check", "--format", "markdown", "--max-findings", "1"]).write_stdin("?\n?\n"));
    assert!(few.stdout.ends_with("\n1 more finding is not shown here.\n"), "{}", few.stdout);
    assert!(few.stdout.contains("\n| JSON | ") && few.stdout.contains(" | 2 | 2 | 0 |\n"), "{}", few.stdout);
}

/// Columns count characters, as the report states, and the region is the text that is wrong.
#[test]
fn regions_are_what_is_wrong() {
    let line = "{\"\u{e9}\u{1f600}\u{1f600}\": ?}";
    let folder = folder(&[("wide.jsonl", line.as_bytes()), ("bad.jsonl", log(BAD).as_bytes())]);
    let region = |file: &str| {
        let sarif: Value = serde_json::from_str(&check(&folder, "sarif", [file]).stdout).unwrap();
        assert_eq!(sarif["runs"][0]["columnKind"], "unicodeCodePoints");
        sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].clone()
    };
    let text = |region: &Value, line: &str| -> String {
        let column = |name: &str| usize::try_from(region[name].as_u64().unwrap()).unwrap();
        line.chars().skip(column("startColumn") - 1).take(column("endColumn") - column("startColumn")).collect()
    };
    assert_eq!(region("wide.jsonl")["startColumn"], 9);
    let bad = region("bad.jsonl");
    assert_eq!(bad["startLine"], 6);
    assert_eq!(text(&bad, log(BAD).lines().nth(5).unwrap()), "\"token_trim_early\"");
}

/// The report has the text of `omen explain` for every code.
#[test]
fn sarif_has_all_rules_with_their_texts() {
    let folder = folder(&[("clean.jsonl", log(GOOD).as_bytes())]);
    let sarif: Value = serde_json::from_str(&check(&folder, "sarif", ["clean.jsonl"]).stdout).unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), omen::Code::ALL.len());
    for (rule, code) in rules.iter().zip(omen::Code::ALL) {
        let info = code.info();
        assert_eq!((&rule["id"], &rule["shortDescription"]["text"]), (&info.code.into(), &info.title.into()));
        for text in [info.condition, info.statement, info.rationale, info.help, info.source] {
            assert!(rule["help"]["markdown"].as_str().unwrap().contains(text), "{code}");
        }
    }
}

/// GitHub shows ten errors and ten warnings of a step, and silently drops the others.
#[test]
fn annotations_keep_to_the_limits_of_github() {
    let run = run(omen(["check", "--format", "github"]).write_stdin("?\n".repeat(25)));
    assert_eq!((run.code, valid::github(&run.stdout)), (1, 11));
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("::error ")).count(), 10);
    let last = run.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("::notice title=omen::") && last.contains(" 15 more errors and 0 more warnings"),
        "{last}"
    );
}

/// Root causes come first: consequences are shown only where places are left.
#[test]
fn root_causes_are_annotated_first() {
    let log = log(GOOD);
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    let id = first["header"]["correlation_id"].as_str().unwrap();
    let cascade = log.replacen("BeliefUpdatePacket", "BeliefUpdatPacket", 1);
    let cascades = |count: usize| -> String {
        (0..count).map(|number| cascade.replace(id, &format!("corr_cascade_{number}"))).collect()
    };
    for (count, roots) in [(2, 2), (12, 10)] {
        let input = cascades(count);
        let as_json = run(omen(["check", "--format", "json"]).write_stdin(input.as_str()));
        let (findings, summary) = json(&as_json);
        assert_eq!(summary["consequences"].as_u64(), Some((findings.len() - count) as u64));
        let run = run(omen(["check", "--format", "github"]).write_stdin(input));
        valid::github(&run.stdout);
        let errors: Vec<_> = run.stdout.lines().filter(|line| line.starts_with("::error ")).collect();
        let is_root = |line: &&&str| !line.contains("(follows from line ");
        assert_eq!(errors.iter().take_while(is_root).count(), roots, "{}", run.stdout);
        assert_eq!(errors.iter().filter(is_root).count(), roots);
        // Warnings have ten places of their own, for example for an episode that does not close.
        for (severity, shown) in [("error", errors.len()), ("warning", run.stdout.matches("::warning ").count())] {
            let all = findings.iter().filter(|finding| finding["severity"] == severity).count();
            assert_eq!(shown, all.min(10), "{severity}: {}", run.stdout);
        }
    }
}

#[test]
fn standard_input_has_a_name_in_each_format() {
    for format in FORMATS {
        let run = run(omen(["check", "--format", format]).write_stdin("?\n"));
        valid::any(format, &run.stdout);
        assert!(run.stdout.contains(if format == "json" { "\"-\"" } else { "stdin" }), "{}", run.stdout);
    }
}
