//! The registry of the table and the sequence rules: a module for each rule, named after its code, with its check and its
//! tests. LAYER is among them, since it depends on a table of `episode.fsm.json`.
//!
//! Which rule refuses what, and in which order, is the list `cells` of `episode.fsm.json` (D51). A refusal may depend on a
//! fact; here stands which module knows whether the fact holds, and what a finding says if it does not.

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic, Instant};

use crate::table::{Fact, RefusalInfo};
use transition::Transition;

pub use alone::check_alone;

mod alone;
pub(crate) mod approval;
mod e1_model_first;
mod e2_decision_first;
mod e3_loop_completed;
mod e4_live_token;
mod e5_escalation_options;
mod e6_directives_closed;
mod e7_safe_mode;
pub(crate) mod end_of_stream;
#[cfg(test)]
mod fixture;
mod fsm_legal_transition;
pub(crate) mod id_used_once;
pub(crate) mod layer_of_sender;
mod merging;
pub(crate) mod refusals;
mod route;
pub(crate) mod transition;

/// The refusal of a packet that was published to the subject `found`, and belongs to the subject `expected`, which is that of its
/// episode.
#[must_use]
pub fn misplaced(found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error(Code::Schema, format!("`correlation_id` does not match the subject `{found}`"))
        .at("/header/correlation_id")
        .help(crate::help::schema::subject(expected))
}

/// What is missing if a fact does not hold for a packet.
fn lacks(fact: Fact, transition: &Transition<'_>) -> Option<Diagnostic> {
    match fact {
        Fact::Believed => e1_model_first::check(transition),
        Fact::Acting => e2_decision_first::check(transition),
        Fact::Open => e6_directives_closed::nothing_open(transition),
        Fact::Planned => e3_loop_completed::planned(transition),
        Fact::Complete => e3_loop_completed::complete(transition),
        Fact::LiveToken => e4_live_token::check(transition),
        Fact::Answers => e6_directives_closed::answers(transition),
        Fact::Authority => e7_safe_mode::authority(transition),
    }
}

/// Whether a fact can hold for the next packet, if that says what it should.
fn can_hold(fact: Fact, ledger: &Ledger, now: Instant) -> bool {
    match fact {
        Fact::Believed => e1_model_first::has_belief(ledger),
        Fact::Acting => e2_decision_first::acts(ledger),
        Fact::Open | Fact::Answers => e6_directives_closed::has_open(ledger),
        Fact::Planned => e3_loop_completed::has_plan(ledger),
        Fact::Complete => e3_loop_completed::may_close(ledger),
        Fact::LiveToken => e4_live_token::has_live_token(ledger, now),
        // Anybody may send the packet.
        Fact::Authority => true,
    }
}

/// The finding on a packet for which the table has no row.
fn without_row(refusal: &RefusalInfo, transition: &Transition<'_>) -> Diagnostic {
    match refusal.code {
        Code::E3 => e3_loop_completed::inside(transition),
        Code::E7 => e7_safe_mode::locked_down(transition),
        _ => fsm_legal_transition::check(refusal, transition),
    }
}

/// What a packet leaves behind that has to be settled before.
fn leaves_behind(fact: Fact, transition: &Transition<'_>) -> Option<Diagnostic> {
    match fact {
        Fact::Open => e6_directives_closed::left_behind(transition),
        _ => None,
    }
}
