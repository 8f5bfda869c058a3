//! Fixes that the editor offers.

use serde_json::json;

use super::*;

/// The actions at a range, of some kinds.
#[track_caller]
fn actions(client: &mut Client, range: &Value, only: &Value) -> Vec<Value> {
    let uri = client.uri("a.jsonl");
    let context = json!({"diagnostics": [], "only": only});
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
    client.request("textDocument/codeAction", params).as_array().unwrap().clone()
}

/// A text after an action on its version.
#[track_caller]
fn after(text: &str, action: &Value, version: i64) -> String {
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["version"], version);
    client::applied(text, &change["edits"])
}

#[test]
fn a_finding_has_its_fix() {
    let text = changed(GOOD, "\"ACT\"", "\"act\"");
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", &text);
    let root = found.iter().find(|found| found["severity"] == 1).unwrap();
    let [fix] = &actions(&mut client, &root["range"], &json!(["quickfix"]))[..] else { panic!("one fix") };
    assert_eq!((fix["kind"].as_str(), &fix["isPreferred"]), (Some("quickfix"), &json!(true)));
    assert_eq!(fix["title"], "Replace `\"act\"` by `\"ACT\"`");
    assert_eq!(after(&text, fix, 1), log(GOOD));
    // Elsewhere there is none.
    assert!(actions(&mut client, &range(&position(0, 0), &position(0, 0)), &json!(["quickfix"])).is_empty());
    client.end();
}

#[test]
fn an_unsafe_fix_says_so() {
    let text = changed(GOOD, ",\"correlation_id\":\"corr_support_invoice_4471\"", "");
    let mut client = Client::new(&[]);
    let found = client.opened("a.jsonl", &text);
    let root = found.iter().find(|found| found["severity"] == 1).unwrap();
    let [fix] = &actions(&mut client, &root["range"], &Value::Null)[..] else { panic!("one fix") };
    assert_eq!(fix["isPreferred"], false);
    assert!(fix["title"].as_str().unwrap().contains("unsafe"), "{fix}");
    let uri = client.uri("a.jsonl");
    let fixed = after(&text, fix, 1);
    client.change("a.jsonl", 2, json!([{"text": fixed}]));
    assert!(client.diagnostics("a.jsonl", 2).is_empty(), "{uri}");
    client.end();
}

/// All safe fixes at once are those of `omen check --fix`.
#[test]
fn all_fixes_are_those_of_the_command() {
    let twice = changed(GOOD, "\"ACT\"", "\"act\"").replacen("\"packet_type\"", "\"packetType\"", 1);
    for text in [
        twice.clone(),
        twice.replace('\n', "\r\n"),
        format!("\u{feff}{twice}"),
        format!("```json\n{}```\n", log(GOOD)),
        format!("```json\r\n{}```", log(GOOD).replace('\n', "\r\n")),
        twice.trim_end().to_owned(),
    ] {
        let mut client = Client::new(&[("a.jsonl", text.as_bytes())]);
        client.open("a.jsonl", &text);
        let all = actions(&mut client, &range(&position(0, 0), &position(0, 0)), &json!(["source.fixAll"]));
        let [fix] = &all[..] else { panic!("one action: {all:?}") };
        assert_eq!(fix["kind"], "source.fixAll.omen");
        run(omen(["check", "--fix", "a.jsonl"]).current_dir(client.folder()));
        let expected = fs::read_to_string(client.folder().join("a.jsonl")).unwrap();
        assert!(expected != text);
        assert_eq!(after(&text, fix, 1), expected);
        client.end();
    }
}

/// `omen check --fix` leaves these alone.
#[test]
fn what_the_command_does_not_fix_is_not_offered() {
    let broken = changed(GOOD, "\"ACT\"", "\"act\"");
    let packets: Vec<Value> = broken.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let everything = range(&position(0, 0), &position(9999, 0));
    for text in [log(GOOD).to_owned(), log(BAD).to_owned(), serde_json::to_string_pretty(&packets).unwrap()] {
        let mut client = Client::new(&[]);
        client.open("a.jsonl", &text);
        assert_eq!(actions(&mut client, &everything, &Value::Null), [] as [Value; 0]);
        client.end();
    }
}

/// A client that knows no versions in edits.
#[test]
fn edits_have_the_form_that_the_client_knows() {
    let text = changed(GOOD, "\"ACT\"", "\"act\"");
    let mut client = Client::with(&[], json!({}));
    client.open("a.jsonl", &text);
    let all = actions(&mut client, &range(&position(0, 0), &position(0, 0)), &json!(["source"]));
    let uri = client.uri("a.jsonl");
    assert_eq!(client::applied(&text, &all[0]["edit"]["changes"][&uri]), log(GOOD));
    client.end();
}
