//! What the audit log has of what an episode refuses (D76).

use omen_proxy::episode::Mode;
use serde_json::{Value, json};

use super::play::{play, transcripts};

/// Each call of a transcript, in the order in which it was made.
fn calls(lines: &[Value]) -> Vec<Value> {
    let of = |line: &Value| match line["together"].as_array() {
        Some(calls) => calls.clone(),
        None if line.get("call").is_some() => vec![line.clone()],
        None => Vec::new(),
    };
    lines.iter().flat_map(of).collect()
}

/// Every refusal of an episode, of a call and of a proposal, has one entry: its own code, its tool, its turn, and what was
/// proposed.
#[tokio::test]
async fn g4_each_refusal_of_an_episode_is_an_entry_with_its_own_code_and_tool() {
    let (mut refusals, mut proposals) = (0, 0);
    for (name, lines) in transcripts() {
        let played = play(Mode::Enforce, &lines).await;
        let refused: Vec<_> = played.audit.iter().filter(|entry| entry["data"]["stage"] == "episode").collect();
        let results = played.results.iter().zip(calls(&lines));
        let read: Vec<_> = results.filter(|(result, _)| result["structuredContent"]["accepted"] == false).collect();
        assert_eq!(refused.len(), read.len(), "{name}: {refused:?}");
        // Of calls that are made at once, either may be first.
        for (result, call) in read {
            let decision = &result["structuredContent"];
            let turn = decision["turn"].as_str().unwrap();
            let entry = refused.iter().find(|entry| entry["turn"] == turn).unwrap_or_else(|| panic!("{name} {turn}"));
            let data = &entry["data"];
            assert_eq!(data["code"], decision["code"], "{name}: {entry}");
            assert_eq!(data["outcome"], "denied", "{name}: {entry}");
            assert_eq!(data["tool"], json!({"server": "s", "tool": call["call"]}), "{name}: {entry}");
            assert_eq!(data["ran"], decision["ran"], "{name}: {entry}");
            assert_eq!(entry["correlation_id"], "corr_session", "{name}: {entry}");
            let own = call["call"].as_str().unwrap().starts_with("omen_");
            assert_eq!(data["call"].is_string(), !own, "{name}: {entry}");
            if let Some(outcome) = call["arguments"]["decision_outcome"].as_str() {
                let stops = ["DEFER", "CANCEL"].contains(&outcome);
                let event = if stops { "stop".to_owned() } else { outcome.to_lowercase() };
                assert_eq!(data["proposal"], format!("decide_{event}"), "{name}: {entry}");
                proposals += 1;
            }
            refusals += 1;
        }
        // No refusal of the episode stands under a rule of the gate.
        let as_gate = |entry: &&Value| entry["data"]["why"].as_str().is_some_and(|why| why.contains("episode refuses"));
        assert_eq!(played.audit.iter().filter(as_gate).count(), 0, "{name}");
    }
    assert!(refusals > 40 && proposals > 8, "{refusals} {proposals}");
}

/// What a model has written is in no entry.
#[tokio::test]
async fn a_refused_proposal_is_recorded_without_its_words() {
    let secret = "4111-1111-1111";
    let lines = [
        json!({"call": "omen_observe", "arguments": {"observation_type": secret, "data": {}}}),
        json!({"call": "omen_decide", "arguments": {"decision_outcome": secret}}),
        json!({"call": "omen_state", "arguments": {"x": secret}}),
        json!({"call": "read", "arguments": {"x": secret}}),
    ];
    let played = play(Mode::Enforce, &[&[json!({"budget": {}})], &lines[..]].concat()).await;
    let refused: Vec<_> = played.audit.iter().filter(|entry| entry["data"]["stage"] == "episode").collect();
    assert_eq!(refused.len(), lines.len(), "{:?}", played.audit);
    for entry in &played.audit {
        assert!(!entry.to_string().contains(secret), "{entry}");
    }
}
