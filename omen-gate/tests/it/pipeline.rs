//! End-to-end requests.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply, Responder};
use omen_gate::fault::Ran;
use omen_gate::summary::Summary;
use omen_gate::{Fault, FaultClass, GateCode, Grant, Permission, Stopped, TurnId};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::gates::{MAY_WRITE, Person, Setting, world};
use crate::support::{grant, secs, start, tool};

fn get() -> Value {
    json!({ "key": "pool" })
}

fn summary(evidence: &str) -> Summary {
    let bullet = json!({ "text": "the pool is 50", "evidence": evidence });
    serde_json::from_value(json!({ "sections": [{ "heading": "pool", "bullets": [bullet] }] })).unwrap()
}

#[tokio::test]
async fn a_request_goes_all_the_way() {
    let full = "[audit]\nlog = 'l'\nkey_file = 'k'\narguments = 'full'\n";
    let world = world(full, |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    let typed = request.dispatch().await.unwrap().type_output::<Setting>().await.unwrap();
    assert_eq!(typed.value(), &Setting { key: "pool".to_owned(), value: 50 });
    let grounded = typed.ground(summary(r#""value":50"#)).await.unwrap();
    assert_eq!(grounded.summary().sections.len(), 1);
    // Listed when the call is checked, because there was no call before, and after the intent is written.
    assert_eq!((world.seen.lists(), world.seen.calls()), (2, 1));
    assert_eq!(world.kinds(), ["decision", "intent", "outcome"]);
    let entries = world.entries();
    assert!(entries.iter().all(|entry| entry["turn"] == "turn_1"), "A2, G4");
    assert_eq!(entries[1]["data"]["args"], get());
    assert_eq!(entries[1]["data"]["call"], entries[2]["data"]["call"]);
    assert_eq!(entries[2]["data"]["ran"], "yes");
}

#[tokio::test]
async fn pg_0_halts_before_discovery() {
    let world = world("", |builder| builder).await;
    let request = world.gate.request(TurnId::new("turn_1").unwrap(), "please DROP TABLE orders");
    let blocked = request.screen().await.unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg0);
    assert_eq!((world.seen.lists(), world.seen.calls()), (0, 0));
    assert_eq!(world.kinds(), ["decision PG-0"]);
}

#[tokio::test]
async fn pg_0_a_request_is_as_long_as_the_configuration_lets_it() {
    let world = world("[limits]\nrequest_bytes = 10\n", |builder| builder).await;
    let screen = |query: &str| world.gate.request(TurnId::new("turn_1").unwrap(), query).screen();
    assert!(screen("ten bytes.").await.is_ok());
    let blocked = screen("ten bytes +").await.unwrap_err();
    assert_eq!((blocked.code, blocked.message.as_str()), (GateCode::Pg0, "the query exceeds 10 bytes (11 bytes)"));
    assert_eq!(world.seen.lists(), 0);
}

#[tokio::test]
async fn pg_1_and_pg_t_call_nothing() {
    let world = world("", |builder| builder).await;
    let screened = || world.gate.request(TurnId::new("turn_1").unwrap(), "hello").screen();
    let blocked = screened().await.unwrap().plan("```json\n{}\n```").await.unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg1);
    let empty = r#"{"type": "final_answer", "answer": "done", "needs_more_info": false}"#;
    assert_eq!(screened().await.unwrap().plan(empty).await.unwrap_err().code, GateCode::PgT);
    let question = r#"{"type": "final_answer", "answer": "Which pool?", "needs_more_info": true}"#;
    let ended = screened().await.unwrap().plan(question).await.unwrap().call().unwrap_err();
    assert_eq!(ended.answer(), "Which pool?");
    assert_eq!((world.seen.lists(), world.seen.calls()), (0, 0));
    assert_eq!(world.kinds(), ["decision PG-1", "decision PG-T", "turn PG-T"]);
}

#[tokio::test]
async fn pg_2_refuses_what_the_schema_does_not_name() {
    let world = world("", |builder| builder).await;
    for (name, args) in [
        ("store/get", json!({ "key": "pool", "verbose": true })),
        ("store/get", json!({})),
        ("store/gett", get()),
        ("shop/get", get()),
    ] {
        let blocked = world.conformant("turn_1", name, args).await.unwrap_err();
        assert_eq!(blocked.code, GateCode::Pg2, "{blocked}");
    }
    assert_eq!(world.seen.calls(), 0);
}

#[tokio::test]
async fn pg_3_suspends_a_tool_that_has_changed() {
    let world = world("", |builder| builder).await;
    let before = world.conformant("turn_1", "store/get", get()).await.unwrap();
    let authorized = world.authorized("turn_1", "store/get", get()).await.unwrap();
    // The server now describes its tool differently.
    let changed = json!({ "name": "get", "description": "Reads all.", "inputSchema": { "type": "object",
        "properties": { "key": { "type": "string" } } } });
    world.seen.more.lock().unwrap().push(serde_json::from_value(changed).unwrap());
    world.seen.revision.store(1, Ordering::SeqCst);
    let blocked = world.authorized("turn_1", "store/get", get()).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg3);
    assert!(blocked.message.contains("suspended"), "{blocked}");
    // Checked against the old form: authorized by it, and stopped at the last moment.
    let stopped = before.authorize().await.unwrap().dispatch().await.unwrap_err();
    assert_eq!(stopped.code(), GateCode::Pg3);
    assert_eq!(authorized.dispatch().await.unwrap_err().code(), GateCode::Pg3);
    assert_eq!(world.seen.calls(), 0);
}

