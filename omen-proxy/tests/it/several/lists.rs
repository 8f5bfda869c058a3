//! The handshake and the lists of several servers, as one.

use serde_json::{Value, json};

use super::world::{Pair, answer, initialize, limits, proxy, result, serve, up_to};
use crate::support::{End, Seen, refusal, tools};

fn names(answer: &Value, key: &str) -> Vec<String> {
    answer["result"][key].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_handshake_says_what_the_servers_can_do_together() {
    let mut pair = Pair::new(proxy());
    let (mut a, mut b) = (pair.server("a").await, pair.server("b").await);
    pair.client.send(initialize(0, json!({"roots": {}}))).await;
    for (end, capabilities) in [(&mut a, json!({"prompts": {}})), (&mut b, json!({"resources": {"subscribe": true}}))] {
        let asked = end.value().await;
        assert_eq!((&asked["method"], &asked["params"]["capabilities"]), (&json!("initialize"), &json!({"roots": {}})));
        let said = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {}, "instructions": "Be careful."});
        end.send(result(&asked, said)).await;
    }
    let said = pair.client.value().await["result"].clone();
    assert_eq!(said["protocolVersion"], "2025-11-25");
    let expected = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true}});
    assert_eq!(said["capabilities"], expected);
    let instructions = said["instructions"].as_str().unwrap();
    assert!(instructions.contains("## a\n\nBe careful.\n\n## b\n\nBe careful."), "{instructions}");
    // There is one handshake.
    pair.client.send(initialize(1, json!({}))).await;
    assert_eq!(refusal(&pair.client.value().await), "-32600");
    pair.close().await;
}

#[tokio::test]
async fn a_server_with_an_older_version_has_the_others_speak_it_too() {
    let mut pair = Pair::new(proxy());
    let (mut a, mut b) = (pair.server("a").await, pair.server("b").await);
    pair.client.send(initialize(0, json!({}))).await;
    let versioned = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {}});
    let asked = a.value().await;
    a.send(result(&asked, versioned("2025-11-25"))).await;
    let asked = b.value().await;
    b.send(result(&asked, versioned("2025-06-18"))).await;
    // A session has one handshake: the newer server gets another session.
    assert_eq!(a.line().await, None);
    let mut a = pair.server("a").await;
    let asked = a.value().await;
    assert_eq!((&asked["method"], &asked["params"]["protocolVersion"]), (&json!("initialize"), &json!("2025-06-18")));
    a.send(result(&asked, versioned("2025-06-18"))).await;
    assert_eq!(pair.client.value().await["result"]["protocolVersion"], "2025-06-18");
    pair.client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    for end in [&mut a, &mut b] {
        assert_eq!(end.value().await["method"], "notifications/initialized");
    }
    pair.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_make_the_handshake_is_left_out() {
    let versioned = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {}});
    for said in [json!({"serverInfo": {}}), json!(null), versioned("2025-12-01")] {
        let mut pair = Pair::new(proxy());
        tokio::spawn(serve("a", pair.server("a").await, Seen::default()));
        let mut b = pair.server("b").await;
        pair.client.send(initialize(0, json!({}))).await;
        let asked = b.value().await;
        match said.is_object() {
            true => b.send(result(&asked, said.clone())).await,
            false => {
                b.send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": 1, "message": "no"}}).to_string())
                    .await
            }
        }
        if said["protocolVersion"].is_string() {
            // It speaks nothing else, either.
            let mut b = pair.server("b").await;
            let asked = b.value().await;
            assert_eq!(asked["params"]["protocolVersion"], "2025-11-25");
            b.send(result(&asked, said.clone())).await;
        }
        let answer = pair.client.value().await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        assert!(pair.noted("omitted the server `b`"), "{:?}", pair.logs);
        let listed = pair.client.ask(1, "tools/list", json!({})).await;
        assert!(names(&listed, "tools").iter().all(|name| name.starts_with("a__")));
        assert_eq!(refusal(&pair.client.call(2, "b__read", json!({})).await), "R3");
        pair.close().await;
    }
}

