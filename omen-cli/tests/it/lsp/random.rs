//! Random edits: the text of the server stays that of the client, and the diagnostics are those of the command.

use omen_testkit::proofs::Proofs;
use serde_json::json;

use super::findings::{assert_same, checked};
use super::*;
use crate::formats::hostile::Random;

const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\t",
    "1",
    "null",
    "act",
    "\\",
    "\u{e9}",
    "\u{1f600}",
    "\u{feff}",
    "\0",
    "```",
    "\"packet_id\"",
    "pkt_1",
    "2026-03-02T09:14:13Z",
    "\u{2028}",
];

const LOGS: &[&str] = &[GOOD, "valid/verify-then-write.jsonl", BAD, WARNED];

/// A place between two characters that are not a line end.
fn random_place(random: &mut Random, text: &str) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) || (text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
        at += 1;
    }
    at
}

/// Changes a text, and returns the change as the protocol has it.
fn edit(random: &mut Random, text: &mut String) -> Value {
    let start = random_place(random, text);
    let mut end = match random.below(4) {
        0 => start,
        1 => text.len().min(start + random.below(12)),
        2 => text[start..].find('\n').map_or(text.len(), |at| start + at + 1),
        _ => text.len().min(start + 1),
    };
    while !text.is_char_boundary(end) || (text[..end].ends_with('\r') && text[end..].starts_with('\n')) {
        end += 1;
    }
    let line = || log(GOOD).lines().nth(1).unwrap().to_owned() + "\n";
    let new = match random.below(10) {
        0 => line(),
        1..4 => String::new(),
        _ => (0..=random.below(3)).map(|_| PIECES[random.below(PIECES.len())]).collect(),
    };
    let range = range(&client::position_of(text, start), &client::position_of(text, end));
    text.replace_range(start..end, &new);
    json!({"range": range, "text": new})
}

#[test]
fn after_random_edits_text_and_diagnostics_are_right() {
    let (edits, checks) = Proofs::wanted().choose((400, 20), (10_000, 25));
    let mut random = Random(33);
    let mut client = Client::new(&[]);
    let mut text = String::new();
    client.open("a.jsonl", &text);
    let (mut version, mut done) = (1, 0);
    while done < edits {
        // A new text now and then, so that packets remain.
        let mut changes = Vec::new();
        if version % 40 == 1 {
            text = log(LOGS[random.below(LOGS.len())]).to_owned();
            if random.below(3) == 0 {
                text = text.replace('\n', "\r\n");
            }
            changes.push(json!({"text": text}));
        }
        for _ in 0..=random.below(3) {
            changes.push(edit(&mut random, &mut text));
            done += 1;
        }
        version += 1;
        client.change("a.jsonl", version, changes.into());
        if version % checks == 0 || done >= edits {
            let uri = client.uri("a.jsonl");
            let kept = client.request("omen/viewFileText", json!({"textDocument": {"uri": uri}}));
            assert_eq!(kept, text.as_str());
            let diagnostics = client.diagnostics("a.jsonl", version);
            assert_same(&text, &diagnostics, &checked(client.folder(), "a.jsonl", &text));
        }
    }
    client.end();
}

/// Of changes that come faster than they are checked, some are left out; what is published is right for its version.
#[test]
fn diagnostics_are_those_of_their_version() {
    let mut random = Random(7);
    let mut client = Client::new(&[]);
    let mut text = cascade();
    client.open("a.jsonl", &text);
    let mut texts = vec![String::new(), text.clone()];
    for version in 2..120 {
        let change = edit(&mut random, &mut text);
        client.change("a.jsonl", version, json!([change]));
        texts.push(text.clone());
        // Requests between them see the newest text.
        if version % 10 == 0 {
            let uri = client.uri("a.jsonl");
            assert_eq!(client.request("omen/viewFileText", json!({"textDocument": {"uri": uri}})), text.as_str());
        }
    }
    let mut latest = 0;
    let mut count = 0;
    while latest < 119 {
        let published = client.published();
        let version = published["version"].as_i64().unwrap();
        assert!(version > latest, "{version} after {latest}");
        latest = version;
        count += 1;
        if count < 8 || version == 119 {
            let text = &texts[usize::try_from(version).unwrap()];
            let findings = checked(client.folder(), "a.jsonl", text);
            assert_same(text, published["diagnostics"].as_array().unwrap(), &findings);
        }
    }
    client.end();
}

/// No request fails at any place of a text that is being typed.
#[test]
fn requests_at_random_places_have_results() {
    let mut random = Random(21);
    let mut client = Client::new(&[]);
    let mut text = cascade();
    client.open("a.jsonl", &text);
    for version in 2..Proofs::wanted().choose(80, 1_000) {
        let change = edit(&mut random, &mut text);
        client.change("a.jsonl", version, json!([change]));
        let place = random_place(&mut random, &text);
        let at = client::position_of(&text, place);
        for method in ["textDocument/hover", "textDocument/completion", "textDocument/definition"] {
            client.at(method, "a.jsonl", &at);
        }
        let uri = client.uri("a.jsonl");
        let id = json!({"uri": uri});
        client.request("textDocument/documentSymbol", json!({"textDocument": id}));
        let context = json!({"diagnostics": []});
        let params = json!({"textDocument": id, "range": range(&at, &at), "context": context});
        client.request("textDocument/codeAction", params);
    }
    client.end();
}
