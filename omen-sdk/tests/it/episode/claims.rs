//! One writer for each log: an id begins once, and a resumed episode takes its log over (D21).

use std::fs;

use omen::log_file::{LogFile, LogFileError};
use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling};

tool!(Get = "config.get", Read);
tool!(Set = "config.set", Write);
scope!(Change: tools [Set], operations [Modify]);

fn read() -> Order<ReadOnly> {
    Directive::bare(Get, op::Read).ready()
}

fn seen() -> Observation<Observed> {
    Observation::tool_output(Observed, "config.get", fields!({ "pool": 20 }))
}

#[test]
fn an_id_that_has_begun_in_this_process_does_not_start_again() {
    let setup = || Setup::new("corr_claims-once".parse().unwrap(), &envelope(), Hands::new());
    let episode = setup().start().unwrap();
    assert!(matches!(setup().start(), Err(StartError::Begun(_))), "it is alive");
    // An episode that has sent nothing has not begun.
    drop(episode);
    let episode = setup().start().unwrap().observe(seen());
    drop(episode);
    let error = setup().start().unwrap_err();
    assert!(error.to_string().contains("`corr_claims-once` has already begun in this process"), "{error}");
}

#[test]
fn an_episode_that_was_resumed_writes_nothing_where_it_was_before() {
    let claims = Claims::new();
    let clock = Hands::new();
    let set = || setup("corr_a", clock.clone()).claims(&claims);
    let acting = acting(set(), &envelope());
    let (before, [permit]) = acting.authorize::<Change, 1>(TokenSpec::new(60, text!("one use"))).unwrap();
    let token = permit.token_id().clone();
    let lines = before.lines().to_vec();
    let resumed = AnyEpisode::resume(set(), lines.iter().map(String::as_str)).unwrap();
    // The single use of the token is spent once.
    let write = |permit| Directive::new(Set, op::Modify, fields!({ "key": "a" })).with(permit);
    let refused = before.execute([write(permit)]).expect_err("it was resumed elsewhere");
    assert!(matches!(*refused.why, Refusal::Superseded), "{refused}");
    assert_eq!(refused.episode.lines(), lines, "nothing was written");
    let AnyEpisode::Authorize(resumed) = resumed else { panic!("{resumed:?}") };
    let [permit] = resumed.claim::<Change, 1>(&token).unwrap();
    assert!(resumed.execute([write(permit)]).is_ok());
    // When dropped, it writes nothing after the lines of the other handle; nor can it halt.
    let halted = refused.episode.halt(text!("stop"));
    assert_eq!(halted.lines(), lines);
    assert!(matches!(halted.trouble(), Some(Refusal::Superseded)));
}

#[test]
fn of_two_that_resume_one_log_the_later_one_writes() {
    let claims = Claims::new();
    let set = || setup("corr_a", Hands::new()).claims(&claims);
    let lines = modelling(set()).lines().to_vec();
    let resume = || AnyEpisode::resume(set(), lines.iter().map(String::as_str)).unwrap();
    let (first, second) = (resume(), resume());
    let (AnyEpisode::Model(first), AnyEpisode::Model(second)) = (first, second) else { panic!("both model") };
    assert!(matches!(first.believe(Belief::new("a", "b", 1)).trouble(), Some(Refusal::Superseded)));
    assert!(second.believe(Belief::new("a", "b", 1)).trouble().is_none());
}

#[test]
fn threads_that_start_one_id_at_once_get_one_episode() {
    let claims = Claims::new();
    let started: Vec<bool> = std::thread::scope(|scope| {
        let start = || {
            let episode = setup("corr_a", Hands::new()).claims(&claims).start();
            episode.is_ok_and(|episode| {
                std::mem::forget(episode.observe(seen()));
                true
            })
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(started.iter().filter(|started| **started).count(), 1);
}

#[test]
fn of_many_handles_of_a_task_one_starts_it() {
    let (episode, [task]) = acting(setup("corr_a", Hands::new()), &envelope()).execute([read()]).unwrap();
    let episode = episode.many();
    let handles: Vec<Pending> = (0..32).flat_map(|_| episode.tasks()).chain([task]).collect();
    let started = std::thread::scope(|scope| {
        let threads: Vec<_> = handles.into_iter().map(|task| scope.spawn(|| task.start().ok())).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let [running] = <[Running; 1]>::try_from(started).expect("one of 33");
    assert_eq!(running.stands(), Ok(()));
    assert!(episode.settle(vec![running.success(1)]).unwrap().all_settled().is_ok());
}

#[test]
fn a_log_file_has_one_writer_and_an_id_begins_in_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let claims = Claims::new();
    let set = |id| setup(id, Hands::new()).claims(&claims);
    let log = LogFile::open(&path).unwrap();
    assert!(matches!(LogFile::open(&path), Err(LogFileError::Locked(_))));
    let one = set("corr_a").log(log.clone()).start().unwrap().observe(seen());
    let other = set("corr_b").log(log.clone()).start().unwrap().observe(seen());
    drop((one, other, log));

    // Another process, which has not begun any of them.
    let claims = Claims::new();
    let set = |id| setup(id, Hands::new()).claims(&claims);
    let log = LogFile::open(&path).unwrap();
    let refused = set("corr_a").log(log.clone()).start().unwrap_err();
    assert!(matches!(refused, StartError::InLog(_)), "{refused}");
    let AnyEpisode::Review(episode) = log.resume(set("corr_b")).unwrap() else { panic!("it was ended") };
    let _closed = episode.believe(Belief::new("a", "b", 1)).close().unwrap();
    drop(log);

    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(&fs::read(&path).unwrap(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!((summary.rejected, summary.episodes), (0, 2), "{findings:?}");
}

#[test]
fn a_log_file_that_ends_in_the_middle_of_a_line_is_not_written_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let episode = setup("corr_a", Hands::new()).log(LogFile::open(&path).unwrap()).start().unwrap().observe(seen());
    std::mem::forget(episode);
    let folder = tempfile::tempdir().unwrap();
    let torn = folder.path().join("torn.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.len() as u64;
    bytes.extend_from_slice(b"{\"header\":");
    fs::write(&torn, &bytes).unwrap();
    let Err(LogFileError::Torn { whole: told, .. }) = LogFile::open(&torn) else { panic!("it is torn") };
    assert_eq!(told, whole);
    assert_eq!(fs::read(&torn).unwrap(), bytes, "nothing was changed");
}
