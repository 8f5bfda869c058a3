//! R2: failure budget of a turn.

use omen_gate::{Abort, BudgetLimits, FailureBudget, Fault, FaultClass, GateCode};

/// Runs calls that succeed (`s`), fail (`f`), are dropped (`d`) or are not made (`u`), and checks how many the budget
/// allowed and why it refused more.
#[track_caller]
fn check(limits: BudgetLimits, calls: &str, through: usize, abort: Option<Abort>) {
    let mut budget = FailureBudget::new(limits);
    for (index, call) in calls.chars().enumerate() {
        let made = budget.attempt().map(|attempt| match call {
            's' => attempt.success(),
            'f' => attempt.failure(&Fault::Panicked),
            'd' => drop(attempt),
            'u' => attempt.unused(),
            other => panic!("{other}"),
        });
        if let Err(got) = made {
            assert_eq!((index, Some(got.clone())), (through, abort));
            assert_eq!(got.code(), GateCode::R2);
            assert_eq!(budget.attempt().unwrap_err(), got, "it stays spent");
            return;
        }
    }
    assert_eq!((calls.len(), None), (through, abort));
}

fn in_all(failures: u32) -> Option<Abort> {
    Some(Abort::TooManyFailures { failures, last: FaultClass::Panicked })
}

fn in_a_row(failures: u32) -> Option<Abort> {
    Some(Abort::TooManyInARow { failures, last: FaultClass::Panicked })
}

#[test]
fn three_failures_and_two_in_a_row() {
    let limits = BudgetLimits::default();
    assert_eq!((limits.failures(), limits.in_a_row()), (3, 2));
    check(limits, "ssssssss", 8, None);
    check(limits, "ffs", 2, in_a_row(2));
    check(limits, "sffs", 3, in_a_row(2));
    check(limits, "fsfsfs", 5, in_all(3));
    check(limits, "fsffs", 4, in_all(3));
    check(limits, "fsf", 3, None);
    check(limits, "ff", 2, None); // The turn may still end; no more may be called.
    check(limits, "fuuufu", 5, in_a_row(2)); // What is not called fixes nothing, either.
}

#[test]
fn a_dropped_call_is_a_failure() {
    let last = FaultClass::Cancelled;
    check(BudgetLimits::default(), "dds", 2, Some(Abort::TooManyInARow { failures: 2, last }));
}

#[test]
fn limits_can_be_stricter_but_not_looser() {
    check(BudgetLimits::new(1, 1), "fs", 1, in_all(1));
    check(BudgetLimits::new(3, 1), "sfs", 2, in_a_row(1));
    assert_eq!(BudgetLimits::new(0, 0), BudgetLimits::new(1, 1));
    assert_eq!(BudgetLimits::new(100, 100), BudgetLimits::default());
}

#[test]
fn every_class_counts() {
    for fault in crate::faults::one_of_each() {
        let mut budget = FailureBudget::new(BudgetLimits::default());
        for _ in 0..2 {
            budget.attempt().unwrap().failure(&fault);
        }
        let abort = budget.attempt().unwrap_err();
        assert_eq!(abort, Abort::TooManyInARow { failures: 2, last: fault.class() });
    }
}

#[test]
fn all_turns_of_eight_calls_keep_to_the_budget() {
    // All sequences of successes and failures: the budget refuses calls after 3 failures, or after 2 in a row, and
    // allows all others.
    for bits in 0..1_u32 << 8 {
        let calls: Vec<bool> = (0..8).map(|bit| bits >> bit & 1 == 1).collect();
        let mut budget = FailureBudget::new(BudgetLimits::default());
        for index in 0..8 {
            let before = &calls[..index];
            let spent = before.iter().filter(|ok| !**ok).count() >= 3 || before.ends_with(&[false, false]);
            match budget.attempt() {
                Ok(attempt) if !spent && calls[index] => attempt.success(),
                Ok(attempt) if !spent => attempt.failure(&Fault::Cancelled),
                Err(_) if spent => break,
                other => panic!("{calls:?} at {index}: {other:?}"),
            }
        }
    }
}
