//! Configuration of `omen check`.

use super::*;

/// Returns a folder with logs and an `omen.toml`.
fn project(toml: &str) -> TempDir {
    let folder = folder(&[("omen.toml", toml.as_bytes()), ("good.jsonl", log(GOOD).as_bytes())]);
    for name in ["logs", "logs/old", "work"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    write(folder.path(), "logs/warned.jsonl", log(WARNED).as_bytes());
    write(folder.path(), "logs/old/bad.jsonl", log(BAD).as_bytes());
    folder
}

fn check(folder: &TempDir, at: &str, args: &[&str]) -> Run {
    let args = ["check"].iter().chain(args).copied();
    run(omen(args).current_dir(folder.path().join(at)).write_stdin("?\n"))
}

/// Returns the files and severities of the findings.
fn found(run: &Run) -> Vec<String> {
    assert_eq!(run.stderr, "");
    let text =
        |finding: &Value| format!("{} {}", finding["file"].as_str().unwrap(), finding["severity"].as_str().unwrap());
    let mut all: Vec<String> = json(run).0.iter().map(text).collect();
    all.dedup();
    all
}

#[test]
fn the_nearest_file_above_says_what_to_check_and_how() {
    let folder = project(
        "[check]\ninputs = [\"logs\", \"*.jsonl\"]\nexclude = [\"old/\"]\nformat = \"json\"\ndeny = [\"warnings\"]\n",
    );
    let here = check(&folder, "", &[]);
    assert_eq!((here.code, found(&here)), (1, vec!["logs/warned.jsonl error".to_owned()]));
    assert_eq!(json(&here).1["files"], 2);
    for (at, path) in [("work", "../logs/warned.jsonl"), ("logs/old", "../../logs/warned.jsonl")] {
        assert_eq!(found(&check(&folder, at, &[])), [format!("{path} error")]);
    }
    let here = check(&folder, "work", &["--config", "../omen.toml"]);
    assert_eq!(found(&here), ["../logs/warned.jsonl error"]);
}

#[test]
fn the_command_line_wins() {
    let folder = project(
        "[check]\ninputs = [\"logs\"]\nformat = \"json\"\nallow = [\"INV-012\"]\njobs = 0x2\ninput = \"lines\"\n",
    );
    assert_eq!(found(&check(&folder, "", &[])), ["logs/old/bad.jsonl error"]);
    assert_eq!(found(&check(&folder, "", &["-W", "INV-012", "logs/warned.jsonl"])), ["logs/warned.jsonl warning"]);
    assert_eq!(found(&check(&folder, "", &["-"])), ["- error"]);
    assert!(check(&folder, "", &["--format", "human"]).stdout.starts_with("error[E4]"));
    let none = check(&folder, "", &["--no-config"]);
    assert!(none.stdout.starts_with("error[JSON]"), "{}", none.stdout);
    assert_eq!(
        json(&run(omen(["check", "-", "--input=array"]).current_dir(&folder).write_stdin("{}{}"))).1["packets"],
        2
    );
    assert_eq!(json(&run(omen(["check", "-"]).current_dir(&folder).write_stdin("{}{}"))).1["packets"], 1);
}

#[test]
fn ignored_files_and_a_fixed_time_can_be_configured() {
    let folder = project("check.gitignore = false\ncheck.now = 2999-01-01T00:00:00Z\ncheck.format = 'json'\n");
    write(folder.path(), ".ignore", b"good.jsonl\n");
    let run = check(&folder, "", &["."]);
    assert!(found(&run).contains(&"good.jsonl error".to_owned()), "{}", run.stdout);
    let run = check(&folder, "", &["good.jsonl", "--now", "2026-03-01T10:00:00Z"]);
    assert_eq!(json(&run).1["bytes"].as_u64(), Some(log(GOOD).len() as u64));
}

#[test]
fn mistakes_are_reported_with_their_places() {
    #[track_caller]
    fn refused(toml: &str, expect: &[&str]) {
        let folder = project(toml);
        let run = check(&folder, "work", &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{toml}");
        let lines: Vec<_> = run.stderr.lines().collect();
        assert_eq!(lines.len(), expect.len(), "{}", run.stderr);
        for (line, expect) in lines.iter().zip(expect) {
            let start = format!("omen: ../omen.toml:{expect}");
            assert!(line.starts_with(&start), "{line}\n{start}");
            assert!(line.matches("`omen rules` lists").count() < 2, "{line}");
        }
    }
    refused("[check]\nimputs = []\n", &["2:1: unknown key `check.imputs`; did you mean `inputs`?"]);
    refused("[check]\nx = 1\n", &["2:1: unknown key `check.x`; expected one of `inputs`, `exclude`, "]);
    refused("[chekc]\n", &["1:2: unknown key `chekc`; did you mean `check`?"]);
    refused("format = \"json\"\n", &["1:1: unknown key `format`; write it below `[check]`"]);
    refused("check = 1\n", &["1:1: expected a table for `check`, found an integer; write `[check]`"]);
    refused("[check]\n\nformat = \"jsn\"\n", &["3:10: invalid value `jsn` for `check.format`; did you mean `json`?"]);
    refused("[check]\nformat = \"q\"\n", &["2:10: invalid value `q` for `check.format`; expected one of `human`, "]);
    refused("[check]\nnow = \"today\"\n", &["2:7: invalid value `today` for `check.now`; "]);
    refused("[check]\nnow = 2026-03-01\n", &["2:7: invalid value `2026-03-01` for `check.now`; "]);
    refused("[check]\njobs = 0\n", &["2:8: invalid value `0` for `check.jobs`; expected a number of threads"]);
    refused(
        "[check]\nmax-findings = -1\n",
        &["2:16: invalid value `-1` for `check.max-findings`; expected a number of findings"],
    );
    refused(
        "[check]\nexclude = [\"[\"]\n",
        &["2:11: invalid pattern `[`: error parsing glob '[': unclosed character class"],
    );
    refused(
        "[check]\njobs = \"2\"\n",
        &["2:8: expected an integer for `check.jobs`, found a string; the number of threads"],
    );
    refused(
        "[check]\ninputs = \"logs\"\n",
        &["2:10: expected an array of strings for `check.inputs`, found a string; "],
    );
    refused("[check]\nexclude = [1]\n", &["2:12: expected strings for `check.exclude`, found an integer; "]);
    refused("[check]\nexclude = [\"a{b\"]\n", &["2:11: invalid pattern `a{b`: "]);
    refused(
        "[check]\noutput = [\"sarf=a\"]\n",
        &["2:11: invalid value `sarf=a` for `check.output`; invalid format `sarf`"],
    );
    refused("[check]\noutput = [\"json=-\"]\n", &["2:11: invalid value `json=-` for `check.output`; expected a file"]);
    refused("[check]\ngitignore = 1\n", &["2:13: expected a boolean for `check.gitignore`, found an integer; "]);
    refused("[check\n", &["1:7: invalid TOML: "]);
    refused(
        "[check]\ndeny = [\"E4\", \"INV-7\"]\nallow = [\"INV-001\"]\n",
        &[
            "2:9: invalid code in `check.deny`: the severity of `E4` is fixed; only codes of the stage `invariant` can be adjusted; \
             `omen rules` lists them",
            "2:15: invalid code in `check.deny`: unknown code `INV-7`; did you mean `INV-007`?",
            "3:10: invalid code in `check.allow`: `INV-001` is always reported as `SCHEMA`",
        ],
    );
    refused(
        "[check]\nallow = [\"INV-003\"]\ndeny = [\"INV-003\"]\n",
        &["3:9: \"INV-003\" has two severities; list it once"],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_usage_error() {
    let folder = folder(&[("bad.toml", b"\xff"), ("long.toml", &vec![b'#'; (1 << 20) + 1])]);
    fs::create_dir(folder.path().join("omen.toml")).unwrap();
    for (args, why) in [
        (&[][..], "omen: cannot read omen.toml: "),
        (&["--config", "none.toml"], "omen: cannot read none.toml: "),
        (&["--config", "bad.toml"], "omen: cannot read bad.toml: invalid utf-8"),
        (&["--config", "long.toml"], "omen: cannot read long.toml: it is longer than"),
        (&["--config", "bad.toml", "--no-config"], "error: the argument '--config <FILE>' cannot be used with"),
    ] {
        let run = check(&folder, "", args);
        assert!(run.code == 2 && run.stderr.starts_with(why), "{}", run.stderr);
    }
    assert_eq!(check(&folder, "", &["--no-config"]).code, 1);
}

#[test]
fn reports_are_written_beside_the_file() {
    let folder = project("[check]\noutput = [\"json=findings.json\"]\nformat = \"concise\"\n");
    let run = check(&folder, "work", &["../logs/old/bad.jsonl"]);
    assert_eq!(run.stderr, "");
    let written = fs::read_to_string(folder.path().join("findings.json")).unwrap();
    assert!(
        written.contains("\"code\":\"E4\"") && run.stdout.starts_with("../logs/old/bad.jsonl:6:"),
        "{}",
        run.stdout
    );
    // An output to standard output replaces the format.
    let run = check(&folder, "work", &["../logs/old/bad.jsonl", "--output", "json=-"]);
    assert_eq!(found(&run), ["../logs/old/bad.jsonl error"]);
}

/// Severities of single codes take precedence over that of all warnings.
#[test]
fn the_order_of_keys_does_not_matter() {
    for toml in ["warn = [\"INV-012\"]\ndeny = [\"warnings\"]\n", "deny = [\"warnings\"]\nwarn = [\"INV-012\"]\n"] {
        let folder = project(&format!("[check]\nformat = \"json\"\n{toml}"));
        assert_eq!(found(&check(&folder, "", &["logs/warned.jsonl"])), ["logs/warned.jsonl warning"]);
        assert_eq!(found(&check(&folder, "", &["logs/warned.jsonl", "-D", "warnings"])), ["logs/warned.jsonl error"]);
    }
}

/// A baseline without entries.
const NO_BASELINE: &[u8] = b"{\"version\":1,\"findings\":[]}";

/// Every key of the schema is accepted, with a value that the schema accepts.
#[test]
fn the_schema_has_the_keys_of_the_file() {
    let printed = run(&mut omen(["schema", "config"]));
    let schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    let keys = schema["properties"]["check"]["properties"].as_object().unwrap();
    assert!(keys.len() > 8);
    for (key, schema) in keys {
        let value = match (&schema["type"], &schema["enum"]) {
            (_, Value::Array(values)) => values[0].to_string(),
            (Value::String(kind), _) if kind == "array" => match &schema["items"]["enum"][0] {
                Value::Null => "[]".to_owned(),
                code => format!("[{code}]"),
            },
            (Value::String(kind), _) if kind == "boolean" => "true".to_owned(),
            (Value::String(kind), _) if kind == "integer" => "1".to_owned(),
            _ => "\"2026-03-01T10:00:00Z\"".to_owned(),
        };
        assert!(schema["description"].as_str().unwrap().len() > 15, "{key}");
        let folder = project(&format!("[check]\n{key} = {value}\n"));
        if key == "baseline" {
            write(folder.path(), value.trim_matches('"'), NO_BASELINE);
        }
        let run = check(&folder, "", &["good.jsonl"]);
        assert!(run.code < 2, "{key} = {value}: {}", run.stderr);
    }
}

/// The page on the configuration shows every key, with a valid value.
#[test]
fn the_page_shows_every_key() {
    let page = include_str!("../../../docs/configuration.md");
    let toml = page
        .split("```toml\n")
        .find(|block| block.starts_with("[check]"))
        .and_then(|rest| rest.split("\n```").next())
        .unwrap();
    let folder = project(toml);
    write(folder.path(), "omen-baseline.json", NO_BASELINE);
    let run = check(&folder, "", &["good.jsonl"]);
    assert!(run.code < 2, "{}", run.stderr);
    let schema: Value = serde_json::from_str(&super::run(&mut omen(["schema", "config"])).stdout).unwrap();
    for key in schema["properties"]["check"]["properties"].as_object().unwrap().keys() {
        assert!(toml.contains(&format!("\n{key} = ")), "{key} is not in docs/configuration.md");
    }
}
