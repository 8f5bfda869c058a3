//! Tests that a failure ends the work of all threads.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::validator::random_logs::{examples, random};

#[test]
fn a_sink_that_fails_gets_no_more_calls() {
    let log: Vec<u8> = (0..8).flat_map(|seed| random(seed, &examples())).collect();
    let options = ValidatorOptions::default();
    let mut all = Calls::with_packets(true);
    one_thread(&options).feed(&log, &mut all).expect("room");
    assert!(all.calls.len() > 50);
    for jobs in 1..=8 {
        for room in [0, 1, 7, all.calls.len() - 1] {
            let mut sink = Calls { room: Some(room), ..Calls::with_packets(true) };
            let mut validator = threads(jobs, 512, &options);
            assert_eq!(validator.feed(&log, &mut sink), Err(Full));
            assert_eq!(sink.calls, all.calls[..room], "{jobs} threads, room for {room}");
            let mut one = (one_thread(&options), Calls { room: Some(room), ..Calls::with_packets(true) });
            assert_eq!(one.0.feed(&log, &mut one.1), Err(Full));
            let (found, expected) = (validator.summary(), one.0.summary());
            assert_eq!(Summary { episodes: 0, ..found }, Summary { episodes: 0, ..expected });
        }
    }
}

/// Sink that panics at its first finding.
struct Panics;

impl Sink for Panics {
    type Error = Infallible;

    fn finding(&mut self, _: Finding, _: Option<&str>) -> Result<(), Infallible> {
        std::panic::panic_any("of the sink")
    }
}

#[test]
fn a_panic_of_the_sink_is_passed_on() {
    let log: Vec<u8> = (0..8).flat_map(|seed| random(seed, &examples())).collect();
    for jobs in 1..=8 {
        let mut validator = threads(jobs, 512, &ValidatorOptions::default());
        let panic = catch_unwind(AssertUnwindSafe(|| validator.feed(&log, &mut Panics))).expect_err("a panic");
        assert_eq!(panic.downcast_ref(), Some(&"of the sink"));
    }
}