#[tokio::test]
async fn g1_what_is_not_granted_is_denied_and_g3_asks() {
    let nobody = world("", |builder| builder).await;
    let set = || json!({ "key": "pool", "value": 80 });
    let blocked = nobody.authorized("turn_1", "store/set", set()).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::G1);

    let denied = Person::who_says(Reply::Denied { why: "too many".to_owned() });
    let denying = world(MAY_WRITE, |builder| builder.confirmer(denied.clone())).await;
    let blocked = denying.authorized("turn_1", "store/set", set()).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::G3);
    assert_eq!(denied.asked.lock().unwrap().len(), 1);
    assert_eq!(denying.kinds(), ["decision", "confirmation G3"]);

    let agreed = Person::who_says(Reply::Confirmed);
    let agreeing = world(MAY_WRITE, |builder| builder.confirmer(agreed.clone())).await;
    let request = agreeing.authorized("turn_1", "store/set", set()).await.unwrap();
    let answer = request.dispatch().await.unwrap();
    assert_eq!(answer.answer().structured_content, Some(json!({ "key": "pool", "value": 80 })));
    assert_eq!(agreed.asked.lock().unwrap()[0].args, r#"{"key":"pool","value":80}"#);
    assert_eq!(agreeing.kinds(), ["decision", "confirmation", "intent", "outcome"]);
}

/// Confirmer that never answers, with a notification for each question.
#[derive(Clone, Debug, Default)]
struct Silent(Arc<Notify>);

#[async_trait]
impl Confirmer for Silent {
    async fn confirm(&self, _: &Question) -> Reply {
        self.0.notify_one();
        std::future::pending().await
    }
}

