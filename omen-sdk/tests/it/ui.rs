//! Illegal programs do not compile; the compile error of each is in the file beside it.
//!
//! The errors are those of the compiler in `tests/ui/TOOLCHAIN`. To renew them after a change of a message or of the
//! compiler, run `TRYBUILD=overwrite cargo test -p omen-sdk --test it ui::illegal`.

pub(crate) mod cases;

use cases::Cases;

fn cases() -> Cases {
    Cases::read("omen::")
}

#[test]
fn illegal_programs_do_not_compile() {
    cases::compile();
}

#[test]
fn cases_are_small_and_named_after_their_rule() {
    cases().are_small_and_named_after_their_rule(|rule| rule.parse::<omen::Code>().is_ok());
}

#[test]
fn cases_cover_every_rule_that_types_can_hold() {
    // INV-005 depends on what an episode has used, which is known only at run time. E5 is INV-009.
    cases().cover(
        "E1 E2 E3 E4 E6 E7 FSM SCHEMA INV-001 INV-002 INV-003 INV-004 INV-006 INV-007 INV-008 INV-009 INV-010 INV-011 \
         INV-012",
    );
}

#[test]
fn every_answer_is_one_error_that_begins_with_its_rule() {
    cases().are_answered_by_one_error_that_begins_with_the_rule();
}

#[test]
fn answers_have_short_types_and_no_paths_of_a_machine() {
    cases().are_answered_with_short_types_and_no_paths_of_a_machine();
}

#[test]
fn no_answer_is_without_its_case() {
    cases::no_answer_is_without_its_case();
}

#[test]
fn every_case_has_a_fixed_twin() {
    cases().have_fixed_twins();
}
