//! Tries to have a call reach a server that should not see it, or to pass an answer off as that of another server.

use omen_proxy::ProxyBuilder;
use omen_proxy::error::BadServers;
use serde_json::{Value, json};

use super::world::{Pair, limits, proxy, result, sources, until, up_to};
use crate::support::{entries, refusal, tools};

/// Calls under names that lead to no tool that may be called.
#[tokio::test]
async fn names_that_lead_nowhere_call_nothing() {
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    for (id, (name, code)) in (1..).zip([
        ("read", "PG-3"),
        ("", "PG-3"),
        ("__read", "PG-3"),
        ("a__", "PG-3"),
        ("a_read", "PG-3"),
        ("a/read", "PG-3"),
        ("a.read", "PG-3"),
        ("A__read", "PG-3"),
        ("a __read", "PG-3"),
        ("\u{0430}__read", "PG-3"),
        ("c__read", "PG-3"),
        ("other__read", "PG-3"),
        ("b__a__read", "PG-3"),
        ("a__b__write", "PG-3"),
        ("a____read", "PG-3"),
        ("a___read", "PG-3"),
        ("a__READ", "PG-3"),
        ("a__re\u{200b}ad", "PG-3"),
        ("a__r\u{0435}ad", "PG-3"),
        ("b__write", "PG-3"),
        ("a__unlisted", "PG-3"),
        ("a__ask", "G3"),
        ("a\u{0000}__read", "PG-3"),
    ]) {
        let answer = pair.client.call(id, name, json!({"x": 1})).await;
        let got = refusal(&answer);
        assert!(got == code || got.starts_with("PG-"), "{name:?}: {answer}");
        assert_eq!(answer["id"], id);
    }
    for (id, params) in (100..).zip([
        json!({}),
        json!({"name": 7}),
        json!({"name": ["a__read"]}),
        json!({"Name": "a__read"}),
        json!({"name": "a__read", "Name": "b__read"}),
        json!({"name": "a__read", "NAME": "x"}),
        json!({"name": "a__read", "Arguments": {}}),
    ]) {
        assert_eq!(refusal(&pair.client.ask(id, "tools/call", params.clone()).await), "-32602", "{params}");
    }
    // A key twice is not a message.
    pair.client
        .send(r#"{"jsonrpc":"2.0","id":200,"method":"tools/call","params":{"name":"a__read","name":"b__write"}}"#)
        .await;
    assert_eq!(refusal(&pair.client.value().await), "-32600");
    assert_eq!((a.calls().len(), b.calls().len()), (0, 0));
    let (_, log) = pair.close().await;
    let all = entries(&log);
    assert!(all.iter().all(|entry| entry["kind"] != "intent"), "nothing was about to be called");
    let refused = all.iter().filter(|entry| entry["data"]["code"].as_str().is_some_and(|code| code.starts_with("PG-")));
    assert!(refused.count() >= 22, "each refusal is in the log");
}

#[tokio::test]
async fn a_server_cannot_answer_for_another_one() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a__ask"}}).to_string())
        .await;
    assert_eq!(refusal(&pair.client.value().await), "G3");
    // A request that `a` has not answered, under the id that the client has chosen.
    let (mut pair_of_two, mut a, mut b_of_two) = {
        let mut pair = Pair::new(proxy());
        let (mut a, mut b) = (pair.server("a").await, pair.server("b").await);
        pair.client.send(super::world::initialize(0, json!({}))).await;
        for (name, end) in [("a", &mut a), ("b", &mut b)] {
            let asked = end.value().await;
            end.send(result(&asked, super::world::answer(name, &asked).unwrap())).await;
        }
        pair.client.value().await;
        (pair, a, b)
    };
    let get = json!({"jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": {"name": "a__x"}});
    pair_of_two.client.send(get.to_string()).await;
    assert_eq!(a.value().await["id"], 5);
    // A server that answers what it was not asked has broken the protocol.
    b_of_two.send(r#"{"jsonrpc":"2.0","id":5,"result":{"forged":true}}"#).await;
    assert_eq!(pair_of_two.client.value().await["method"], "notifications/tools/list_changed");
    pair_of_two.client.value().await;
    pair_of_two.client.value().await;
    a.send(r#"{"jsonrpc":"2.0","id":5,"result":{"forged":false}}"#).await;
    assert_eq!(pair_of_two.client.value().await["result"]["forged"], false);
    // Nor a second time: then it is gone, too.
    a.send(r#"{"jsonrpc":"2.0","id":5,"result":{"forged":true}}"#).await;
    assert!(matches!(pair_of_two.ended().await.0, omen_proxy::Ended::BadServer(_)));
    // A notification that claims to be about somebody else's subscription or resource.
    pair.client.ask(7, "resources/read", json!({"uri": "a://own"})).await;
    for (method, params) in [
        ("notifications/tools/list_changed", json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 3}})),
        ("notifications/progress", json!({"progressToken": 1, "progress": 1})),
        ("notifications/progress", json!({"progress": 1})),
        ("notifications/resources/updated", json!({"uri": "a://own"})),
        ("notifications/cancelled", json!({"requestId": 7})),
    ] {
        b.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }
    b.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#).await;
    assert_eq!(pair.client.value().await["method"], "notifications/message", "none of the others reached the client");
    pair.close().await;
}

