//! Misuse by careless or hostile programs at run time. The validator accepts every resulting log, and no task runs without
//! permission in the log.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::{self, ManuallyDrop};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use omen::log_file::LogFile;
use omen::packet::{Packet, ResultStatus};
use omen::*;

use super::drops::{Kept, kept};
use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling, ruling};

tool!(Get = "config.get", Read);
tool!(Set = "config.set", Write);
scope!(Change: tools [Set], operations [Modify]);

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

fn write(permit: Permit<Change>) -> Order<ReadWrite> {
    Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit)
}

fn seen() -> Observation<Observed> {
    Observation::tool_output(Observed, "config.get", fields!({ "used": 0 }))
}

fn reading(setup: Setup) -> (Episode<Many<Execute>>, Pending) {
    let (episode, [task]) = acting(setup, &envelope()).execute([read()]).unwrap();
    (episode.many(), task)
}

fn writing(setup: Setup, seconds: u32) -> (Episode<Many<Execute>>, Pending) {
    let episode = acting(setup, &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(seconds, text!("ticket"))).unwrap();
    let (episode, [task]) = episode.execute([write(permit)]).unwrap();
    (episode.many(), task)
}

/// Returns the status and the message of each result.
fn results(packets: &[Packet]) -> Vec<(ResultStatus, Option<String>)> {
    let result = |packet: &Packet| match packet {
        Packet::TaskResult(result) => {
            let error = result.payload.error_details.as_ref().and_then(|error| error.error_message.clone());
            Some((result.payload.result_status, error))
        }
        _ => None,
    };
    packets.iter().filter_map(result).collect()
}

// Proofs that a later loop has superseded.

/// Completes a verification loop, and returns its proof with its assumption.
fn looped(episode: Episode<Model>, answer: i32) -> (Episode<Model>, Proof, Assumption) {
    let (plan, assumption) = Plan::one(Target::tool(text!("nobody is logged in"), text!("0 users"), Get));
    let episode = episode.verify_first(ruling(), &envelope()).unwrap().verify(plan).unwrap();
    let episode = episode.check(read(), |task| task.success(answer)).unwrap().observe(seen());
    let (episode, proof) = episode.believe(Belief::new("host", "users", answer));
    (episode, proof, assumption)
}

#[test]
fn the_proof_of_a_loop_is_void_once_a_later_loop_has_contradicted_it() {
    let (episode, proof, assumption) = looped(modelling(setup("corr_a", Hands::new())), 0);
    let (episode, _later, _assumption) = looped(episode, 3);
    let lines = episode.lines().len();
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let refused = episode.act(order, &envelope()).expect_err("the later loop says otherwise");
    assert_eq!(refused.why.code(), Some(Code::Inv003));
    assert!(refused.why.to_string().contains("evidence of an earlier verification loop"), "{}", refused.why);
    assert_eq!(refused.episode.lines().len(), lines);
}

