//! G3: confirmations.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use omen_gate::confirm::{ConfirmLimits, Nobody, Question, Reply};
use omen_gate::{
    Blocked, Call, CallHash, Confirmations, Confirmed, Confirmer, Demand, GateClock, GateCode, Grant, Grants, Lease,
    ManualClock, Permission,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::{args, call, clock, demand, grant, logged, outcome, secs, start, turn};
use Permission::{Execute, Network, Read, Write};

/// Confirmer with a fixed answer that counts questions.
#[derive(Debug)]
struct Asked {
    how: How,
    clock: Arc<ManualClock>,
    times: AtomicU32,
    last: Mutex<Option<Question>>,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Yes,
    No,
    Never,
    Panics,
    /// Confirms late by the injected clock, but at once by the runtime's.
    LateYes(u64),
}

#[async_trait]
impl Confirmer for Asked {
    async fn confirm(&self, question: &Question) -> Reply {
        self.times.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap() = Some(question.clone());
        match self.how {
            How::Yes => Reply::Confirmed,
            How::No => Reply::Denied { why: format!("I say no\n{}", "x".repeat(10_000)) },
            How::Never => pending().await,
            How::Panics => panic!("the confirmer panics; a test wants it"),
            How::LateYes(seconds) => {
                self.clock.advance(secs(seconds));
                Reply::Confirmed
            }
        }
    }
}

struct Setup {
    clock: Arc<ManualClock>,
    asked: Arc<Asked>,
    confirmations: Confirmations,
    grants: Grants,
}

fn setup(how: How) -> Setup {
    let clock = clock();
    let asked = Arc::new(Asked { how, clock: clock.clone(), times: AtomicU32::new(0), last: Mutex::default() });
    let limits = ConfirmLimits { timeout: secs(60), valid: secs(30) };
    let confirmations = Confirmations::new(asked.clone(), clock.clone(), limits);
    let grants = Grants::new(clock.clone());
    Setup { clock, asked, confirmations, grants }
}

impl Setup {
    async fn ask(&self, call: &Call) -> Result<Confirmed, Blocked> {
        outcome(self.confirmations.ask(call).await)
    }

    fn lease(&self, call: &Call) -> Lease {
        outcome(self.grants.check(call)).unwrap()
    }
}

#[track_caller]
fn is_g3<T>(result: Result<T, Blocked>, words: &str) {
    match result {
        Err(blocked) => {
            assert_eq!(blocked.code, GateCode::G3);
            assert!(blocked.message.contains(words), "{blocked}");
            assert!(blocked.message.len() < 1000 && !blocked.message.contains('\n'), "{blocked}");
        }
        Ok(_) => panic!("not blocked: {words}"),
    }
}

#[test]
fn which_calls_need_one() {
    // By permission, pre-granted or not, and with the operator's demand for every call.
    for permission in Permission::ALL {
        for pre_granted in [false, true] {
            for always_confirm in [false, true] {
                let setup = setup(How::Yes);
                setup.grants.grant(Grant { pre_granted, ..grant("files/x", permission) }).unwrap();
                let demand = Demand { always_confirm, ..demand("files/x", &[permission]) };
                let call = Call::new(turn("turn_1"), demand, args(json!({}))).unwrap();
                let (authorized, lease) = logged(setup.grants.check(&call));
                let lease = lease.unwrap();
                let expect = always_confirm || (permission != Read && !pre_granted);
                assert_eq!(lease.needs_confirmation(), expect, "{permission}, {pre_granted}, {always_confirm}");
                let (dispatched, redeemed) = logged(lease.redeem(None));
                assert_eq!(redeemed.is_err(), expect);
                // The entry of the authorization has it, and no other.
                let [authorized, dispatched] = [authorized, dispatched].map(|one| serde_json::to_value(one).unwrap());
                assert_eq!(authorized.get("needs_confirmation"), expect.then_some(&json!(true)));
                assert_eq!(dispatched.get("needs_confirmation"), None);
            }
        }
    }
}

#[test]
fn one_permission_that_is_not_pre_granted_is_enough_to_need_one() {
    let setup = setup(How::Yes);
    for (permission, pre_granted) in [(Read, true), (Write, true), (Execute, true), (Network, false)] {
        setup.grants.grant(Grant { pre_granted, ..grant("files/x", permission) }).unwrap();
    }
    assert!(setup.lease(&call("files/x", &Permission::ALL)).needs_confirmation());
    assert!(!setup.lease(&call("files/x", &[Read, Write, Execute])).needs_confirmation());
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_call_runs_and_the_question_says_all() {
    let setup = setup(How::Yes);
    setup.grants.grant(grant("files/write", Write)).unwrap();
    let call = Call::new(turn("turn_7"), demand("files/write", &[Write]), args(json!({"b": 1.0, "a": "é"}))).unwrap();
    let confirmed = setup.ask(&call).await.unwrap();
    assert_eq!(confirmed.hash(), call.hash());
    let redeemed = outcome(setup.lease(&call).redeem(Some(confirmed))).unwrap();
    assert_eq!(redeemed.call().args(), call.args());
    let question = setup.asked.last.lock().unwrap().clone().unwrap();
    assert_eq!(question.args, r#"{"a":"é","b":1}"#);
    assert_eq!(question.turn, turn("turn_7"));
    assert_eq!(question.tool, *call.tool());
    assert_eq!(question.permissions, call.demand().permissions);
    // The hash is SHA-256 of the text in D48, written by hand.
    let text = r#"{"args":{"a":"é","b":1},"server":"files","tool":"write"}"#;
    assert_eq!(question.hash.as_bytes(), &<[u8; 32]>::from(Sha256::digest(text)));
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_is_bound_to_tool_arguments_and_turn() {
    let setup = setup(How::Yes);
    for name in ["files/write", "files/append", "mail/write"] {
        setup.grants.grant(grant(name, Write)).unwrap();
    }
    let make =
        |turn_id: &str, name: &str, value| Call::new(turn(turn_id), demand(name, &[Write]), args(value)).unwrap();
    let asked = make("turn_1", "files/write", json!({"path": "a", "text": "x"}));
    for other in [
        make("turn_1", "files/write", json!({"path": "b", "text": "x"})),
        make("turn_1", "files/write", json!({"path": "a", "text": "x", "mode": null})),
        make("turn_1", "files/append", json!({"path": "a", "text": "x"})),
        make("turn_1", "mail/write", json!({"path": "a", "text": "x"})),
        make("turn_2", "files/write", json!({"path": "a", "text": "x"})),
    ] {
        let confirmed = setup.ask(&asked).await.unwrap();
        is_g3(outcome(setup.lease(&other).redeem(Some(confirmed))), "is for a different call");
    }
    // The order of members does not matter.
    let same = make("turn_1", "files/write", json!({"text": "x", "path": "a"}));
    let confirmed = setup.ask(&asked).await.unwrap();
    assert!(outcome(setup.lease(&same).redeem(Some(confirmed))).is_ok());
}

#[test]
fn hashes_are_written_in_hexadecimal() {
    let hash: CallHash = call("files/x", &[Read]).hash();
    let text = hash.to_string();
    assert_eq!(text.len(), 64);
    assert_eq!(serde_json::to_value(hash).unwrap(), json!(text));
}

#[tokio::test(start_paused = true)]
async fn no_answer_is_a_denial_and_is_not_asked_again() {
    let setup = setup(How::Never);
    let begin = tokio::time::Instant::now();
    is_g3(setup.ask(&call("files/write", &[Write])).await, "no answer in time");
    assert_eq!(begin.elapsed(), secs(60));
    assert_eq!(setup.asked.times.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_denial_a_panic_and_nobody_are_denials() {
    let call = call("files/write", &[Write]);
    is_g3(setup(How::No).ask(&call).await, "I say no");
    is_g3(setup(How::Panics).ask(&call).await, "asking failed: the call panicked");
    let limits = ConfirmLimits { timeout: secs(1), valid: secs(1) };
    let nobody = Confirmations::new(Arc::new(Nobody), clock(), limits);
    is_g3(outcome(nobody.ask(&call).await), "there is no confirmer");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_late_by_the_injected_clock_is_a_denial() {
    let call = call("files/write", &[Write]);
    assert!(setup(How::LateYes(59)).ask(&call).await.is_ok());
    is_g3(setup(How::LateYes(60)).ask(&call).await, "no answer in time");
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_expires() {
    for (wait, good) in [(29, true), (30, false)] {
        let setup = setup(How::Yes);
        setup.grants.grant(grant("files/write", Write)).unwrap();
        let call = call("files/write", &[Write]);
        let lease = setup.lease(&call);
        let confirmed = setup.ask(&call).await.unwrap();
        setup.clock.advance(secs(wait));
        let redeemed = outcome(lease.redeem(Some(confirmed)));
        if good {
            assert!(redeemed.is_ok());
        } else {
            is_g3(redeemed, "has expired");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_does_not_restore_a_revoked_grant() {
    let setup = setup(How::Yes);
    let id = setup.grants.grant(grant("files/write", Write)).unwrap();
    let call = call("files/write", &[Write]);
    let lease = setup.lease(&call);
    let confirmed = setup.ask(&call).await.unwrap();
    setup.grants.revoke_id(id);
    assert_eq!(outcome(lease.redeem(Some(confirmed))).unwrap_err().code, GateCode::G2);
}

/// Clock whose two times diverge: the time of day runs this many times as fast as the other one.
#[derive(Debug)]
struct Skewed {
    clock: ManualClock,
    wall: i32,
    monotonic: u32,
}

impl GateClock for Skewed {
    fn wall(&self) -> SystemTime {
        let passed = self.clock.monotonic() * self.wall.unsigned_abs();
        if self.wall < 0 { start() - passed } else { start() + passed }
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic() * self.monotonic
    }
}

#[tokio::test(start_paused = true)]
async fn neither_a_clock_that_is_set_back_nor_a_sleeping_machine_makes_a_confirmation_last() {
    for (wall, monotonic, good) in [(-1, 1, false), (1, 0, false), (-1, 0, true)] {
        let clock = Arc::new(Skewed { clock: ManualClock::new(start()), wall, monotonic });
        let limits = ConfirmLimits { timeout: secs(60), valid: secs(30) };
        let grants = Grants::with_defaults(clock.clone(), [grant("files/write", Write)]).unwrap();
        let call = call("files/write", &[Write]);
        let lease = outcome(grants.check(&call)).unwrap();
        let asked = setup(How::Yes).asked;
        let confirmed = outcome(Confirmations::new(asked, clock.clone(), limits).ask(&call).await).unwrap();
        clock.clock.advance(secs(30));
        let redeemed = outcome(lease.redeem(Some(confirmed)));
        if good {
            // If neither clock shows it, expiry cannot be noticed.
            assert!(redeemed.is_ok());
        } else {
            is_g3(redeemed, "has expired");
        }
    }
}
