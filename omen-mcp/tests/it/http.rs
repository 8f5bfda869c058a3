//! Both sides of Streamable HTTP, with a program behind the server that knows no gate.

use std::net::Ipv4Addr;

use omen_mcp::frame::Kind;
use omen_mcp::http::client::{Remote, RemoteLimits, RequestError, SentHeaders, ServerEvent};
use omen_mcp::http::server::{Access, HttpLimits, HttpServer, PATH, SessionChannels};
use omen_mcp::{Frame, Line, ServerLimits};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Answers each request with its own parameters and the kind of its session.
async fn echo(SessionChannels { is_shared, mut input, output, mut until, .. }: SessionChannels) -> String {
    loop {
        let line = tokio::select! {
            line = input.recv() => line,
            () = &mut until => None,
        };
        let Some(line) = line else { return "its client or the server has ended it".to_owned() };
        let frame = Frame::read(line.into_message()).unwrap();
        if matches!(frame.kind, Kind::Request(_)) {
            let (id, params) = (frame.raw_id(), frame.raw(frame.body().unwrap()));
            let result = format!(r#"{{"protocolVersion":"2025-11-25","shared":{is_shared},"said":{params}}}"#);
            output.0.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await.unwrap();
        }
    }
}

fn remote(url: &str) -> Remote {
    Remote::new(url, None, SentHeaders::default(), ServerLimits::default(), RemoteLimits::default()).unwrap()
}

#[tokio::test]
async fn a_client_and_a_server_exchange_messages_of_both_eras() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}{PATH}", listener.local_addr().unwrap());
    let access = Access::new(Ipv4Addr::LOCALHOST.into());
    let server = HttpServer { listener, access, limits: HttpLimits::default() };
    let (stop, until) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        let until = async { drop(until.await) };
        server.serve(&ServerLimits::default(), |session| Ok(echo(session)), until).await;
    });
    let (mut input, mut output) = remote(&url).connect();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let requests = [
        ("initialize", r#"{"a":1.0}"#.to_owned(), false),
        ("tools/call", r#"{"name":"é"}"#.to_owned(), false),
        ("tools/call", format!(r#"{{"name":"é",{meta}}}"#), true),
    ];
    for (id, (method, params, shared)) in requests.iter().enumerate() {
        let request = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}"#);
        Line::new(request).write_to(&mut input).await.unwrap();
        let result = format!(r#"{{"protocolVersion":"2025-11-25","shared":{shared},"said":{params}}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{result}}}"#);
        match output.recv().await {
            Some(ServerEvent::Message(message)) => assert_eq!(message.text(), answer),
            other => panic!("{other:?}"),
        }
    }
    drop(input);
    assert!(output.recv().await.is_none());
    stop.send(()).unwrap();
    served.await.unwrap();

    let (mut input, mut output) = remote(&url).connect();
    Line::new(r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#).write_to(&mut input).await.unwrap();
    let failed = output.recv().await;
    assert!(matches!(&failed, Some(ServerEvent::Failed(_, RequestError::NotSent(_)))), "{failed:?}");
}