/// A model's proposals are judged like lines of a log (D86), so `propose` accepts what `omen check` accepts.
#[test]
fn the_same_claim_of_a_model_is_judged_as_a_line_of_a_log() {
    let (episode, proof, assumption) = looped(modelling(setup("corr_a", Hands::new())), 0);
    let evidence = episode.lines().iter().rev().nth(1).unwrap().parse::<Packet>().unwrap().header().packet_id.clone();
    let (episode, _later, _) = looped(episode, 3);
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let typed = episode.act(order, &envelope()).expect_err("it is overtaken");
    let proposal = json!({ "packet_type": "DecisionPacket", "payload": {
        "decision_outcome": "ACT", "decision_summary": "min-regret",
        "constraints_satisfied": { "constitutional_check": true, "budget_check": true, "tier_check": true },
        "load_bearing_assumptions": [
            { "assumption": "nobody is logged in", "verified": true, "verification_packet_id": evidence }],
    } });
    let moved = typed.episode.into_any().propose(&proposal.to_string()).expect("a packet of the episode is named");
    let log = moved.episode.lines().iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut validator = omen::Validator::new(omen::ValidatorOptions::default());
    let mut findings: Vec<omen::Finding> = Vec::new();
    let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    let errors = findings.iter().filter(|finding| finding.diagnostic.severity == omen::Severity::Error);
    assert_eq!(errors.map(|finding| finding.diagnostic.to_string()).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_proof_of_a_loop_is_void_while_and_after_a_later_loop_was_halted() {
    let (episode, proof, assumption) = looped(modelling(setup("corr_a", Hands::new())), 0);
    let episode = episode.verify_first(ruling(), &envelope()).unwrap();
    let episode = episode.halt(text!("stop")).clear(Layer1::assume().order(text!("go on")));
    let episode = episode.observe(seen()).believe(Belief::new("host", "users", 1));
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let refused = episode.act(order, &envelope()).expect_err("a later loop has begun");
    assert_eq!(refused.why.code(), Some(Code::Inv003));
}

#[test]
fn the_proof_of_the_latest_loop_is_good_for_all_its_assumptions_and_decisions() {
    let (episode, proof, assumption) = looped(modelling(setup("corr_a", Hands::new())), 0);
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    assert!(episode.act(order, &envelope()).is_ok());
}

#[test]
fn decide_asks_the_same_as_act() {
    let (episode, proof, assumption) = looped(modelling(setup("corr_a", Hands::new())), 0);
    let (episode, _, _) = looped(episode, 3);
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    let decided = episode.decide(omen::packet::DecisionOutcome::Act, order, &envelope());
    assert_eq!(decided.expect_err("it is overtaken").why.code(), Some(Code::Inv003));
}

// Handles of tasks.

#[test]
fn a_task_is_settled_once_by_whichever_handle() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    let copies: Vec<Pending> = (0..3).flat_map(|_| episode.tasks()).collect();
    let mut episode = episode.settle(vec![task.success(1)]).unwrap();
    for copy in copies {
        let refused = episode.settle(vec![copy.success(2)]).expect_err("it has its result");
        assert_eq!(refused.why.code(), Some(Code::E6));
        episode = refused.episode;
    }
    assert!(episode.all_settled().is_ok());
}

#[test]
fn a_run_that_is_dropped_without_a_result_is_not_begun_again() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    drop(task.start().unwrap());
    let again = episode.tasks().remove(0).start().expect_err("it is unknown how far the tool came");
    assert_eq!(again.why, Lapsed::Begun);
    assert!(episode.settle(vec![again.task.failure(text!("unknown"))]).unwrap().all_settled().is_ok());
}

#[test]
fn a_run_whose_tool_was_not_called_may_be_begun_again() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    let task = task.start().unwrap().not_called();
    let copy = episode.tasks().remove(0);
    assert!(copy.start().is_ok());
    assert_eq!(task.start().expect_err("it runs").why, Lapsed::Begun);
}

#[test]
fn a_running_task_can_be_cancelled_and_nothing_else_be_said_of_it_by_others() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    let running = task.start().unwrap();
    let copy = episode.tasks().remove(0);
    let refused = episode.settle(vec![copy.failure(text!("I say so"))]).expect_err("it runs");
    assert_eq!(refused.why.code(), Some(Code::E6));
    assert_eq!(running.stands(), Ok(()), "what was refused breaks nothing off");
    let copy = refused.episode.tasks().remove(0);
    let episode = refused.episode.settle(vec![copy.cancelled()]).unwrap();
    assert_eq!(running.stands(), Err(Lapsed::NotOpen));
    let late = episode.settle(vec![running.success(1)]).expect_err("the log says that it was cancelled");
    assert_eq!(late.why.code(), Some(Code::E6));
}

#[test]
fn a_model_cannot_say_how_a_task_ended_that_somebody_runs() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    let (task_id, directive) = (task.task_id().clone(), task.directive().clone());
    let running = task.start().unwrap();
    let says = |status: &str| {
        let payload = json!({ "task_id": task_id, "directive_packet_id": directive, "result_status": status });
        json!({ "packet_type": "TaskResultPacket", "payload": payload }).to_string()
    };
    let allow = Allow::moves().results();
    let refused = episode.into_any().propose_with(allow, &says("SUCCESS")).expect_err("it runs");
    assert_eq!(refused.why.code(), Some(Code::E6));
    assert_eq!(running.stands(), Ok(()));
    let moved = refused.episode.propose_with(allow, &says("CANCELLED")).unwrap();
    assert_eq!(running.stands(), Err(Lapsed::NotOpen));
    drop(moved);
}

