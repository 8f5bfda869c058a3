//! A tool is called only while its directive is open in its episode: before the call, during the confirmation, and
//! while the tool runs (D52).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_fsm::episode::{Alert, AnyEpisode, Belief, Claims, Episode, Execute, Many, Pending, Settled};
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::server::{Dispatch, Local, ToolServer};
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Fault, Gate};
use omen_invariants::text;
use omen_types::{AlertType, ResultStatus, TokenId};
use tokio::sync::Notify;

use crate::bridge::{setup, writing};
use crate::gates::{MAY_WRITE, Person, World, local, world, world_with};

async fn may_write() -> World {
    world(MAY_WRITE, |builder| builder.confirmer(Person::who_says(Reply::Confirmed))).await
}

/// Episode with a directive that writes, its token, and two handles of its task.
fn two_handles(world: &World) -> (Episode<Many<Execute>>, TokenId, Pending, Pending) {
    let (episode, task) = writing(world, 80);
    let token = task.authority().unwrap().token_id.clone();
    let episode = episode.many();
    let copy = episode.tasks().remove(0);
    (episode, token, task, copy)
}

fn revocation(token: TokenId) -> Alert {
    Alert::warning(AlertType::TokenRevocation, text!("withdrawn")).revoking([token])
}

fn code(settled: &Settled) -> &str {
    assert_eq!(settled.status(), ResultStatus::Failure);
    settled.error().and_then(|error| error.error_code.as_deref()).unwrap()
}

/// Asserts that nothing was called, and that the audit log has the reason.
fn was_refused(world: &World, settled: &Settled, expected: &str) {
    assert_eq!(code(settled), expected);
    assert_eq!(world.seen.calls(), 0, "no tool ran");
    assert_eq!(world.kinds().last().unwrap(), &format!("decision {expected}"));
}

#[tokio::test]
async fn e7_no_tool_runs_in_safe_mode() {
    let world = may_write().await;
    let (episode, task) = writing(&world, 80);
    let _safe = episode.halt(text!("stop"));
    was_refused(&world, &world.gate.run(task).await, "G2");
}

#[tokio::test]
async fn d13_what_safe_mode_has_cancelled_stays_so_after_the_clear() {
    let world = may_write().await;
    let (episode, task) = writing(&world, 80);
    let order = omen_fsm::episode::Layer1::assume().order(text!("go on"));
    let _review = episode.halt(text!("stop")).clear(order);
    was_refused(&world, &world.gate.run(task).await, "PG-6");
}

#[tokio::test]
async fn d25_a_token_that_is_revoked_is_not_spent() {
    let world = may_write().await;
    let (episode, token, task, _copy) = two_handles(&world);
    let _episode = episode.alert(revocation(token));
    was_refused(&world, &world.gate.run(task).await, "G2");
}

#[tokio::test]
async fn what_the_log_says_was_cancelled_does_not_run() {
    let world = may_write().await;
    let (episode, _, task, copy) = two_handles(&world);
    let _episode = episode.settle(vec![task.cancelled()]).unwrap();
    was_refused(&world, &world.gate.run(copy).await, "PG-6");
}

#[tokio::test]
async fn pg_6_a_directive_is_called_once_whatever_the_gate_has_forgotten() {
    let world = may_write().await;
    let (episode, _, task, copy) = two_handles(&world);
    let settled = world.gate.run(task).await;
    let episode = episode.settle(vec![settled]).unwrap().all_settled().unwrap();
    let closed = episode.review(Belief::new("db", "pool", 80)).close().unwrap();
    world.gate.closed(&closed);
    assert_eq!(code(&world.gate.run(copy).await), "PG-6");
    assert_eq!(world.seen.calls(), 1);
}

#[tokio::test]
async fn of_two_gates_one_calls_the_tool() {
    let (one, other) = (may_write().await, may_write().await);
    let (_episode, _, task, copy) = two_handles(&one);
    let (first, second) = tokio::join!(one.gate.run(task), other.gate.run(copy));
    assert_eq!((first.status(), second.status()), (ResultStatus::Success, ResultStatus::Failure));
    assert_eq!((one.seen.calls(), other.seen.calls()), (1, 0));
}

#[tokio::test]
async fn an_episode_that_was_dropped_lets_nothing_run() {
    let world = may_write().await;
    let (episode, _, task, _copy) = two_handles(&world);
    drop(episode);
    was_refused(&world, &world.gate.run(task).await, "PG-6");
}

#[tokio::test]
async fn an_episode_that_was_resumed_takes_the_tasks_with_it() {
    let world = may_write().await;
    let claims = Claims::new();
    let (episode, task) = crate::bridge::writing_in(setup(&world.clock).claims(&claims), 80);
    let log = episode.lines().to_vec();
    let again = AnyEpisode::resume(setup(&world.clock).claims(&claims), log.iter().map(String::as_str)).unwrap();
    let AnyEpisode::ExecuteOpen(again) = again else { panic!("{again:?}") };
    was_refused(&world, &world.gate.run(task).await, "PG-6");
    assert_eq!(world.gate.run(again.tasks().remove(0)).await.status(), ResultStatus::Success);
    assert_eq!(world.seen.calls(), 1);
    let episode = episode.many();
    let own = episode.tasks().remove(0).cancelled();
    let refused = episode.settle(vec![own]).expect_err("it is resumed elsewhere");
    assert!(matches!(*refused.why, omen_fsm::episode::Refusal::Superseded));
}

#[tokio::test]
async fn what_the_gate_did_not_call_may_be_tried_again() {
    let world = world(MAY_WRITE, |builder| builder).await;
    let (_episode, _, task, copy) = two_handles(&world);
    assert_eq!(code(&world.gate.run(task).await), "G3", "nobody confirms");
    let other = may_write().await;
    assert_eq!(other.gate.run(copy).await.status(), ResultStatus::Success);
}

