//! Reload of a running gate's configuration: complete, or without effect.

use std::fs;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::{Config, Fault, GateCode, Grant, Permission, ReloadError, Stopped};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::gates::{MAY_WRITE, Person, World, config, config_under, world};
use crate::support::{all_logged, grant, secs, tool, turn};

const NO_POOLS: &str = "[[policy.patterns]]\npattern = 'pool'\nreason = 'pools are closed'\n";

fn get() -> Value {
    json!({ "key": "pool" })
}

fn set() -> Value {
    json!({ "key": "pool", "value": 80 })
}

/// Entries about policies.
fn policies(world: &World) -> Vec<Value> {
    let entries = all_logged(&world.memory).into_iter();
    entries.filter(|entry| entry["kind"] == "policy").map(|entry| entry["data"].clone()).collect()
}

/// Configuration that allows nothing.
fn nothing() -> Config {
    Config::parse("[servers.store]\n").unwrap()
}

#[tokio::test]
async fn the_next_step_goes_by_the_new_policy_and_the_log_has_both_hashes() {
    let world = world("", |builder| builder).await;
    let before = world.gate.policy_hash();
    assert_eq!(before, config("").await.hash());
    let new = config_under(NO_POOLS, "").await;
    let policy = new.hash();
    let done = world.gate.reload(new).await.unwrap();
    assert_eq!((done.before, done.policy, world.gate.policy_hash()), (before, policy, policy));
    assert_eq!((done.given.len(), done.revoked.len()), (0, 0));
    let query = || world.gate.request(turn("turn_1"), "what is the pool?");
    assert_eq!(query().screen().await.unwrap_err().code, GateCode::Pg0);
    let expect = json!({ "before": before.to_string(), "outcome": "loaded", "policy": policy.to_string() });
    assert_eq!(policies(&world).as_slice(), std::slice::from_ref(&expect));

    // Reloading the same configuration changes nothing.
    world.gate.reload(config_under(NO_POOLS, "").await).await.unwrap();
    assert_eq!(policies(&world), [expect]);
    world.gate.reload(config("").await).await.unwrap();
    assert!(query().screen().await.is_ok());
}

#[tokio::test]
async fn what_was_authorized_before_is_checked_again_as_it_is_dispatched() {
    let changed = config("").await;
    let pin = |name: &str| changed.allow.get(&tool(name)).unwrap().pin.unwrap();
    let reads_and_writes = format!(
        "[servers.store]\n[[allow]]\nserver = 'store'\ntool = 'get'\npermissions = ['READ', 'WRITE']\npin = '{}'\n\
         [[grants]]\nserver = 'store'\ntool = 'get'\npermissions = ['READ']\n",
        pin("store/get")
    );
    let unpinned = reads_and_writes.replace(", 'WRITE'", "").replace("pin = ", "# ");
    let confirmed = reads_and_writes.replace(", 'WRITE'", "").replace("pin = ", "always_confirm = true\npin = ");
    for (new, code) in [
        (config_under(NO_POOLS, "").await, GateCode::Pg0),
        (nothing(), GateCode::Pg3),
        (Config::parse(&reads_and_writes).unwrap(), GateCode::Pg3),
        (Config::parse(&unpinned).unwrap(), GateCode::Pg3),
        (Config::parse(&confirmed).unwrap(), GateCode::Pg3),
    ] {
        let world = world("", |builder| builder).await;
        let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
        world.gate.reload(new).await.unwrap();
        let stopped = request.dispatch().await.unwrap_err();
        assert_eq!((stopped.code(), world.seen.calls()), (code, 0), "{stopped}");
        assert_eq!(world.entries().last().unwrap()["data"]["code"], code.as_str());
    }
    // A running call that the new policy allows in the same way continues.
    let world = world("", |builder| builder).await;
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    world.gate.reload(config("[limits]\ncall_timeout_seconds = 5\n").await).await.unwrap();
    assert!(request.dispatch().await.is_ok());
}

#[tokio::test]
async fn a_reload_while_somebody_confirms_counts() {
    /// Confirmer that confirms when it is released.
    #[derive(Debug)]
    struct Slow(Arc<Notify>, Arc<Notify>);

    #[async_trait]
    impl Confirmer for Slow {
        async fn confirm(&self, _: &Question) -> Reply {
            self.0.notify_one();
            self.1.notified().await;
            Reply::Confirmed
        }
    }

    let (asked, answer) = (Arc::<Notify>::default(), Arc::<Notify>::default());
    let slow = Slow(Arc::clone(&asked), Arc::clone(&answer));
    let world = world(MAY_WRITE, |builder| builder.confirmer(slow)).await;
    let request = world.conformant("turn_1", "store/set", set()).await.unwrap();
    let authorizing = tokio::spawn(request.authorize());
    asked.notified().await;
    world.gate.reload(config("").await).await.unwrap();
    answer.notify_one();
    // The human has confirmed a call whose grant the operator has revoked meanwhile.
    let stopped = authorizing.await.unwrap().unwrap().dispatch().await.unwrap_err();
    assert_eq!((stopped.code(), world.seen.calls()), (GateCode::G2, 0), "{stopped}");
}

