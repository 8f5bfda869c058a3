//! Limits on calls, behind the proxy: each call is a turn of its own, and the client is one session.

use omen_proxy::{Proxy, ProxyBuilder};
use serde_json::json;

use crate::support::{World, config, kinds, refusal};

fn proxy(more: &str) -> ProxyBuilder {
    Proxy::builder(config(more), "session".parse().unwrap())
}

#[tokio::test]
async fn a_session_makes_so_many_calls_over_all_its_turns() {
    let (mut world, seen) = World::begun(proxy("[budget]\nsession_calls = 2\n")).await;
    for id in 1..=2 {
        let answer = world.client.call(id, "read", json!({})).await;
        assert!(answer["result"].get("isError").is_none(), "{answer}");
    }
    let answer = world.client.call(3, "read", json!({})).await;
    assert_eq!(refusal(&answer), "R2", "{answer}");
    assert_eq!(seen.calls().len(), 2);
}

/// What would be refused reaches the server, and the log says so.
#[tokio::test]
async fn in_shadow_the_call_passes() {
    let more = "[policy]\nshadow = true\n[budget]\nsession_calls = 1\n";
    let (mut world, seen) = World::begun(proxy(more)).await;
    for id in 1..=2 {
        let answer = world.client.call(id, "read", json!({})).await;
        assert!(answer["result"].get("isError").is_none(), "{answer}");
    }
    // A tool in another form is refused as ever.
    let answer = world.client.call(3, "changed", json!({})).await;
    assert_eq!(refusal(&answer), "PG-3", "{answer}");
    assert_eq!(seen.calls().len(), 2);
    let (_, log) = world.close().await;
    let refused: Vec<_> = kinds(&log).into_iter().filter(|kind| kind.contains(' ')).collect();
    assert_eq!(refused, ["decision R2", "decision PG-3"]);
}