/// Change of an episode during a confirmation or a call.
type Meanwhile = Box<dyn FnOnce(Episode<Many<Execute>>, TokenId, Pending) -> Option<AnyEpisode> + Send>;

fn all_that_takes_a_task_back() -> Vec<(&'static str, Meanwhile)> {
    vec![
        ("G2", Box::new(|episode, _, _| Some(episode.halt(text!("stop")).into_any()))),
        ("G2", Box::new(|episode, token, _| Some(episode.alert(revocation(token)).into_any()))),
        ("PG-6", Box::new(|episode, _, task| Some(episode.settle(vec![task.cancelled()]).unwrap().into_any()))),
        (
            "PG-6",
            Box::new(|episode, _, _| {
                drop(episode);
                None
            }),
        ),
    ]
}

/// Confirmer that runs an action during the question.
#[derive(Clone)]
struct Distracted(Arc<Mutex<Option<Act>>>);

type Act = Box<dyn FnOnce() + Send>;

impl std::fmt::Debug for Distracted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Distracted")
    }
}

#[async_trait]
impl Confirmer for Distracted {
    async fn confirm(&self, _: &Question) -> Reply {
        if let Some(meanwhile) = self.0.lock().unwrap().take() {
            meanwhile();
        }
        Reply::Confirmed
    }
}

#[tokio::test]
async fn what_is_taken_back_while_somebody_confirms_does_not_run() {
    for (expected, meanwhile) in all_that_takes_a_task_back() {
        let person = Distracted(Arc::default());
        let world = world(MAY_WRITE, |builder| builder.confirmer(person.clone())).await;
        let (episode, token, task, copy) = two_handles(&world);
        let kept = Arc::new(Mutex::new(None));
        let keep = Arc::clone(&kept);
        *person.0.lock().unwrap() = Some(Box::new(move || *keep.lock().unwrap() = meanwhile(episode, token, copy)));
        let settled = world.gate.run(task).await;
        assert_eq!(code(&settled), expected);
        assert_eq!(world.seen.calls(), 0, "no tool ran");
    }
}

/// Server whose calls report that they run, and never end.
#[derive(Debug)]
struct Endless {
    local: Local,
    runs: Arc<Notify>,
    ended: Arc<AtomicBool>,
}

#[async_trait]
impl ToolServer for Endless {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        self.local.list().await
    }

    async fn call(&self, _: Dispatch) -> Result<Answer, Fault> {
        self.runs.notify_one();
        // Well before the call's own limit.
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        self.ended.store(true, Ordering::SeqCst);
        Err(Fault::Cancelled)
    }
}

async fn endless() -> (World, Arc<Notify>, Arc<AtomicBool>) {
    let (runs, ended) = (Arc::<Notify>::default(), Arc::<AtomicBool>::default());
    let server = Endless { local: local(), runs: Arc::clone(&runs), ended: Arc::clone(&ended) };
    let confirmer = Person::who_says(Reply::Confirmed);
    (world_with(MAY_WRITE, server, |builder| builder.confirmer(confirmer)).await, runs, ended)
}

fn spawn(gate: &Gate, task: Pending) -> tokio::task::JoinHandle<Settled> {
    let gate = gate.clone();
    tokio::spawn(async move { gate.run(task).await })
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_back_while_it_runs_is_broken_off() {
    for (expected, meanwhile) in all_that_takes_a_task_back() {
        let (world, runs, ended) = endless().await;
        let (episode, token, task, copy) = two_handles(&world);
        let call = spawn(&world.gate, task);
        runs.notified().await;
        let _episode = meanwhile(episode, token, copy);
        let settled = call.await.unwrap();
        assert_eq!(code(&settled), expected);
        let message = settled.error().unwrap().error_message.clone().unwrap();
        assert!(message.contains("the call was cancelled"), "{message}");
        assert!(!ended.load(Ordering::SeqCst), "the call did not come to its end");
        let entries = world.entries();
        let last = entries.last().unwrap();
        assert_eq!((&last["kind"], &last["data"]["ran"]), (&"outcome".into(), &"unknown".into()), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_future_is_dropped_is_not_made_again() {
    let (world, runs, _) = endless().await;
    let (episode, _, task, copy) = two_handles(&world);
    let call = spawn(&world.gate, task);
    runs.notified().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let settled = world.gate.run(copy).await;
    assert_eq!(code(&settled), "PG-6");
    // The outcome is unknown, and the episode may say so.
    let results = episode.tasks().into_iter().map(|task| task.failure(text!("nobody knows")));
    assert!(episode.settle(results).unwrap().all_settled().is_ok());
}

#[tokio::test(start_paused = true)]
async fn somebody_else_cannot_say_how_a_task_ended_that_runs() {
    let (world, runs, _) = endless().await;
    let (episode, _, task, copy) = two_handles(&world);
    let call = spawn(&world.gate, task);
    runs.notified().await;
    let refused = episode.settle(vec![copy.success("done")]).expect_err("it runs");
    assert_eq!(refused.why.code(), Some(omen_types::Code::E6));
    let settled = call.await.unwrap();
    assert!(refused.episode.settle(vec![settled]).is_ok(), "who has run it can");
}

#[tokio::test]
async fn a_token_that_expires_while_its_tool_runs_gives_no_answer() {
    let world = may_write().await;
    let (episode, task) = writing(&world, 80);
    let running = task.start().unwrap();
    world.clock.advance(std::time::Duration::from_secs(60));
    assert!(matches!(running.stands(), Err(omen_fsm::episode::Lapsed::Expired { .. })));
    drop(episode);
}
