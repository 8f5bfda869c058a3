//! What a server lists, right before a call and for the client.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::world::{Far, Got, Reply, answer, event, json_answer, result, short, stream};
use crate::support::{kinds, refusal, tools};

fn listed(got: &Got, tools: &[Value]) -> Reply {
    json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": {"tools": tools}}))
}

#[tokio::test]
async fn a_tool_that_changes_between_the_list_and_the_call_is_not_called() {
    let lists = AtomicUsize::new(0);
    let mut far = Far::begun(move |got| {
        got.is("tools/list").then(|| {
            let mut tools = tools();
            if lists.fetch_add(1, Ordering::Relaxed) > 0 {
                tools[1]["description"] = json!("Does something else.");
            }
            listed(got, &tools)
        })
    })
    .await;
    let all = far.client.ask(1, "tools/list", json!({})).await;
    assert!(all["result"]["tools"].to_string().contains("write"));
    let answer = far.client.call(2, "write", json!({})).await;
    assert_eq!(refusal(&answer), "PG-3", "{answer}");
    let (_, _, stand) = far.close().await;
    assert_eq!(stand.count("tools/call"), 0);
}

#[tokio::test]
async fn without_a_proper_list_nothing_is_called() {
    type Bad = fn(&Got) -> Reply;
    let bad: [(&str, Bad); 9] = [
        ("500", |_| answer("500 Internal Server Error", "", "")),
        ("401", |_| answer("401 Unauthorized", "", "")),
        ("302", |_| answer("302 Found", "location: /\r\n", "")),
        ("closed", |_| vec![]),
        ("another id", |got| {
            json_answer(&json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": tools(), "x": got.id()}}))
        }),
        ("a tool twice", |got| listed(got, &[&tools()[..], &tools()[..1]].concat())),
        ("a key twice", |got| {
            let (id, tools) = (got.id(), Value::from(tools()));
            answer(
                "200 OK",
                super::world::JSON,
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[],\"tools\":{tools}}}}}"),
            )
        }),
        ("no tools", |got| json_answer(&json!({"jsonrpc": "2.0", "id": got.id(), "result": {}}))),
        ("an empty stream", |_| stream("")),
    ];
    for (name, reply) in bad {
        let mut far = Far::begun_limited(move |got| got.is("tools/list").then(|| reply(got)), short(), "").await;
        let answer = far.client.call(1, "write", json!({})).await;
        assert!(["R3", "PG-2"].contains(&refusal(&answer).as_str()), "{name}: {answer}");
        assert_eq!(answer["result"]["_meta"]["omen/decision"]["ran"], "no", "{name}: {answer}");
        // The tools of a list that has one twice are left out, one by one.
        let answer = far.client.ask(2, "tools/list", json!({})).await;
        assert!(answer["error"]["code"].is_number() || name == "a tool twice", "{name}: {answer}");
        let (_, log, stand) = far.close().await;
        assert_eq!(stand.count("tools/call"), 0, "{name}");
        assert!(!kinds(&log).contains(&"intent".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn a_list_in_pages_and_streams_is_one_list() {
    let mut far = Far::begun(|got| {
        got.is("tools/list").then(|| {
            let (tools, second) = (tools(), got.message["params"]["cursor"] == "2");
            let result =
                if second { json!({"tools": tools[2..]}) } else { json!({"tools": tools[..2], "nextCursor": "2"}) };
            stream(event(&json!({"jsonrpc": "2.0", "id": got.id(), "result": result})))
        })
    })
    .await;
    let answer = far.client.call(1, "typed", json!({"x": 1})).await;
    assert_eq!(refusal(&answer), "PG-4", "it is called, and its answer is not what it promises: {answer}");
    let answer = far.client.call(2, "write", json!({})).await;
    assert_eq!(answer["result"], result(&json!(2))["result"]);
    far.close().await;
}