/// The caller goes away during the confirmation: the call was allowed so far, and not made.
#[tokio::test]
async fn g3_a_call_that_ends_while_it_waits_is_recorded_as_denied() {
    let silent = Silent::default();
    let world = world(MAY_WRITE, |builder| builder.confirmer(silent.clone())).await;
    for turn in ["turn_1", "turn_2"] {
        // Nothing was used up: the second call is asked about again.
        let set = json!({ "key": "pool", "value": 80 });
        tokio::select! {
            authorized = world.authorized(turn, "store/set", set) => panic!("{authorized:?}"),
            () = silent.0.notified() => {}
        }
        world.gate.turn_is_over(&TurnId::new(turn).unwrap(), "over").await.unwrap();
    }
    let kinds = ["decision", "confirmation G3", "turn"];
    assert_eq!(world.kinds(), [kinds, kinds].concat());
    let entries = world.entries();
    let (decision, denied) = (&entries[0]["data"], &entries[1]["data"]);
    assert_eq!((&denied["outcome"], &denied["stage"]), (&json!("denied"), &json!("confirmation")));
    assert_eq!((&denied["call"], &denied["tool"]), (&decision["call"], &decision["tool"]));
    assert_eq!(denied["why"], "the call of `store/set` ended before it was confirmed");
    assert_eq!(world.seen.calls(), 0);
}

/// The entry has the responder, if the confirmer knows it.
#[tokio::test]
async fn g3_who_answered_is_in_the_log() {
    let ann = Responder::via("socket").user(1000, Some("ann"));
    let why = "not today".to_owned();
    for (reply, code) in [
        (Reply::ConfirmedBy(ann.clone()), None),
        (Reply::DeniedBy { by: ann, why }, Some("G3")),
        (Reply::Confirmed, None),
    ] {
        let is_known = reply != Reply::Confirmed;
        let world = world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(reply))).await;
        let answered = world.authorized("turn_1", "store/set", json!({ "key": "pool", "value": 80 })).await;
        assert_eq!(answered.as_ref().err().map(|blocked| blocked.code.as_str()), code);
        let entry = world.entries().into_iter().find(|entry| entry["kind"] == "confirmation").unwrap();
        let by = if is_known { json!({ "via": "socket", "uid": 1000, "user": "ann" }) } else { Value::Null };
        assert_eq!(entry["data"]["by"], by, "{entry}");
    }
}

