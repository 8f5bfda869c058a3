//! Packets in an array, and indented packets.

use super::*;

/// Returns the packets of an example.
fn packets(path: &str) -> Vec<Value> {
    log(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(text: impl Into<Vec<u8>>, args: &[&str]) -> Run {
    run(omen(["check", "--format", "json"].iter().chain(args).copied()).write_stdin(text))
}

/// Returns the findings without their positions.
fn findings(run: &Run) -> Vec<Value> {
    let (mut findings, _) = json(run);
    for finding in &mut findings {
        let finding = finding.as_object_mut().unwrap();
        finding.remove("line");
        finding.remove("column");
        finding.remove("directive_line");
        if let Some(cause) = finding["follows_from"].as_object_mut() {
            cause.remove("line");
        }
    }
    findings
}

fn indented(packets: &[Value]) -> String {
    packets.iter().map(|packet| format!("{packet:#}\n")).collect()
}

/// Every example, in four layouts, has the findings that it has as JSON Lines, each at the position of its value.
#[test]
fn the_layout_changes_no_finding() {
    for (path, text) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with("invalid/")) {
        let all: Option<Vec<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let Some(all) = all.filter(|_| path.ends_with(".jsonl")) else { continue };
        // A value loses repeated keys, and so their findings. An array is not a packet.
        if all.iter().any(Value::is_array)
            || text.lines().zip(&all).any(|(line, packet)| line.len() != packet.to_string().len())
        {
            continue;
        }
        let lines: String = all.iter().map(|packet| format!("{packet}\n")).collect();
        let expected = findings(&check(lines, &[]));
        let array = Value::from(all.clone());
        for (text, args) in [
            (array.to_string(), &["--input", "array"][..]),
            (format!("{array:#}"), &[]),
            (indented(&all), &[]),
            (format!("\n\n {array:#}").replace('\n', "\r\n"), &[]),
        ] {
            let run = check(text.clone(), args);
            assert_eq!(findings(&run), expected, "{path}");
            assert_eq!(run.stderr, "");
            assert_eq!(json(&run).1["bytes"].as_u64(), Some(text.len() as u64));
            for finding in json(&run).0 {
                let Some(line) = finding["line"].as_u64() else { continue };
                assert!(line <= text.lines().count() as u64, "{finding}");
            }
        }
    }
}

#[test]
fn a_finding_has_its_place_in_the_file() {
    let all = packets(BAD);
    for (text, args) in [
        (format!("{:#}", Value::from(all.clone())), &[][..]),
        (indented(&all), &[]),
        (Value::from(all.clone()).to_string(), &["--input", "array"]),
        (indented(&all), &["--input", "array"]),
    ] {
        for jobs in ["1", "3"] {
            let run = check(text.clone(), &[args, &["-j", jobs]].concat());
            let (findings, _) = json(&run);
            assert_eq!((run.code, findings.len()), (1, 1), "{}", run.stdout);
            let line = text.lines().nth(findings[0]["line"].as_u64().unwrap() as usize - 1).unwrap();
            let rest: String = line.chars().skip(findings[0]["column"].as_u64().unwrap() as usize - 1).collect();
            assert!(rest.starts_with("\"token_trim_early\""), "{rest}");
        }
    }
}

#[test]
fn an_excerpt_is_of_the_line_in_the_file() {
    let folder = folder(&[("log.json", indented(&packets(BAD)).as_bytes())]);
    let run = run(omen(["check", "log.json"]).current_dir(&folder));
    let excerpt =
        run.stdout.lines().skip_while(|line| !line.contains("\"authorization_token_id\"")).collect::<Vec<_>>();
    assert!(excerpt[0].contains("|     \"authorization_token_id\": \"token_trim_early\""), "{}", run.stdout);
    assert!(excerpt[1].contains("^^^^^^^^^^^^^^^^^^ expired"), "{}", run.stdout);
    assert_eq!(excerpt[0].find("\"token_trim"), excerpt[1].find('^'), "{}", run.stdout);
}

#[test]
fn a_log_in_lines_is_read_as_lines() {
    // Each line is one packet, or one finding.
    for text in ["{\"a\":\n{\"a\":1}\n", "[INFO] text\n{}\n", "[]\n{}\n", "{}\n{\n", "{\"a\":1,\n{}\n"] {
        assert_eq!(json(&check(text, &[])).1["packets"], 2, "{text}");
    }
    // A stream that begins with lines is read as lines.
    let mixed = format!("{}{}", log(GOOD), indented(&packets(BAD)));
    assert!(json(&check(mixed, &[])).1["packets"].as_u64() > Some(100));
    // In the requested layout.
    let text = "{}{}\n[\n{}\n]\n";
    assert_eq!(json(&check(text, &["--input", "lines"])).1["packets"], 4);
    assert_eq!(json(&check(text, &["--input", "auto"])).1["packets"], 4);
    assert_eq!(json(&check(text, &["--input", "array"])).1["packets"], 3);
    assert_eq!(json(&check(log(GOOD), &["--input", "array"])).1["errors"], 0);
    let run = check("", &["--input", "objects"]);
    assert!(run.code == 2 && run.stderr.contains("[possible values: auto, lines, array]"), "{}", run.stderr);
}

/// A complete first line is a line (D85): it cannot change the layout of the others, nor hide them.
#[test]
fn a_first_line_that_is_complete_hides_no_other_line() {
    for first in ["[{\"a\":1}]", "[{\"a\":\"]\"}, {}]", "{}{}", "{} []"] {
        let run = check(format!("{first}\n{}", log(BAD)), &[]);
        let (findings, summary) = json(&run);
        assert_eq!(run.code, 1);
        assert_eq!(summary["packets"], log(BAD).lines().count() as u64 + 1, "{first}");
        let lines: Vec<_> = findings.iter().map(|finding| (finding["line"].clone(), finding["code"].clone())).collect();
        assert!(lines.contains(&(7.into(), "E4".into())), "{first}: {lines:?}");
        let helps = findings.iter().filter(|finding| finding["line"] == 1).map(|finding| finding["help"].to_string());
        assert!(first.starts_with('{') || helps.clone().any(|help| help.contains("--input array`")), "{first}");
    }
}

#[test]
fn what_is_wrong_between_packets_is_found() {
    #[track_caller]
    fn places(text: &str, expect: &[(u64, u64)]) {
        let run = check(text, &["--input", "array"]);
        let (findings, summary) = json(&run);
        let is_json = |finding: &&Value| finding["code"] == "JSON";
        let found: Vec<_> = findings
            .iter()
            .filter(is_json)
            .map(|finding| (finding["line"].as_u64().unwrap(), finding["column"].as_u64().unwrap()))
            .collect();
        assert_eq!(found, expect, "{}", run.stdout);
        assert_eq!(summary["rejected"], summary["packets"]);
    }
    places("[\n{},\n{},,\n{}\n]", &[(3, 4)]);
    places("[{}, {}", &[(1, 1)]);
    places("[{}, {\"a\": 1, }]", &[(1, 15)]);
    places("{} INFO\n\n {}", &[(1, 4)]);
    places("{}\n}\n{}", &[(2, 1)]);
    // The end of the second packet is missing; the third is still found.
    places("[\n  {\"a\": {}},\n  {\"b\": {}\n  ,\n  {\n    \"c\": ?\n  }\n]", &[(5, 2), (6, 10)]);
}

/// A byte order mark is not part of an array, and a line end is not part of a string.
#[test]
fn marks_and_line_ends_are_read_as_json_has_them() {
    let all = format!("{:#}", Value::from(packets(GOOD)));
    assert_eq!(check(format!("\u{feff}{all}"), &[]).code, 0);
    assert_eq!(check(all.replace('\n', "\r\n"), &[]).code, 0);
    for broken in ["[{\"a\": \"x\ny\"}]", "[{\"a\": \"x\ry\"}]"] {
        let (findings, _) = json(&check(broken, &[]));
        assert_eq!((findings[0]["code"].as_str(), &findings[0]["line"]), (Some("JSON"), &1.into()), "{broken}");
    }
}

#[test]
fn a_packet_that_is_too_long_is_one_finding() {
    let text = format!("[\n{{\"a\": \"{}\"}},\n?\n]", "x".repeat(17 * 1024 * 1024));
    let (findings, summary) = json(&check(text, &[]));
    let lines: Vec<_> = findings.iter().map(|finding| finding["line"].as_u64()).collect();
    assert_eq!((lines, &summary["packets"]), (vec![Some(2), Some(3)], &2.into()));
}

#[test]
fn a_trace_shows_the_lines_of_the_file() {
    let run = run(omen(["trace", "-"]).write_stdin(indented(&packets(GOOD))));
    assert_eq!(run.code, 0);
    let second = run.stdout.lines().find(|line| line.contains(" #1 ")).unwrap();
    let expected = format!("{:#}", packets(GOOD)[0]).lines().count() + 1;
    assert!(second.trim_start().starts_with(&format!("{expected} ")), "{second}");
}
