//! A dropped episode leaves a legal log (D54): at every point of every example, for every policy and every cause.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use omen::packet::{Packet, ResultStatus};
use omen::*;

use super::log::{Hands, envelope, episodes, examples, setup};
use super::refusals::{acting, modelling, ruling};

tool!(Get = "config.get", Read);
tool!(Set = "config.set", Write);
scope!(Change: tools [Set], operations [Modify]);

/// A log that outlives its episode.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Vec<String>>>);

impl Log for Kept {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.0.lock().unwrap().extend(lines.iter().map(|line| line.text.to_owned()));
        Ok(())
    }
}

impl Kept {
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Checks that the validator has no findings about the log, and returns its last packets.
    pub(super) fn is_clean(&self) -> Vec<Packet> {
        let lines = self.lines();
        assert_eq!(errors(&lines), Vec::<String>::new(), "{}", lines.join("\n"));
        lines.iter().map(|line| line.parse().unwrap()).collect()
    }
}

fn errors(lines: &[String]) -> Vec<String> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(lines.join("\n").as_bytes(), &mut findings);
    let Ok(_) = validator.finish(&mut findings);
    let errors = findings.iter().filter(|finding| finding.diagnostic.severity == Severity::Error);
    errors.map(|finding| finding.diagnostic.to_string()).collect()
}

pub(super) fn kept() -> (Setup, Kept) {
    let log = Kept::default();
    (setup("corr_a", Hands::new()).log(log.clone()), log)
}

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

/// Returns an episode with a task that writes under a token of 60 s; its result is due after 600 s.
pub(super) fn writing(setup: Setup) -> (Episode<Open<Execute, 1>>, Pending) {
    let episode = acting(setup, &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("ticket"))).unwrap();
    let order = Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit);
    let (episode, [task]) = episode.execute([order]).unwrap();
    (episode, task)
}

/// Returns the status of the last result.
fn last_result(packets: &[Packet]) -> ResultStatus {
    let mut results = packets.iter().rev().filter_map(|packet| match packet {
        Packet::TaskResult(result) => Some(result.payload.result_status),
        _ => None,
    });
    results.next().unwrap()
}

#[test]
fn wherever_an_episode_is_dropped_its_log_is_legal() {
    let mut dropped = 0;
    for (path, log) in examples() {
        for (id, lines) in episodes(log) {
            let mut legal: Vec<&str> = Vec::new();
            for line in lines.iter().filter(|line| line.errors.is_empty()) {
                legal.push(&line.text);
                for policy in [OnDrop::Cancel, OnDrop::Halt, OnDrop::Escalate] {
                    let kept = Kept::default();
                    let clock = Hands::new();
                    let setup = setup(&id, clock).log(kept.clone()).on_drop(policy);
                    let Ok(episode) = AnyEpisode::resume(setup, legal.iter().copied()) else {
                        panic!("{path}: it does not resume")
                    };
                    drop(episode);
                    let all: Vec<String> = legal.iter().map(|line| (*line).to_owned()).chain(kept.lines()).collect();
                    assert_eq!(errors(&all), Vec::<String>::new(), "{path}, {policy:?}:\n{}", all.join("\n"));
                    dropped += 1;
                }
            }
        }
    }
    println!("dropped {dropped} times");
    assert!(dropped > 1000, "{dropped}");
}

#[test]
fn what_is_left_open_is_cancelled_and_the_reason_is_in_the_log() {
    let (setup, log) = kept();
    let (episode, task) = writing(setup);
    drop(episode);
    let packets = log.is_clean();
    assert_eq!(last_result(&packets), ResultStatus::Cancelled);
    assert!(log.lines().last().unwrap().contains("the program dropped this episode in"), "{:?}", log.lines().last());
    assert!(matches!(task.start(), Err(NotStarted { why: Lapsed::Dropped, .. })));
}

#[test]
fn a_question_mark_on_the_tools_own_error_leaves_a_legal_log() {
    fn agent(setup: Setup) -> Result<Closed, Box<dyn std::error::Error>> {
        let (episode, task) = writing(setup);
        let value: u32 = "not a number".parse()?;
        let episode = episode.settle([task.success(value)])?;
        Ok(episode.review(Belief::new("a", "b", value)).close()?)
    }
    let (setup, log) = kept();
    assert!(agent(setup).is_err());
    assert_eq!(last_result(&log.is_clean()), ResultStatus::Cancelled);
}

#[test]
fn a_check_that_fails_and_is_handed_on_leaves_a_legal_log() {
    fn agent(setup: Setup) -> Result<(), Halt> {
        let episode = modelling(setup).verify_first(ruling(), &envelope())?;
        let (plan, _assumption) = Plan::one(Target::tool(text!("it is up"), text!("200"), Get));
        let _proven = episode.verify(plan)?.check(read(), |task| task.failure(text!("no route")))?;
        Ok(())
    }
    let (setup, log) = kept();
    let halt = agent(setup).unwrap_err();
    assert!(matches!(*halt.episode, AnyEpisode::Verify(_)), "the caller may go on: {halt:?}");
    drop(halt);
    let packets = log.is_clean();
    assert!(matches!(packets.last(), Some(Packet::IntegrityAlert(_))), "a loop is left by safe mode alone");
}

#[test]
fn an_early_return_and_a_struct_that_is_dropped_leave_legal_logs() {
    struct Agent {
        _episode: Episode<Open<Execute, 1>>,
        _task: Pending,
    }
    let (setup, log) = kept();
    let (episode, task) = writing(setup);
    drop(vec![Some(Box::new(Agent { _episode: episode, _task: task }))]);
    log.is_clean();

    let (setup, log) = kept();
    let loops = modelling(setup).verify_first(ruling(), &envelope()).unwrap();
    let returns = move |early: bool| if early { None } else { Some(loops) };
    assert!(returns(true).is_none());
    log.is_clean();
}

