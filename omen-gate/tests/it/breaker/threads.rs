//! One breaker, many threads.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use omen_gate::breaker::BreakerState;

use super::{SEARCH, admit, breakers, open};
use crate::support::{clock, secs};

#[test]
fn of_all_who_ask_at_once_one_is_the_probe() {
    const THREADS: usize = 8;
    for round in 0..100 {
        let clock = clock();
        let breakers = breakers(&clock);
        open(&breakers);
        clock.advance(secs(10));
        let (asked, ended) = (Barrier::new(THREADS), Barrier::new(THREADS));
        let probes = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    asked.wait();
                    let admission = admit(&breakers);
                    // No call ends before all have requested admission.
                    ended.wait();
                    if let Ok(admission) = admission {
                        probes.fetch_add(1, Ordering::Relaxed);
                        if round % 2 == 0 { admission.success() } else { drop(admission) }
                    }
                });
            }
        });
        assert_eq!(probes.into_inner(), 1);
        let closed = breakers.state(&SEARCH) == BreakerState::Closed { failures: 0 };
        assert_eq!(closed, round % 2 == 0);
    }
}

#[test]
fn at_no_time_are_two_probes_under_way() {
    let clock = clock();
    let breakers = breakers(&clock);
    open(&breakers);
    let (under_way, probes) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    clock.advance(secs(10));
                    if let Ok(probe) = admit(&breakers) {
                        assert_eq!(under_way.fetch_add(1, Ordering::SeqCst), 0);
                        probes.fetch_add(1, Ordering::Relaxed);
                        thread::yield_now();
                        under_way.fetch_sub(1, Ordering::SeqCst);
                        // A failing probe keeps the breaker from closing, so every admission is a probe.
                        probe.failure();
                    }
                }
            });
        }
    });
    assert!(probes.into_inner() > 1);
}
