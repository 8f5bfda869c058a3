//! The value of a header that came from the environment stands nowhere.

use std::sync::Arc;

use omen_gate::mcp::ServerLimits;
use omen_proxy::Source;
use serde_json::json;

use super::world::{Far, Got, Reply, Stand, answer, event, json_answer, result, short, stream, with_secret};
use crate::support::config;

#[tokio::test]
async fn the_value_of_a_header_is_sent_and_stands_in_no_log_error_or_debug() {
    type Bad = fn(&Got) -> Reply;
    let bad: [Bad; 6] = [
        |got| json_answer(&result(got.id())),
        |_| answer("401 Unauthorized", "www-authenticate: Bearer\r\n", ""),
        |_| vec![],
        // A server that repeats what it was sent: in a result, an error, a stream, a body that is none, and a status.
        |got| {
            let text = got.header("authorization").unwrap_or_default();
            json_answer(
                &json!({"jsonrpc": "2.0", "id": got.id(), "result": {"content": [{"type": "text", "text": text}]}}),
            )
        },
        |got| {
            let text = got.header("authorization").unwrap_or_default();
            let error = json!({"jsonrpc": "2.0", "id": got.id(), "error": {"code": 1, "message": text}});
            answer("403 Forbidden", super::world::JSON, error.to_string())
        },
        |got| {
            let text = got.header("authorization").unwrap_or_default();
            let said = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": text}});
            [stream(event(&said)), answer(text, "", text)].concat()
        },
    ];
    for (number, reply) in bad.into_iter().enumerate() {
        let stand = Stand::new(Arc::new(move |got: &Got| got.is("tools/call").then(|| reply(got)))).await;
        let (endpoint, secret) = with_secret(stand.endpoint());
        let source = Source::remote(&endpoint, ServerLimits::default(), short()).unwrap();
        let mut far = Far::at(stand, &endpoint, short(), config(""));
        far.client.shake_hands(json!({})).await;
        let answer = far.client.call(1, "write", json!({})).await;
        assert_eq!(answer["result"]["isError"].as_bool().is_some(), number > 0, "{number}: {answer}");
        let notes = far.logs.lines().join("\n");
        let (ended, log, stand) = far.close().await;
        assert!(stand.seen().iter().all(|got| got.header("authorization") == Some(&format!("Bearer {secret}"))));
        let log = String::from_utf8(log.bytes()).unwrap();
        for text in [answer.to_string(), notes, format!("{ended:?} {ended}"), log, format!("{endpoint:?} {source:?}")] {
            assert!(!text.contains(&secret), "{number}: {text}");
        }
    }
}
