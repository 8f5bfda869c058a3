//! Misbehaviour of a server, as seen through a gate.

use omen_gate::audit::{Key, LogVerdict, verify};
use omen_gate::{Builder, GateCode, Stopped};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::gated::{World, allowing};
use super::hostile::hostile;
use super::{call, start};
use crate::support::tool;

/// Server all of whose tools may be called.
async fn world(allowed: &[&str], build: impl FnOnce(Builder) -> Builder) -> World {
    let allowed: Vec<_> = allowed.iter().map(|name| (*name, "READ")).collect();
    let configure = |tools: &[_]| format!("limits.call_timeout_seconds = 1\n{}", allowing(tools, &allowed));
    World::of(start(hostile("open")).await, configure, build).await
}

#[tokio::test]
async fn each_fault_is_classified_budgeted_and_logged_and_the_next_turn_goes_on() {
    let faults = [
        ("hang", "timeout", "unknown"),
        ("die", "died", "unknown"),
        ("garbage", "malformed", "unknown"),
        ("huge", "oversized", "yes"),
        ("error", "refused", "unknown"),
    ];
    for (name, class, ran) in faults {
        let world = world(&[name, "echo"], |builder| builder).await;
        for _ in 0..2 {
            let stopped = world.called(name, json!({})).await.unwrap_err();
            let Stopped::Failed(fault) = &stopped else { panic!("{name}: {stopped}") };
            assert_eq!(fault.class().as_str(), class, "{name}: {fault}");
            let outcome = world.entries().pop().unwrap();
            assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!(class), &json!(ran)), "{name}");
        }
        // R2: a turn may have two failures in a row, of any tools.
        let stopped = world.called("echo", json!({})).await.unwrap_err();
        assert_eq!(stopped.code(), GateCode::R2, "{name}: {stopped}");
        let call = ["decision", "intent", "outcome"];
        assert_eq!(world.kinds(), [&call[..], &call, &["decision", "turn R2"]].concat(), "{name}");
        let answer = world.called_in("turn_2", "echo", json!({})).await.unwrap();
        assert_eq!(answer.answer().structured_content, Some(json!({})), "{name}");

        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let found = verify(&world.log.bytes()[..], world.log.head_bytes().as_deref(), &key, None).unwrap();
        assert_eq!(found.verdict, LogVerdict::Sound, "{name}");
    }
}

#[tokio::test]
async fn an_answer_with_a_repeated_key_is_no_success() {
    for frame in super::faults::DOUBLED {
        let world = world(&["raw"], |builder| builder).await;
        let stopped = world.called("raw", json!({ "frame": frame })).await.unwrap_err();
        let Stopped::Failed(fault) = &stopped else { panic!("{frame}: {stopped}") };
        assert_eq!(fault.class().as_str(), "malformed", "{frame}: {fault}");
        assert_eq!(world.entries().pop().unwrap()["data"]["class"], "malformed", "{frame}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Number {
    #[serde(rename = "n")]
    _n: i64,
}

#[tokio::test]
async fn an_answer_that_breaks_the_promise_of_its_tool_reaches_the_gate_and_goes_no_further() {
    let lie = json!({ "n": "one" });
    let server = start(hostile("open")).await;
    let answer = call(&server, "liar", json!({})).await.unwrap();
    assert_eq!(answer.structured_content, Some(lie.clone()), "the SDK does not hold it against `outputSchema`");

    let world = world(&["liar"], |builder| builder.output::<Number>(tool("mcp/liar"))).await;
    let answer = world.called("liar", json!({})).await.unwrap();
    let untyped = answer.type_output::<Number>().await.unwrap_err();
    assert_eq!((untyped.why().code, &untyped.raw().structured_content), (GateCode::Pg4, &Some(lie)));
    assert_eq!(world.kinds().last().unwrap(), "decision PG-4");
}
