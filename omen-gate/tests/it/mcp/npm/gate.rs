//! Official servers behind a gate: accepted and refused calls, and typed answers.

use std::path::Path;

use omen_gate::catalog::pin;
use omen_gate::summary::{Bullet, Section, Summary};
use omen_gate::tool::Tool;
use omen_gate::{Builder, GateCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::official;
use crate::mcp::gated::{self, World, allow, grant, named};
use crate::support::tool;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
pub(super) struct Content {
    pub(super) content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Weather {
    temperature: f64,
    conditions: String,
    humidity: f64,
}

/// Narrower than the promise: there may be half degrees.
#[derive(Debug, Deserialize, JsonSchema)]
struct WholeDegrees {
    #[serde(rename = "temperature")]
    _temperature: i64,
}

/// Official server behind a gate; `None` if not installed.
async fn world(
    name: &str,
    args: &[&Path],
    configure: impl FnOnce(&[Tool]) -> String,
    build: impl FnOnce(Builder) -> Builder,
) -> Option<World> {
    Some(World::of(official(name, args).await?, configure, build).await)
}

/// Official server with some of its tools allowed in their present form, and granted.
pub(super) async fn allowing(
    name: &str,
    args: &[&Path],
    allowed: &[(&str, &str)],
    build: impl FnOnce(Builder) -> Builder,
) -> Option<World> {
    world(name, args, |tools| gated::allowing(tools, allowed), build).await
}

fn quoting(evidence: &str) -> Summary {
    let bullet = Bullet { text: "it says so".to_owned(), evidence: evidence.to_owned() };
    Summary { sections: vec![Section { heading: "What it says".to_owned(), bullets: vec![bullet] }] }
}

#[tokio::test]
async fn a_file_is_read_as_a_rust_type_and_a_summary_has_to_quote_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let file = folder.join("note.txt");
    std::fs::write(&file, "the pool \"orders\" is 80").unwrap();
    let build = |builder: Builder| {
        builder.output::<Content>(tool("mcp/read_text_file")).output::<Content>(tool("mcp/list_directory"))
    };
    let allowed = [("read_text_file", "READ"), ("list_directory", "READ")];
    let Some(world) = allowing("server-filesystem", &[&folder], &allowed, build).await else { return };

    for (evidence, is_grounded) in [("is 80", true), (r#"\"orders\""#, true), ("is 90", false)] {
        let answer = world.called("read_text_file", json!({"path": file})).await.unwrap();
        let typed = answer.type_output::<Content>().await.unwrap();
        assert_eq!(typed.value().content, "the pool \"orders\" is 80");
        match typed.ground(quoting(evidence)).await {
            Ok(grounded) => assert!(is_grounded, "{:?}", grounded.summary()),
            Err(blocked) => assert!(!is_grounded && blocked.code == GateCode::Pg5, "{blocked}"),
        }
    }
    let listed = world.called("list_directory", json!({"path": folder})).await.unwrap();
    let listed = listed.type_output::<Content>().await.unwrap();
    assert_eq!(listed.value().content, "[FILE] note.txt");
}

#[tokio::test]
async fn a_structured_answer_is_held_against_the_type_that_is_registered_for_it() {
    let location = json!({"location": "Chicago"});
    let allowed = [("get-structured-content", "READ"), ("echo", "READ")];
    let right = |builder: Builder| builder.output::<Weather>(tool("mcp/get-structured-content"));
    let Some(world) = allowing("server-everything", &[], &allowed, right).await else { return };
    let answer = world.called("get-structured-content", location.clone()).await.unwrap();
    let typed = answer.type_output::<Weather>().await.unwrap();
    let Weather { temperature, conditions, humidity } = typed.value();
    let conditions = format!(r#""conditions":"{conditions}""#);
    let text = typed.source_text();
    assert!(temperature.is_finite() && humidity.is_finite() && text.contains(&conditions), "{text}");
    drop(typed.ground(quoting(&conditions)).await.unwrap());

    // It promises no structured answer, and no type is registered.
    let answer = world.called("echo", json!({"message": "hi"})).await.unwrap();
    let untyped = answer.type_output::<Content>().await.unwrap_err();
    assert_eq!(untyped.why().code, GateCode::Pg4);
    assert_eq!(untyped.raw().content[0]["text"], "Echo: hi", "the raw answer is there, with its mark");

    // A type that rejects a promised value is refused for every answer.
    let wrong = |builder: Builder| builder.output::<WholeDegrees>(tool("mcp/get-structured-content"));
    let world = allowing("server-everything", &[], &allowed, wrong).await.unwrap();
    let answer = world.called("get-structured-content", location).await.unwrap();
    let untyped = answer.type_output::<WholeDegrees>().await.unwrap_err();
    assert_eq!(untyped.why().code, GateCode::Pg4, "{}", untyped.why());
}

#[tokio::test]
async fn arguments_that_the_server_would_take_are_refused() {
    let allowed = [("get-sum", "READ")];
    let Some(world) = allowing("server-everything", &[], &allowed, |builder| builder).await else { return };
    // `everything_accepts_arguments_that_it_does_not_know` shows that the server accepts the first one.
    for (args, why) in
        [(json!({"a": 1, "b": 2, "c": 3}), "`c`"), (json!({"a": 1}), "b"), (json!({"a": 1, "b": "2"}), "/b")]
    {
        let outcome = world.called("get-sum", args).await;
        world.assert_refused(outcome, GateCode::Pg2, why);
    }
    let answer = world.called("get-sum", json!({"a": 1, "b": 2})).await.unwrap();
    assert!(answer.answer().content[0]["text"].as_str().unwrap().contains('3'), "{answer:?}");
    assert_eq!(world.kinds()[3..], ["decision", "intent", "outcome"]);
}

#[tokio::test]
async fn what_the_server_lists_is_not_what_may_be_called() {
    let allowed = [("get-sum", "READ")];
    let Some(world) = allowing("server-everything", &[], &allowed, |builder| builder).await else { return };
    let outcome = world.called("echo", json!({"message": "hi"})).await;
    world.assert_refused(outcome, GateCode::Pg3, "`mcp/echo`");
    // It claims to only read. What it reads is the environment of its process (D47).
    let outcome = world.called("get-env", json!({})).await;
    world.assert_refused(outcome, GateCode::Pg3, "`mcp/get-env`");
    let outcome = world.called("get-summ", json!({"a": 1, "b": 2})).await;
    world.assert_refused(outcome, GateCode::Pg2, "no tool `get-summ`");
}

#[tokio::test]
async fn a_tool_that_is_allowed_is_not_granted_by_what_it_says_of_itself() {
    let configure = |tools: &[Tool]| {
        let tool = named(tools, "get-env");
        assert_eq!(tool.more["annotations"]["readOnlyHint"], json!(true));
        allow(tool, "READ", Some(pin(tool).unwrap().to_string()))
    };
    let Some(world) = world("server-everything", &[], configure, |builder| builder).await else { return };
    let outcome = world.called("get-env", json!({})).await;
    world.assert_refused(outcome, GateCode::G1, "`mcp/get-env`");
}

#[tokio::test]
async fn a_tool_without_a_pin_or_with_that_of_another_form_is_suspended() {
    let configure = |tools: &[Tool]| {
        let (sum, echo) = (named(tools, "get-sum"), named(tools, "echo"));
        // As it was when it was approved.
        let before = Tool { description: Some("Echoes".to_owned()), ..echo.clone() };
        let before = pin(&before).unwrap().to_string();
        allow(sum, "READ", None) + &grant(sum, "READ") + &allow(echo, "READ", Some(before)) + &grant(echo, "READ")
    };
    let Some(world) = world("server-everything", &[], configure, |builder| builder).await else { return };
    let outcome = world.called("get-sum", json!({"a": 1, "b": 2})).await;
    world.assert_refused(outcome, GateCode::Pg3, "`mcp/get-sum`");
    let outcome = world.called("echo", json!({"message": "hi"})).await;
    world.assert_refused(outcome, GateCode::Pg3, "`mcp/echo`");
}
