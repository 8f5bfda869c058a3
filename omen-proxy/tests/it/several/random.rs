//! Ten thousand random messages from the client and from a server.

use serde_json::{Value, json};

use super::world::{Pair, answer, limits, proxy, result};
use crate::random::Random;
use crate::support::{entries, kinds};

const METHODS: [&str; 14] = [
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/read",
    "resources/list",
    "ping",
    "initialize",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "notifications/cancelled",
    "notifications/progress",
    "x/y",
];
const NAMES: [&str; 12] = [
    "a__read",
    "b__read",
    "a__write",
    "b__write",
    "read",
    "a__",
    "__read",
    "b__a__read",
    "A__read",
    "a____read",
    "c__read",
    "a__ask",
];
const URIS: [&str; 4] = ["a://own", "b://own", "both://x", "none://x"];

fn message(random: &mut Random) -> Value {
    let id = match random.below(6) {
        0 => json!(format!("omen-gate:{}", random.below(9))),
        1 => json!(format!("omen-several:{}", random.below(9))),
        2 => json!("a"),
        _ => json!(random.below(40)),
    };
    let token = json!(random.below(4));
    let params = json!({
        "name": NAMES[random.below(NAMES.len())], "arguments": {"x": random.below(3)}, "uri": URIS[random.below(URIS.len())],
        "requestId": id, "progressToken": token, "progress": 1, "level": "error", "_meta": {"progressToken": token},
        "ref": {"type": "ref/prompt", "name": NAMES[random.below(NAMES.len())]},
    });
    let method = if random.below(3) == 0 { "tools/call" } else { METHODS[random.below(METHODS.len())] };
    match random.below(8) {
        0 => json!({"jsonrpc": "2.0", "id": id, "result": {"x": 1}}),
        1 => json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "m"}}),
        2 => json!({"jsonrpc": "2.0", "method": method, "params": params}),
        _ => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
    }
}

/// A line that may be broken.
fn line(random: &mut Random) -> Vec<u8> {
    let mut line = message(random).to_string().into_bytes();
    if random.below(4) == 0 {
        let at = random.below(line.len());
        match random.below(3) {
            0 => drop(line.remove(at)),
            1 => line[at] = b"{}[]\",:x\\0"[random.below(10)],
            _ => line.truncate(at),
        }
    }
    line.retain(|byte| *byte != b'\n');
    line
}

/// Whatever the client sends, only calls reach a tool that may be called there, under its own name, and each is in the log; each id
/// has one answer at most for each time that it was used; and the session goes on.
#[tokio::test]
async fn random_messages_of_the_client_call_only_what_may_be_called() {
    let mut random = Random(20_261_123);
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    let mut rest = pair.client.to.take().unwrap();
    let count = 10_000;
    let lines: Vec<_> = (0..count).map(|_| line(&mut random)).collect();
    let writing = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        for line in lines {
            rest.write_all(&[&line[..], b"\n"].concat()).await.unwrap();
        }
        rest.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}\n").await.unwrap();
        rest
    });
    let mut answers = 0;
    loop {
        let message = pair.client.value().await;
        assert_eq!(message["jsonrpc"], "2.0");
        answers += 1;
        if message["id"] == "last" {
            break;
        }
    }
    pair.client.to = Some(writing.await.unwrap());
    let called = |seen: &crate::support::Seen| -> Vec<Value> {
        seen.calls().iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["params"]["name"].clone()).collect()
    };
    let (at_a, at_b) = (called(&a), called(&b));
    assert!(at_a.iter().all(|name| name == "read" || name == "write"), "{at_a:?}");
    assert!(at_b.iter().all(|name| name == "read"), "{at_b:?}");
    assert!(at_a.len() > 30 && at_b.len() > 30, "{} {}", at_a.len(), at_b.len());
    let (_, log) = pair.close().await;
    let intents = kinds(&log).iter().filter(|kind| *kind == "intent").count();
    let (at_a, at_b) = (called(&a).len(), called(&b).len());
    assert!(intents >= at_a + at_b, "{intents} {at_a} {at_b}");
    let of = |kind: &str| entries(&log).iter().filter(|entry| entry["kind"] == kind).count();
    assert_eq!(of("intent"), of("outcome"));
    println!("{count} messages, {answers} answers, {} calls", at_a + at_b);
}

/// Whatever a server sends, the client gets no answer that it has not asked for, and none in the name of the other server.
#[tokio::test]
async fn random_messages_of_a_server_do_no_harm_to_the_other() {
    let mut random = Random(7);
    let mut sent = 0;
    while sent < 10_000 {
        let (mut pair, b) = Pair::with_b(proxy(), limits()).await;
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for _ in 0..50 {
            // Mostly whole messages, for the first that is none ends the session.
            lines.push(match random.below(40) {
                0 => line(&mut random),
                _ => {
                    let method = METHODS[random.below(METHODS.len())];
                    let (id, token) = (random.below(5), random.below(5));
                    json!({"jsonrpc": "2.0", "method": method, "params": {"progressToken": token, "requestId": id, "uri": URIS[random.below(4)]}})
                        .to_string()
                        .into_bytes()
                }
            });
        }
        sent += lines.len();
        let server = tokio::spawn(async move {
            let mut b = b;
            for line in lines {
                b.send(line).await;
            }
            // It goes on as a server in good order, if it is still read.
            while let Some(line) = b.line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                if let Some(value) = answer("b", &message) {
                    b.send(result(&message, value)).await;
                }
            }
        });
        for id in 1..=3 {
            pair.client
                .send(
                    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "a__read", "arguments": {}}})
                        .to_string(),
                )
                .await;
        }
        let mut answered = Vec::new();
        while answered.len() < 3 {
            let message = pair.client.value().await;
            if message.get("method").is_some() {
                continue;
            }
            assert_eq!(message["result"]["content"][0]["text"], "a {}", "{message}");
            answered.push(message["id"].as_u64().unwrap());
        }
        answered.sort_unstable();
        assert_eq!(answered, [1, 2, 3]);
        pair.close().await;
        server.await.ok();
    }
    println!("{sent} messages");
}
