//! Names, values and ids that can be typed.

use super::*;

/// The labels of what is offered at `|` in a text, and the text after the choice of one of them.
#[track_caller]
fn complete(marked: &str, choice: &str) -> (Vec<String>, String) {
    let text = marked.replacen('|', "", 1);
    let at = client::position_of(&text, marked.find('|').expect("a place"));
    let mut client = Client::new(&[]);
    client.open("a.jsonl", &text);
    let list = client.at("textDocument/completion", "a.jsonl", &at);
    client.end();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let labels: Vec<_> = items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect();
    let chosen = items.iter().find(|item| item["label"] == choice).unwrap_or_else(|| panic!("{choice}: {labels:?}"));
    (labels, client::applied(&text, &Value::Array(vec![chosen["textEdit"].clone()])))
}

/// A log whose second packet is a new one, up to `|`.
fn typed(packet: &str) -> String {
    format!("{}{packet}\n", log("valid/verify-then-write.jsonl"))
}

#[test]
fn names_of_fields_are_those_of_the_packet_type() {
    let (labels, text) = complete("{\"header\": {\"packet_id\": \"pkt_1\", \"pack|\"}}", "packet_type");
    assert!(!labels.contains(&"packet_id".to_owned()) && labels.contains(&"created_at".to_owned()), "{labels:?}");
    assert_eq!(text, "{\"header\": {\"packet_id\": \"pkt_1\", \"packet_type\": }}");
    let (labels, text) = complete("{\"h|\": {}}", "header");
    assert_eq!((labels, text.as_str()), (vec!["header".into(), "mcp".into(), "payload".into()], "{\"header\": {}}"));
    let directive = "{\"header\": {\"packet_type\": \"TaskDirectivePacket\"}, \"payload\": {|}}";
    let (labels, text) = complete(directive, "execution_method");
    assert_eq!(labels[0], "task_id");
    assert!(text.ends_with("\"payload\": {\"execution_method\": }}"), "{text}");
}

#[test]
fn values_are_those_of_the_schema() {
    let directive = "{\"header\": {\"packet_type\": \"TaskDirectivePacket\"}, \"payload\": {\"tool_safety_class\": |}}";
    let (labels, text) = complete(directive, "WRITE");
    assert_eq!(labels, ["READ", "WRITE", "MIXED"]);
    assert!(text.ends_with("\"tool_safety_class\": \"WRITE\"}}"), "{text}");
    let (labels, text) = complete("{\"header\": {\"packet_type\": \"|\"}}", "DecisionPacket");
    assert_eq!((labels.len(), text.as_str()), (10, "{\"header\": {\"packet_type\": \"DecisionPacket\"}}"));
    let (labels, text) = complete("{\"header\": {\"layer_source\": 1|}}", "5");
    assert!(labels.contains(&"Integrity".to_owned()), "{labels:?}");
    assert_eq!(text, "{\"header\": {\"layer_source\": 5}}");
}

/// References are completed by what the log has; what must be new is not.
#[test]
fn ids_are_those_of_the_log() {
    let packet =
        "{\"header\": {\"packet_type\": \"TaskDirectivePacket\"}, \"payload\": {\"authorization_token_id\": \"|\"}}";
    let token = typed("").split("\"token_id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let (labels, text) = complete(&typed(packet), &token);
    assert_eq!(labels, std::slice::from_ref(&token));
    assert!(text.contains(&format!("\"authorization_token_id\": \"{token}\"")), "{text}");
    let packets = log("valid/verify-then-write.jsonl").lines().count();
    let last = "{\"header\": {\"previous_packet_id\": \"|\"}}";
    let first: Value = serde_json::from_str(log("valid/verify-then-write.jsonl").lines().next().unwrap()).unwrap();
    let episode = first["header"]["correlation_id"].as_str().unwrap();
    let (labels, _) = complete(&typed("{\"header\": {\"correlation_id\": |}}"), episode);
    assert_eq!(labels, [episode]);
    let (labels, _) = complete(&typed(last), first["header"]["packet_id"].as_str().unwrap());
    assert_eq!(labels.len(), packets);
    // The latest one comes first.
    assert_eq!(labels.last().unwrap(), first["header"]["packet_id"].as_str().unwrap());
}

#[test]
fn a_new_id_is_not_completed() {
    let text = typed("{\"header\": {\"packet_id\": \"\"}}");
    let mut client = Client::new(&[]);
    client.open("a.jsonl", &text);
    let at = client::position_of(&text, text.rfind("\"\"").unwrap() + 1);
    let list = client.at("textDocument/completion", "a.jsonl", &at);
    assert_eq!(list["items"], serde_json::json!([]));
    client.end();
}
