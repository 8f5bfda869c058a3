//! Diagnostics of `omen.toml` and `gate.toml`.

use super::*;

/// The part of a text that a diagnostic marks.
fn marked<'t>(text: &'t str, diagnostic: &Value) -> &'t str {
    let [start, end] = ["start", "end"].map(|side| client::offset_of(text, &diagnostic["range"][side]));
    &text[start..end]
}

#[test]
fn mistakes_in_omen_toml_are_found_while_typing() {
    let mut client = Client::new(&[]);
    let text = "[check]\nalow = [\"INV-011\"]\nstage = 'pakcet' # \u{e9}\n\n[[ignore]]\ncode = \"INV-999\"\n";
    let found = client.opened("omen.toml", text);
    let marks: Vec<_> = found.iter().map(|found| marked(text, found)).collect();
    assert_eq!(marks, ["alow", "'pakcet'", "[[ignore]]", "\"INV-999\""], "{found:#?}");
    write(client.folder(), "omen.toml", text.as_bytes());
    let run = run(omen(["check", "a.jsonl"]).current_dir(client.folder()));
    for one in &found {
        let (message, help) = one["message"].as_str().unwrap().split_once("\nhelp: ").unwrap();
        assert!(run.stderr.contains(&format!("{message}; {help}")), "{message}: {}", run.stderr);
        assert_eq!(one["severity"], 1);
    }
    let range = range(&position(0, 0), &position(99, 0));
    client.change("omen.toml", 2, serde_json::json!([{"range": range, "text": "[check]\nallow = []\n"}]));
    assert!(client.diagnostics("omen.toml", 2).is_empty());
    client.change("omen.toml", 3, serde_json::json!([{"text": "[check"}]));
    assert_eq!(client.diagnostics("omen.toml", 3).len(), 1);
    client.end();
}

/// What `omen gate check` says, with its warnings.
#[test]
fn gate_toml_has_the_findings_of_the_command() {
    let sample = omen_gate::config::SAMPLE;
    for text in
        [sample.to_owned(), sample.replacen("[limits]", "[limit]", 1), String::new(), "a = \u{1f600}".to_owned()]
    {
        let mut client = Client::new(&[("gate.toml", text.as_bytes())]);
        let found = client.opened("gate.toml", &text);
        let run = run(omen(["gate", "check", "--format", "json"]).current_dir(client.folder().canonicalize().unwrap()));
        let report: Value = serde_json::from_str(&run.stdout).expect("a report");
        let expected = report["findings"].as_array().unwrap();
        assert!(!expected.is_empty());
        assert_eq!(found.len(), expected.len(), "{found:#?}{expected:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found["severity"], if expected["severity"] == "error" { 1 } else { 2 });
            let line = expected["line"].as_u64().map_or(0, |line| line - 1);
            assert_eq!(found["range"]["start"]["line"], line, "{expected}");
            // Paths of files are relative to the command, and absolute in an editor.
            let message = found["message"].as_str().unwrap();
            let first = expected["message"].as_str().unwrap().split('`').next().unwrap().to_owned();
            assert!(message.starts_with(&first), "{message}: {expected}");
        }
        client.end();
    }
}
