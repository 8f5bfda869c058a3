//! Registry of the table and the sequence rules: one module for each rule, named after its code, with its check and
//! its tests. LAYER is included, because it depends on a table of `episode.fsm.json`.
//!
//! The list `cells` of `episode.fsm.json` determines which rule refuses which event, and in which order (D51). A
//! refusal may depend on a fact; the functions here map each fact to the module that evaluates it, and to the finding
//! if the fact does not hold.

use omen_invariants::Ledger;
use omen_types::{Code, Diagnostic, Instant};

use crate::table::{Fact, RefusalInfo};
use transition::Transition;

pub use without_episode::check_alone;

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
mod without_episode;

/// Returns the refusal of a packet that was published to the subject `found` although its episode belongs to the
/// subject `expected`.
#[must_use]
pub fn misplaced(found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error(Code::Schema, format!("`correlation_id` does not match the subject `{found}`"))
        .at("/header/correlation_id")
        .help(crate::help::schema::subject(expected))
}

/// Returns the finding if a fact does not hold for a packet.
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

/// Returns whether a fact can hold for the next packet, given the right content.
fn can_hold(fact: Fact, ledger: &Ledger, now: Instant) -> bool {
    match fact {
        Fact::Believed => e1_model_first::has_belief(ledger),
        Fact::Acting => e2_decision_first::acts(ledger),
        Fact::Open | Fact::Answers => e6_directives_closed::has_open(ledger),
        Fact::Planned => e3_loop_completed::has_plan(ledger),
        Fact::Complete => e3_loop_completed::may_close(ledger),
        Fact::LiveToken => e4_live_token::has_live_token(ledger, now),
        // Any sender is possible.
        Fact::Authority => true,
    }
}

/// Returns the finding on a packet for which the table has no row.
fn without_row(refusal: &RefusalInfo, transition: &Transition<'_>) -> Diagnostic {
    match refusal.code {
        Code::E3 => e3_loop_completed::inside(transition),
        Code::E7 => e7_safe_mode::locked_down(transition),
        _ => fsm_legal_transition::check(refusal, transition),
    }
}

/// Returns the finding on anything that a packet would leave unsettled.
fn leaves_behind(fact: Fact, transition: &Transition<'_>) -> Option<Diagnostic> {
    match fact {
        Fact::Open => e6_directives_closed::left_behind(transition),
        _ => None,
    }
}
