//! The conversation itself: its beginning and end, and what is not a message.

use serde_json::json;

use super::*;

#[test]
fn the_end_has_the_exit_code_of_the_protocol() {
    Client::new(&[]).end();
    // Without `shutdown`.
    let mut client = Client::new(&[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 1);
    // The editor is gone.
    let mut client = Client::new(&[]);
    client.close();
    assert_eq!(client.exit_code(), 1);
    let mut client = Client::new(&[]);
    client.request("shutdown", Value::Null);
    client.close();
    assert_eq!(client.exit_code(), 0);
    let mut client = Client::start(&[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 1);
}

#[test]
fn requests_have_their_time() {
    let mut client = Client::start(&[]);
    let hover = json!({"textDocument": {"uri": "file:///a.jsonl"}, "position": position(0, 0)});
    assert_eq!(client.refused("textDocument/hover", hover.clone()), -32002);
    // Dropped.
    client.notify("textDocument/didOpen", json!({}));
    client.request("initialize", json!({"capabilities": {}}));
    assert_eq!(client.refused("initialize", json!({"capabilities": {}})), -32600);
    assert_eq!(client.refused("textDocument/hover", hover.clone()), -32602);
    client.request("shutdown", Value::Null);
    assert_eq!(client.refused("textDocument/hover", hover), -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn what_is_not_a_request_has_an_error() {
    let mut client = Client::new(&[]);
    assert_eq!(client.refused("textDocument/rename", json!({})), -32601);
    assert_eq!(client.refused("$/unknown", json!({})), -32601);
    assert_eq!(client.refused("textDocument/hover", json!({"position": 3})), -32602);
    assert_eq!(client.refused("textDocument/hover", Value::Null), -32602);
    // Unknown notifications are ignored, and responses that nobody waits for.
    client.notify("$/unknown", json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": 99, "result": null}));
    for (content, code) in [
        ("{\"jsonrpc\":", -32700),
        ("\u{7f}", -32700),
        ("[]", -32600),
        ("3", -32600),
        ("{}", -32600),
        ("{\"id\":{},\"method\":\"shutdown\"}", -32600),
        ("{\"id\":null}", -32600),
    ] {
        client.send_bytes(format!("Content-Length: {}\r\n\r\n{content}", content.len()).as_bytes());
        let answer = client.response(&Value::Null);
        assert_eq!(answer["error"]["code"], code, "{content}: {answer}");
    }
    client.send_bytes(b"Content-Length: 2\r\n\r\n\xff\xfe");
    assert_eq!(client.response(&Value::Null)["error"]["code"], -32700);
    // Notifications with a wrong form are reported, and change nothing.
    client.notify("textDocument/didChange", json!({"textDocument": {}}));
    let logged = client.receive();
    assert_eq!(logged["method"], "window/logMessage");
    client.end();
}

/// Without a length nobody knows where the next message begins.
#[test]
fn a_header_without_a_length_ends_the_server() {
    let mut client = Client::new(&[]);
    client.send_bytes(b"Hello: world\r\n\r\n{}");
    assert_eq!(client.response(&Value::Null)["error"]["code"], -32700);
    assert_eq!(client.exit_code(), 1);
}

#[test]
fn a_request_may_be_cancelled() {
    let mut client = Client::new(&[]);
    let uri = client.uri("a.jsonl");
    let symbols = json!({"jsonrpc": "2.0", "id": "s", "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": uri}}});
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "s"}});
    client.open("a.jsonl", log(GOOD));
    // In one piece, so that the server has both.
    let both: String = [&symbols, &cancel]
        .map(|message| format!("Content-Length: {}\r\n\r\n{message}", message.to_string().len()))
        .concat();
    client.send_bytes(both.as_bytes());
    let answer = client.response(&json!("s"));
    assert!(answer["error"]["code"] == -32800 || answer["result"].is_array(), "{answer}");
    client.end();
}

#[test]
fn encodings_are_negotiated() {
    for (offered, chosen) in
        [(json!(["utf-16", "utf-8"]), "utf-8"), (json!(["utf-32", "utf-16"]), "utf-16"), (Value::Null, "utf-16")]
    {
        let mut client = Client::start(&[]);
        let capabilities = json!({"general": {"positionEncodings": offered}});
        let result = client.request("initialize", json!({"capabilities": capabilities}));
        assert_eq!(result["capabilities"]["positionEncoding"], chosen);
        let text = "{\"\u{e9}\u{1f600}\": x";
        client.open("a.jsonl", text);
        let found = client.diagnostics("a.jsonl", 1);
        let column = if chosen == "utf-8" { text.find('x').unwrap() } else { text.find('x').unwrap() - 3 };
        assert_eq!(found[0]["range"]["start"], position(0, column), "{found:?}");
        client.end();
    }
}
