//! `tools/list`: only what may be called is listed.

use serde_json::{Value, json};

use crate::support::{Seen, World, entries, kinds, proxy, refusal, tools};

/// What the client gets for a `result` of the server, as text.
async fn listed(proxy: omen_proxy::ProxyBuilder, result: &str) -> (String, World) {
    let (mut world, mut server) = World::with_server(proxy);
    let result = result.to_owned();
    tokio::spawn(async move {
        while let Some(line) = server.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id") else { continue };
            let result = if message["method"] == "initialize" { r#"{"serverInfo":{}}"# } else { &result };
            server.send(format!(r#"{{"result" :{result},"id": {id},"jsonrpc":"2.0"}}"#)).await;
        }
    });
    world.client.shake_hands(json!({})).await;
    world.client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    (world.client.line().await.unwrap(), world)
}

fn one(name: &str) -> String {
    tools().into_iter().find(|tool| tool["name"] == name).unwrap().to_string()
}

#[tokio::test]
async fn what_may_not_be_called_is_left_out_and_all_else_stays_byte_for_byte() {
    let read = one("read").replacen('{', "{ \"annotations\": {\"n\":1.50, \"big\":123456789012345678901234567890},", 1);
    let (write, changed, unlisted) = (one("write"), one("changed"), one("unlisted"));
    let bad = r#"{"name":"a b","inputSchema":{}}"#;
    for (items, kept) in [
        (vec![&*read, &write], vec![&*read, &write]),
        (vec![&*changed, &read, &unlisted, &write, bad], vec![&*read, &write]),
        (vec![&*read, &changed, &unlisted], vec![&*read]),
        (vec![&*changed, &unlisted], vec![]),
        (vec![], vec![]),
    ] {
        let page = |items: &[&str]| {
            format!("{{\"x\":[ ], \"tools\" : [ {} ],\"nextCursor\":\"n\\u0065xt\"}}", items.join(","))
        };
        let (line, _) = listed(proxy(), &page(&items)).await;
        assert_eq!(line, format!(r#"{{"result" :{},"id": 1,"jsonrpc":"2.0"}}"#, page(&kept)));
    }
}

#[tokio::test]
async fn what_is_left_out_is_recorded_once() {
    let (mut world, _) = World::begun(proxy()).await;
    for id in 1..=3 {
        let answer = world.client.ask(id, "tools/list", json!({})).await;
        let names: Vec<_> = answer["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["read", "write", "ask", "ungranted", "typed"]);
    }
    let notes = world.logs.lines();
    let left_out = "omitted 2 tools from the list: `unlisted`, `changed`; the audit log has the reasons, and so does the list with `--show-blocked`";
    assert_eq!(notes, [left_out]);
    let (_, log) = world.close().await;
    assert_eq!(kinds(&log), ["decision", "turn"]);
    let data = &entries(&log)[0]["data"];
    assert_eq!(data["outcome"], "left_out");
    let tools: Vec<_> = data["tools"].as_array().unwrap().iter().map(|tool| (&tool["tool"], &tool["code"])).collect();
    assert_eq!(tools, [(&json!("unlisted"), &json!("PG-3")), (&json!("changed"), &json!("PG-3"))]);
    assert!(data["tools"][0]["why"].as_str().unwrap().contains("s/unlisted"));
}

#[tokio::test]
async fn an_entry_of_the_allowlist_without_a_tool_is_noted_once() {
    let (mut world, seen) = World::begun(proxy()).await;
    let tools: Vec<Value> = ["read", "write"].iter().map(|name| serde_json::from_str(&one(name)).unwrap()).collect();
    let page = |tools: &[Value], next: &str| json!({"tools": tools, "nextCursor": next});
    let pages = [page(&tools[..1], "2"), json!({"tools": tools[1..]}), json!({"tools": tools})];
    seen.lists.lock().unwrap().extend(pages);
    for (id, params) in [(1, json!({})), (2, json!({"cursor": "2"})), (3, json!({}))] {
        world.client.ask(id, "tools/list", params).await;
    }
    let notes = world.logs.lines();
    let unlisted = "the allowlist names tools that the server `s` does not list: `ask`, `changed`, `typed`, `ungranted`; check the \
                    names in `[[allow]]`";
    assert_eq!(notes, [unlisted]);
    world.close().await;
}

#[tokio::test]
async fn blocked_tools_are_shown_with_their_reason_if_the_operator_wants_that() {
    let nameless = one("unlisted").replace("\"description\":\"Does `unlisted`.\",", "");
    let page = format!("{{\"tools\":[{},{nameless},{}]}}", one("read"), one("changed"));
    let (line, _) = listed(proxy().show_blocked(true), &page).await;
    let answer: Value = serde_json::from_str(&line).unwrap();
    let says: Vec<_> = answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["description"].as_str().unwrap())
        .collect();
    assert_eq!(says[0], "Does `read`.");
    assert!(says[1].starts_with("[blocked by the gate: PG-3: the operator has not allowed the tool"), "{}", says[1]);
    assert!(says[2].contains("is suspended") && says[2].ends_with("] Does `changed`."), "{}", says[2]);
}

#[tokio::test]
async fn a_list_that_can_be_read_in_two_ways_is_not_passed_on() {
    let read = one("read");
    for page in [
        format!(r#"{{"tools":[{read}],"Tools":[]}}"#),
        format!(r#"{{"tools":[{read}],"tools":[]}}"#),
        r#"{"tools":{}}"#.to_owned(),
        r#"{"toolſ":[]}"#.to_owned(),
        "{}".to_owned(),
        format!(r#"{{"tools":[{read},{{"name":"x","name":"read","inputSchema":{{}}}}]}}"#),
    ] {
        let (line, _) = listed(proxy(), &page).await;
        assert_eq!(refusal(&serde_json::from_str(&line).unwrap()), "-32603", "{page}: {line}");
    }
    // One tool alone that can be read in two ways.
    let page = format!(r#"{{"tools":[{read},{{"name":"write","Name":"unlisted","inputSchema":{{}}}}]}}"#);
    let (line, _) = listed(proxy(), &page).await;
    assert!(line.contains(&read) && !line.contains("unlisted"), "{line}");
}

#[tokio::test]
async fn a_list_in_pages_passes_page_by_page_and_the_gate_reads_all_pages() {
    let (mut world, seen) = World::begun(proxy()).await;
    let page = |names: &[&str], next: Option<&str>| {
        let tools: Vec<Value> = names.iter().map(|name| serde_json::from_str(&one(name)).unwrap()).collect();
        let mut page = json!({"tools": tools});
        if let Some(next) = next {
            page["nextCursor"] = next.into();
        }
        page
    };
    let (first, last) = (page(&["read", "unlisted"], Some("2")), page(&["write"], None));
    *seen.lists.lock().unwrap() = [first, last].into();
    let answer = world.client.ask(1, "tools/list", json!({})).await;
    assert_eq!(answer["result"]["nextCursor"], "2");
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 1);
    assert_eq!(world.client.ask(2, "tools/list", json!({"cursor": "2"})).await["result"]["tools"][0]["name"], "write");
    assert!(seen.lines.lock().unwrap().last().unwrap().contains(r#""cursor":"2""#));

    let pages = [page(&["read"], Some("2")), page(&["write"], None)];
    *seen.lists.lock().unwrap() = (0..2).flat_map(|_| pages.clone()).collect();
    let answer = world.client.call(3, "write", json!({})).await;
    assert!(answer["result"].get("isError").is_none(), "{answer}");
    let _: Seen = seen;
}

#[tokio::test]
async fn a_call_asks_for_one_list_and_the_first_one_for_two() {
    let (mut world, seen) = World::begun(proxy()).await;
    let lists = || seen.lines.lock().unwrap().drain(..).filter(|line| line.contains("tools/list")).count();
    for (id, expected) in [(1, 2), (2, 1), (3, 1)] {
        assert!(world.client.call(id, "read", json!({})).await["result"].get("isError").is_none());
        assert_eq!(lists(), expected, "call {id}");
    }
    // The list is asked for right before the call: nothing else is sent in between.
    assert!(world.client.call(4, "write", json!({})).await["result"].get("isError").is_none());
    let lines = seen.lines.lock().unwrap().clone();
    let methods: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["method"].clone()).collect();
    assert_eq!(methods, ["tools/list", "tools/call"]);
}
