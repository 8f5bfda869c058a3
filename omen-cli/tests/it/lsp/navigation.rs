//! Go to definition, and symbols.

use serde_json::json;

use super::*;

/// The line that a definition is in; of none, `None`.
#[track_caller]
fn definition(client: &mut Client, at: &Value) -> Option<u64> {
    let found = client.at("textDocument/definition", "a.jsonl", at);
    let uri = client.uri("a.jsonl");
    assert!(found.is_null() || found["uri"] == uri, "{found}");
    found["range"]["start"]["line"].as_u64()
}

/// The line with a text, from 0.
fn line_with(text: &str, what: &str) -> u64 {
    text.lines().position(|line| line.contains(what)).unwrap() as u64
}

#[test]
fn a_reference_leads_to_the_packet_that_it_names() {
    let text = log("valid/verify-then-write.jsonl");
    let mut client = Client::new(&[]);
    client.open("a.jsonl", text);
    let token = line_with(text, "\"packet_type\":\"ToolAuthorizationToken\"");
    assert_eq!(definition(&mut client, &place(text, "\"authorization_token_id\":\"", 28)), Some(token));
    let result = place(text, "\"directive_packet_id\":\"", 25);
    let directive = line_with(text, "\"packet_type\":\"TaskDirectivePacket\"");
    assert_eq!(definition(&mut client, &result), Some(directive));
    let last = text.lines().last().unwrap();
    let episode = client::position_of(text, text.rfind(last).unwrap() + last.find("\"corr_").unwrap() + 2);
    assert_eq!(definition(&mut client, &episode), Some(0));
    // Its own id, and a place without one.
    assert_eq!(definition(&mut client, &place(text, "\"pkt_", 2)), None);
    assert_eq!(definition(&mut client, &position(0, 0)), None);
    client.end();
}

#[test]
fn a_consequence_leads_to_its_cause() {
    let text = &cascade();
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", text);
    let consequence = found.iter().find(|found| found["severity"] == 3).expect("a consequence");
    let cause = consequence["relatedInformation"][0]["location"]["range"]["start"]["line"].as_u64();
    let start = consequence["range"]["start"]["line"].as_u64().unwrap();
    assert_eq!(definition(&mut client, &position(usize::try_from(start).unwrap(), 0)), cause);
    client.end();
}

#[test]
fn packets_are_listed_by_episode() {
    let [one, other] = ["valid/read-only.jsonl", "valid/verify-then-write.jsonl"].map(log);
    // Interleaved.
    let mut lines: Vec<&str> = Vec::new();
    let (mut left, mut right) = (one.lines(), other.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (one, other) => lines.extend(one.into_iter().chain(other)),
        }
    }
    let text = lines.join("\n") + "\n{\"header\": {";
    let ask = |client: &mut Client| {
        client.open("a.jsonl", &text);
        let uri = client.uri("a.jsonl");
        client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}))
    };
    let mut client = Client::new(&[]);
    let symbols = ask(&mut client);
    client.end();
    let symbols = symbols.as_array().unwrap();
    let counts: Vec<_> = symbols.iter().map(|symbol| symbol["children"].as_array().map(Vec::len)).collect();
    assert_eq!(counts, [None, Some(one.lines().count()), Some(other.lines().count())]);
    assert_eq!(symbols[1]["name"], "corr_support_invoice_4471");
    assert_eq!(symbols[1]["children"][0]["name"], "ObservationPacket");
    assert_eq!(symbols[1]["children"][1]["range"]["start"]["line"], 2);
    // A client that knows flat lists alone.
    let mut client = Client::with(&[], json!({}));
    let symbols = ask(&mut client);
    client.end();
    assert_eq!(symbols.as_array().unwrap().len(), lines.len() + 1);
    assert_eq!(symbols[0]["containerName"], "corr_support_invoice_4471");
    assert_eq!(symbols[0]["location"]["range"]["start"], position(0, 0));
}