#[tokio::test]
async fn the_lists_of_both_are_one_under_prefixed_names() {
    let (mut pair, _, _) = Pair::begun(proxy()).await;
    let listed = pair.client.ask(1, "tools/list", json!({})).await;
    assert_eq!(names(&listed, "tools"), ["a__read", "a__write", "a__ask", "b__read", "b__ask"]);
    let mut first = listed["result"]["tools"][3].clone();
    first["name"] = "read".into();
    assert_eq!(first, tools()[0], "all but the name is the server's");
    assert_eq!(names(&pair.client.ask(2, "prompts/list", json!({})).await, "prompts"), ["a__hello", "b__hello"]);
    let resources = pair.client.ask(3, "resources/list", json!({})).await;
    let uris: Vec<_> =
        resources["result"]["resources"].as_array().unwrap().iter().map(|item| item["uri"].clone()).collect();
    assert_eq!(uris, ["a://own", "both://x", "b://own", "both://x"]);
    assert_eq!(
        names(&pair.client.ask(4, "resources/templates/list", json!({})).await, "resourceTemplates"),
        ["t", "t"]
    );
    let made_up = pair.client.ask(5, "tools/list", json!({"cursor": "2"})).await;
    assert_eq!(refusal(&made_up), "-32602");
    let (_, log) = pair.close().await;
    let left_out =
        crate::support::entries(&log).into_iter().filter(|entry| entry["data"]["outcome"] == "left_out").count();
    assert_eq!(left_out, 2, "what is not allowed is left out of each list, once");
}

/// A server whose list of prompts is what a test says, page by page.
async fn prompts(mut end: End, pages: Vec<String>) {
    loop {
        let asked = up_to(&mut end, "b", "prompts/list").await;
        let page = match asked["params"]["cursor"].as_str() {
            None => 0,
            Some(cursor) => cursor.parse().unwrap(),
        };
        end.send(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, asked["id"], pages[page])).await;
    }
}

async fn listed_prompts(pages: &[&str]) -> (Pair, String) {
    let (mut pair, b) = Pair::with_b(proxy(), limits()).await;
    tokio::spawn(prompts(b, pages.iter().map(|page| (*page).to_owned()).collect()));
    pair.client.send(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#).await;
    let line = pair.client.line().await.unwrap();
    (pair, line)
}

#[tokio::test]
async fn all_pages_are_taken_and_items_keep_their_bytes() {
    let (pair, line) = listed_prompts(&[
        r#"{"prompts":[ {"x":1.50, "name" : "on\u0065","n":99999999999999999999999} ],"nextCursor":"1"}"#,
        r#"{"nextCursor":null,"prompts":[{"name":"a__b"}]}"#,
    ])
    .await;
    let items = r#"[{"name":"a__hello","title":"Hello of a"},{"x":1.50, "name" : "b__one","n":99999999999999999999999},{"name":"b__a__b"}]"#;
    assert_eq!(line, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"prompts":{items}}}}}"#));
    pair.close().await;
}

#[tokio::test]
async fn a_list_that_cannot_be_taken_is_left_out_and_the_log_says_so() {
    for pages in [
        &[r#"{"prompts":[],"nextCursor":"0"}"#][..],
        &[r#"{"prompts":7}"#],
        &[r#"{"Prompts":[]}"#],
        &[r#"{}"#],
        &[r#"{"prompts":[],"nextCursor":7}"#],
        &[r#"{"prompts":[],"prompts":[]}"#],
    ] {
        let (pair, line) = listed_prompts(pages).await;
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(names(&answer, "prompts"), ["a__hello"], "{pages:?}");
        assert!(pair.noted("omitted from `prompts/list`: b"), "{pages:?}: {:?}", pair.logs);
        let (_, log) = pair.close().await;
        assert!(crate::support::kinds(&log).contains(&"decision R3".to_owned()), "{pages:?}");
    }
}

#[tokio::test]
async fn items_without_a_name_that_leaves_no_doubt_are_left_out() {
    let long = "x".repeat(126);
    let fits = "y".repeat(125);
    let page =
        json!({"prompts": [{"name": 7}, {}, {"Name": "z", "name": "z"}, {"name": ""}, {"name": long}, {"name": fits}]});
    let (pair, line) = listed_prompts(&[&page.to_string()]).await;
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(names(&answer, "prompts"), ["a__hello".to_owned(), format!("b__{fits}")]);
    assert!(pair.noted("exceeds the 128 characters") && pair.noted("may refuse `b__yyy"), "{:?}", pair.logs);
    pair.close().await;
}

#[tokio::test]
async fn an_error_of_all_servers_is_the_clients() {
    let (mut pair, mut b) = Pair::with_b(proxy(), limits()).await;
    tokio::spawn(async move {
        loop {
            let asked = up_to(&mut b, "b", "logging/setLevel").await;
            b.send(
                json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": "bad"}}).to_string(),
            )
            .await;
        }
    });
    // One of them has taken it.
    assert_eq!(pair.client.ask(1, "logging/setLevel", json!({"level": "x"})).await["result"], json!({}));
    assert!(answer("b", &json!({"id": 1, "method": "x"})).is_some());
    pair.close().await;
}