#[test]
fn a_panic_leaves_a_legal_log_that_says_so() {
    let (setup, log) = kept();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let (_episode, _task) = writing(setup);
        resume_unwind(Box::new("the agent panics"));
    }));
    assert!(unwound.is_err());
    log.is_clean();
    assert!(log.lines().last().unwrap().contains("during a panic"), "{:?}", log.lines().last());
}

#[test]
fn a_tool_that_panics_leaves_a_legal_log() {
    let (setup, log) = kept();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        acting(setup, &envelope()).execute_with(read(), |_| -> Result<i32, String> { resume_unwind(Box::new("oh")) })
    }));
    assert!(unwound.is_err());
    assert_eq!(last_result(&log.is_clean()), ResultStatus::Cancelled);
}

#[test]
fn a_future_that_is_cancelled_leaves_a_legal_log() {
    let (setup, log) = kept();
    let episode = acting(setup, &envelope());
    let mut future =
        Box::pin(episode.execute_with_async(read(), async |_| -> Result<i32, String> { std::future::pending().await }));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(future);
    assert_eq!(last_result(&log.is_clean()), ResultStatus::Cancelled);
}

#[test]
fn an_episode_that_is_forgotten_is_ended_by_who_resumes_it() {
    let claims = Claims::new();
    let log = Kept::default();
    let (episode, task) = writing(setup("corr_a", Hands::new()).claims(&claims).log(log.clone()));
    std::mem::forget(episode);
    assert!(!errors(&log.lines()).is_empty(), "nothing runs when an episode is forgotten");
    let lines = log.lines();
    let setup = setup("corr_a", Hands::new()).claims(&claims).log(log.clone());
    drop(AnyEpisode::resume(setup, lines.iter().map(String::as_str)).unwrap());
    log.is_clean();
    assert!(matches!(task.start(), Err(NotStarted { why: Lapsed::Superseded, .. })));
}

#[test]
fn each_policy_ends_as_it_says() {
    let end = |policy| {
        let log = Kept::default();
        let (episode, _task) = writing(setup("corr_a", Hands::new()).log(log.clone()).on_drop(policy));
        let before = log.lines().len();
        drop(episode);
        (log.lines().split_off(before), log)
    };
    let types = |lines: &[String]| {
        let types = lines.iter().map(|line| line.parse::<Packet>().unwrap().header().packet_type.to_string());
        types.collect::<Vec<_>>().join(" ")
    };
    let (lines, log) = end(OnDrop::Cancel);
    assert_eq!(types(&lines), "TaskResultPacket BeliefUpdatePacket");
    log.is_clean();
    let (lines, log) = end(OnDrop::Halt);
    assert_eq!(types(&lines), "IntegrityAlertPacket");
    log.is_clean();
    let (lines, log) = end(OnDrop::Escalate);
    assert_eq!(types(&lines), "TaskResultPacket BeliefUpdatePacket DecisionPacket EscalationPacket");
    log.is_clean();
    let (lines, _) = end(OnDrop::Leave);
    assert_eq!(types(&lines), "");
}

#[test]
fn what_has_not_begun_and_what_has_closed_writes_nothing() {
    let (setup, log) = kept();
    drop(setup);
    assert!(log.lines().is_empty());
    let (setup, log) = kept();
    drop(setup.start().unwrap());
    assert!(log.lines().is_empty());
    let (setup, log) = kept();
    let (episode, task) = writing(setup);
    let closed = episode.settle([task.success(1)]).unwrap().review(Belief::new("a", "b", 1)).close().unwrap();
    let before = log.lines();
    drop(closed);
    assert_eq!(log.lines(), before);
}

/// A log that fails from one write on, or panics.
struct Failing {
    kept: Kept,
    room: usize,
    panics: bool,
}

impl Log for Failing {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        if self.room > 0 {
            self.room -= 1;
            return self.kept.append(lines);
        }
        if self.panics {
            resume_unwind(Box::new("the log panics"));
        }
        Err(io::Error::from(io::ErrorKind::StorageFull))
    }
}

#[test]
fn an_end_that_cannot_be_written_is_reported_to_the_hook() {
    for panics in [false, true] {
        let heard = Arc::new(Mutex::new(None));
        let hears = Arc::clone(&heard);
        let log = Failing { kept: Kept::default(), room: 5, panics };
        let setup = setup("corr_a", Hands::new()).log(log);
        let setup = setup.on_lost(move |lost| *hears.lock().unwrap() = Some(lost.clone()));
        drop(writing(setup).0);
        let lost = heard.lock().unwrap().take().expect("the hook is called");
        assert_eq!(lost.correlation_id.as_str(), "corr_a");
        assert_eq!(matches!(*lost.why, Refusal::Log(_)), !panics, "{lost}");
    }
}

#[test]
fn a_hook_or_a_log_that_panics_while_a_panic_unwinds_does_not_abort() {
    let log = Failing { kept: Kept::default(), room: 5, panics: true };
    let setup = setup("corr_a", Hands::new()).log(log).on_lost(|_| resume_unwind(Box::new("the hook panics")));
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _both = writing(setup);
        resume_unwind(Box::new("the agent panics"));
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref::<&str>(), Some(&"the agent panics"));
}

#[test]
fn over_budget_an_episode_still_ends_legally() {
    let clock = Hands::new();
    let log = Kept::default();
    let episode = acting(setup("corr_a", clock.clone()).log(log.clone()), &envelope());
    let (episode, [task]) = episode.execute([read()]).unwrap();
    clock.pass(10_000);
    drop((episode, task));
    log.is_clean();
}
