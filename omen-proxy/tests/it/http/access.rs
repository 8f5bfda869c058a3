//! Who is served, and what is answered to others: nothing of it reaches a server.

use omen_mcp::http::server::{Access, BadAccess, HttpLimits, Token};
use omen_proxy::error::NotServed;
use omen_proxy::{Source, Transport};
use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::world::{Http, local};
use crate::support::proxy;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
    .to_string()
}

/// A refusal says what is wrong and what to do, in an error of JSON-RPC whose code is that of the status.
fn explains(reply: &Reply) {
    let error = &reply.json()["error"];
    let code = error["code"].as_i64().unwrap();
    assert!(code == i64::from(reply.status) || (-32_768..=-32_000).contains(&code), "{reply:?}");
    for text in [&error["message"], &error["data"]["reason"], &error["data"]["help"]] {
        assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{reply:?}");
    }
}

#[tokio::test]
async fn only_the_own_names_and_origins_are_served() {
    let access = local().allow_host("gate.example.com").unwrap().allow_origin("https://app.example.com").unwrap();
    let (http, seen) = Http::limited(proxy(), access, HttpLimits::default()).await;
    let client = &http.client;
    let tries: Vec<(u16, Client)> = vec![
        (403, client.clone().with("host", "evil.example")),
        (403, client.clone().with("host", "127.0.0.1.evil.example")),
        (403, client.clone().with("host", "gate.example.com.")),
        (400, client.clone().without("host")),
        (400, client.clone().also("host", "evil.example")),
        (403, client.clone().with("origin", "http://evil.example")),
        (403, client.clone().with("origin", "http://localhost")),
        (403, client.clone().with("origin", "null")),
        (403, client.clone().with("origin", "http://app.example.com")),
        (400, client.clone().with("origin", "https://app.example.com").also("origin", "http://evil.example")),
    ];
    for (status, client) in tries {
        for method in ["POST", "GET", "DELETE", "OPTIONS", "PUT"] {
            let reply = client.send(method, "/mcp", &initialize()).await;
            assert_eq!(reply.status, status, "{method} {client:?}");
            explains(&reply);
            assert_eq!(reply.header("access-control-allow-origin"), None);
        }
    }
    // A target with a name of its own.
    let absolute = client.send("POST", "http://evil.example/mcp", &initialize()).await;
    assert_eq!(absolute.status, 403);
    assert!(seen.lines.lock().unwrap().is_empty(), "a server was started");

    let page = client.clone().with("origin", "https://app.example.com").with("host", "GATE.example.com:443");
    let reply = page.send("POST", "/mcp", &initialize()).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some("https://app.example.com")));
    assert_eq!(reply.header("access-control-expose-headers"), Some("mcp-session-id"));
    let preflight = page.send("OPTIONS", "/mcp", "").await;
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("mcp-session-id"));
    http.stop().await;
}

/// A path that another reader takes for that of the endpoint, or for another one, is not the endpoint.
#[tokio::test]
async fn the_endpoint_has_one_spelling() {
    let (http, seen) = Http::limited(proxy(), local(), HttpLimits::default()).await;
    let host = http.client.address;
    for path in [
        "/",
        "/mcp/",
        "//mcp",
        "/./mcp",
        "/x/../mcp",
        "/MCP",
        "/%6dcp",
        "/mcp%2f",
        "/mcp%00",
        "/mcp;x",
        "/mcp/%2e%2e/x",
        "*",
        "mcp",
    ] {
        let reply = http.client.send("POST", path, &initialize()).await;
        assert!([400, 403, 404].contains(&reply.status), "{path}: {reply:?}");
    }
    assert!(seen.lines.lock().unwrap().is_empty(), "a server was started");
    for path in ["/mcp", "/mcp?x=/other", &format!("http://{host}/mcp")] {
        assert_eq!(http.client.send("POST", path, &initialize()).await.status, 200, "{path}");
    }
    http.stop().await;
}

