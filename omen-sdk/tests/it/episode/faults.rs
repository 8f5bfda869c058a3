//! Faults around an episode: a clock that goes back, a log that panics, a text that ends early.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use omen::log_file::{LogFile, LogFileError};
use omen::packet::Packet;
use omen::*;

use super::drops::{Kept, writing};
use super::log::{Hands, envelope, setup};
use super::refusals::acting;

tool!(Get = "config.get", Read);

#[test]
fn a_clock_that_is_set_back_revives_no_token() {
    let start = Hands::new().now();
    // A running task that was seen to have lapsed stays lapsed.
    let clock = Hands::new();
    let (_episode, task) = writing(setup("corr_a", clock.clone()));
    let running = task.start().unwrap();
    clock.pass(120);
    assert!(matches!(running.stands(), Err(Lapsed::Expired { .. })));
    clock.set(start);
    assert!(matches!(running.stands(), Err(Lapsed::Expired { .. })));
    // The same before the task begins.
    let clock = Hands::new();
    let (_episode, task) = writing(setup("corr_a", clock.clone()));
    clock.pass(120);
    let NotStarted { task, why } = task.start().expect_err("the token has expired");
    assert!(matches!(why, Lapsed::Expired { .. }));
    clock.set(start);
    assert!(matches!(task.start().expect_err("it has expired").why, Lapsed::Expired { .. }));
    // A packet in the log counts as well, although no task was checked at its time.
    let clock = Hands::new();
    let (episode, task) = writing(setup("corr_a", clock.clone()));
    clock.pass(120);
    let _episode = episode.alert(Alert::info(AlertType::Drift, text!("two minutes later")));
    clock.set(start);
    assert!(matches!(task.start().expect_err("the log is past its expiry").why, Lapsed::Expired { .. }));
}

#[test]
fn a_resumed_episode_revives_no_token_either() {
    let clock = Hands::new();
    let start = clock.now();
    let (episode, _task) = writing(setup("corr_a", clock.clone()));
    clock.pass(120);
    let episode = episode.alert(Alert::info(AlertType::Drift, text!("two minutes later")));
    let lines = episode.lines().to_vec();
    clock.set(start);
    let resumed = AnyEpisode::resume(setup("corr_a", clock), lines.iter().map(String::as_str)).unwrap();
    let AnyEpisode::ExecuteOpen(episode) = resumed else { panic!("{resumed:?}") };
    let task = episode.tasks().remove(0);
    assert!(matches!(task.start().expect_err("the log is past its expiry").why, Lapsed::Expired { .. }));
}

#[test]
fn no_success_is_recorded_after_the_token_has_expired_or_was_revoked() {
    let log = Kept::default();
    let clock = Hands::new();
    let (episode, task) = writing(setup("corr_a", clock.clone()).log(log.clone()));
    let running = task.start().unwrap();
    clock.pass(60);
    let refused = episode.settle([running.success("done")]).expect_err("the token has expired");
    assert_eq!(refused.why.code(), Some(Code::E4));
    assert!(refused.why.to_string().contains("expired at"), "{}", refused.why);
    // The remedy that the error names.
    let [settled] = <[Settled; 1]>::try_from(refused.given).unwrap();
    let failure = settled.into_task().failure(text!("it wrote, but too late to count"));
    let episode = refused.episode.settle([failure]).unwrap();
    let _closed = episode.review(Belief::new("db", "pool", "unknown")).close().unwrap();
    log.is_clean();

    let (episode, task) = writing(setup("corr_b", Hands::new()));
    let running = task.start().unwrap();
    let token = running.authority().unwrap().token_id.clone();
    let episode = episode.alert(Alert::warning(AlertType::TokenRevocation, text!("no")).revoking([token]));
    let refused = episode.settle([running.success("done")]).expect_err("the token was revoked");
    assert!(refused.why.to_string().contains("revoked"), "{}", refused.why);
}

#[test]
fn no_task_begins_after_its_deadline() {
    let clock = Hands::new();
    let episode = acting(setup("corr_a", clock.clone()), &envelope());
    let (episode, [task]) = episode.execute([Directive::bare(Get, op::Read).timeout_seconds(9).ready()]).unwrap();
    clock.pass(10);
    let NotStarted { task, why } = task.start().expect_err("its result was due a second ago");
    assert!(matches!(why, Lapsed::Overdue { .. }), "{why}");
    assert!(episode.settle([task.cancelled()]).is_ok());
}

