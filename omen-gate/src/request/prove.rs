//! Proofs about two configurations: does the new one allow a call that the old one refuses?
//!
//! The search is in `omen-order`. This module turns the two configurations into its rule sets, and runs each sequence
//! of calls that it finds through two gates in this process.

mod counterexample;
mod sides;
mod spec;
mod values;

use std::time::{Duration, SystemTime};

use omen_order::Tool;
use omen_order::prove::{Difference, IntentLimit, WhyRefused, compare};

use crate::config::Config;
use counterexample::Counterexample;

pub use omen_order::prove::{ProvenStep, StepEnd, UndecidedTool};
pub use omen_order::rules::shown;
pub use spec::never;

/// Result of a proof.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Proof {
    /// Calls that only the new configuration allows, and debts that only the old one reports: at most one of each per tool.
    pub differences: Vec<ProvenDifference>,
    /// Tools for which the search did not decide the question.
    pub outside: Vec<UndecidedTool>,
    /// Number of tools searched; all others are equal on both sides.
    pub searched: usize,
    /// Number of states that the search visited.
    pub states: usize,
    /// Settings that differ but are not compared.
    pub notes: Vec<String>,
}

/// Shortest sequence of calls whose last call is allowed only by the new configuration, or after which only the old one
/// reports the session's debts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProvenDifference {
    /// Tool that the call or debt belongs to.
    pub tool: Tool,
    /// Time of the first call (RFC 3339), if the time of day matters: some grants expire.
    pub start: Option<String>,
    /// Calls in their order.
    pub steps: Vec<ProvenStep>,
    /// Number of the session that ends after the calls, if its debts are the difference.
    pub ended_session: Option<usize>,
    /// Reason why the old configuration refuses the last call or reports the debt.
    pub why: String,
    /// Path of the order rule in the old configuration that refuses or reports it; empty if something else refuses the call.
    pub path: String,
    /// Whether a human has to confirm each call under the new configuration. A refused call is not confirmed.
    pub confirmed: Vec<bool>,
    /// Decision by a gate that contradicts the search, which indicates a bug.
    pub disagreement: Option<String>,
}

/// Maximum number of states visited for one tool.
const MAX_STATES: usize = 200_000;

/// Maximum number of states visited in the search for rules that refuse nothing.
const MAX_VACUOUS_STATES: usize = 100_000;

/// Returns the paths of order rules that refuse nothing which the rest of the configuration allows, as far as a bounded search
/// finds them, assuming that each call ends before the next one begins and takes no time.
#[must_use]
pub fn vacuous(config: &Config) -> Vec<String> {
    omen_order::prove::vacuous(&sides::side(config, false), &values::ArgumentValues, MAX_VACUOUS_STATES)
}

/// Compares two configurations, and runs the differences that it finds through gates with a fixed clock. No server is
/// started, and nothing is written.
pub async fn prove(old: &Config, new: &Config) -> Proof {
    let [before, after] = sides::sides(old, new);
    let found = compare(&before, &after, &values::ArgumentValues, MAX_STATES);
    let mut proof = Proof {
        outside: found.outside,
        searched: found.searched,
        states: found.states,
        notes: sides::notes(old, new),
        ..Proof::default()
    };
    if proof.searched > 0 && [old, new].into_iter().any(sides::asks_files) {
        proof.notes.push("paths are compared as texts: links are not followed".to_owned());
    }
    for difference in found.differences {
        let Difference { steps, start, ended_session, .. } = &difference;
        let counterexample = Counterexample { steps, start: *start, ended_session: *ended_session };
        let (confirmed, disagreement) = counterexample.run(old, new).await;
        if let (Some(why), true) = (&disagreement, difference.has_left_out) {
            proof.outside.push(UndecidedTool {
                tool: difference.tool,
                path: String::new(),
                why: format!("a rule that is too large to search changes the verdict on the sequence: {why}"),
            });
            continue;
        }
        let (path, why) = reason(&difference);
        let Difference { tool, start, steps, ended_session, .. } = difference;
        let start = start.and_then(|start| u64::try_from(start).ok());
        let start = start.map(|start| SystemTime::UNIX_EPOCH + Duration::from_millis(start));
        let start = start.map(|start| humantime::format_rfc3339_millis(start).to_string());
        proof.differences.push(ProvenDifference {
            tool,
            start,
            steps,
            ended_session,
            why,
            path,
            confirmed,
            disagreement,
        });
    }
    proof
}

fn reason(difference: &Difference) -> (String, String) {
    let text = match &difference.why {
        WhyRefused::NotAllowed => "the tool is not allowed".to_owned(),
        WhyRefused::OtherPin => "another form of the tool is approved (`pin`)".to_owned(),
        WhyRefused::Closed(why) => why.clone(),
        WhyRefused::Arguments => "the arguments break a rule of `where`".to_owned(),
        WhyRefused::Expired => "its grants have expired".to_owned(),
        WhyRefused::Limit(IntentLimit::Rate) => "the rate limit `max` is reached".to_owned(),
        WhyRefused::Limit(IntentLimit::Uses) => "the grants have no `uses` left".to_owned(),
        WhyRefused::Incomparable => {
            "a member that a rule compares with later calls has a type that cannot be compared".to_owned()
        }
        WhyRefused::Rule(path) => {
            let verb = if difference.ended_session.is_some() { "reports" } else { "refuses" };
            return (path.clone(), format!("`{path}` {verb} it"));
        }
    };
    (String::new(), text)
}
