//! Rules on order behind the proxy: what a session owes, and whose calls count.

use std::time::Duration;

use omen_gate::Fault;
use omen_gate::mcp::ServerLimits;
use omen_proxy::error::NotServed;
use omen_proxy::http::HttpLimits;
use omen_proxy::{Proxy, ProxyBuilder, Source, Transport};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex, split};

use crate::http::world::{Http, local, until};
use crate::support::{World, config_with, refusal};

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
