//! Order rules behind the proxy: what a session owes, and whose calls count.

mod evasions;
mod story;
mod worked;

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::ServerLimits;
use omen_mcp::http::server::HttpLimits;
use omen_proxy::episode::{Mode, Recording};
use omen_proxy::error::NotServed;
use omen_proxy::{Proxy, ProxyBuilder, Source, Transport};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex, split};

use crate::episode::play::Lines;
use crate::http::world::{Http, local, until};
use crate::rounds::meta;
use crate::support::{Seen, World, config_with, refusal, serve};

fn proxy(more: &str, keys: fn(&str) -> &'static str) -> ProxyBuilder {
    let more = format!("[order]\ngather = '0s'\n{more}");
    Proxy::builder(config_with(&more, "full", keys), "session".parse().unwrap())
}

#[tokio::test]
async fn what_a_session_owes_is_in_each_refusal_and_a_warning_at_its_end() {
    let owes = |name: &str| if name == "read" { "before_end = ['write']" } else { "" };
    let (mut world, _) = World::begun(proxy("", owes)).await;
    let read = world.client.call(1, "read", json!({})).await;
    assert!(read["result"].get("isError").is_none(), "{read}");
    let refused = world.client.call(2, "ungranted", json!({})).await;
    assert_eq!(refusal(&refused), "G1", "{refused}");
    assert!(refused.to_string().contains("Still owed before the end: `s/write` for 1 call (entry "), "{refused}");
    let logs = world.logs.clone();
    world.close().await;
    let owed: Vec<_> = logs.lines().into_iter().filter(|line| line.contains("O-4")).collect();
    let [owed] = owed.as_slice() else { panic!("{owed:?}") };
    assert!(owed.contains("the session `session` has ended. Still owed before the end: `s/write`"), "{owed}");
}

#[tokio::test]
async fn a_rule_per_turn_is_an_error_where_each_call_is_a_turn() {
    let per_turn = |name: &str| if name == "write" { "after = [{ tool = 'read', per = 'turn' }]" } else { "" };
    let none = || Err::<(DuplexStream, DuplexStream), _>(Fault::unreachable("it is not needed"));
    let source = Source::streams(ServerLimits::default(), none);
    let proxy = proxy("", per_turn).server("s".parse().unwrap(), source).build().unwrap();
    let (input, output) = split(duplex(64).0);
    let error = proxy.serve(Transport::streams(input, output), async {}).await.unwrap_err();
    let NotServed::Turns(rule) = &error else { panic!("{error}") };
    assert!(rule.ends_with(".after[0]"), "{rule}");
    assert_eq!(error.help(), "write `per = \"session\"`, or set `user_turn` in `[budget]`");
}

/// A turn of the user may have several calls.
#[tokio::test]
async fn a_rule_may_be_per_turn_of_the_user() {
    let per_turn = |name: &str| if name == "write" { "after = [{ tool = 'read', per = 'turn' }]" } else { "" };
    World::begun(proxy("[budget]\nuser_turn = 'turn'\n", per_turn)).await.0.close().await;
}

#[tokio::test]
async fn clients_without_sessions_are_one_session() {
    let read_first = |name: &str| if name == "write" { "after = ['read']" } else { "" };
    let mut limits = HttpLimits::default();
    limits.idle = Duration::from_millis(40);
    let (http, _) = Http::limited(proxy("", read_first), local(), limits).await;
    let call = |tool: &'static str| {
        let client = http.client.clone();
        // Each request is a connection of its own.
        async move {
            let params = json!({ "name": tool, "arguments": {} });
            client.ask_modern(json!(1), "tools/call", params).await.json()
        }
    };
    assert_eq!(refusal(&call("write").await), "O-1");
    call("read").await;
    // Nor does it become another one when nobody uses it for a while.
    until(|| http.noted("ended")).await;
    let written = call("write").await;
    assert_eq!(written["result"].get("isError"), None::<&Value>, "{written}");
    let with_session = http.client.shake_hands(json!({})).await;
    assert_eq!(refusal(&with_session.call(2, "write", json!({})).await), "O-1");
    http.stop().await;
}

/// Keys of `write`, which may be called only after a call of `read` was refused.
fn after_a_refusal(name: &str) -> &'static str {
    match name {
        "write" => "after = [{ tool = 'read', was = 'refused' }]",
        "typed" => "before_end = ['write']",
        _ => "",
    }
}

