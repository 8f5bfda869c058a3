//! Illegal programs do not compile; the compile error of each is in the file beside it.
//!
//! The errors are those of the compiler in `tests/ui/TOOLCHAIN`. To renew them after a change of a message or of the
//! compiler, run `TRYBUILD=overwrite cargo test -p omen-compile-tests --test it ui::illegal`.

mod cases;

use cases::Cases;
use omen::Code;
use omen_gate::GateCode;

#[test]
fn illegal_programs_do_not_compile() {
    cases::compile();
}

#[test]
fn cases_are_small_and_named_after_their_rule() {
    let is_rule = |rule: &str| rule.parse::<Code>().is_ok() || GateCode::ALL.iter().any(|code| code.as_str() == rule);
    Cases::read().are_small_and_named_after_their_rule(is_rule);
}

#[test]
fn cases_cover_every_rule_that_types_can_hold() {
    // INV-005 depends on what an episode has used, which is known only at run time. E5 is INV-009.
    Cases::read().cover(
        "E1 E2 E3 E4 E6 E7 FSM SCHEMA INV-001 INV-002 INV-003 INV-004 INV-006 INV-007 INV-008 INV-009 INV-010 INV-011 \
         INV-012",
    );
    // A4 and R5 are about what is written and what is not done with it; T1 and V1 are about the tests themselves.
    Cases::read().cover("PG-0 PG-1 PG-2 PG-3 PG-4 PG-5 PG-6 PG-T G1 G2 G3 G4 A1 A2 A3 R1 R2 R3 R4 C1");
}

#[test]
fn every_error_is_one_and_begins_with_its_rule() {
    Cases::read().are_answered_by_one_error_that_begins_with_the_rule();
}

#[test]
fn errors_have_short_types_and_no_paths_of_a_machine() {
    Cases::read().are_answered_with_short_types_and_no_paths_of_a_machine();
}

#[test]
fn no_error_is_without_its_case() {
    cases::no_answer_is_without_its_case();
}

#[test]
fn every_case_has_a_fixed_twin() {
    Cases::read().have_fixed_twins();
}
