//! Turns of several steps (R2, R4).

use std::time::Duration;

use omen_gate::fault::Ran;
use omen_gate::pipeline::{Received, Request};
use omen_gate::turn_steps::{TurnStep, TurnStepState};
use omen_gate::{Abort, Fault, GateCode, Missing, Permission, StepId, Stopped, TurnId};
use serde_json::{Value, json};

use crate::gates::{World, world};
use crate::support::tool;

fn id(text: &str) -> StepId {
    StepId::new(text).unwrap()
}

fn step(name: &str, after: &[&str]) -> TurnStep {
    TurnStep { id: id(name), after: after.iter().map(|name| id(name)).collect() }
}

async fn get(request: Request<Received>) -> Result<Value, Stopped> {
    let plan = json!({ "type": "call_tool", "server": "store", "tool": "get", "args": { "key": "pool" } }).to_string();
    let planned = request.screen().await?.plan(&plan).await?.call().unwrap();
    let answer = planned.conform().await?.authorize().await?.dispatch().await?;
    Ok(answer.answer().structured_content.clone().unwrap())
}

async fn denied(request: Request<Received>) -> Result<Value, Stopped> {
    let plan = json!({ "type": "call_tool", "server": "store", "tool": "rm", "args": {} }).to_string();
    let planned = request.screen().await?.plan(&plan).await?.call().unwrap();
    let _ = planned.conform().await?;
    Ok(Value::Null)
}

async fn turn(world: &World, steps: &[TurnStep]) -> omen_gate::Turn {
    world.gate.turn(TurnId::new("turn_1").unwrap(), steps.iter().cloned()).await.unwrap()
}

#[tokio::test]
async fn steps_are_taken_in_order_each_through_the_gate() {
    let world = world("", |builder| builder).await;
    let mut turn = turn(&world, &[step("look", &[]), step("again", &["look"]), step("extra", &[])]).await;
    assert_eq!(turn.step(&id("look"), "what is the pool?", get).await.unwrap()["value"], 50);
    assert_eq!(turn.step(&id("again"), "and now?", get).await.unwrap()["value"], 50);
    turn.skip(&id("extra")).await.unwrap();
    let states = turn.finish().await.unwrap().steps;
    assert_eq!(states[&id("again")], TurnStepState::Done);
    assert_eq!(states[&id("extra")], TurnStepState::Missing(Missing::Skipped));
    assert_eq!(world.seen.calls(), 2);
    let kinds = world.kinds();
    assert_eq!((kinds.first().unwrap().as_str(), kinds.last().unwrap().as_str()), ("turn", "turn"));
    assert!(world.entries().iter().all(|entry| entry["turn"] == "turn_1"));
}

#[tokio::test]
async fn a_step_that_comes_too_early_ends_the_turn() {
    let world = world("", |builder| builder).await;
    let mut turn = turn(&world, &[step("look", &[]), step("again", &["look"])]).await;
    let stopped = turn.step(&id("again"), "and now?", get).await.unwrap_err();
    assert!(matches!(&stopped, Stopped::Aborted { why: Abort::OutOfOrder { .. }, .. }), "{stopped}");
    assert_eq!(turn.step(&id("look"), "what is the pool?", get).await.unwrap_err(), stopped, "it stays at its end");
    assert_eq!(turn.finish().await.unwrap_err().code(), GateCode::R4);
    assert_eq!(world.seen.calls(), 0);
}

#[tokio::test]
async fn r4_a_step_that_another_needs_and_that_was_not_done_ends_the_turn_and_says_why() {
    let world = world("", |builder| builder).await;
    let ways = [
        ("blocked", "was blocked by PG-2", Ran::No),
        ("failed", "failed (died)", Ran::Unknown),
        ("withdrawn", "was called, and its answer is withheld by G2", Ran::Unknown),
        ("skipped", "was skipped", Ran::No),
    ];
    for (how, expect, ran) in ways {
        let name = TurnId::new(how).unwrap();
        let mut turn = world.gate.turn(name, [step("look", &[]), step("again", &["look"])]).await.unwrap();
        let stopped = match how {
            "blocked" => turn.step(&id("look"), "remove it", denied).await.unwrap_err(),
            "skipped" => turn.skip(&id("look")).await.unwrap_err(),
            "withdrawn" => {
                world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
                let (before, look) = (world.seen.calls(), id("look"));
                let revoke = async {
                    while world.seen.calls() == before {
                        tokio::task::yield_now().await;
                    }
                    let operator = TurnId::new("operator").unwrap();
                    world.gate.revoke(&operator, &tool("store/get"), Permission::Read).await.unwrap();
                };
                tokio::join!(turn.step(&look, "what is the pool?", get), revoke).0.unwrap_err()
            }
            _ => {
                world.seen.fail_with(Some(Fault::Died { why: "gone".to_owned() }));
                turn.step(&id("look"), "what is the pool?", get).await.unwrap_err()
            }
        };
        assert_eq!((stopped.code(), stopped.ran()), (GateCode::R4, ran), "{how}");
        let told = format!("R4: the turn is aborted: step `again` needs step `look`, which {expect}");
        assert_eq!(stopped.to_string(), told);
        let entry = world.entries().pop().unwrap();
        assert_eq!((&entry["kind"], &entry["data"]["code"]), (&json!("turn"), &json!("R4")));
        assert_eq!(turn.aborted().unwrap().code(), GateCode::R4);
    }
}

#[tokio::test]
async fn a_step_that_nothing_needs_may_fail_until_the_budget_is_spent() {
    let world = world("", |builder| builder).await;
    let steps: Vec<TurnStep> = ["a", "b", "c", "d"].iter().map(|name| step(name, &[])).collect();
    let mut turn = turn(&world, &steps).await;
    world.seen.fail_with(Some(Fault::Malformed { why: "no content".to_owned() }));
    for name in ["a", "b"] {
        let stopped = turn.step(&id(name), "what is the pool?", get).await.unwrap_err();
        assert_eq!(stopped.code(), GateCode::R3, "the turn goes on: {stopped}");
    }
    let stopped = turn.step(&id("c"), "what is the pool?", get).await.unwrap_err();
    assert_eq!(stopped.code(), GateCode::R2);
    world.seen.fail_with(None);
    assert_eq!(turn.step(&id("d"), "what is the pool?", get).await.unwrap_err(), stopped, "it stays at its end");
    assert_eq!(turn.finish().await.unwrap_err(), stopped);
    assert_eq!(world.seen.calls(), 2);
}

#[tokio::test]
async fn a_turn_that_is_not_finished_says_what_is_missing() {
    let world = world("", |builder| builder).await;
    let turn = turn(&world, &[step("look", &[])]).await;
    assert_eq!(turn.states().collect::<Vec<_>>(), [(&id("look"), TurnStepState::Waiting)]);
    assert_eq!(turn.finish().await.unwrap_err().code(), GateCode::R4);
}

#[tokio::test]
async fn a_turn_has_so_many_steps_and_no_more() {
    let world = world("[limits]\nturn_steps = 2\n", |builder| builder).await;
    let steps = ["a", "b", "c"].map(|name| step(name, &[]));
    let blocked = world.gate.turn(TurnId::new("turn_1").unwrap(), steps).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::R4);
}
