//! G4: every decision is logged before it takes effect.

use std::num::NonZeroU32;

use omen_gate::{Blocked, DecisionStage, GateCode, Grant, Grants, Outcome, Permission, Source};
use serde_json::json;

use crate::support::{call, clock, grant, logged, outcome, secs, start, turn};
use Permission::{Read, Write};

#[test]
fn an_allowed_call_leaves_two_decisions_with_its_turn() {
    let grants = Grants::new(clock());
    let id = grants.grant(grant("files/read", Read)).unwrap();
    let call = call("files/read", &[Read]);
    let (first, lease) = logged(grants.check(&call));
    let (second, redeemed) = logged(lease.unwrap().redeem(None));
    assert!(redeemed.is_ok());
    for (decision, stage) in [(&first, DecisionStage::Authorization), (&second, DecisionStage::Dispatch)] {
        assert_eq!(decision.turn, turn("turn_1"));
        assert_eq!((decision.stage, decision.outcome), (stage, Outcome::Allowed));
        assert_eq!(decision.grants, [id]);
    }
    let expect = json!({
        "turn": "turn_1",
        "tool": {"server": "files", "tool": "read"},
        "permissions": ["READ"],
        "call": call.hash().to_string(),
        "stage": "dispatch",
        "outcome": "allowed",
        "grants": [1],
    });
    assert_eq!(serde_json::to_value(&second).unwrap(), expect);
}

#[test]
fn a_denial_says_code_and_reason() {
    let grants = Grants::new(clock());
    let (decision, lease) = logged(grants.check(&call("files/write", &[Read, Write])));
    let blocked = lease.unwrap_err();
    assert_eq!((decision.code, decision.why.as_ref()), (Some(GateCode::G1), Some(&blocked.message)));
    let value = serde_json::to_value(&decision).unwrap();
    assert_eq!((&value["outcome"], &value["code"]), (&json!("denied"), &json!("G1")));
    assert_eq!(value["permissions"], json!(["READ", "WRITE"]));
    // A denied call waits for nothing.
    assert_eq!(value.get("needs_confirmation"), None);
}

#[test]
fn a_missing_confirmation_is_a_decision_at_dispatch() {
    let grants = Grants::new(clock());
    grants.grant(grant("files/write", Write)).unwrap();
    let lease = outcome(grants.check(&call("files/write", &[Write]))).unwrap();
    let (decision, redeemed) = logged(lease.redeem(None));
    assert_eq!(redeemed.unwrap_err().code, GateCode::G3);
    assert_eq!((decision.stage, decision.code), (DecisionStage::Dispatch, Some(GateCode::G3)));
}

#[test]
fn what_cannot_be_logged_does_not_happen() {
    let grants = Grants::new(clock());
    grants.grant(grant("files/read", Read)).unwrap();
    let full = || Blocked::new(GateCode::A1, "the disk is full", "make room");
    let refused = grants.check(&call("files/read", &[Read])).recorded(|_| Err::<(), _>(full()));
    assert_eq!(refused.unwrap_err(), full());
}

#[tokio::test]
async fn a_log_may_be_waited_for() {
    let grants = Grants::new(clock());
    grants.grant(grant("files/read", Read)).unwrap();
    let ruling = grants.check(&call("files/read", &[Read]));
    let lease = ruling.recorded_by(async |decision| {
        tokio::task::yield_now().await;
        if decision.outcome == Outcome::Allowed { Ok(()) } else { Err(Blocked::new(GateCode::A1, "", "")) }
    });
    assert!(lease.await.is_ok());
}

#[test]
fn a_grant_can_be_logged() {
    let grant = Grant {
        expires: Some(start() + secs(90)),
        uses: NonZeroU32::new(3),
        source: Source::Config,
        ..grant("files/read", Read)
    };
    let expect = json!({
        "tool": {"server": "files", "tool": "read"}, "permission": "READ", "source": "config",
        "expires": "2026-01-01T00:01:30Z", "uses": 3, "pre_granted": false,
    });
    assert_eq!(serde_json::to_value(&grant).unwrap(), expect);
}
