//! Official servers of the protocol, from npm: facts about them that the gate depends on.
//!
//! They are not in this repository: `.ci/install mcp-servers` installs them.

mod episode;
mod gate;

use std::path::Path;

use omen_gate::mcp::{Launch, StdioServer};
use omen_gate::server::ToolServer as _;
use omen_gate::tool::Tool;
use omen_testkit::Need;
use serde_json::{Value, json};

use super::{call, limits, start, until, within};

/// Starts an official server, if installed.
async fn official(name: &str, args: &[&Path]) -> Option<StdioServer> {
    let script = Need::McpServers.path()?.join(format!("node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    assert!(script.is_file(), "there is no {}", script.display());
    Some(start(offline("node").arg(script).args(args).limits(limits())).await)
}

/// Starts a program without a network, where that is permitted.
fn offline(program: &str) -> Launch {
    let words = omen_testkit::offline();
    match words.split_first() {
        Some((unshare, args)) => Launch::new(unshare).args(args).arg(program),
        None => Launch::new(program),
    }
}

async fn tool(server: &StdioServer, name: &str) -> Tool {
    let tools = within(server.list()).await.unwrap();
    tools.into_iter().find(|tool| tool.name.as_str() == name).unwrap()
}

#[tokio::test]
async fn filesystem_writes_where_it_may_and_nowhere_else() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inside = inside.path().canonicalize().unwrap();
    let Some(server) = official("server-filesystem", &[&inside]).await else { return };

    let file = inside.join("note.txt");
    let written = call(&server, "write_file", json!({"path": file, "content": "hello"})).await.unwrap();
    assert_ne!(written.is_error, Some(true), "{written:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello");
    let read = call(&server, "read_text_file", json!({"path": file})).await.unwrap();
    assert_eq!(read.structured_content, Some(json!({"content": "hello"})));

    // A refusal by the tool is an answer with `isError`, not a protocol error.
    let refused = outside.path().canonicalize().unwrap().join("note.txt");
    let answer = call(&server, "write_file", json!({"path": refused, "content": "hello"})).await.unwrap();
    assert_eq!(answer.is_error, Some(true), "{answer:?}");
    assert!(!refused.exists());

    within(server.stop()).await;
    assert_eq!(server.exit().unwrap(), "exit status: 0");
}

#[tokio::test]
async fn filesystem_promises_structured_answers() {
    let dir = tempfile::tempdir().unwrap();
    let Some(server) = official("server-filesystem", &[dir.path()]).await else { return };
    let write = tool(&server, "write_file").await;
    let promised = write.output_schema.unwrap();
    assert_eq!(promised["$schema"], json!("http://json-schema.org/draft-07/schema#"));
    assert_eq!(promised["properties"], json!({"content": {"type": "string"}}));
    assert_eq!((&promised["required"], &promised["additionalProperties"]), (&json!(["content"]), &json!(false)));
    assert_eq!(write.more["annotations"]["destructiveHint"], json!(true));
}

#[tokio::test]
async fn everything_says_at_once_that_its_list_has_changed() {
    let Some(server) = official("server-everything", &[]).await else { return };
    // Nobody has asked for the list yet. It is the first line that the server writes, before the handshake.
    until("the notification", || server.revision() >= 1).await;
    let names: Vec<_> = within(server.list()).await.unwrap().into_iter().map(|tool| tool.name.to_string()).collect();
    assert!(names.contains(&"get-sum".to_owned()), "{names:?}");
}

#[tokio::test]
async fn everything_accepts_arguments_that_it_does_not_know() {
    let Some(server) = official("server-everything", &[]).await else { return };
    for tool in within(server.list()).await.unwrap() {
        assert_ne!(tool.input_schema.get("additionalProperties"), Some(&json!(false)), "{}", tool.name);
    }
    // So the gate must refuse them (D47).
    let answer = call(&server, "get-sum", json!({"a": 1, "b": 2, "c": 3})).await.unwrap();
    assert_ne!(answer.is_error, Some(true), "{answer:?}");
    assert!(answer.content[0]["text"].as_str().unwrap().contains('3'), "{answer:?}");
}

#[tokio::test]
async fn everything_keeps_what_it_promises_of_a_structured_answer() {
    let Some(server) = official("server-everything", &[]).await else { return };
    let promised = tool(&server, "get-structured-content").await.output_schema.unwrap();
    assert_eq!(promised["required"], json!(["temperature", "conditions", "humidity"]));
    let answer = call(&server, "get-structured-content", json!({"location": "Chicago"})).await.unwrap();
    let weather = answer.structured_content.unwrap();
    assert!(weather["temperature"].is_number() && weather["conditions"].is_string(), "{weather}");
    // The text is the same, for clients without structured answers.
    let text: Value = serde_json::from_str(answer.content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, weather);
}

#[tokio::test]
async fn a_claim_to_read_only_is_no_grant() {
    let Some(server) = official("server-everything", &[]).await else { return };
    let environment = tool(&server, "get-env").await;
    // It returns the environment of its process, and claims to be harmless.
    assert_eq!(environment.more["annotations"]["readOnlyHint"], json!(true));
    let answer = call(&server, "get-env", json!({})).await.unwrap();
    let seen: Value = serde_json::from_str(answer.content[0]["text"].as_str().unwrap()).unwrap();
    let names: Vec<_> = seen.as_object().unwrap().keys().collect();
    assert_eq!(names, ["PATH"], "there is nothing else to hand out");
}

#[tokio::test]
async fn a_call_that_is_cancelled_leaves_the_server_in_order() {
    let Some(server) = official("server-everything", &[]).await else { return };
    tokio::select! {
        biased;
        answer = call(&server, "trigger-long-running-operation", json!({"duration": 600, "steps": 1})) => {
            panic!("{answer:?}")
        }
        echo = call(&server, "echo", json!({"message": "hi"})) => drop(echo.unwrap()),
    }
    call(&server, "echo", json!({"message": "still here"})).await.unwrap();
    // It continues with the cancelled call, which would take ten minutes: it is killed when it is dropped.
}

#[tokio::test]
async fn a_call_that_everything_refuses_is_an_answer_that_says_so() {
    let Some(server) = official("server-everything", &[]).await else { return };
    // The protocol has errors for these; the official servers do not use them.
    for (tool, args, why) in [
        ("no-such-tool", json!({}), "not found"),
        ("get-sum", json!({"a": 1}), "Input validation error"),
        ("simulate-research-query", json!({"topic": "x"}), "requires task augmentation"),
    ] {
        let answer = call(&server, tool, args).await.unwrap();
        assert_eq!(answer.is_error, Some(true), "{tool}: {answer:?}");
        assert!(answer.content[0]["text"].as_str().unwrap().contains(why), "{tool}: {answer:?}");
    }
}