#[tokio::test]
async fn a_call_that_runs_goes_on_unless_its_grant_is_gone() {
    for (new, is_broken_off) in [(config(MAY_WRITE).await, false), (nothing(), true)] {
        let world = world("", |builder| builder).await;
        world.seen.fail_with(Some(Fault::Timeout { after: secs(1) }));
        let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
        let running = tokio::spawn(request.dispatch());
        while world.seen.calls() == 0 {
            tokio::task::yield_now().await;
        }
        world.gate.reload(new).await.unwrap();
        if is_broken_off {
            let stopped = running.await.unwrap().unwrap_err();
            assert!(matches!(&stopped, Stopped::BrokenOff(why) if why.code == GateCode::G2), "{stopped}");
        } else {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert!(!running.is_finished());
            running.abort();
        }
    }
}

#[tokio::test]
async fn grants_that_both_configurations_have_stay_as_they_are() {
    let twice = "[[grants]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\nuses = 2\npre_granted = true\n";
    let world = world(twice, |builder| builder).await;
    let write = async |turn: &str| match world.authorized(turn, "store/set", set()).await {
        Ok(request) => request.dispatch().await.map(drop).map_err(|stopped| stopped.code()),
        Err(blocked) => Err(blocked.code),
    };
    assert_eq!(write("turn_1").await, Ok(()));
    let with = async |limit: u32| config(&format!("{twice}[limits]\ncall_timeout_seconds = {limit}\n")).await;
    let same = world.gate.reload(with(5).await).await.unwrap();
    assert_eq!((same.given.len(), same.revoked.len()), (0, 0));
    // One use is left, not two.
    assert_eq!(write("turn_2").await, Ok(()));
    assert_eq!(write("turn_3").await, Err(GateCode::G2));
    world.gate.reload(with(6).await).await.unwrap();
    assert_eq!(write("turn_4").await, Err(GateCode::G2), "reading it again revives nothing");

    // A different grant is a new one.
    let three = twice.replace("uses = 2", "uses = 3");
    let other = world.gate.reload(config(&three).await).await.unwrap();
    assert_eq!((other.given.len(), other.revoked.len()), (1, 1));
    assert_eq!(write("turn_5").await, Ok(()));
    let entries = all_logged(&world.memory);
    let of = |kind: &str| entries.iter().rfind(|entry| entry["kind"] == kind).unwrap()["data"].clone();
    assert_eq!(of("grant")["grants"][0]["id"], json!(other.given[0]));
    assert_eq!(of("grant")["grants"][0]["uses"], 3);
    assert_eq!(of("revocation")["grants"], json!(other.revoked));

    // A grant revoked by the operator stays revoked as long as the configuration keeps it unchanged.
    let revoked = world.gate.revoke(&turn("turn_5"), &tool("store/set"), Permission::Write).await.unwrap();
    assert_eq!(revoked.len(), 1);
    world.gate.reload(config(&format!("{three}[limits]\ncall_timeout_seconds = 7\n")).await).await.unwrap();
    assert_eq!(write("turn_6").await, Err(GateCode::G2));
}

