//! R1: breakers.

mod schedules;
mod threads;

use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock};

use omen_gate::breaker::{Admission, BreakerLimits, BreakerState, Breakers, MAX_BREAKERS};
use omen_gate::{Blocked, Fault, FaultClass, GateCode, ManualClock, ToolName};

use crate::support::{clock, secs};

/// Breakers that open after 2 failures, for 10 s.
fn breakers(clock: &Arc<ManualClock>) -> Breakers {
    breakers_of(clock, 2)
}

fn breakers_of(clock: &Arc<ManualClock>, failures: u32) -> Breakers {
    Breakers::new(clock.clone(), BreakerLimits { failures: NonZeroU32::new(failures).unwrap(), cooldown: secs(10) })
}

fn name(text: &str) -> ToolName {
    text.parse().unwrap()
}

/// Tool of most tests.
static SEARCH: LazyLock<ToolName> = LazyLock::new(|| name("search"));

fn admit(breakers: &Breakers) -> Result<Admission, Blocked> {
    breakers.admit(&SEARCH)
}

fn open(breakers: &Breakers) {
    for _ in 0..2 {
        admit(breakers).unwrap().failure();
    }
    assert_eq!(admit(breakers).unwrap_err().code, GateCode::R1);
}

#[test]
fn it_closes_opens_half_opens_and_closes() {
    let clock = clock();
    let breakers = breakers(&clock);
    let state = || breakers.state(&SEARCH);
    assert_eq!(state(), BreakerState::Closed { failures: 0 });
    admit(&breakers).unwrap().failure();
    assert_eq!(state(), BreakerState::Closed { failures: 1 });
    admit(&breakers).unwrap().failure();
    assert_eq!(state(), BreakerState::Open { remaining_ms: 10_000 });
    clock.advance(secs(4));
    let blocked = admit(&breakers).unwrap_err();
    assert_eq!(blocked.to_string(), "R1: the breaker of `search` is open");
    assert_eq!(blocked.help, "the tool has failed too often; the next attempt is possible in 6s");
    clock.advance(secs(6));
    let probe = admit(&breakers).unwrap();
    assert_eq!(state(), BreakerState::HalfOpen { probing: true });
    let blocked = admit(&breakers).unwrap_err();
    assert_eq!(blocked.message, "the breaker of `search` is half open, and its one probe is running");
    probe.success();
    assert_eq!(state(), BreakerState::Closed { failures: 0 });
}

#[test]
fn the_time_when_it_opened_counts_not_the_first_failure() {
    let clock = clock();
    let breakers = breakers(&clock);
    admit(&breakers).unwrap().failure();
    clock.advance(secs(9));
    admit(&breakers).unwrap().failure();
    clock.advance(secs(9));
    assert!(admit(&breakers).is_err());
    clock.advance(secs(1));
    admit(&breakers).unwrap().failure();
    clock.advance(secs(9));
    assert!(admit(&breakers).is_err(), "a failed probe opens it for the whole time again");
}

#[test]
fn a_name_has_one_breaker_and_only_its_own() {
    let breakers = breakers(&clock());
    open(&breakers.clone());
    assert!(admit(&breakers).is_err());
    assert!(breakers.admit(&name("search2")).is_ok());
}

/// Breakers are not persistent: a new process starts with closed ones.
#[test]
fn new_breakers_are_closed() {
    let clock = clock();
    let before = breakers(&clock);
    open(&before);
    assert!(admit(&before).is_err());
    let after = breakers(&clock);
    assert_eq!(after.state(&SEARCH), BreakerState::Closed { failures: 0 });
    assert!(admit(&after).is_ok() && admit(&before).is_err());
}

#[test]
fn a_cancelled_call_is_a_failure_and_frees_the_probe() {
    let clock = clock();
    let breakers = breakers(&clock);
    drop(admit(&breakers).unwrap());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _admission = admit(&breakers).unwrap();
        panic!("a call panics; a test wants it");
    }));
    assert!(panicked.is_err());
    assert!(admit(&breakers).is_err());
    clock.advance(secs(10));
    drop(admit(&breakers).unwrap());
    clock.advance(secs(10));
    assert!(admit(&breakers).is_ok());
}

#[test]
fn a_late_result_changes_nothing() {
    let clock = clock();
    let breakers = breakers(&clock);
    let (late_success, late_failure) = (admit(&breakers).unwrap(), admit(&breakers).unwrap());
    open(&breakers);
    clock.advance(secs(10));
    let probe = admit(&breakers).unwrap();
    late_success.success();
    assert_eq!(breakers.state(&SEARCH), BreakerState::HalfOpen { probing: true });
    late_failure.failure();
    assert_eq!(breakers.state(&SEARCH), BreakerState::HalfOpen { probing: true });
    probe.success();
    assert_eq!(breakers.state(&SEARCH), BreakerState::Closed { failures: 0 });
}

#[test]
fn each_class_of_fault_counts_or_not() {
    let faults = crate::faults::one_of_each();
    assert_eq!(faults.len(), FaultClass::ALL.len());
    for fault in faults {
        let breakers = breakers(&clock());
        for _ in 0..2 {
            admit(&breakers).unwrap().resolve(Some(&fault));
        }
        // Only a tool that reports its own failure is healthy.
        assert_eq!(admit(&breakers).is_ok(), matches!(fault, Fault::Tool { .. }), "{fault}");
    }
    let breakers = breakers(&clock());
    admit(&breakers).unwrap().failure();
    admit(&breakers).unwrap().resolve(None);
    assert_eq!(breakers.state(&SEARCH), BreakerState::Closed { failures: 0 });
}

#[test]
fn their_number_is_bounded_and_only_idle_ones_are_forgotten() {
    let breakers = breakers(&clock());
    open(&breakers);
    let idle = name("idle");
    breakers.admit(&idle).unwrap().success();
    let busy: Vec<_> = (2..MAX_BREAKERS).map(|i| breakers.admit(&name(&format!("t{i}"))).unwrap()).collect();
    assert_eq!(breakers.states().len(), MAX_BREAKERS);
    let one_more = breakers.admit(&name("more")).unwrap();
    assert!(!breakers.states().contains_key(&idle));
    let blocked = breakers.admit(&idle).unwrap_err();
    assert_eq!(blocked.code, GateCode::R1);
    assert!(blocked.message.contains("1024"), "{blocked}");
    assert!(admit(&breakers).unwrap_err().message.contains("is open"), "an open breaker stays");
    one_more.success();
    assert!(breakers.admit(&idle).is_ok());
    drop(busy);
}
