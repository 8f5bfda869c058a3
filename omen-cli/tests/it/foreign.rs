//! Inputs that are not logs of packets, and packets with other text around them.

use super::*;

fn check(text: impl Into<Vec<u8>>, args: &[&str]) -> (Run, Vec<Value>) {
    let run = run(omen(["check", "--format", "json"].iter().chain(args).copied()).write_stdin(text));
    let (findings, _) = json(&run);
    (run, findings)
}

/// Returns the log as containers write it.
fn prefixed(log: &str) -> String {
    log.lines().map(|line| format!("2026-11-24T10:00:00Z stdout F {line}\n")).collect()
}

/// Returns the log as collectors write it.
fn wrapped(log: &str) -> String {
    let object = |line: &str| format!("{}\n", serde_json::json!({"log": format!("{line}\n"), "stream": "stdout"}));
    log.lines().map(object).collect()
}

#[test]
fn a_log_of_something_else_has_one_finding() {
    let objects = "{\"level\":\"info\",\"msg\":\"started\"}\n".repeat(50);
    let text = "Nov 24 10:00:00 host kernel: started\n".repeat(50);
    let binary = fs::read(env!("CARGO_BIN_EXE_omen")).unwrap();
    for (input, says) in [
        (objects.as_bytes(), "found objects with `level`, `msg`: this is not an OMEN log"),
        (text.as_bytes(), "found text: this is not an OMEN log"),
        (&binary, "found binary data"),
        (prefixed(log(GOOD)).as_bytes(), "found `2026-11-24T10:00:00Z stdout F ` before it"),
        (wrapped(log(GOOD)).as_bytes(), "found them within `/log` of other objects"),
    ] {
        let (run, findings) = check(input, &[]);
        assert_eq!((run.code, findings.len()), (1, 1), "{}", run.stdout);
        assert!(findings[0]["message"].as_str().unwrap().contains(says), "{}", findings[0]);
        assert_eq!((&findings[0]["line"], &findings[0]["severity"]), (&1.into(), &"error".into()));
        assert!(findings[0]["help"].is_string());
    }
    // If the layout is given, each line is checked.
    assert!(check(objects, &["--input", "lines"]).1.len() >= 50);
}

/// The help for a wrapped log can be followed.
#[test]
fn the_help_for_packets_with_text_around_them_can_be_obeyed() {
    for input in [prefixed(log(GOOD)), wrapped(log(GOOD))] {
        let (_, findings) = check(input.clone(), &[]);
        let help = findings[0]["help"].as_str().unwrap();
        let command = help.split('`').nth(1).unwrap();
        let run = run(omen(command.split(' ').skip(1)).write_stdin(input));
        assert_eq!(run.code, 0, "{help}\n{}", run.stdout);
    }
}

/// Every example has its usual findings, each with its position in the file.
#[test]
fn text_around_packets_changes_no_finding() {
    let alike = |mut findings: Vec<Value>| {
        findings.iter_mut().for_each(|finding| drop(finding.as_object_mut().unwrap().remove("column")));
        findings
    };
    for (path, text) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let (plain, expected) = check(*text, &["--input", "lines"]);
        for (input, args) in [(prefixed(text), ["--prefix"].as_slice()), (wrapped(text), &["--field", "/log"])] {
            // Lines that are not objects are indistinguishable from the prefix.
            if args == ["--prefix"] && text.lines().any(|line| !line.starts_with('{')) {
                continue;
            }
            let (run, found) = check(input.clone(), args);
            assert_eq!(alike(found.clone()), alike(expected.clone()), "{path} {args:?}");
            assert_eq!((run.code, json(&run).1["bytes"].as_u64()), (plain.code, Some(input.len() as u64)));
            let lines: Vec<&str> = input.lines().collect();
            for (found, expected) in found.iter().zip(&expected) {
                let at = |finding: &Value, lines: &[&str]| -> Option<String> {
                    let line = lines[usize::try_from(finding["line"].as_u64()?).unwrap() - 1];
                    let column = usize::try_from(finding["column"].as_u64()?).unwrap();
                    Some(line.chars().skip(column - 1).filter(|c| *c != '\\').take(12).collect())
                };
                let (there, here) = (at(found, &lines), at(expected, &text.lines().collect::<Vec<_>>()));
                // A tab may be escaped.
                let [there, here] = [there, here].map(|text| text.unwrap_or_default().replace('\t', "t"));
                assert!(there.starts_with(&here), "{path} {found}");
            }
        }
    }
}

