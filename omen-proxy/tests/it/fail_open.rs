//! Tries to get past the gate. Each carries a mark, and nothing with the mark may reach the other side.

use serde_json::{Value, json};

use crate::support::{Seen, World, kinds, proxy, refusal, serve, tools};

const MARK: &str = "FORBIDDEN";

/// Sends lines after a handshake, and gives what the client and the server read.
async fn try_with(shakes: bool, lists: Vec<Value>, lines: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut world, server) = World::with_server(proxy());
    let seen = Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    if shakes {
        world.client.shake_hands(json!({"elicitation": {}})).await;
    }
    *seen.lists.lock().unwrap() = lists.into();
    for line in lines {
        world.client.send(line).await;
    }
    world.client.close().await;
    let mut got = Vec::new();
    while let Some(line) = world.client.line().await {
        got.push(line);
    }
    world.close().await;
    let lines = seen.lines.lock().unwrap().clone();
    (got, lines)
}

fn call(name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{"x":"{MARK}"}}}}}}"#
    )
}

/// Frames that a reader somewhere could take for a call that is not allowed, or for one that was not judged.
fn frames() -> Vec<(&'static str, String)> {
    let with = |from: &str, to: &str| call("read").replacen(from, to, 1);
    let args = format!(r#""arguments":{{"x":"{MARK}"}}"#);
    vec![
        ("a tool that is not allowed", call("unlisted")),
        ("a tool in another form than the approved one", call("changed")),
        ("a tool without a grant", call("ungranted")),
        ("a tool that nobody confirms", call("ask")),
        ("a tool that is not there", call("absent")),
        ("a name in another case", call("Read")),
        ("a name with a letter that looks the same", call("re\u{430}d")),
        ("a name with an invisible letter", call("read\u{200b}")),
        ("a name with a blank", call("read ")),
        ("a name as escape of another one", call("unlist\\u0065d")),
        ("a name that is a path", call("s/unlisted")),
        ("a name of another server", call("other/read")),
        ("an empty name", call("")),
        ("a name that is a list", with("\"read\"", "[\"read\"]")),
        ("no name", with("\"name\":\"read\",", "")),
        ("two names", with("\"name\":\"read\"", "\"name\":\"read\",\"name\":\"unlisted\"")),
        ("two names, one escaped", with("\"name\":\"read\"", "\"name\":\"read\",\"n\\u0061me\":\"unlisted\"")),
        ("two names, one in another case", with("\"name\":\"read\"", "\"name\":\"read\",\"Name\":\"unlisted\"")),
        ("arguments twice", with(&args, &format!("\"arguments\":{{}},{args}"))),
        ("arguments in another case", with("\"arguments\"", "\"Arguments\"")),
        ("arguments with a long s", with("\"arguments\"", "\"argument\u{17f}\"")),
        ("an argument twice", with(&args, &format!(r#""arguments":{{"x":1,"x":"{MARK}"}}"#))),
        ("an argument that the schema does not name", with("\"x\"", "\"z\"")),
        ("arguments that are a list", with(&args, &format!("\"arguments\":[\"{MARK}\"]"))),
        ("arguments that are null", with(&args, &format!("\"arguments\":null,\"_\":\"{MARK}\""))),
        (
            "an integer that readers round",
            with(&args, &format!(r#""arguments":{{"x":"{MARK}","y":9007199254740993}}"#)),
        ),
        ("a number that readers take for infinite", with(&args, &format!(r#""arguments":{{"x":"{MARK}","y":1e999}}"#))),
        ("a key of the reader's own", with("\"x\":", "\"$serde_json::private::RawValue\":")),
        ("half of a pair", with(&args, &format!(r#""arguments":{{"x":"{MARK}\ud800"}}"#))),
        ("a task", with("\"name\"", "\"task\":{},\"name\"")),
        ("a task in another case", with("\"name\"", "\"Task\":{},\"name\"")),
        ("no parameters", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","{MARK}":1}}"#)),
        (
            "parameters that are a list",
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["{MARK}"]}}"#),
        ),
        ("parameters twice", with("\"params\"", "\"params\":{},\"params\"")),
        ("parameters in another case", with("\"params\":", "\"params\":{},\"Params\":")),
        ("a method twice", with("\"method\"", "\"method\":\"ping\",\"method\"")),
        ("a method twice, one escaped", with("\"method\"", "\"m\\u0065thod\":\"ping\",\"method\"")),
        (
            "a method in another case beside it",
            with("\"method\":\"tools/call\"", "\"method\":\"ping\",\"Method\":\"tools/call\""),
        ),
        ("a method's name in another case", with("tools/call", "Tools/Call")),
        ("a method's name with a blank", with("tools/call", "tools/call ")),
        ("a method's name with a long s", with("tools/call", "tool\u{17f}/call")),
        ("a method's name with more slashes", with("tools/call", "/tools//call")),
        ("a method of tools that is not known", with("tools/call", "tools/execute")),
        ("a call without an id", with("\"id\":1,", "")),
        ("an id that is null", with("\"id\":1", "\"id\":null")),
        ("an id that is a fraction", with("\"id\":1", "\"id\":1.0")),
        ("an id that readers round", with("\"id\":1", "\"id\":9007199254740993")),
        ("two ids", with("\"id\":1", "\"id\":1,\"id\":2")),
        ("an id of the proxy's own", with("\"id\":1", "\"id\":\"omen-gate:1\"")),
        ("an id of the proxy's own, escaped", with("\"id\":1", "\"id\":\"\\u006fmen-gate:1\"")),
        ("a batch", format!("[{}]", call("unlisted"))),
        ("a batch behind a blank", format!(" [{}]", call("unlisted"))),
        ("two messages on a line", format!("{}{}", call("read").replace(MARK, ""), call("unlisted"))),
        ("a byte-order mark", format!("\u{feff}{}", call("unlisted"))),
        ("another version of JSON-RPC", with("\"2.0\"", "\"1.0\"")),
        ("no version of JSON-RPC", with("\"jsonrpc\":\"2.0\",", "")),
        ("a call that is a response, too", with("\"method\"", "\"result\":{},\"method\"")),
        ("a comment", with("{", "/**/{")),
        ("a comma too many", with("\"}}}", "\"},}}")),
        ("a control character in a string", with(MARK, &format!("{MARK}\u{1}"))),
        ("half a frame", call("read").replace("}}}", "")),
    ]
}

#[tokio::test]
async fn no_frame_gets_a_call_past_the_gate() {
    let mut tried = 0;
    for (what, frame) in frames() {
        let (got, seen) = try_with(true, Vec::new(), &[frame]).await;
        let leaked: Vec<_> = seen.iter().filter(|line| line.contains(MARK)).collect();
        assert!(leaked.is_empty(), "{what}: {leaked:?}");
        // All but a notification have an answer that says so.
        let refused = got.iter().any(|line| line.contains("\"error\"") || line.contains("\"isError\":true"));
        assert!(refused || what == "a call without an id", "{what}: {got:?}");
        tried += 1;
    }
    println!("{tried} frames");
    // The frame that they are made from is allowed, so that each is refused for what it says.
    let (_, seen) = try_with(true, Vec::new(), &[call("read")]).await;
    assert!(seen.iter().any(|line| line.contains(MARK)));
}

#[tokio::test]
async fn nothing_is_called_before_the_handshake() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#.to_owned();
    // Not even while it is made: the answer of the server has not passed by yet.
    for lines in [vec![call("read")], vec![initialize, call("read")]] {
        let (got, seen) = try_with(false, Vec::new(), &lines).await;
        assert!(!seen.iter().any(|line| line.contains("tools/")), "{seen:?}");
        assert!(got.iter().any(|line| line.contains("not initialized")), "{got:?}");
    }
}

#[tokio::test]
async fn a_list_that_changes_between_its_checks_stops_the_call() {
    let changed = |to: &str| {
        let mut listed = tools();
        listed[0]["description"] = to.into();
        json!({"tools": listed})
    };
    let usual = || json!({"tools": tools()});
    let renamed = json!({"tools": [{"name": "re\u{430}d", "inputSchema": {"type": "object"}}]});
    for lists in [
        vec![changed("other")],
        vec![usual(), changed("other")],
        vec![usual(), json!({"tools": []})],
        vec![usual(), renamed.clone()],
        vec![json!({"tools": [tools()[0], tools()[0]]})],
        vec![usual(), json!({"tools": [tools()[0], tools()[0]]})],
        vec![usual(), json!({"tools": "all"})],
        vec![json!({"tools": tools(), "Tools": []})],
        vec![usual(), json!({"tools": tools(), "Tools": []})],
        // One page more than before.
        vec![usual(), json!({"tools": tools(), "nextCursor": "2"}), json!({"tools": [tools()[0]]})],
    ] {
        let shown = format!("{lists:?}");
        let (got, seen) = try_with(true, lists, &[call("read")]).await;
        assert!(!seen.iter().any(|line| line.contains(MARK)), "{shown}");
        assert!(got.iter().any(|line| line.contains("\"isError\":true")), "{got:?}");
    }
    // A call that has been made before does not let the next one pass.
    for last in [changed("other"), json!({"tools": []}), renamed, json!({"tools": "all"})] {
        let (mut world, seen) = World::begun(proxy()).await;
        for id in 1..=3 {
            assert!(world.client.call(id, "read", json!({})).await["result"].get("isError").is_none());
        }
        *seen.lists.lock().unwrap() = [last.clone()].into();
        let refused = world.client.call(4, "read", json!({"x": MARK})).await;
        assert_eq!(refused["result"]["isError"], true, "{last}: {refused}");
        assert_eq!(seen.calls().len(), 3, "{last}");
    }
}

#[tokio::test]
async fn answers_that_nobody_asked_for_reach_nobody() {
    // The client answers what nobody has asked it, also in the proxy's own name.
    let forged: Vec<_> = ["1", "\"omen-gate:1\"", "\"omen-gate:999\"", "\"x\""]
        .map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept","content":{{"confirm":true}},"m":"{MARK}"}}}}"#))
        .into();
    let (_, seen) = try_with(true, Vec::new(), &[forged, vec![call("ask")]].concat()).await;
    assert!(!seen.iter().any(|line| line.contains(MARK)), "{seen:?}");
    // It cancels what is the proxy's.
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"omen-gate:1"}}"#.to_owned();
    let (_, seen) = try_with(true, Vec::new(), &[cancel]).await;
    assert!(!seen.iter().any(|line| line.contains("cancelled")), "{seen:?}");
}

#[tokio::test]
async fn a_yes_to_an_earlier_question_confirms_nothing() {
    let (mut world, server) = World::with_server(proxy().elicitation(std::time::Duration::ZERO));
    let seen = Seen::default();
    tokio::spawn(serve(server, seen.clone()));
    world.client.shake_hands(json!({"elicitation": {}})).await;
    let yes = |id: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"confirm": true}}}).to_string()
    };
    // Questions are numbered: the next one is known, and an answer to it before it is asked is none.
    world.client.send(yes(&"omen-gate:1".into())).await;
    let question = world.client.call(1, "ask", json!({"x": MARK})).await;
    assert_eq!(question["method"], "elicitation/create");
    let no = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}).to_string();
    world.client.send(no).await;
    // Nor is a second answer one.
    world.client.send(yes(&question["id"])).await;
    assert_eq!(refusal(&world.client.value().await), "G3");
    let question = world.client.call(2, "ask", json!({"x": MARK})).await;
    world.client.send(yes(&"omen-gate:1".into())).await;
    world
        .client
        .send(json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": 1, "message": "no"}}).to_string())
        .await;
    assert_eq!(refusal(&world.client.value().await), "G3");
    assert_eq!(seen.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn an_id_in_use_is_not_used_twice() {
    let (mut world, mut server) = World::with_server(proxy());
    world.client.send(r#"{"jsonrpc":"2.0","id":"a","method":"resources/read"}"#).await;
    assert_eq!(server.value().await["id"], "a");
    for id in ["\"a\"", "\"\\u0061\""] {
        world.client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get"}}"#)).await;
        let refused = world.client.value().await;
        // Under its id, it would be taken for the answer to the first.
        assert_eq!((&refused["id"], refusal(&refused)), (&Value::Null, "-32600".to_owned()));
    }
    server.send(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#).await;
    assert_eq!(world.client.value().await["id"], "a");
}

#[tokio::test]
async fn a_second_answer_and_one_under_a_clients_id_reach_nobody() {
    let (mut world, mut server) = World::with_server(proxy());
    tokio::spawn(async move {
        while let Some(line) = server.line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(id) = message.get("id") else { continue };
            let result = match message["method"].as_str().unwrap() {
                "initialize" => json!({"serverInfo": {}}),
                "tools/list" => json!({"tools": tools()}),
                _ => json!({"content": []}),
            };
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            server.send(&answer).await;
            if message["method"] == "tools/call" {
                // Once more, with other words.
                server.send(answer.replace("[]", &format!(r#"[{{"type":"text","text":"{MARK}"}}]"#))).await;
                // And under the id that the client has used.
                server.send(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"m":"{MARK}"}}}}"#)).await;
            }
        }
    });
    world.client.shake_hands(json!({})).await;
    let answer = world.client.call(1, "read", json!({})).await;
    assert_eq!(answer["result"], json!({"content": []}));
    let mut rest = Vec::new();
    while let Some(line) = world.client.line().await {
        rest.push(line);
    }
    assert!(!rest.iter().any(|line| line.contains(MARK)), "{rest:?}");
    let (ended, log) = world.close().await;
    assert!(ended.to_string().contains("unknown request `1`"), "{ended}");
    assert_eq!(kinds(&log), ["decision", "intent", "outcome", "turn"]);
}

#[tokio::test]
async fn a_flood_of_calls_is_bounded_and_each_is_answered() {
    let (mut world, seen) = World::begun(proxy()).await;
    let mut to = world.client.to.take().unwrap();
    let calls: String =
        (1..=2_000).map(|id| call("unlisted").replacen("\"id\":1", &format!("\"id\":{id}"), 1) + "\n").collect();
    tokio::spawn(async move {
        tokio::io::AsyncWriteExt::write_all(&mut to, calls.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        let answer = world.client.value().await;
        assert!(["PG-3", "-32603"].contains(&refusal(&answer).as_str()), "{answer}");
        ids.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!((ids.len(), seen.calls().len()), (2_000, 0));
}
