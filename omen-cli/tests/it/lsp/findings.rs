//! Diagnostics of logs.

use serde_json::json;

use super::*;

/// What `omen check` reports on a file in the folder of a server.
pub(super) fn checked(folder: &Path, name: &str, text: &str) -> Vec<Value> {
    write(folder, name, text.as_bytes());
    let run = run(omen(["check", "--format", "json", name]).current_dir(folder));
    json(&run).0
}

/// The diagnostics are the findings of `omen check`: codes, severities, messages and places.
#[track_caller]
pub(super) fn assert_same(text: &str, diagnostics: &[Value], findings: &[Value]) {
    let context = || format!("{text:?}\n{diagnostics:#?}\n{findings:#?}");
    assert_eq!(diagnostics.len(), findings.len(), "{}", context());
    for (diagnostic, finding) in diagnostics.iter().zip(findings) {
        assert_eq!(diagnostic["code"], finding["code"], "{}", context());
        let severity = match (finding["follows_from"].is_null(), finding["severity"].as_str()) {
            (false, _) => 3,
            (true, Some("error")) => 1,
            (true, _) => 2,
        };
        assert_eq!(diagnostic["severity"], severity, "{}", context());
        assert_eq!(diagnostic.get("relatedInformation").is_some(), severity == 3, "{}", context());
        let message = finding["message"].as_str().unwrap();
        if message.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            assert!(diagnostic["message"].as_str().unwrap().starts_with(message), "{}", context());
        }
        let start = client::offset_of(text, &diagnostic["range"]["start"]);
        let line = finding["line"].as_u64().or(finding["directive_line"].as_u64());
        let Some(line) = line else { continue };
        assert_eq!(text[..start].matches('\n').count() as u64 + 1, line, "{}", context());
        if let Some(column) = finding["column"].as_u64() {
            let before = text[..start].rsplit('\n').next().unwrap().trim_start_matches('\u{feff}');
            // Between the two characters of a line end there is no place.
            let is_end = text[start..].starts_with('\r');
            assert!(before.chars().count() as u64 + 1 == column || is_end, "{}", context());
        }
    }
}

#[test]
fn every_example_has_the_findings_of_the_command() {
    let mut client = Client::new(&[]);
    for (at, (path, text)) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).enumerate() {
        let name = format!("{at}.jsonl");
        let diagnostics = client.opened(&name, text);
        let findings = checked(client.folder(), &name, text);
        assert!(!findings.is_empty() || path.starts_with("valid/"), "{path}");
        assert_same(text, &diagnostics, &findings);
    }
    client.end();
}

