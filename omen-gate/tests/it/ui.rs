//! Illegal programs do not compile, and what rustc says of each stands beside it.
//!
//! The answers hold for one compiler, which is named in `tests/ui/TOOLCHAIN`. To write them anew, after a
//! change of a message or of the compiler, run `TRYBUILD=overwrite cargo test -p omen-gate --test it ui::illegal`.

#[path = "../../../omen-sdk/tests/it/ui/cases.rs"]
mod cases;

use cases::Cases;
use omen_gate::GateCode;

fn cases() -> Cases {
    Cases::read("omen_gate::")
}

#[test]
fn illegal_programs_do_not_compile() {
    cases::compile();
}

#[test]
fn cases_are_small_and_named_after_their_code() {
    cases().are_small_and_named_after_their_rule(|code| GateCode::ALL.iter().any(|known| known.as_str() == code));
}

#[test]
fn cases_cover_every_code_that_types_can_hold() {
    // A4 and R5 are about what is written and what is not done with it; T1 and V1 are about the tests themselves.
    cases().cover("PG-0 PG-1 PG-2 PG-3 PG-4 PG-5 PG-6 PG-T G1 G2 G3 G4 A1 A2 A3 R1 R2 R3 R4 C1");
}

#[test]
fn every_answer_is_one_error_that_begins_with_its_code() {
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