#[tokio::test]
async fn nobody_is_served_without_the_token() {
    let access = local().token(Token::new(TOKEN.to_owned()).unwrap()).allow_origin("https://a.example").unwrap();
    let (http, seen) = Http::limited(proxy(), access, HttpLimits::default()).await;
    let client = &http.client;
    for value in [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Basic {TOKEN}")),
        Some(TOKEN.to_owned()),
        Some(format!("Bearer {TOKEN}0")),
        Some(format!("Bearer {}", &TOKEN[1..])),
        Some(format!("Bearer {}", TOKEN.to_uppercase())),
        Some(format!("Bearer {TOKEN}, Bearer x")),
    ] {
        let client = value.iter().fold(client.clone(), |client, value| client.with("authorization", value));
        for (method, path) in
            [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("OPTIONS", "/mcp"), ("GET", "/x")]
        {
            let reply = client.send(method, path, &initialize()).await;
            assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{value:?}");
            explains(&reply);
            assert!(!reply.body.contains(TOKEN), "{reply:?}");
        }
    }
    let twice = client.clone().also("authorization", &format!("Bearer {TOKEN}")).also("authorization", "Bearer x");
    assert_eq!(twice.send("POST", "/mcp", &initialize()).await.status, 400);
    // A browser asks without it, and gets nothing but leave to ask with it.
    let preflight = client.clone().with("origin", "https://a.example").send("OPTIONS", "/mcp", &initialize()).await;
    assert_eq!((preflight.status, preflight.body.as_str()), (204, ""));
    assert!(seen.lines.lock().unwrap().is_empty(), "a server was started");
    let known = client.clone().with("authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(known.send("POST", "/mcp", &initialize()).await.status, 200);
    assert!(!http.noted(TOKEN));
    http.stop().await;
}

#[tokio::test]
async fn other_machines_are_served_only_with_a_token() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let source =
        Source::streams(omen_gate::mcp::ServerLimits::default(), || Ok((tokio::io::sink(), tokio::io::empty())));
    // Also if the access was meant for another address.
    let access = Access::new("127.0.0.1".parse().unwrap());
    let proxy = proxy().server("s".parse().unwrap(), source).build().unwrap();
    let transport = Transport::http(listener, access, HttpLimits::default());
    let served = proxy.serve(transport, std::future::pending()).await;
    assert!(matches!(served, Err(NotServed::Access(BadAccess::NoToken(_)))), "{served:?}");
}

#[tokio::test]
async fn what_is_no_message_for_the_endpoint_is_refused() {
    let (http, seen) = Http::new(proxy()).await;
    let client = &http.client;
    let send = async |client: &Client, method: &str, path: &str, body: &str| {
        let reply = client.send(method, path, body).await;
        explains(&reply);
        reply
    };
    for (status, reply) in [
        (404, send(client, "POST", "/", &initialize()).await),
        (404, send(client, "POST", "/mcp/", &initialize()).await),
        (404, send(client, "POST", "//mcp", &initialize()).await),
        (404, send(client, "POST", "/MCP", &initialize()).await),
        (405, send(client, "PUT", "/mcp", &initialize()).await),
        (405, send(client, "OPTIONS", "/mcp", "").await),
        (415, send(&client.clone().with("content-type", "text/plain"), "POST", "/mcp", &initialize()).await),
        (415, send(&client.clone().without("content-type"), "POST", "/mcp", &initialize()).await),
        (415, send(&client.clone().with("content-encoding", "gzip"), "POST", "/mcp", &initialize()).await),
        (406, send(&client.clone().with("accept", "application/json"), "POST", "/mcp", &initialize()).await),
        (406, send(&client.clone().without("accept"), "POST", "/mcp", &initialize()).await),
        (406, send(&client.clone().with("accept", "application/json"), "GET", "/mcp", "").await),
    ] {
        assert_eq!(reply.status, status, "{reply:?}");
    }
    assert_eq!(client.send("PUT", "/mcp", "").await.header("allow"), Some("GET, POST, DELETE"));
    for (code, body) in [
        (-32_700, "".to_owned()),
        (-32_700, "nonsense".to_owned()),
        (-32_700, initialize().replace("\"initialize\"", "\"initia\nlize\"")),
        (-32_600, format!("[{}]", initialize())),
        (-32_600, format!("[{0},{0}]", initialize())),
        (-32_600, initialize().replace("\"id\":0", "\"id\":0,\"id\":1")),
        (-32_600, initialize().replace("\"method\"", "\"method\":\"ping\",\"method\"")),
        (-32_600, initialize().replace("\"method\"", "\"Method\":\"ping\",\"method\"")),
        (-32_600, initialize().replace("\"2.0\"", "\"1.0\"")),
        (-32_600, initialize().replace("\"id\":0", "\"id\":null")),
    ] {
        let reply = client.send("POST", "/mcp", &body).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
        assert_eq!(reply.json().get("id"), None::<&Value>);
        explains(&reply);
    }
    assert!(seen.lines.lock().unwrap().is_empty(), "a server was started");
    http.stop().await;
}