#[test]
fn each_way_out_of_an_episode_takes_its_tasks_back() {
    let revoke = |token: TokenId| Alert::warning(AlertType::TokenRevocation, text!("no")).revoking([token]);
    let token = |task: &Pending| task.authority().unwrap().token_id.clone();
    let start = |task: Pending| task.start().expect_err("it is taken back").why;

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    let _halted = episode.halt(text!("stop"));
    assert_eq!(start(task), Lapsed::SafeMode);

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    let _cleared = episode.halt(text!("stop")).clear(Layer1::assume().order(text!("go on")));
    assert_eq!(start(task), Lapsed::NotOpen);

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    let _revoked = episode.alert(revoke(token(&task)));
    assert_eq!(start(task), Lapsed::Revoked);

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    let _revoked = episode.into_any().alert(revoke(token(&task)));
    assert_eq!(start(task), Lapsed::Revoked);

    let clock = Hands::new();
    let (_episode, task) = writing(setup("corr_a", clock.clone()), 60);
    clock.pass(60);
    assert!(matches!(start(task), Lapsed::Expired { .. }));

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    drop(episode);
    assert_eq!(start(task), Lapsed::Dropped);

    let (episode, task) = writing(setup("corr_a", Hands::new()), 60);
    let copy = episode.tasks().remove(0);
    let episode = episode.settle(vec![task.success(1)]).unwrap().all_settled().unwrap();
    let _closed = episode.review(Belief::new("a", "b", 1)).close().unwrap();
    assert_eq!(start(copy), Lapsed::EpisodeClosed);
}

#[test]
fn the_log_that_fails_takes_the_tasks_with_it() {
    struct Full;
    impl Log for Full {
        fn append(&mut self, lines: &[Line<'_>]) -> std::io::Result<()> {
            let halts = lines.iter().any(|line| line.text.contains("CRITICAL"));
            if halts { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }
    let (episode, task) = writing(setup("corr_a", Hands::new()).log(Full), 60);
    let halted = episode.halt(text!("stop"));
    assert!(matches!(halted.trouble(), Some(Refusal::Log(_))));
    assert!(task.start().is_err(), "what happens cannot be recorded any more");
}

/// A waker that unparks a thread.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn a_waiter_in_another_thread_is_woken_by_a_halt() {
    let (episode, task) = reading(setup("corr_a", Hands::new()));
    let running = task.start().unwrap();
    let waits = thread::spawn(move || {
        let mut lapsed = pin!(running.watch().lapsed());
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            match lapsed.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(why) => return why,
                Poll::Pending => thread::park(),
            }
        }
    });
    let _halted = episode.halt(text!("stop"));
    assert_eq!(waits.join().unwrap(), Lapsed::SafeMode);
}