#[tokio::test]
async fn what_the_proxy_itself_refuses_counts_as_refused_and_says_what_is_owed() {
    let (mut world, _) = World::begun(proxy("", after_a_refusal)).await;
    let typed = world.client.call(1, "typed", json!({ "x": { "n": 1 } })).await;
    assert!(typed["result"].get("isError").is_none(), "{typed}");
    assert_eq!(refusal(&world.client.call(2, "write", json!({})).await), "O-1");
    // This proxy passes no tasks.
    let task = world.client.ask(3, "tools/call", json!({ "name": "read", "arguments": {}, "task": {} })).await;
    refusal(&task);
    assert!(task.to_string().contains("Still owed before the end: `s/write` for 1 call (entry "), "{task}");
    let written = world.client.call(4, "write", json!({})).await;
    assert!(written["result"].get("isError").is_none(), "{written}");
    world.close().await;
}

/// Calls for tasks, and with an answer to a question that was never asked.
#[tokio::test]
async fn what_the_proxy_itself_refuses_counts_in_the_turn_of_the_user() {
    let keys =
        |name: &str| if name == "write" { "after = [{ tool = 'read', was = 'refused', per = 'turn' }]" } else { "" };
    let proxy = || proxy("[budget]\nuser_turn = 'turn'\n", keys).elicitation(Duration::from_secs(1));
    let params = |tool: &str, turn: &str, member: &str, value: Value| {
        let mut params = json!({ "name": tool, "arguments": {}, "_meta": meta(json!({ "elicitation": {} })) });
        params["_meta"]["turn"] = turn.into();
        params[member] = value;
        params
    };
    for (member, value) in [("task", json!({})), ("requestState", json!("omen-gate.v1.1.00.00"))] {
        let (mut world, server) = World::with_server(proxy());
        tokio::spawn(serve(server, Seen::default()));
        let refused = world.client.ask(1, "tools/call", params("read", "t1", member, value)).await;
        refusal(&refused);
        let elsewhere = world.client.ask(2, "tools/call", params("write", "t2", "more", json!(1))).await;
        assert_eq!(refusal(&elsewhere), "O-1", "{member}: {elsewhere}");
        let written = world.client.ask(3, "tools/call", params("write", "t1", "more", json!(1))).await;
        assert!(written["result"].get("isError").is_none(), "{member}: {written}");
        world.close().await;
    }
}

#[tokio::test]
async fn the_warning_about_a_debt_of_a_turn_names_the_turn() {
    let owes = |name: &str| if name == "read" { "before_end = [{ tool = 'write', per = 'turn' }]" } else { "" };
    let (mut world, _) = World::begun(proxy("[budget]\nuser_turn = 'turn'\n", owes)).await;
    let params = json!({ "name": "read", "arguments": {}, "_meta": { "turn": "t1" } });
    let read = world.client.ask(1, "tools/call", params).await;
    assert!(read["result"].get("isError").is_none(), "{read}");
    let logs = world.logs.clone();
    world.close().await;
    let owed: Vec<_> = logs.lines().into_iter().filter(|line| line.contains("O-4")).collect();
    let [owed] = owed.as_slice() else { panic!("{owed:?}") };
    assert!(owed.contains("the turn `session/t1` has ended. Still owed before the end: `s/write`"), "{owed}");
}

#[tokio::test]
async fn a_call_that_is_screened_or_names_no_turn_was_refused() {
    let screened = "[[policy.patterns]]\npattern = 'secret'\nreason = 'no secrets'\n";
    for (more, args) in [(screened, json!({ "x": "secret" })), ("[budget]\nuser_turn = 'turn'\n", json!({}))] {
        let (mut world, _) = World::begun(proxy(more, after_a_refusal)).await;
        refusal(&world.client.call(1, "read", args).await);
        let params = json!({ "name": "write", "arguments": {}, "_meta": { "turn": "t1" } });
        let written = world.client.ask(2, "tools/call", params).await;
        assert!(written["result"].get("isError").is_none(), "{written}");
        world.close().await;
    }
}

#[tokio::test]
async fn what_an_episode_refuses_counts_as_refused() {
    let recording = Recording::new(Mode::Enforce, Lines::default());
    let (mut world, _) = World::begun(proxy("", after_a_refusal).episode(recording)).await;
    let refused = world.client.call(1, "read", json!({})).await;
    assert_eq!(refused["result"]["structuredContent"]["accepted"], false, "{refused}");
    let (_, log) = world.close().await;
    // The turn of the entry is the episode.
    let text = String::from_utf8(log.bytes()).unwrap();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let counted = entries.filter(|entry| entry["data"]["order"]["event"] == "refused");
    let tools: Vec<_> = counted.map(|entry| entry["data"]["order"]["tool"]["tool"].clone()).collect();
    assert_eq!(tools, ["read"]);
}
