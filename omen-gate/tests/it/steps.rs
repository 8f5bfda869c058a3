//! R4: a turn does not continue without its dependencies.

use omen_gate::turn_steps::{MAX_STEPS, TurnStep, TurnStepState, TurnSteps};
use omen_gate::{Abort, FaultClass, GateCode, Missing, StepId};
use serde_json::json;

fn id(text: &str) -> StepId {
    text.parse().unwrap()
}

/// Parses steps as in `a, b: a, c: a b`.
fn steps(text: &str) -> Vec<TurnStep> {
    let step = |text: &str| {
        let (name, after) = text.split_once(':').unwrap_or((text, ""));
        TurnStep { id: id(name.trim()), after: after.split_whitespace().map(id).collect() }
    };
    text.split(',').map(step).collect()
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let blocked = TurnSteps::new(steps(text), MAX_STEPS).unwrap_err();
    assert_eq!((blocked.code, blocked.message.as_str()), (GateCode::R4, message));
}

fn ready(steps: &TurnSteps) -> Vec<&str> {
    steps.ready().map(StepId::as_str).collect()
}

#[test]
fn broken_plans_are_refused_before_anything_runs() {
    refused("a, b: a, a", "step `a` is listed twice");
    refused("a, b: x", "step `b` needs step `x`, which does not exist");
    refused("a: a", "step `a` depends on itself through other steps");
    refused("a, b: a d, c: b, d: c", "step `b` depends on itself through other steps");
    let many = (0..=MAX_STEPS).map(|index| TurnStep { id: id(&format!("s{index}")), after: Vec::new() });
    assert!(TurnSteps::new(many.clone(), usize::MAX).unwrap_err().message.contains("1024"));
    assert!(TurnSteps::new(many.take(4), 3).unwrap_err().message.contains("more than 3 steps"));
    assert!(TurnSteps::new(steps("a, b, c"), 3).is_ok());
    assert!(TurnSteps::new(steps("a, b: a, c: a, d: b c, e: d a"), MAX_STEPS).is_ok());
}

#[test]
fn a_long_chain_is_no_trouble() {
    let chain = (0..MAX_STEPS).map(|index| TurnStep {
        id: id(&format!("s{index}")),
        after: index.checked_sub(1).map(|before| id(&format!("s{before}"))).into_iter().collect(),
    });
    assert_eq!(ready(&TurnSteps::new(chain, MAX_STEPS).unwrap()), ["s0"]);
}

#[test]
fn steps_run_when_what_they_need_is_done() {
    let mut turn = TurnSteps::new(steps("a, b: a, c: a, d: b c"), MAX_STEPS).unwrap();
    for (now, expect) in [("a", &["a"][..]), ("c", &["b", "c"]), ("b", &["b"]), ("d", &["d"])] {
        assert_eq!(ready(&turn), expect);
        turn.begin(&id(now)).unwrap();
        assert_eq!(turn.state(&id(now)), Some(TurnStepState::Running));
        turn.done(&id(now)).unwrap();
    }
    assert!(turn.finish().unwrap().values().all(|state| *state == TurnStepState::Done));
}

#[test]
fn a_missing_dependency_aborts_and_says_why() {
    let cases = [
        (Missing::Skipped, "was skipped"),
        (Missing::Failed(FaultClass::Timeout), "failed (timeout)"),
        (Missing::Blocked(GateCode::Pg3), "was blocked by PG-3"),
    ];
    for (missing, words) in cases {
        let mut turn = TurnSteps::new(steps("a, b, c: b"), MAX_STEPS).unwrap();
        let abort = turn.missing(&id("b"), missing).unwrap_err();
        assert_eq!(abort, Abort::MissingDependency { step: id("c"), dependency: id("b"), missing });
        assert_eq!(abort.to_string(), format!("the turn is aborted: step `c` needs step `b`, which {words}"));
        assert_eq!(abort.code(), GateCode::R4);
        // Nothing more runs, not even steps without dependencies.
        assert_eq!(ready(&turn), [""; 0]);
        assert_eq!(turn.begin(&id("a")).unwrap_err(), abort);
        assert_eq!(turn.aborted(), Some(&abort));
        assert_eq!(turn.finish().unwrap_err(), abort);
    }
}

#[test]
fn a_running_step_that_fails_aborts_too_if_it_is_needed() {
    let mut turn = TurnSteps::new(steps("a, b: a"), MAX_STEPS).unwrap();
    turn.begin(&id("a")).unwrap();
    let missing = Missing::Failed(FaultClass::Died);
    let abort = turn.missing(&id("a"), missing).unwrap_err();
    let expect = json!({
        "reason": "missing_dependency", "step": "b", "dependency": "a", "missing": {"failed": "died"},
    });
    assert_eq!(serde_json::to_value(&abort).unwrap(), expect);
}

#[test]
fn what_nobody_needs_may_be_missing_and_is_reported() {
    let mut turn = TurnSteps::new(steps("a, b: a"), MAX_STEPS).unwrap();
    turn.begin(&id("a")).unwrap();
    turn.done(&id("a")).unwrap();
    turn.missing(&id("b"), Missing::Blocked(GateCode::G1)).unwrap();
    let ends = turn.finish().unwrap();
    assert_eq!(ends[&id("b")], TurnStepState::Missing(Missing::Blocked(GateCode::G1)));
    assert_eq!(serde_json::to_value(&ends).unwrap(), json!({"a": "done", "b": {"missing": {"blocked": "G1"}}}));
}

#[test]
fn steps_out_of_order_abort() {
    type Move = fn(&mut TurnSteps) -> Result<(), Abort>;
    let twice = |turn: &mut TurnSteps| {
        turn.missing(&id("b"), Missing::Skipped)?;
        turn.missing(&id("b"), Missing::Skipped)
    };
    let cases: [(Move, &str, &str); 7] = [
        (|turn| turn.begin(&id("x")), "x", "the turn has no such step"),
        (|turn| turn.begin(&id("b")), "b", "a step that it depends on is not finished"),
        (
            |turn| turn.begin(&id("a")).and_then(|()| turn.begin(&id("b"))),
            "b",
            "a step that it depends on is not finished",
        ),
        (|turn| turn.begin(&id("a")).and_then(|()| turn.begin(&id("a"))), "a", "it has already begun"),
        (|turn| turn.done(&id("a")), "a", "it ended before it began"),
        (|turn| turn.missing(&id("x"), Missing::Skipped), "x", "it has already ended, or the turn has no such step"),
        (twice, "b", "it has already ended, or the turn has no such step"),
    ];
    for (run, step, why) in cases {
        let mut turn = TurnSteps::new(steps("a, b: a"), MAX_STEPS).unwrap();
        let abort = run(&mut turn).unwrap_err();
        assert_eq!(abort, Abort::OutOfOrder { step: id(step), why });
        assert_eq!(turn.begin(&id("a")).unwrap_err(), abort, "it stays aborted");
    }
}

#[test]
fn a_turn_that_ends_early_is_no_success() {
    let mut turn = TurnSteps::new(steps("a, b: a"), MAX_STEPS).unwrap();
    turn.begin(&id("a")).unwrap();
    turn.done(&id("a")).unwrap();
    let abort = turn.finish().unwrap_err();
    assert_eq!(abort, Abort::OutOfOrder { step: id("b"), why: "the turn ended before it did" });
}