#[test]
fn no_task_stands_once_its_episode_was_halted_by_another_thread() {
    for _ in 0..200 {
        let (episode, task) = reading(setup("corr_a", Hands::new()));
        let handles: Vec<Pending> = episode.tasks().into_iter().chain([task]).collect();
        let halted = Mutex::new(None);
        let stood: Vec<Option<Running>> = thread::scope(|scope| {
            let starts: Vec<_> = handles.into_iter().map(|task| scope.spawn(|| task.start().ok())).collect();
            scope.spawn(|| *halted.lock().unwrap() = Some(episode.halt(text!("stop"))));
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        for running in stood.into_iter().flatten() {
            assert_eq!(running.stands(), Err(Lapsed::SafeMode));
        }
    }
}

// Places where an episode may be lost.

#[test]
fn an_episode_behind_a_trait_object_is_ended() {
    let (setup, log) = kept();
    let (episode, task) = reading(setup);
    let lost: Box<dyn Any> = Box::new(episode);
    drop(lost);
    log.is_clean();
    assert!(task.start().is_err());
}

#[test]
fn an_episode_whose_last_owner_is_another_thread_is_ended() {
    let (setup, log) = kept();
    let shared = Arc::new(Mutex::new(Some(reading(setup).0)));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || drop(other));
    drop(shared);
    thread.join().unwrap();
    log.is_clean();
}

#[test]
fn an_episode_in_an_unread_channel_is_ended() {
    let (setup, log) = kept();
    let (sender, receiver) = mpsc::channel();
    sender.send(reading(setup).0).unwrap();
    drop((sender, receiver));
    log.is_clean();
}

#[test]
fn an_episode_that_is_replaced_is_ended() {
    let (setup, log) = kept();
    let mut kept_in = Some(reading(setup).0.into_any());
    drop(mem::take(&mut kept_in));
    log.is_clean();
}

#[test]
fn an_episode_in_a_thread_that_panics_is_ended() {
    let (setup, log) = kept();
    let thread = thread::spawn(move || {
        let _episode = reading(setup);
        std::panic::resume_unwind(Box::new("the thread panics"));
    });
    assert!(thread.join().is_err());
    log.is_clean();
}

#[test]
fn an_episode_that_leaks_runs_nothing_once_it_was_resumed() {
    struct Ring(RefCell<Option<Rc<Ring>>>, #[expect(dead_code, reason = "it is there to leak")] Episode<Many<Execute>>);
    let claims = Claims::new();
    let log = Kept::default();
    let set = || setup("corr_a", Hands::new()).claims(&claims).log(log.clone());
    let (episode, task) = reading(set());
    let ring = Rc::new(Ring(RefCell::new(None), episode));
    *ring.0.borrow_mut() = Some(Rc::clone(&ring));
    drop(ring);
    let lines = log.lines();
    drop(AnyEpisode::resume(set(), lines.iter().map(String::as_str)).unwrap());
    log.is_clean();
    assert_eq!(task.start().expect_err("it leaked").why, Lapsed::Superseded);

    let claims = Claims::new();
    let log = Kept::default();
    let set = || setup("corr_a", Hands::new()).claims(&claims).log(log.clone());
    let (episode, task) = reading(set());
    let _never = ManuallyDrop::new(episode);
    let lines = log.lines();
    drop(AnyEpisode::resume(set(), lines.iter().map(String::as_str)).unwrap());
    log.is_clean();
    assert!(task.start().is_err());
}

#[test]
fn an_error_that_carries_the_episode_and_is_thrown_away_is_ended() {
    fn agent(setup: Setup) -> Result<(), Halt> {
        let episode = acting(setup, &envelope());
        let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(1, text!("short")))?;
        // The token is void when it is used.
        let (_episode, _) = episode.execute([write(permit)])?;
        Ok(())
    }
    let log = Kept::default();
    let ticks = AtomicU64::new(0);
    let start: Instant = "2026-03-01T10:00:00Z".parse().unwrap();
    let clock = move || start.plus_seconds(ticks.fetch_add(1, Ordering::Relaxed));
    let setup = Setup::new("corr_a".parse().unwrap(), &envelope(), clock).claims(&Claims::new()).log(log.clone());
    let _ = agent(setup).map_err(|halt| assert_eq!(halt.why.code(), Some(Code::E4)));
    log.is_clean();
}

#[test]
fn an_episode_is_ended_with_ids_that_repeat_and_a_clock_that_goes_back() {
    struct Same;
    impl IdSource for Same {
        fn packet_id(&mut self) -> String {
            "pkt_same".to_owned()
        }
        fn task_id(&mut self) -> String {
            "task_same".to_owned()
        }
        fn token_id(&mut self) -> String {
            "token_same".to_owned()
        }
    }
    // A source that repeats its ids allows one packet. The packets of the end cannot be written, and the hook reports that.
    let heard = Arc::new(Mutex::new(None));
    let hears = Arc::clone(&heard);
    let log = Kept::default();
    let set = setup("corr_a", Hands::new()).log(log.clone()).ids(Same);
    let set = set.on_lost(move |lost| *hears.lock().unwrap() = Some(lost.why.code()));
    drop(set.start().unwrap().observe(seen()));
    assert_eq!(log.is_clean().len(), 1);
    assert_eq!(*heard.lock().unwrap(), Some(Some(Code::Id)));

    let log = Kept::default();
    let ticks = AtomicU64::new(0);
    let start: Instant = "2026-03-01T10:00:00Z".parse().unwrap();
    let clock = move || start.plus_seconds(10_000 - ticks.fetch_add(20, Ordering::Relaxed).min(10_000));
    let set = Setup::new("corr_a".parse().unwrap(), &envelope(), clock).claims(&Claims::new()).log(log.clone());
    drop(reading(set));
    log.is_clean();
}

#[test]
fn safe_mode_with_open_directives_may_be_dropped() {
    let (setup, log) = kept();
    let (episode, _task) = reading(setup);
    drop(episode.halt(text!("stop")));
    let packets = log.is_clean();
    assert!(results(&packets).is_empty(), "what is open waits for the CLEAR");
}

#[test]
fn a_loop_with_open_directives_may_be_dropped() {
    for policy in [OnDrop::Cancel, OnDrop::Halt, OnDrop::Escalate] {
        let (setup, log) = kept();
        let (plan, _assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
        let episode = modelling(setup.on_drop(policy)).verify_first(ruling(), &envelope()).unwrap();
        let dropped = episode.verify(plan).unwrap().execute([read(), read()]).unwrap();
        drop(dropped);
        log.is_clean();
    }
}

// Tools that are called with their directives.

#[test]
fn the_tools_own_error_is_a_failure_in_the_log_and_the_episode_goes_on() {
    let (setup, log) = kept();
    let failed = acting(setup, &envelope()).execute_with(read(), |task| {
        assert_eq!(task.method().tool_id.as_deref(), Some("config.get"));
        "not a number".parse::<i32>()
    });
    let Err(ExecuteError::Failed(failed)) = failed else { panic!("the tool has failed") };
    assert!(matches!(&failed.error, TaskError::Tool(error) if error.to_string().contains("invalid digit")));
    let (episode, value) = failed.episode.execute_with(read(), |_| "40".parse::<i32>()).unwrap();
    let _closed = episode.review(Belief::new("db", "pool", value)).close().unwrap();
    let results = results(&log.is_clean());
    assert_eq!(results[0].0, ResultStatus::Failure);
    assert!(results[0].1.as_ref().unwrap().contains("invalid digit"));
    assert_eq!(results[1].0, ResultStatus::Success);
}

#[test]
fn each_tool_is_called_also_after_one_that_failed() {
    let (setup, log) = kept();
    let mut calls = 0;
    let (episode, [first, second, third]) = acting(setup, &envelope())
        .execute_each([read(), read(), read()], |_| {
            calls += 1;
            if calls == 2 { Err("the second fails") } else { Ok(calls) }
        })
        .unwrap();
    assert_eq!((first, third), (Ok(1), Ok(3)));
    assert_eq!(second, Err(TaskError::Tool("the second fails")));
    let _closed = episode.review(Belief::new("a", "b", 1)).close().unwrap();
    let statuses: Vec<ResultStatus> = results(&log.is_clean()).into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses, [ResultStatus::Success, ResultStatus::Failure, ResultStatus::Success]);
}

#[test]
fn a_question_mark_carries_a_failed_tool_to_a_halt_that_goes_on() {
    fn agent(setup: Setup) -> Result<Closed, Halt> {
        let (episode, _) = acting(setup, &envelope()).execute_with(read(), |_| Err::<i32, _>("no route"))?;
        Ok(episode.review(Belief::new("a", "b", 1)).close()?)
    }
    let (setup, log) = kept();
    let halt = agent(setup).expect_err("the tool has failed");
    assert!(matches!(*halt.why, Refusal::Tool(_)));
    assert_eq!(halt.to_string(), "the tool failed: no route");
    let AnyEpisode::Execute(episode) = *halt.episode else { panic!("it goes on where the result was taken in") };
    let _closed = episode.review(Belief::new("net", "route", false)).close().unwrap();
    log.is_clean();
}

#[test]
fn a_result_that_is_no_json_is_a_failure() {
    let (setup, log) = kept();
    let failed = acting(setup, &envelope()).execute_with(read(), |_| Ok::<_, String>(BTreeMap::from([((1, 2), 3)])));
    let Err(ExecuteError::Failed(failed)) = failed else { panic!("JSON has no such keys") };
    assert!(matches!(failed.error, TaskError::DoesNotFit(_)));
    drop(failed);
    assert_eq!(results(&log.is_clean())[0].0, ResultStatus::Failure);
}

#[test]
fn a_result_of_a_tool_whose_token_has_expired_meanwhile_does_not_count() {
    let log = Kept::default();
    let clock = Hands::new();
    let episode = acting(setup("corr_a", clock.clone()).log(log.clone()), &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("a minute"))).unwrap();
    let ran = episode.execute_with(write(permit), |task| {
        assert_eq!(task.stands(), Ok(()));
        clock.pass(60);
        assert!(matches!(task.stands(), Err(Lapsed::Expired { .. })));
        Ok::<_, String>("done")
    });
    let Err(ExecuteError::Failed(failed)) = ran else { panic!("it took too long") };
    assert!(matches!(failed.error, TaskError::Lapsed(Lapsed::Expired { .. })));
    drop(failed);
    assert_eq!(results(&log.is_clean())[0].0, ResultStatus::Failure);
}

