//! What a proxy that only observes writes.

use omen_proxy::episode::Mode;
use serde_json::{Value, json};

use super::play::play;

fn call(tool: &str, args: Value) -> Value {
    json!({"call": tool, "arguments": args})
}

/// The packets of each episode, in short, and what each is about.
fn episodes(log: &[Value]) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for packet in log {
        let id = packet["header"]["correlation_id"].as_str().unwrap().to_owned();
        let payload = &packet["payload"];
        let about = ["observation_type", "decision_outcome", "tool_safety_class", "result_status"];
        let about = about.iter().find_map(|member| payload[*member].as_str()).unwrap_or_default();
        let text = format!("{} {about}", packet["header"]["packet_type"].as_str().unwrap());
        match all.iter_mut().find(|(known, _)| *known == id) {
            Some((_, packets)) => packets.push(text.trim_end().to_owned()),
            None => all.push((id, vec![text.trim_end().to_owned()])),
        }
    }
    all
}

#[tokio::test]
async fn a_call_is_an_episode_with_what_was_seen_of_it_and_the_ruling_of_the_gate() {
    let confirmed = json!({"call": "ask", "arguments": {"x": "tea"}, "user": "yes"});
    let lines =
        [call("read", json!({"x": 1})), confirmed, call("unlisted", json!({})), call("write", json!({"x": "fail"}))];
    let played = play(Mode::Observe, &lines).await;
    let log = played.log.all();
    let packets: Vec<_> = episodes(&log).into_iter().map(|(_, packets)| packets).collect();
    let asked = "ObservationPacket intel_update";
    let (belief, act) = ("BeliefUpdatePacket", "DecisionPacket ACT");
    let (token, output) = ("ToolAuthorizationToken", "ObservationPacket tool_output");
    let read = "TaskDirectivePacket READ";
    let write = "TaskDirectivePacket WRITE";
    assert_eq!(
        packets,
        [
            vec![asked, belief, act, read, "TaskResultPacket SUCCESS", output, belief],
            vec![
                asked,
                "ObservationPacket user_input",
                belief,
                act,
                token,
                write,
                "TaskResultPacket SUCCESS",
                output,
                belief
            ],
            vec![asked, belief, "DecisionPacket CANCEL", belief],
            vec![asked, belief, act, token, write, "TaskResultPacket FAILURE", output, belief],
        ]
    );
    assert_eq!(played.log.findings().len(), 0);
    let ids: Vec<_> = episodes(&log).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["corr_session-1", "corr_session-2", "corr_session-3", "corr_session-4"]);
    assert!(log.iter().all(|packet| packet["header"]["campaign_id"] == "camp_session"));
    let issued = log.iter().find(|packet| packet["header"]["packet_type"] == token).unwrap();
    assert_eq!(issued["payload"]["authorized_scope"]["tool_ids"], json!(["s/ask"]));
    assert_eq!(issued["payload"]["max_usage_count"], 1);
    assert!(issued["payload"]["rationale"].as_str().unwrap().ends_with("confirmed via test"), "{issued}");
}

/// What nobody has stated is marked as that.
#[tokio::test]
async fn what_the_wire_does_not_say_is_not_made_up() {
    let played = play(Mode::Observe, &[call("read", json!({"x": 1}))]).await;
    for packet in played.log.all() {
        let mcp = &packet["mcp"];
        assert_eq!(mcp["intent"], json!({"summary": "not stated", "scope": "not stated"}));
        assert_eq!(mcp["quality"]["definition_of_done"]["text"], "not stated");
        assert_eq!(mcp["budgets"]["risk_budget"], json!({"envelope": "not stated", "max_loss": "not stated"}));
        let by_proxy = ["OBSERVED", "DERIVED"];
        assert!(by_proxy.contains(&mcp["epistemics"]["status"].as_str().unwrap()), "{packet}");
    }
    let result = &played.log.all()[4]["payload"];
    assert_eq!(result["result_data"]["content"][0]["text"], r#"{"x":1}"#);
    assert_eq!(result["execution_metadata"], json!({"tokens_used": 0, "tool_calls_used": 1}));
}

/// The client gets the same lists and answers as without an episode.
#[tokio::test]
async fn nothing_that_would_pass_is_refused() {
    let lines = [call("omen_observe", json!({})), call("write", json!({"x": 1})), call("write", json!({"x": 2}))];
    let played = play(Mode::Observe, &lines).await;
    assert_eq!(played.made, ["write", "write"]);
    assert_eq!(played.results[0]["_meta"]["omen/decision"]["code"], "PG-2");
}