/// `b` answers lists of resources while a request for one is under way.
async fn reads(uri: &str, of_b: Value) -> (Pair, Value) {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    pair.client
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}).to_string())
        .await;
    tokio::spawn(async move {
        loop {
            let asked = up_to(&mut b, "b", "resources/list").await;
            b.send(result(&asked, of_b.clone())).await;
        }
    });
    let answer = pair.client.value().await;
    (pair, answer)
}

#[tokio::test]
async fn nobody_guesses_whose_a_resource_is() {
    for (uri, code, who) in [
        ("both://x", "-32602", "may belong to `a`, `b`"),
        ("none://x", "-32602", "no server lists the resource"),
        ("A://own", "-32602", "no server lists the resource"),
        ("a://own/", "-32602", "no server lists the resource"),
    ] {
        let (pair, answer) = reads(uri, json!({"resources": [{"uri": "both://x", "name": "x"}]})).await;
        assert_eq!(refusal(&answer), code);
        assert!(answer["error"]["message"].as_str().unwrap().contains(who), "{answer}");
        pair.close().await;
    }
    // `b` says that it has what is `a`'s: then neither gets it.
    let (pair, answer) = reads("a://own", json!({"resources": [{"uri": "a://own", "name": "x"}]})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("may belong to"), "{answer}");
    pair.close().await;
    let (pair, answer) = reads("a://own", json!({"resources": []})).await;
    assert_eq!(answer["result"]["by"], "a");
    pair.close().await;
}

#[tokio::test]
async fn a_tool_whose_name_looks_like_anothers_servers_is_its_own() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    let mut listed = tools();
    listed[0]["name"] = "a__read".into();
    tokio::spawn(async move {
        loop {
            let asked = up_to(&mut b, "b", "tools/list").await;
            b.send(result(&asked, json!({"tools": listed}))).await;
        }
    });
    let answer = pair.client.ask(1, "tools/list", json!({})).await;
    let names: Vec<_> =
        answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // `b/a__read` is not what the operator has allowed.
    assert_eq!(names, ["a__read", "a__write", "a__ask", "b__ask"]);
    assert_eq!(refusal(&pair.client.call(2, "b__a__read", json!({})).await), "PG-3");
    assert_eq!(pair.client.call(3, "a__read", json!({})).await["result"]["content"][0]["text"], "a {}");
    pair.close().await;
}

#[tokio::test]
async fn a_changed_tool_of_one_server_is_refused_on_that_one_alone() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    let mut changed = tools();
    changed[0]["description"] = "Does something else.".into();
    tokio::spawn(async move {
        loop {
            let asked = up_to(&mut b, "b", "tools/list").await;
            b.send(result(&asked, json!({"tools": changed}))).await;
        }
    });
    assert_eq!(refusal(&pair.client.call(1, "b__read", json!({})).await), "PG-3");
    assert!(pair.client.call(2, "a__read", json!({})).await["result"].get("isError").is_none());
    pair.close().await;
}

#[tokio::test]
async fn messages_of_the_client_that_belong_to_nobody_reach_nobody() {
    let (mut pair, a, b) = Pair::begun(proxy()).await;
    let before = (a.lines.lock().unwrap().len(), b.lines.lock().unwrap().len());
    for line in [
        r#"{"jsonrpc":"2.0","id":"omen-gate:1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"omen-several:1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"omen-gate:1"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"omen-several:1"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"omen-gate:1"}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a__read"}}"#,
    ] {
        pair.client.send(line).await;
    }
    assert_eq!(pair.client.ask(5, "ping", json!({})).await["id"], 5);
    assert_eq!((a.lines.lock().unwrap().len(), b.lines.lock().unwrap().len()), before);
    until(|| pair.noted("dropped the notification `tools/call`")).await;
    pair.close().await;
}

#[tokio::test]
async fn nothing_is_judged_before_the_handshake() {
    let mut pair = Pair::new(proxy());
    let (a, b) = (crate::support::Seen::default(), crate::support::Seen::default());
    tokio::spawn(super::world::serve("a", pair.server("a").await, a.clone()));
    tokio::spawn(super::world::serve("b", pair.server("b").await, b.clone()));
    for (id, method) in
        (1..).zip(["tools/list", "tools/call", "prompts/list", "resources/read", "subscriptions/listen"])
    {
        let answer = pair.client.ask(id, method, json!({"name": "a__read", "uri": "a://own"})).await;
        assert_eq!(refusal(&answer), "-32600", "{method}");
    }
    assert!(a.lines.lock().unwrap().is_empty() && b.lines.lock().unwrap().is_empty());
    pair.close().await;
}

#[tokio::test]
async fn servers_that_cannot_share_a_client_are_refused() {
    let (sources, _connected) = sources(limits());
    let only = |name: &str| {
        sources.iter().filter(|(own, _)| own.as_str() == name).map(|(_, source)| source.clone()).next().unwrap()
    };
    let several = |names: &[&str]| {
        let server = |proxy: ProxyBuilder, name: &&str| proxy.server(name.parse().unwrap(), only("a"));
        names.iter().fold(proxy(), server).build().map(drop)
    };
    assert_eq!(several(&["a", "b"]), Ok(()));
    assert_eq!(several(&[]), Err(BadServers::None));
    assert_eq!(several(&["a", "c"]), Err(BadServers::Unknown("c".parse().unwrap())));
    assert_eq!(several(&["a", "b__c"]), Err(BadServers::Separator("b__c".parse().unwrap())));
    assert_eq!(several(&["a", "A"]), Err(BadServers::Similar("A".parse().unwrap(), "a".parse().unwrap())));
}
