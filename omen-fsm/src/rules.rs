//! The table and the sequence rules E1–E7, one module a rule.
//!
//! E5 (an escalation presents options) has none: the schema requires all that it asks, so the schema
//! stage has refused what breaks it before the machine sees it, and carries its code (D37).
//!
//! Which rule refuses what, and in which order, is the list `cells` of `episode.fsm.json`: a packet that is illegal
//! here gets one finding, whose `code` is that of the first refusal that applies; the codes of the others stand in
//! `also` (D37, D51). The modules say whether the facts hold on which refusals depend, and why not.

use omen_invariants::rules::inv_005_budget_overrun;
use omen_invariants::{Context, Ledger};
use omen_types::{Code, Diagnostic, Instant};

use crate::table::{Event, Fact, Node, NodeSet, REFUSALS, Refusal};

mod e1_model_first;
mod e2_decision_first;
mod e3_loop_completed;
mod e4_live_token;
mod e6_directives_closed;
mod e7_safe_mode;
pub(crate) mod layer;

pub(crate) use e3_loop_completed::unmet as unmet_of_loop;

/// What a rule looks at: a packet, and where it would lead.
pub(crate) struct Step<'s> {
    pub(crate) context: Context<'s>,
    pub(crate) event: Event,
    pub(crate) nodes: NodeSet,
    /// Empty if the table has no row.
    pub(crate) next: NodeSet,
}

impl Step<'_> {
    fn is_illegal(&self) -> bool {
        self.next.is_empty()
    }
}

/// What the table and the rules have against a packet.
pub(crate) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    let applies = |refusal: &&Refusal| {
        !refusal.typed && refusal.is_about(step.nodes, step.event) && (step.is_illegal() || !refusal.without_row)
    };
    REFUSALS.iter().filter(applies).filter_map(|refusal| finding(refusal, step)).reduce(merge).map(share)
}

/// What a refusal has against a packet, if the fact on which it depends is so.
fn finding(refusal: &Refusal, step: &Step<'_>) -> Option<Diagnostic> {
    let mut finding = match refusal.fact {
        None => without_row(refusal, step),
        Some((fact, false)) => lacks(fact, step)?,
        Some((Fact::Open, true)) => e6_directives_closed::left_behind(step)?,
        Some((fact, true)) if lacks(fact, step).is_none() => plain(refusal, step),
        Some((_, true)) => return None,
    };
    finding.code = refusal.code;
    Some(finding)
}

/// What is missing if a fact does not hold.
fn lacks(fact: Fact, step: &Step<'_>) -> Option<Diagnostic> {
    match fact {
        Fact::Believed => e1_model_first::check(step),
        Fact::Acting => e2_decision_first::check(step),
        Fact::Open => e6_directives_closed::nothing_open(step),
        Fact::Planned => e3_loop_completed::planned(step),
        Fact::Complete => e3_loop_completed::complete(step),
        Fact::LiveToken => e4_live_token::check(step),
        Fact::Answers => e6_directives_closed::answers(step),
        Fact::Authority => e7_safe_mode::authority(step),
    }
}

/// What is said of a packet for which the table has no row.
fn without_row(refusal: &Refusal, step: &Step<'_>) -> Diagnostic {
    match refusal.code {
        Code::E3 => e3_loop_completed::inside(step),
        Code::E7 => e7_safe_mode::locked_down(step),
        Code::Fsm => table(step),
        _ => plain(refusal, step),
    }
}

/// The refusal's own words, where no rule has better ones.
fn plain(refusal: &Refusal, step: &Step<'_>) -> Diagnostic {
    Diagnostic::error(refusal.code, format!("{} is not legal in {}", step.event.description(), step.nodes))
        .at("/header/packet_type")
        .note(refusal.description)
        .help(refusal.code.info().help)
}

/// What the rules have against the stream's ending here, unless it is in safe mode (D4).
pub(crate) fn at_end(nodes: NodeSet, ledger: &Ledger, fixed: Option<Instant>) -> Vec<(Option<&str>, Diagnostic)> {
    if nodes == NodeSet::of(Node::SafeMode) {
        return Vec::new();
    }
    let mut all = Vec::new();
    all.extend(e3_loop_completed::at_end(nodes, ledger).map(|finding| (None, share(finding))));
    all.extend(e6_directives_closed::at_end(ledger));
    // An episode without a packet has no clock, and nothing to be over.
    let now = fixed.or_else(|| ledger.clock());
    all.extend(now.and_then(|now| inv_005_budget_overrun::at_end(ledger, now)).map(|finding| (None, finding)));
    all
}

/// One finding for two rules that a packet breaks.
fn merge(mut first: Diagnostic, other: Diagnostic) -> Diagnostic {
    first.notes.push(format!("{}: {}", other.code, other.message));
    first.notes.extend(other.notes);
    for code in std::iter::once(other.code).chain(other.also) {
        if code != first.code && !first.also.contains(&code) {
            first.also.push(code);
        }
    }
    first
}

/// Adds the codes of invariants that say the same as the E rules that are broken.
fn share(mut finding: Diagnostic) -> Diagnostic {
    let codes: Vec<Code> = std::iter::once(finding.code).chain(finding.also.iter().copied()).collect();
    for shared in codes.into_iter().filter_map(|code| code.info().shared_with) {
        if !finding.also.contains(&shared) {
            finding.also.push(shared);
        }
    }
    finding
}

fn table(step: &Step<'_>) -> Diagnostic {
    Diagnostic::error(Code::Fsm, format!("{} is not legal in {}", step.event.description(), step.nodes))
        .at("/header/packet_type")
        .label("no row of the table is for this")
        .help(ways_out(step.nodes))
}

/// What is legal instead, in words.
fn ways_out(nodes: NodeSet) -> String {
    // Alerts are legal everywhere and would only lengthen the list.
    let legal: Vec<_> =
        nodes.legal().filter(|event| !matches!(event, Event::Alert | Event::Halt)).map(Event::description).collect();
    format!("from {nodes} these are legal: {}", legal.join("; "))
}