#[test]
fn the_excerpt_is_that_of_the_file() {
    let run = run(omen(["check", "--field", "/log"]).write_stdin(wrapped(log(BAD))));
    assert!(run.stdout.contains(r#"\"authorization_token_id\":\"token_trim_early\""#), "{}", run.stdout);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let carets = lines.iter().position(|line| line.contains("^^")).unwrap();
    let column = lines[carets].chars().position(|c| c == '^').unwrap();
    assert!(lines[carets - 1].chars().skip(column).collect::<String>().starts_with(r#"\"token_trim_early\""#));
}

#[test]
fn a_line_without_its_wrapping_is_checked_as_it_is() {
    let text = format!("{}{}", log(GOOD), wrapped("{\"header\":1}"));
    let (_, findings) = check(text.clone(), &["--field", "/log"]);
    assert!(findings.iter().all(|finding| finding["line"] == 8), "{findings:?}");
    assert_eq!((findings.len(), text.lines().count()), (3, 8));
    let (_, findings) = check("no packet\n{\"header\":1}\n", &["--prefix"]);
    assert_eq!((&findings[0]["line"], &findings[0]["code"]), (&1.into(), &"JSON".into()));
    // A line that is too long for a packet.
    let (_, findings) = check(format!("{}\n?\n", "x".repeat(33 * 1024 * 1024)), &["--prefix"]);
    let lines: Vec<_> = findings.iter().map(|finding| finding["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [1, 2]);
}

/// Readers disagree on which of two values counts, so neither is used as the packet.
#[test]
fn a_repeated_field_around_packets_is_an_error() {
    let good = log("valid/read-only.jsonl");
    let twice = |name: &str| -> String {
        let line = |line: &str| format!("{{\"{name}\":{},\"{name}\":\"{{}}\"}}\n", serde_json::json!(line));
        good.lines().map(line).collect()
    };
    let (once, _) = check(wrapped(good), &["--field", "/log"]);
    assert_eq!(once.code, 0, "{}", once.stdout);
    for text in [twice("log"), twice("l\\u006fg"), twice("log").replace("{\"log\"", "{\"a\":1,\"a\":2,\"log\"")] {
        let (run, findings) = check(text, &["--field", "/log"]);
        assert!(run.code == 1 && !findings.is_empty(), "{}", run.stdout);
    }
}

#[test]
fn wrappings_that_cannot_be_read_are_usage_errors() {
    for (args, why) in [
        (&["--prefix", "--field", "/log"][..], "cannot be used with"),
        (&["--field", "log"], "expected a JSON pointer, such as `/log`"),
        (&["--prefix", "--input", "array"], "omit `--input array`"),
        (&["--prefix", "--follow", "a.jsonl"], "`tail -F FILE | omen check --prefix`"),
    ] {
        let run = run(omen(["check"].iter().chain(args).copied()).write_stdin(""));
        assert!(run.code == 2 && run.stderr.contains(why), "{args:?}: {}", run.stderr);
    }
}

/// The check ends at the first line with NUL bytes, and open episodes are not reported then.
#[test]
fn a_log_that_becomes_binary_is_checked_up_to_there() {
    let lines: Vec<&str> = log("invalid/e6-end-with-directive-open.jsonl").lines().collect();
    let text = format!("{}\n\0\0\0\n?\n?\n\0\n", lines.join("\n"));
    for jobs in ["1", "2"] {
        let (run, findings) = check(text.clone(), &["--jobs", jobs]);
        assert_eq!((run.code, findings.len()), (1, 1), "{}", run.stdout);
        assert_eq!(findings[0]["message"], "the line contains NUL bytes");
        assert_eq!(findings[0]["line"].as_u64(), Some(lines.len() as u64 + 1));
        assert_eq!(findings[0]["notes"][0], "nothing after this line was checked");
    }
}

/// Windows tools write it at the beginning of files.
#[test]
fn a_byte_order_mark_at_the_beginning_is_ignored() {
    let marked = format!("\u{feff}{}", log(BAD));
    let plain = run(omen(["check", "--format", "json"]).write_stdin(log(BAD))).stdout;
    let without_bytes =
        |text: &str| text.lines().filter(|line| !line.contains("summary")).collect::<Vec<_>>().join("\n");
    let archive = compressed::gzip(marked.as_bytes());
    for input in [marked.clone().into_bytes(), archive] {
        let found = run(omen(["check", "--format", "json"]).write_stdin(input)).stdout;
        assert_eq!(without_bytes(&found), without_bytes(&plain));
    }
    // Inside a log it is an error, which shows that files were concatenated.
    let (_, findings) = check(format!("{marked}{marked}"), &[]);
    assert!(findings.iter().any(|finding| finding["message"].as_str().unwrap().contains("byte-order mark")));
    // Fewer bytes than a mark, and a truncated mark.
    for bytes in [&b""[..], b"\xef", b"\xef\xbb", b"\xef\xbb\xbf", b"x"] {
        assert!([0, 1].contains(&run(omen(["check"]).write_stdin(bytes)).code));
    }
}

#[test]
fn what_models_write_around_packets_is_named() {
    let help = |text: &str| {
        let (_, findings) = check(format!("{text}\n"), &[]);
        findings[0]["help"].as_str().unwrap().to_owned()
    };
    assert!(help("```json").contains("Markdown"));
    for text in ["{'header': 1}", "{\"header\": True}", "{\"header\": None}"] {
        assert!(help(text).contains("Python"), "{text}");
    }
}