#[test]
fn a_check_whose_tool_fails_may_be_tried_again() {
    let (setup, log) = kept();
    let (plan, assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
    let episode = modelling(setup).verify_first(ruling(), &envelope()).unwrap().verify(plan).unwrap();
    let failed = episode.check_with(read(), |_| Err::<u16, _>("no route"));
    let Err(LoopError::Failed(failed)) = failed else { panic!("the tool has failed") };
    let (episode, status) = failed.episode.check_with(read(), |_| Ok::<_, String>(200)).unwrap();
    assert_eq!(status, 200);
    let (episode, proof) = episode.observe(seen()).believe(Belief::new("net", "up", true));
    let order = ruling().to_act().relies_on(proof.verifies(assumption));
    drop(episode.act(order, &envelope()).unwrap());
    log.is_clean();
}

/// Runs a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn tools_that_are_waited_for_are_settled_as_well() {
    let (setup, log) = kept();
    let (plan, _assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
    let episode = modelling(setup).verify_first(ruling(), &envelope()).unwrap().verify(plan).unwrap();
    let failed = at_once(episode.check_with_async(read(), async |_| Err::<u16, _>("no route")));
    let Err(LoopError::Failed(failed)) = failed else { panic!("the tool has failed") };
    let (episode, _) = at_once(failed.episode.check_with_async(read(), async |_| Ok::<_, String>(200))).unwrap();
    let (episode, _proof) = episode.observe(seen()).believe(Belief::new("net", "up", true));
    let episode = episode.act(ruling().to_act(), &envelope()).unwrap();
    let failed = at_once(episode.execute_with_async(read(), async |_| Err::<(), _>("no")));
    let Err(ExecuteError::Failed(failed)) = failed else { panic!("the tool has failed") };
    let outcome = at_once(
        failed.episode.execute_each_async([read(), read()], async |task| Ok::<_, String>(task.directive().clone())),
    );
    let (episode, values) = outcome.unwrap();
    assert!(values.iter().all(Result::is_ok));
    drop(episode);
    assert_eq!(results(&log.is_clean()).len(), 5);
}

// Permits, claims, files.

#[test]
fn permits_that_were_claimed_twice_are_good_for_the_uses_that_are_left() {
    let claims = Claims::new();
    let set = || setup("corr_a", Hands::new()).claims(&claims);
    let episode = acting(set(), &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("one use"))).unwrap();
    let token = permit.token_id().clone();
    let lines = episode.lines().to_vec();
    drop((episode, permit));
    let resumed = AnyEpisode::resume(set(), lines.iter().map(String::as_str)).unwrap();
    let AnyEpisode::Authorize(episode) = resumed else { panic!("{resumed:?}") };
    let [first] = episode.claim::<Change, 1>(&token).unwrap();
    let [second] = episode.claim::<Change, 1>(&token).unwrap();
    let refused = episode.execute([write(first), write(second)]).expect_err("one use");
    assert_eq!(refused.why.code(), Some(Code::E4));
}