#[test]
fn other_layouts_and_line_ends_have_their_places() {
    let bad = cascade();
    let packets: Vec<Value> = bad.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut client = Client::new(&[]);
    for (at, text) in [
        bad.replace('\n', "\r\n"),
        format!("\u{feff}{bad}"),
        serde_json::to_string_pretty(&packets).unwrap(),
        serde_json::to_string_pretty(&packets).unwrap().replace('\n', "\r\n"),
        packets.iter().map(|packet| serde_json::to_string_pretty(packet).unwrap() + "\n").collect(),
        format!("\u{feff}[\n{}\n]", packets.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n")),
        "{\"level\":\"info\"}\n".repeat(5),
        format!("{bad}{{\"\u{e9}\u{1f600}\": \0x\n{bad}"),
        "{\n\"header\": {\"packet_id\": ".to_owned(),
        String::new(),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("{at}.jsonl");
        let diagnostics = client.opened(&name, &text);
        assert_same(&text, &diagnostics, &checked(client.folder(), &name, &text));
    }
    client.end();
}

/// A consequence leads to its cause.
#[test]
fn a_consequence_names_the_packet_that_it_follows_from() {
    let text = cascade();
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", &text);
    let consequence = found.iter().find(|found| found["severity"] == 3).expect("a consequence");
    let related = &consequence["relatedInformation"][0];
    let cause = found.iter().find(|found| found["severity"] == 1).expect("a root cause");
    assert_eq!(related["location"]["uri"], client.uri("a.jsonl"));
    assert_eq!(related["location"]["range"]["start"]["line"], cause["range"]["start"]["line"]);
    client.end();
}

#[test]
fn the_configuration_of_the_workspace_holds() {
    let text = log(WARNED);
    let mut client = Client::new(&[]);
    let warned = client.opened("a.jsonl", text);
    assert_eq!(warned.len(), 1);
    let code = warned[0]["code"].as_str().unwrap().to_owned();
    let mut version = 1;
    let mut with = |client: &mut Client, config: Option<&str>| {
        let path = client.folder().join("omen.toml");
        match config {
            Some(config) => fs::write(&path, config).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        version += 1;
        client.change("a.jsonl", version, json!([{"text": text}]));
        client.diagnostics("a.jsonl", version)
    };
    assert!(with(&mut client, Some(&format!("[check]\nallow = [\"{code}\"]\n"))).is_empty());
    let denied = with(&mut client, Some("[check]\ndeny = [\"warnings\"] # longer\n"));
    assert!(denied.iter().any(|found| found["code"] == code && found["severity"] == 1), "{denied:?}");
    assert!(with(&mut client, Some("[check]\nstage = \"schema\"\n")).is_empty());
    let ignored = format!("[[ignore]]\ncode = \"{code}\"\npath = \"/a.jsonl\"\nreason = \"known\"\n");
    assert!(with(&mut client, Some(&ignored)).is_empty());
    assert_eq!(with(&mut client, Some(&ignored.replace("/a.", "/b."))).len(), 1);
    assert!(with(&mut client, Some("[check]\nmax-findings = 0\n"))[0]["message"].as_str().unwrap().contains("1 more"));
    // As the command, it refuses to check with half a configuration.
    let invalid = with(&mut client, Some("[check]\nalow = []\n"));
    let message = invalid[0]["message"].as_str().unwrap();
    assert!(message.contains("unknown key `check.alow`") && message.contains("did you mean"), "{message}");
    assert_eq!(invalid.len(), 1);
    let missing = with(&mut client, Some("[check]\nbaseline = \"known.json\"\n"));
    assert!(missing[0]["message"].as_str().unwrap().contains("cannot read the baseline"), "{missing:?}");
    assert_eq!(with(&mut client, None).len(), 1);
    client.end();
}

#[test]
fn known_findings_are_left_out() {
    let text = &cascade();
    let mut client = Client::new(&[("omen.toml", b"[check]\nbaseline = \"known.json\"\n")]);
    write(client.folder(), "a.jsonl", text.as_bytes());
    let run = run(omen(["check", "--write-baseline", "-q", "a.jsonl"]).current_dir(client.folder()));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(client.opened("a.jsonl", text).is_empty());
    // In every version again.
    client.change("a.jsonl", 2, json!([{"text": text}]));
    assert!(client.diagnostics("a.jsonl", 2).is_empty());
    assert!(!client.opened("b.jsonl", text).is_empty());
    client.end();
}

/// JSON of other programs is not a log with mistakes.
#[test]
fn only_logs_are_checked() {
    let package = "{\n  \"name\": \"x\",\n  \"version\": \"1.0.0\"\n}\n";
    let mut client = Client::new(&[]);
    assert!(client.opened("package.json", package).is_empty());
    assert!(client.opened("notes.txt", "{").is_empty());
    assert!(!client.opened("a.json", log(BAD)).is_empty());
    client.open_as("b.json", "omen-log", package);
    assert!(!client.diagnostics("b.json", 1).is_empty());
    client.end();
}

#[test]
fn a_document_that_is_too_long_has_one_diagnostic() {
    let mut client = Client::new(&[]);
    let long = log(BAD).repeat(17 * 1024 * 1024 / log(BAD).len());
    let found = client.opened("a.jsonl", &long);
    let message = found[0]["message"].as_str().unwrap();
    assert!(found.len() == 1 && message.contains("exceeds 16 MiB"), "{message}");
    // When it is shorter, it is checked.
    let everything = range(&position(0, 0), &position(1 << 30, 0));
    client.change("a.jsonl", 2, json!([{"range": everything, "text": log(BAD)}]));
    assert_same(log(BAD), &client.diagnostics("a.jsonl", 2), &checked(client.folder(), "a.jsonl", log(BAD)));
    client.end();
}

#[test]
fn more_findings_than_anybody_reads_are_counted() {
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", &"{\"header\":{}}\n".repeat(2000));
    assert_eq!(found.len(), 1001);
    let last = found.last().unwrap()["message"].as_str().unwrap();
    assert!(last.contains("more findings are not shown"), "{last}");
    client.end();
}

#[test]
fn a_closed_document_has_no_diagnostics() {
    let mut client = Client::new(&[]);
    assert!(!client.opened("a.jsonl", log(BAD)).is_empty());
    let id = json!({"textDocument": {"uri": client.uri("a.jsonl")}});
    client.notify("textDocument/didClose", id);
    assert_eq!(client.published()["diagnostics"], json!([]));
    client.end();
}