#[tokio::test]
async fn g2_a_revocation_in_between_bites() {
    let world = world("", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    let turn = TurnId::new("operator").unwrap();
    let revoked = world.gate.revoke(&turn, &tool("store/get"), Permission::Read).await.unwrap();
    assert_eq!(revoked.len(), 1);
    let stopped = request.dispatch().await.unwrap_err();
    assert_eq!(stopped.code(), GateCode::G2);
    assert_eq!(world.seen.calls(), 0);
    assert_eq!(world.kinds(), ["decision", "revocation", "decision G2"]);
}

#[tokio::test(start_paused = true)]
async fn g2_a_revocation_and_an_expiry_break_off_a_call_that_runs() {
    let get_until = |expires| Grant { expires, ..grant("store/get", Permission::Read) };
    for revoked in [true, false] {
        let world = world("[breaker]\nfailures = 1\ncooldown_seconds = 60\n", |builder| builder).await;
        let operator = TurnId::new("operator").unwrap();
        world.gate.revoke(&operator, &tool("store/get"), Permission::Read).await.unwrap();
        world.gate.grant(&operator, get_until(Some(start() + secs(20)))).await.unwrap();
        world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
        let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
        let interrupt = async {
            while world.seen.calls() == 0 {
                tokio::task::yield_now().await;
            }
            if revoked {
                // The call does not depend on another tool's grants.
                world.gate.revoke(&operator, &tool("store/set"), Permission::Write).await.unwrap();
                world.gate.revoke(&operator, &tool("store/get"), Permission::Read).await.unwrap();
            }
        };
        let began = tokio::time::Instant::now();
        let (outcome, ()) = tokio::join!(request.dispatch(), interrupt);
        let stopped = outcome.unwrap_err();
        assert!(matches!(stopped, Stopped::BrokenOff(_)), "{stopped}");
        assert_eq!((stopped.code(), stopped.ran()), (GateCode::G2, Ran::Unknown));
        assert_eq!(stopped.to_string().contains("was revoked"), revoked, "{stopped}");
        // A call may take 30 s.
        assert_eq!(began.elapsed().as_secs(), if revoked { 0 } else { 20 });
        let outcome = world.entries().into_iter().rfind(|entry| entry["kind"] == "outcome").unwrap();
        assert_eq!((&outcome["data"]["code"], &outcome["data"]["ran"]), (&json!("G2"), &json!("unknown")));
        // It counts as a failure neither of the tool (R1) nor of the turn (R2).
        world.seen.fail_with(None);
        world.gate.grant(&operator, get_until(None)).await.unwrap();
        assert!(world.authorized("turn_1", "store/get", get()).await.unwrap().dispatch().await.is_ok());
    }
}

#[tokio::test]
async fn pg_4_gives_the_raw_answer_with_its_mark() {
    let agreed = Person::who_says(Reply::Confirmed);
    let world = world(MAY_WRITE, |builder| builder.confirmer(agreed).output::<Setting>(tool("store/set"))).await;
    let request = world.authorized("turn_1", "store/set", json!({ "key": "pool", "value": -1 })).await.unwrap();
    let dispatched = request.dispatch().await.unwrap();
    assert!(matches!(dispatched.answer().fault(), Some(Fault::Tool { .. })), "an answer, of failure");
    let untyped = dispatched.type_output::<Setting>().await.unwrap_err();
    assert_eq!(untyped.why().code, GateCode::Pg4);
    assert_eq!(untyped.raw().is_error, Some(true));
}

#[tokio::test]
async fn pg_5_refuses_what_the_answer_does_not_say() {
    let world = world("", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    let typed = request.dispatch().await.unwrap().type_output::<Setting>().await.unwrap();
    let blocked = typed.ground(summary(r#""value":80"#)).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg5);
    assert_eq!(world.kinds().last().unwrap(), "decision PG-5");
}

#[tokio::test]
async fn an_answer_is_as_long_as_the_configuration_lets_it() {
    let world = world("[limits]\nanswer_bytes = 10\n", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    assert_eq!(request.dispatch().await.unwrap_err(), Stopped::Failed(Fault::Oversized { limit: 10 }));
    let outcome = world.entries().pop().unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!("oversized"), &json!("yes")));
}

#[tokio::test(start_paused = true)]
async fn r3_each_fault_is_classified_budgeted_and_logged() {
    for fault in [
        Fault::Timeout { after: Duration::from_secs(30) },
        Fault::Panicked,
        Fault::Died { why: "exit status: 1".to_owned() },
        Fault::Malformed { why: "no content".to_owned() },
        Fault::Oversized { limit: 1_048_576 },
    ] {
        let world = world("", |builder| builder).await;
        world.seen.fail_with(Some(fault.clone()));
        for _ in 0..2 {
            let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
            let stopped = request.dispatch().await.unwrap_err();
            assert_eq!(stopped, Stopped::Failed(fault.clone()));
            let outcome = world.entries().pop().unwrap();
            assert_eq!(outcome["data"]["class"], fault.class().as_str());
        }
        // R2: a turn may have two failures in a row.
        let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
        let stopped = request.dispatch().await.unwrap_err();
        assert_eq!(stopped.code(), GateCode::R2, "{stopped}");
        assert_eq!(world.seen.calls(), 2);
        assert_eq!(world.kinds().last().unwrap(), "turn R2");
        // Another turn has another budget.
        world.seen.fail_with(None);
        let request = world.authorized("turn_2", "store/get", get()).await.unwrap();
        assert!(request.dispatch().await.is_ok());
        let health = world.gate.health();
        assert_eq!((health.tools[0].calls, health.tools[0].faults[&fault.class()]), (3, 2));
    }
}

#[tokio::test]
async fn r1_an_open_breaker_keeps_calls_from_being_made() {
    let world = world("[breaker]\nfailures = 2\ncooldown_seconds = 60\n", |builder| builder).await;
    world.seen.fail_with(Some(Fault::Died { why: "gone".to_owned() }));
    for turn in ["turn_1", "turn_2"] {
        let request = world.authorized(turn, "store/get", get()).await.unwrap();
        assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::R3);
    }
    world.seen.fail_with(None);
    let request = world.authorized("turn_3", "store/get", get()).await.unwrap();
    assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::R1);
    assert_eq!(world.seen.calls(), 2);
    world.clock.advance(Duration::from_secs(60));
    let request = world.authorized("turn_3", "store/get", get()).await.unwrap();
    assert!(request.dispatch().await.is_ok(), "the probe");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_has_its_outcome_and_is_in_the_health() {
    let world = world("", |builder| builder).await;
    world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    let mut running = Box::pin(request.dispatch());
    while world.seen.calls() == 0 {
        tokio::select! {
            biased;
            outcome = &mut running => panic!("{outcome:?}"),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
    drop(running);
    while world.kinds().last().unwrap() != "outcome" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let outcome = world.entries().pop().unwrap();
    assert_eq!((&outcome["data"]["class"], &outcome["data"]["ran"]), (&json!("cancelled"), &json!("unknown")));
    let health = world.gate.health();
    assert_eq!((health.tools[0].calls, health.tools[0].faults[&FaultClass::Cancelled]), (1, 1));
}

#[tokio::test]
async fn a1_without_a_record_of_the_intent_no_tool_runs() {
    let world = world("", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    world.room.store(0, Ordering::SeqCst);
    assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::A1);
    assert_eq!(world.seen.calls(), 0);
}

#[tokio::test]
async fn a1_an_outcome_that_cannot_be_recorded_withholds_the_answer_and_nothing_more_runs() {
    let world = world("", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    let other = world.authorized("turn_2", "store/get", get()).await.unwrap();
    world.room.store(1, Ordering::SeqCst);
    assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::A1);
    assert_eq!(world.seen.calls(), 1, "it ran: its intent says so");
    assert_eq!(world.kinds().last().unwrap(), "intent");
    // The log stays closed until it is reopened, even when there is room again.
    world.room.store(100, Ordering::SeqCst);
    assert_eq!(other.dispatch().await.unwrap_err().code(), GateCode::A1);
    assert_eq!(world.seen.calls(), 1);
}

#[tokio::test]
async fn g3_nobody_is_asked_about_a_call_that_r1_or_r2_would_stop() {
    let person = Person::who_says(Reply::Confirmed);
    let more = format!("{MAY_WRITE}[breaker]\nfailures = 2\ncooldown_seconds = 60\n");
    let world = world(&more, |builder| builder.confirmer(person.clone())).await;
    let change = || json!({ "key": "pool", "value": 80 });
    world.seen.fail_with(Some(Fault::Died { why: "gone".to_owned() }));
    for _ in 0..2 {
        let request = world.authorized("turn_1", "store/set", change()).await.unwrap();
        assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::R3);
    }
    assert_eq!(person.asked.lock().unwrap().len(), 2);
    let blocked = world.authorized("turn_2", "store/set", change()).await.unwrap_err();
    assert_eq!((blocked.code, world.kinds().last().unwrap().as_str()), (GateCode::R1, "decision R1"));

    // The breaker would admit a probe, but the turn has spent its failures.
    world.clock.advance(Duration::from_secs(60));
    let blocked = world.authorized("turn_1", "store/set", change()).await.unwrap_err();
    assert_eq!((blocked.code, world.kinds().last().unwrap().as_str()), (GateCode::R2, "decision R2"));
    assert_eq!(person.asked.lock().unwrap().len(), 2, "nobody was asked");

    // The check has reserved nothing: the probe is still available.
    world.seen.fail_with(None);
    let request = world.authorized("turn_2", "store/set", change()).await.unwrap();
    assert!(request.dispatch().await.is_ok());
    assert_eq!((person.asked.lock().unwrap().len(), world.seen.calls()), (3, 3));
}
