//! Several servers for clients over HTTP.

use std::net::Ipv4Addr;

use omen_gate::SystemClock;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_mcp::http::server::HttpLimits;
use omen_proxy::{Ended, Transport};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::world::{limits, proxy, serve, sources};
use crate::http::client::Client;
use crate::http::world::local;
use crate::support::{KEY, Seen, kinds, refusal, within};

struct Served {
    client: Client,
    log: Memory,
    seen: [Seen; 2],
    stop: oneshot::Sender<()>,
    proxy: JoinHandle<Ended>,
}

async fn served() -> Served {
    let log = Memory::default();
    let clock = std::sync::Arc::new(SystemClock::default());
    let audit = Audit::over(log.clone(), Key::from_hex(KEY).unwrap(), clock, Options::default()).unwrap();
    let (sources, mut connected) = sources(limits());
    let seen = [Seen::default(), Seen::default()];
    let of_servers = seen.clone();
    tokio::spawn(async move {
        while let Some((name, end)) = connected.recv().await {
            let seen = of_servers[usize::from(name == "b")].clone();
            tokio::spawn(serve(name, end, seen));
        }
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let client = Client::new(listener.local_addr().unwrap());
    let (stop, until) = oneshot::channel::<()>();
    let until = async { drop(until.await) };
    let proxy = sources.into_iter().fold(proxy().audit(audit), |proxy, (name, source)| proxy.server(name, source));
    let proxy = proxy.build().unwrap();
    let proxy = tokio::spawn(async move {
        proxy.serve(Transport::http(listener, local(), HttpLimits::default()), until).await.expect("it serves")
    });
    Served { client, log, seen, stop, proxy }
}

impl Served {
    async fn stop(self) -> Memory {
        self.stop.send(()).unwrap();
        assert_eq!(within(self.proxy).await.unwrap(), Ended::Asked);
        self.log
    }
}

fn call(id: u64, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {"x": id}}})
}

#[tokio::test]
async fn each_session_has_all_servers() {
    let served = served().await;
    for _ in 0..2 {
        let client = served.client.shake_hands(json!({})).await;
        for (id, name, text) in [(1, "a__read", r#"a {"x":1}"#), (2, "b__read", r#"b {"x":2}"#)] {
            let reply = client.post(&call(id, name)).await;
            assert_eq!(reply.last()["result"]["content"][0]["text"], text, "{reply:?}");
        }
        assert_eq!(refusal(&client.post(&call(3, "b__write")).await.last()), "PG-3");
    }
    let connected = served.seen[0].lines.lock().unwrap().iter().filter(|line| line.contains("\"initialize\"")).count();
    assert_eq!(connected, 2);
    let log = served.stop().await;
    assert_eq!(kinds(&log).iter().filter(|kind| *kind == "intent").count(), 4);
}

#[tokio::test]
async fn headers_say_the_prefixed_name() {
    let served = served().await;
    let params = json!({"name": "b__read", "arguments": {"x": 1}});
    let (client, message) = served.client.modern(&json!("same"), "tools/call", params);
    let reply = client.post(&message).await;
    assert_eq!(
        (reply.status, &reply.last()["result"]["content"][0]["text"]),
        (200, &json!(r#"b {"x":1}"#)),
        "{reply:?}"
    );
    for name in ["read", "a__read", "B__read", "b__"] {
        let reply = client.clone().with("mcp-name", name).post(&message).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(-32_020)), "{name}");
    }
    assert_eq!((served.seen[0].calls().len(), served.seen[1].calls().len()), (0, 1));
    served.stop().await;
}
