//! The tools of the episode in the lists of a client.

use std::sync::Arc;

use omen_proxy::episode::{Mode, Recording};
use omen_proxy::error::NotServed;
use omen_proxy::{Proxy, ProxyBuilder, Source, Transport};
use serde_json::{Value, json};

use super::play::{Lines, first_calls, play, server, transcripts};
use crate::support::{World, config, proxy};

const NAMES: [&str; 6] = ["omen_observe", "omen_believe", "omen_decide", "omen_plan", "omen_escalate", "omen_state"];

/// The line of a list, under the same id, of a proxy with and without episodes.
async fn listed(proxy: ProxyBuilder, params: Value) -> String {
    let (mut world, end) = World::with_server(proxy);
    tokio::spawn(server(end, Arc::default()));
    world.client.shake_hands(json!({})).await;
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params});
    world.client.send(request.to_string()).await;
    world.client.line().await.unwrap()
}

fn with(mode: Mode) -> ProxyBuilder {
    proxy().episode(Recording::new(mode, Lines::default()))
}

#[tokio::test]
async fn the_first_page_ends_with_them_and_the_servers_part_keeps_its_bytes() {
    let plain = listed(proxy(), json!({})).await;
    let more = listed(with(Mode::Enforce), json!({})).await;
    let names: Value = serde_json::from_str(&more).unwrap();
    let names: Vec<_> = names["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names[names.len() - 6..], NAMES);
    let (before, after) = plain.rsplit_once(']').unwrap();
    assert!(more.starts_with(before) && more.ends_with(&format!("]{after}")), "{more}");
    let second = listed(with(Mode::Enforce), json!({"cursor": "2"})).await;
    assert!(!second.contains("omen_"), "a later page has none");
    assert_eq!(listed(with(Mode::Observe), json!({})).await, plain);
}

/// What a model can state by the schema that it is given is what is accepted of it: what it may not state, the schema refuses, too.
#[tokio::test]
async fn what_is_accepted_in_the_transcripts_matches_the_schemas_that_are_listed() {
    let page: Value = serde_json::from_str(&listed(with(Mode::Enforce), json!({})).await).unwrap();
    let tools = page["result"]["tools"].as_array().unwrap();
    let of = |name: &Value| tools.iter().find(|tool| tool["name"] == *name).map(|tool| &tool["inputSchema"]);
    for name in NAMES {
        let schema = of(&name.into()).unwrap();
        assert!(schema.to_string().len() < 24_000, "{name} is long: {}", schema.to_string().len());
    }
    let (mut accepted, mut refused) = (0, 0);
    for (name, lines) in transcripts() {
        let results = play(Mode::Enforce, &lines).await.results;
        let calls = lines.iter().filter(|line| line.get("budget").is_none());
        let calls = calls.flat_map(|line| line["together"].as_array().cloned().unwrap_or_else(|| vec![line.clone()]));
        for (call, result) in calls.zip(results) {
            let Some(schema) = of(&call["call"]) else { continue };
            let is_valid = jsonschema::validator_for(schema).unwrap().is_valid(&call["arguments"]);
            if result["structuredContent"]["accepted"] == true {
                assert!(is_valid, "{name}: {call}");
                accepted += 1;
            } else if result["structuredContent"]["code"] == "SCHEMA" {
                // What is missing of the envelope in a first call depends on the episode.
                assert!(!is_valid, "{name}: {call}");
                refused += 1;
            }
        }
    }
    assert!(accepted > 60 && refused > 8, "{accepted} accepted, {refused} refused");
}

/// A first call that a model can copy: in the tool's description, as the page shows it, by its schema, and played in a session.
#[tokio::test]
async fn each_tool_describes_a_first_call_that_its_schema_and_a_session_accept() {
    let page: Value = serde_json::from_str(&listed(with(Mode::Enforce), json!({})).await).unwrap();
    let tools = page["result"]["tools"].as_array().unwrap();
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "first-calls").unwrap();
    let results = play(Mode::Enforce, &lines).await.results;
    for (name, first) in first_calls() {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let description = tool["description"].as_str().unwrap();
        assert!(description.contains(&first.to_string()), "{description}");
        let errors: Vec<_> = jsonschema::validator_for(&tool["inputSchema"])
            .unwrap()
            .iter_errors(&first)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let at = lines.iter().position(|line| line["call"] == name).unwrap();
        assert_eq!(lines[at]["arguments"], first, "{name}");
        assert_eq!(results[at]["isError"], false, "{name}: {}", results[at]);
    }
}

#[tokio::test]
async fn a_tool_of_the_server_with_the_same_name_is_refused_at_start() {
    let more = "[[allow]]\nserver='s'\ntool='Omen_State'\npermissions=['READ']\n\
         pin='v1:0000000000000000000000000000000000000000000000000000000000000000'\n";
    let named = |mode| {
        let proxy = Proxy::builder(config(more), "session".parse().unwrap());
        proxy.episode(Recording::new(mode, Lines::default()))
    };
    let (_client, near) = tokio::io::duplex(64);
    let source = Source::streams(Default::default(), || {
        let (output, input) = tokio::io::split(tokio::io::duplex(64).0);
        Ok((input, output))
    });
    let (input, output) = tokio::io::split(near);
    let proxy = named(Mode::Enforce).server("s".parse().unwrap(), source).build().unwrap();
    let served = proxy.serve(Transport::streams(input, output), std::future::pending()).await;
    let error = served.expect_err("the name is taken");
    assert!(matches!(error, NotServed::Taken(_)), "{error}");
    assert!(error.to_string().contains("`Omen_State` has the name of a tool of the episode"), "{error}");
}