#[test]
fn an_id_that_has_closed_does_not_start_again() {
    let claims = Claims::new();
    let set = || setup("corr_a", Hands::new()).claims(&claims);
    let (episode, task) = reading(set());
    let episode = episode.settle(vec![task.success(1)]).unwrap().all_settled().unwrap();
    let closed = episode.review(Belief::new("a", "b", 1)).close().unwrap();
    assert!(matches!(set().start(), Err(StartError::Begun(_))));
    let lines = closed.lines().to_vec();
    assert!(AnyEpisode::resume(set(), lines.iter().map(String::as_str)).is_ok(), "it may be resumed in review");
}

#[test]
fn a_run_whose_episode_cannot_start_says_so() {
    #[derive(Debug)]
    enum Error {
        Start(StartError),
        Other,
    }
    impl From<StartError> for Error {
        fn from(error: StartError) -> Self {
            Self::Start(error)
        }
    }
    impl From<AnotherEpisode> for Error {
        fn from(_: AnotherEpisode) -> Self {
            Self::Other
        }
    }
    let claims = Claims::new();
    let set = || setup("corr_a", Hands::new()).claims(&claims);
    let _first = set().start().unwrap().observe(seen());
    let ran = set().run(|_| Err::<Closed, _>(Error::Other));
    assert!(matches!(ran, Err(Error::Start(StartError::Begun(_)))));
}

#[test]
fn threads_write_whole_steps_into_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = LogFile::open(&path).unwrap();
    let claims = Claims::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let (log, claims) = (log.clone(), claims.clone());
            scope.spawn(move || {
                let id = format!("corr_{number}");
                let (episode, task) = reading(setup(&id, Hands::new()).claims(&claims).log(log));
                let episode = episode.settle(vec![task.success(number)]).unwrap().all_settled().unwrap();
                if number % 2 == 0 {
                    let _closed = episode.review(Belief::new("a", "b", number)).close().unwrap();
                }
            });
        }
    });
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(&std::fs::read(&path).unwrap(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!((summary.errors, summary.episodes), (0, 8), "{findings:?}");
}