#[tokio::test]
async fn what_was_given_while_it_ran_stays() {
    let world = world("", |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await;
    let once = Grant { uses: NonZeroU32::new(2), pre_granted: true, ..grant("store/set", Permission::Write) };
    world.gate.grant(&turn("turn_1"), once).await.unwrap();
    world.gate.reload(config("[limits]\ncall_timeout_seconds = 5\n").await).await.unwrap();
    let request = world.authorized("turn_2", "store/set", set()).await.unwrap();
    assert!(request.dispatch().await.is_ok());
}

#[tokio::test]
async fn failures_and_breakers_stay() {
    let world = world("[breaker]\nfailures = 2\ncooldown_seconds = 60\n", |builder| builder).await;
    world.seen.fail_with(Some(Fault::Refused { message: "no".to_owned(), code: 1 }));
    for _ in 0..2 {
        let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
        request.dispatch().await.unwrap_err();
    }
    world.seen.fail_with(None);
    let new = config("[breaker]\nfailures = 2\ncooldown_seconds = 60\n[limits]\ncall_timeout_seconds = 5\n").await;
    world.gate.reload(new).await.unwrap();
    let again = world.authorized("turn_1", "store/get", get()).await.unwrap().dispatch().await.unwrap_err();
    assert_eq!(again.code(), GateCode::R2, "{again}");
    let other = world.authorized("turn_2", "store/get", get()).await.unwrap().dispatch().await.unwrap_err();
    assert_eq!(other.code(), GateCode::R1, "{other}");
}

#[tokio::test]
async fn what_takes_a_restart_is_refused_whole() {
    let world = world("", |builder| builder).await;
    let before = world.gate.policy_hash();
    for (more, what) in [
        ("[servers.other]\n", "servers.other"),
        ("[breaker]\nfailures = 1\n", "breaker"),
        ("[budget]\nfailures = 1\n", "budget"),
        ("[audit]\nlog = 'l'\nkey_env = 'K'\n", "audit"),
        ("[confirm]\nsocket = 's'\n", "confirm.socket"),
        ("[limits]\nplan_bytes = 70000\n", "limits.plan_bytes"),
    ] {
        let refused = world.gate.reload(config_under(NO_POOLS, more).await).await.unwrap_err();
        assert_eq!(refused.code, GateCode::C1);
        assert_eq!(refused.message, format!("the new configuration changes `{what}`, which requires a restart"));
        let entry = policies(&world).pop().unwrap();
        assert_eq!((&entry["outcome"], &entry["code"]), (&json!("refused"), &json!("C1")));
        assert_eq!((&entry["before"], &entry["why"]), (&json!(before), &json!(refused.message)));
    }
    assert_eq!(world.gate.policy_hash(), before);
    let request = world.gate.request(turn("turn_1"), "what is the pool?");
    assert!(request.screen().await.is_ok(), "nothing of it is in force");
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_in_force() {
    // The disk has room for only some of the entries of the grant, the revocation and the policy.
    for room in 0..3 {
        let world = world("", |builder| builder).await;
        let before = world.gate.policy_hash();
        let text = format!("{MAY_WRITE}{NO_POOLS}");
        let new = Config::parse(&format!("[servers.store]\n{}", {
            let allowed = config("").await;
            let pin = allowed.allow.get(&tool("store/set")).unwrap().pin.unwrap();
            format!("[[allow]]\nserver = 'store'\ntool = 'set'\npermissions = ['WRITE']\npin = '{pin}'\n{text}")
        }));
        world.room.store(room, Ordering::SeqCst);
        let failed = world.gate.reload(new.unwrap()).await.unwrap_err();
        assert_eq!((failed.code, world.gate.policy_hash()), (GateCode::A1, before));
        world.room.store(u32::MAX, Ordering::SeqCst);
        let request = world.gate.request(turn("turn_1"), "what is the pool?");
        assert!(request.screen().await.is_ok(), "the old policy is in force");
    }
}

#[tokio::test]
async fn a_file_with_an_error_leaves_the_old_policy_in_force() {
    let world = world("", |builder| builder).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gate.toml");
    let before = world.gate.policy_hash();
    for text in ["[[allow", "[limits]\nplan_byte = 1\n", "[servers.store]\n[[grants]]\n"] {
        fs::write(&file, text).unwrap();
        let failed = world.gate.reload_file(&file).await.unwrap_err();
        assert!(matches!(&failed, ReloadError::Invalid(errors) if errors.0[0].line > 0), "{failed}");
        let entry = policies(&world).pop().unwrap();
        assert_eq!((&entry["outcome"], &entry["code"]), (&json!("refused"), &json!("C1")));
        assert_eq!((&entry["before"], &entry["policy"]), (&json!(before), &Value::Null));
        assert_eq!(world.gate.policy_hash(), before);
    }
    let missing = world.gate.reload_file(&folder.path().join("missing.toml")).await.unwrap_err();
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
    assert!(world.authorized("turn_1", "store/get", get()).await.is_ok());

    fs::write(&file, "[servers.store]\n").unwrap();
    let done = world.gate.reload_file(&file).await.unwrap();
    assert_eq!((done.before, done.policy), (before, Config::load(&file).unwrap().hash()));
    assert_eq!(world.authorized("turn_2", "store/get", get()).await.unwrap_err().code, GateCode::Pg3);
}

/// A list that was read within looser limits does not suffice.
#[tokio::test]
async fn stricter_limits_count_for_a_list_that_is_known() {
    let world = world("", |builder| builder).await;
    assert!(world.conformant("turn_1", "store/get", get()).await.is_ok());
    world.gate.reload(config("[limits]\ncatalog_tools = 1\n").await).await.unwrap();
    let refused = world.conformant("turn_2", "store/get", get()).await.unwrap_err();
    assert!(refused.message.contains('1'), "{refused}");
}