/// A log that panics at a given step, before or after writing it, or at a given warning.
struct Bomb {
    log: Kept,
    steps: u32,
    warnings: u32,
    at: Fuse,
}

#[derive(Clone, Copy, Debug)]
enum Fuse {
    Before(u32),
    After(u32),
    Warning(u32),
}

impl Log for Bomb {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.steps += 1;
        assert!(!matches!(self.at, Fuse::Before(step) if step == self.steps), "before the write");
        self.log.append(lines)?;
        assert!(!matches!(self.at, Fuse::After(step) if step == self.steps), "after the write");
        Ok(())
    }

    fn warn(&mut self, _: &Diagnostic) {
        self.warnings += 1;
        assert!(!matches!(self.at, Fuse::Warning(warning) if warning == self.warnings), "at a warning");
    }
}

/// Runs an agent whose result exceeds the token budget, so that steps have warnings, over a log that panics. Returns whether it
/// panicked.
fn bombed(at: Fuse, log: &Kept) -> bool {
    let bomb = Bomb { log: log.clone(), steps: 0, warnings: 0, at };
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let (episode, task) = writing(setup("corr_a", Hands::new()).log(bomb));
        let episode = episode.settle([task.success("done").used(2_000, 1)]).unwrap();
        episode.review(Belief::new("db", "pool", 40)).into_any().halt(text!("over budget"))
    }));
    ran.is_err()
}

#[test]
fn whenever_a_log_panics_what_it_holds_is_legal_as_far_as_it_goes() {
    let mut panics = 0;
    for number in 1..12 {
        for at in [Fuse::Before(number), Fuse::After(number), Fuse::Warning(number)] {
            let log = Kept::default();
            if !bombed(at, &log) {
                continue;
            }
            panics += 1;
            let lines = log.lines();
            // The episode cannot know whether the step is in the log, so nothing follows it. A warning comes after its step, so
            // the drop policy ends the episode.
            let resumed = AnyEpisode::resume(setup("corr_a", Hands::new()), lines.iter().map(String::as_str));
            assert!(resumed.is_ok(), "{at:?}: {:?}\n{}", resumed.err(), lines.join("\n"));
            let end: Option<Packet> = lines.last().map(|line| line.parse().unwrap());
            let is_ended = end.is_some_and(|end| format!("{end:?}").contains("the program dropped this episode"));
            assert_eq!(is_ended, matches!(at, Fuse::Warning(_)), "{at:?}\n{}", lines.join("\n"));
            if matches!(at, Fuse::Warning(_)) {
                log.is_clean();
            }
        }
    }
    assert!(panics >= 17, "{panics}");
}

#[test]
fn an_episode_does_not_resume_from_a_text_that_its_log_file_is_past() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log = LogFile::open(&path).unwrap();
    let set = || setup("corr_a", Hands::new()).log(log.clone());
    // As if the program had been killed.
    drop(writing(set().on_drop(OnDrop::Leave)));
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for stale in 0..lines.len() {
        let error = AnyEpisode::resume(set(), lines[..stale].iter().copied()).expect_err("the file holds more");
        assert!(matches!(error.why, Refusal::Stale), "{error}");
        assert_eq!(error.line, stale);
        assert!(error.to_string().contains("LogFile::resume"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "nothing was written");
    drop(AnyEpisode::resume(set(), lines.iter().copied()).unwrap());
    // Nor from a time that the log had passed when it was opened.
    let text = std::fs::read_to_string(&path).unwrap();
    drop(log);

    let log = LogFile::open(&path).unwrap();
    let stale = AnyEpisode::resume(setup("corr_a", Hands::new()).log(log.clone()), lines.iter().copied());
    assert!(matches!(stale.expect_err("the file holds its end, too").why, Refusal::Stale));
    assert!(!matches!(log.resume(setup("corr_a", Hands::new())), Err(LogFileError::Resume(..))));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(&text));
}
