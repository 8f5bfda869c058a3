//! Information that a task gives its executor.

use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::acting;

tool!(Get = "config.get", Read);
tool!(Set = "config.set", Write);
scope!(Change: tools [Set], operations [Modify]);

#[test]
fn a_task_knows_its_episode_its_deadline_and_its_token_and_so_it_does_after_a_restart() {
    let (clock, envelope) = (Hands::new(), envelope());
    let start = TimeSource::now(&clock);
    let episode = acting(setup("corr_a", clock.clone()), &envelope);
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("agreed"))).unwrap();
    let token = permit.token_id().clone();
    clock.pass(5);
    let write = Directive::new(Set, op::Modify, fields!({ "key": "pool" })).timeout_seconds(30).with(permit);
    let read = Directive::new(Get, op::Read, fields!({ "key": "pool" })).ready();
    let (episode, [write]) = episode.execute([write]).unwrap();
    let (episode, [read]) = episode.execute([read]).unwrap();

    let told = |task: &Pending| (task.correlation_id().to_string(), task.deadline(), task.authority().cloned());
    let expires = Some(start.plus_seconds(60));
    let of_write = ("corr_a".to_owned(), start.plus_seconds(35), Some(Authority { token_id: token, expires }));
    assert_eq!(told(&write), of_write);
    // Without a timeout, the time budget of the envelope applies (D35).
    let budget = envelope.mcp().budgets.time_budget_seconds.get();
    let of_read = ("corr_a".to_owned(), start.plus_seconds(5 + budget), None);
    assert_eq!(told(&read), of_read);

    let log = episode.lines().to_vec();
    let resumed = AnyEpisode::resume(setup("corr_a", clock), log.iter().map(String::as_str)).unwrap();
    let AnyEpisode::ExecuteOpen(again) = resumed else { panic!("{resumed:?}") };
    let tasks = again.tasks();
    assert_eq!(tasks.iter().map(told).collect::<Vec<_>>(), [of_write, of_read]);
}

#[test]
fn ids_that_a_source_gives_twice_are_used_once_within_a_step_too() {
    struct Twice(u32);
    impl Twice {
        fn half(&mut self) -> u32 {
            self.0 += 1;
            self.0 / 2
        }
    }
    impl IdSource for Twice {
        fn packet_id(&mut self) -> String {
            format!("pkt_{}", self.half())
        }

        fn task_id(&mut self) -> String {
            format!("task_{}", self.half())
        }

        fn token_id(&mut self) -> String {
            format!("token_{}", self.half())
        }
    }
    let read = || Directive::bare(Get, op::Read).ready();
    let episode = acting(setup("corr_a", Hands::new()).ids(Twice(1)), &envelope());
    let (episode, tasks) = episode.execute([read(), read(), read()]).unwrap();
    let _ = episode.settle(tasks.map(|task| task.success(1))).unwrap();
}

#[test]
fn a_token_lives_for_a_second_at_least() {
    let episode = acting(setup("corr_a", Hands::new()), &envelope());
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(0, text!("agreed"))).unwrap();
    let write = Directive::new(Set, op::Modify, fields!({ "key": "pool" })).with(permit);
    assert!(episode.execute([write]).is_ok());
}
