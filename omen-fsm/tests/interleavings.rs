//! The record of leases under every interleaving of two or three threads.
//!
//! The record itself is compiled here a second time, with locks that a model checker schedules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(dead_code, unreachable_pub, missing_docs, reason = "the record has more than these models ask of it")]

mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}

#[path = "../src/episode/lease.rs"]
mod lease;

use std::task::{Poll, Wake, Waker};

use lease::{EndReason, Lapsed, Leases};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use omen_types::Instant;

fn now() -> Instant {
    Instant::default()
}

fn one_open() -> Arc<Leases> {
    let leases = Leases::default();
    leases.open("pkt_1", Some(("token_1", None)));
    Arc::new(leases)
}

/// Runs `act` in a separate thread, concurrently with `here`.
fn beside<T: 'static, U>(
    leases: &Arc<Leases>,
    act: impl FnOnce(&Leases) -> T + 'static,
    here: impl FnOnce(&Leases) -> U,
) -> (T, U) {
    let other = Arc::clone(leases);
    let thread = thread::spawn(move || act(&other));
    let here = here(leases);
    (thread.join().unwrap(), here)
}

#[test]
fn of_three_that_start_a_task_one_does() {
    loom::model(|| {
        let leases = one_open();
        let third = Arc::clone(&leases);
        let third = thread::spawn(move || third.start("pkt_1", now(), now()).is_ok());
        let start = |leases: &Leases| leases.start("pkt_1", now(), now()).is_ok();
        let (first, second) = beside(&leases, start, start);
        let won = [first, second, third.join().unwrap()];
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
    });
}

#[test]
fn what_was_ended_does_not_start_and_what_runs_is_seen_to_be_ended() {
    for over in [EndReason::SafeMode, EndReason::Closed, EndReason::Dropped, EndReason::Log] {
        loom::model(move || {
            let leases = one_open();
            let run =
                |leases: &Leases| leases.start("pkt_1", now(), now()).is_ok() && leases.stands("pkt_1", now()).is_ok();
            let _ = beside(&leases, run, |leases| leases.end(over));
            // In any order: from now on no lease may take effect.
            assert_eq!(leases.stands("pkt_1", now()), Err(over.into()));
            assert_eq!(leases.start("pkt_1", now(), now()), Err(over.into()));
        });
    }
}

#[test]
fn a_task_is_begun_or_said_to_be_done_by_somebody_else_and_never_both() {
    loom::model(|| {
        let leases = one_open();
        let settles = |leases: &Leases| {
            let may = leases.settling([("pkt_1", false)].into_iter()).is_ok();
            if may {
                leases.settled("pkt_1");
            }
            may
        };
        let (starts, settles) = beside(&leases, |leases| leases.start("pkt_1", now(), now()).is_ok(), settles);
        assert!(starts ^ settles, "starts: {starts}, settles: {settles}");
    });
}

#[test]
fn a_result_that_is_refused_leaves_the_task_open() {
    loom::model(|| {
        let leases = one_open();
        let refused = |leases: &Leases| {
            if leases.settling([("pkt_1", false)].into_iter()).is_ok() {
                leases.unsettled(["pkt_1"].into_iter());
            }
        };
        let (started, ()) = beside(&leases, |leases| leases.start("pkt_1", now(), now()), refused);
        match started {
            Ok(()) => assert_eq!(leases.stands("pkt_1", now()), Ok(())),
            Err(why) => {
                assert_eq!(why, Lapsed::NotOpen, "it was asked while the result was recorded");
                assert_eq!(leases.start("pkt_1", now(), now()), Ok(()));
            }
        }
    });
}

#[test]
fn a_revoked_token_is_not_spent_later() {
    loom::model(|| {
        let leases = one_open();
        let _ =
            beside(&leases, |leases| leases.start("pkt_1", now(), now()).is_ok(), |leases| leases.revoke("token_1"));
        assert_eq!(leases.stands("pkt_1", now()), Err(Lapsed::Revoked));
    });
}

/// A waker that records that it was woken.
#[derive(Default)]
struct Flag(std::sync::atomic::AtomicBool);

impl Wake for Flag {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

#[test]
fn who_waits_is_woken_whenever_it_began_to_wait() {
    loom::model(|| {
        let leases = one_open();
        let flag = std::sync::Arc::<Flag>::default();
        let waker = Waker::from(std::sync::Arc::clone(&flag));
        let wait = move |leases: &Leases| {
            let mut waiter = None;
            leases.poll_lapsed("pkt_1", &mut waiter, &waker)
        };
        let (waited, ()) = beside(&leases, wait, |leases| leases.end(EndReason::SafeMode));
        let woken = flag.0.load(std::sync::atomic::Ordering::SeqCst);
        assert!(woken || waited == Poll::Ready(Lapsed::SafeMode), "neither woken nor ready at once");
    });
}

#[test]
fn nobody_writes_after_the_episode_was_taken_over() {
    loom::model(|| {
        let leases = one_open();
        let taken = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&taken);
        let write = move |leases: &Leases| {
            let step = leases.step();
            // The other thread waits while the step lasts.
            let late = step.is_ok() && seen.load(Ordering::SeqCst);
            drop(step);
            late
        };
        let (late, ()) = beside(&leases, write, |leases| {
            leases.supersede();
            taken.store(true, Ordering::SeqCst);
        });
        assert!(!late, "a step began, or went on, after the episode was taken over");
        assert!(leases.step().is_err());
    });
}
