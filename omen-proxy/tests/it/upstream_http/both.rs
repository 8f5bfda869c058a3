//! HTTP on both sides: clients that reach the proxy over HTTP, and a server that it reaches over HTTP.

use std::net::Ipv4Addr;
use std::sync::Arc;

use omen_gate::SystemClock;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::mcp::ServerLimits;
use omen_mcp::http::server::HttpLimits;
use omen_proxy::{Ended, Source, Transport};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::world::{Got, Reply, Stand, answer, result, short};
use crate::http::client::Client;
use crate::http::world::{local, until};
use crate::support::{KEY, kinds, proxy, within};

struct Both {
    client: Client,
    stand: Stand,
    log: Memory,
    proxy: JoinHandle<Ended>,
    stop: oneshot::Sender<()>,
}

impl Both {
    async fn new(script: impl Fn(&Got) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let stand = Stand::new(Arc::new(script)).await;
        let log = Memory::default();
        let clock = Arc::new(SystemClock::default());
        let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
        let source = Source::remote(&stand.endpoint(), ServerLimits::default(), short()).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let client = Client::new(listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let until = async { stopped.await.unwrap_or(()) };
        let proxy = proxy().audit(audit).server("s".parse().unwrap(), source).build().unwrap();
        let proxy = tokio::spawn(async move {
            let transport = Transport::http(listener, local(), HttpLimits::default());
            proxy.serve(transport, until).await.expect("it serves")
        });
        Self { client, stand, log, proxy, stop }
    }

    async fn stop(self) -> (Memory, Stand) {
        self.stop.send(()).unwrap();
        assert_eq!(within(self.proxy).await.unwrap(), Ended::Asked);
        (self.log, self.stand)
    }
}

#[tokio::test]
async fn each_session_of_a_client_has_one_at_the_server() {
    let both = Both::new(|_| None).await;
    let (one, other) = (both.client.shake_hands(json!({})).await, both.client.shake_hands(json!({})).await);
    for client in [&one, &other] {
        assert_eq!(client.call(1, "write", json!({})).await["result"], result(&json!(1))["result"]);
    }
    assert_eq!(both.stand.count("initialize"), 2);
    assert_eq!(one.send("DELETE", "/mcp", "").await.status, 204);
    both.stand.ended().await;
    assert_eq!(other.call(2, "write", json!({})).await["result"], result(&json!(2))["result"]);
    let (log, stand) = both.stop().await;
    until(|| stand.seen().iter().filter(|got| got.method == "DELETE").count() == 2).await;
    assert_eq!(kinds(&log).iter().filter(|kind| **kind == "outcome").count(), 3);
    assert_eq!(stand.count("tools/call"), 3);
}

#[tokio::test]
async fn a_session_that_ends_at_the_server_ends_for_its_client() {
    let both = Both::new(|got| got.is("tools/call").then(|| answer("404 Not Found", "", ""))).await;
    let client = both.client.shake_hands(json!({})).await;
    let refused = client.call(1, "write", json!({})).await;
    assert_eq!(refused["result"]["_meta"]["omen/decision"]["ran"], "unknown", "{refused}");
    within(async { while client.ask(2, "ping", json!({})).await.status != 404 {} }).await;
    // Another handshake begins another session.
    let again = both.client.shake_hands(json!({})).await;
    assert_eq!(again.ask(1, "ping", json!({})).await.last()["result"], json!({}));
    both.stop().await;
}

#[tokio::test]
async fn requests_without_a_session_pass_under_ids_of_the_proxys_own() {
    let both = Both::new(|_| None).await;
    for _ in 0..2 {
        let params = json!({"name": "write", "arguments": {"x": 1}});
        let answer = both.client.ask_modern(json!("same"), "tools/call", params).await;
        assert_eq!((answer.status, &answer.last()["id"]), (200, &json!("same")));
        assert_eq!(answer.last()["result"]["content"][0]["text"], "done");
    }
    let (log, stand) = both.stop().await;
    let ids: Vec<_> = stand.seen().iter().filter(|got| got.is("tools/call")).map(|got| got.id().clone()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1] && ids.iter().all(|id| id != "same"), "{ids:?}");
    assert!(stand.seen().iter().all(|got| got.header("mcp-protocol-version") == Some("2026-07-28")));
    assert_eq!(kinds(&log).iter().filter(|kind| **kind == "outcome").count(), 2);
}
