//! Episodes of a session with several servers: their tools have the names that the client knows.

use omen_proxy::episode::{Mode, Recording};
use serde_json::{Value, json};

use super::play::{Lines, first_calls};
use crate::several::world::{Pair, proxy};
use crate::support::{Seen, entries};

async fn begun(mode: Mode) -> (Pair, Seen, Seen, Lines) {
    let log = Lines::default();
    let (pair, a, b) = Pair::begun(proxy().episode(Recording::new(mode, log.clone()))).await;
    (pair, a, b, log)
}

/// A first call of a tool of the episode, with some of its arguments in place of others.
fn own(name: &str, with: Value) -> Value {
    let (_, mut args) = first_calls().into_iter().find(|(own, _)| own == name).unwrap();
    for (member, value) in with.as_object().unwrap() {
        args[member] = value.clone();
    }
    args
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_tools_of_the_episode_are_listed_once_beside_those_of_all_servers() {
    let (mut pair, ..) = begun(Mode::Enforce).await;
    let listed = pair.client.ask(1, "tools/list", json!({})).await;
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let own = ["omen_observe", "omen_believe", "omen_decide", "omen_plan", "omen_escalate", "omen_state"];
    let of_servers = ["a__read", "a__write", "a__ask", "b__read", "b__ask"];
    assert_eq!(names, [&of_servers[..], &own].concat());
    pair.close().await;
}

#[tokio::test]
async fn a_decision_names_tools_as_the_client_does_and_covers_those_of_no_other_server() {
    let (mut pair, a, b, log) = begun(Mode::Enforce).await;
    let refused = pair.client.call(1, "a__write", json!({"x": "tea"})).await;
    assert!(text(&refused).contains("The tool was not called."), "{refused}");
    for (id, name, with) in [(2, "omen_observe", json!({})), (3, "omen_believe", json!({}))] {
        let answer = pair.client.call(id, name, own(name, with)).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let tools = |tool: &str| json!({"tools": [{"tool": tool, "operations": ["write"]}]});
    for (id, unknown) in [(4, "write"), (5, "b__write"), (6, "c__write"), (7, "a/write")] {
        let answer = pair.client.call(id, "omen_decide", own("omen_decide", tools(unknown))).await;
        assert_eq!(answer["result"]["isError"], true, "{unknown}: {answer}");
        assert!(text(&answer).contains(&format!("`{unknown}` is not a tool")), "{answer}");
    }
    let decided = pair.client.call(8, "omen_decide", own("omen_decide", tools("a__write"))).await;
    assert_eq!(decided["result"]["isError"], false, "{decided}");
    // Nobody confirms it, but the episode refuses first.
    let outside = pair.client.call(9, "b__ask", json!({"x": "tea"})).await;
    assert!(text(&outside).contains("the decision names `a__write`, so `b__ask` is outside of it"), "{outside}");
    // A tool of a server is none of the episode, whatever it is named.
    let named = pair.client.call(10, "a__omen_state", json!({})).await;
    assert_eq!(crate::support::refusal(&named), "PG-2", "{named}");
    assert!(pair.client.call(11, "a__write", json!({"x": "tea"})).await["result"].get("isError").is_none());
    assert_eq!((a.calls().len(), b.calls().len()), (1, 0));
    let (_, audit) = pair.close().await;
    assert!(log.findings().is_empty(), "{:?}", log.findings());
    let directive = log.all().into_iter().find(|packet| packet["header"]["packet_type"] == "TaskDirectivePacket");
    assert_eq!(directive.unwrap()["payload"]["execution_method"]["tool_id"], "a/write");
    let refused: Vec<_> = entries(&audit)
        .into_iter()
        .filter(|entry| entry["data"]["stage"] == "episode")
        .map(|entry| entry["data"]["tool"].clone())
        .collect();
    let of = |server: &str, tool: &str| json!({"server": server, "tool": tool});
    let own = of("omen-gate", "omen_decide");
    assert_eq!(refused, [of("a", "write"), own.clone(), own.clone(), own.clone(), own, of("b", "ask")]);
}

#[tokio::test]
async fn each_call_of_each_server_is_an_episode_that_names_it() {
    let (mut pair, .., log) = begun(Mode::Observe).await;
    for (id, name) in [(1, "a__read"), (2, "b__read")] {
        assert!(pair.client.call(id, name, json!({"x": id})).await["result"].get("isError").is_none());
    }
    assert_eq!(crate::support::refusal(&pair.client.call(3, "b__write", json!({})).await), "PG-3");
    pair.close().await;
    assert!(log.findings().is_empty(), "{:?}", log.findings());
    let all = log.all();
    let tools: Vec<_> = all
        .iter()
        .filter(|packet| packet["header"]["packet_type"] == "TaskDirectivePacket")
        .map(|packet| packet["payload"]["execution_method"]["tool_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(tools, ["a/read", "b/read"]);
    let mut episodes: Vec<_> = all.iter().map(|packet| packet["header"]["correlation_id"].clone()).collect();
    episodes.dedup();
    assert_eq!(episodes.len(), 3, "{episodes:?}");
}
