//! Decisions with a generated payload, which is compared with their ruling.

use omen_types::{Code, DecisionPayload, Diagnostic, LoadBearingAssumption};

use super::super::errors::Refusal;

/// Returns the payload to send: the generated payload, completed from `own`, the payload of its ruling.
///
/// # Errors
/// A payload that contradicts its ruling.
pub(super) fn decision(
    mut payload: DecisionPayload,
    own: DecisionPayload,
    suffix: &str,
) -> Result<DecisionPayload, Refusal> {
    if payload.decision_outcome != own.decision_outcome {
        let problem =
            format!("this move decides `{}`, but the payload has `{}`", own.decision_outcome, payload.decision_outcome);
        return unlike(Code::Inv006, problem, "/payload/decision_outcome", "call the move of the payload's outcome");
    }
    let chosen = |payload: &DecisionPayload| payload.chosen_option.as_ref().and_then(|option| option.option_id.clone());
    if chosen(&payload) != chosen(&own) {
        let named = |option: Option<String>| option.map_or("no option".to_owned(), |id| format!("option `{id}`"));
        let (said, ruled) = (named(chosen(&payload)), named(chosen(&own)));
        let problem = format!("the arbitration has chosen {ruled}, but the payload names {said}");
        return unlike(Code::Inv006, problem, "/payload/chosen_option", "name the chosen option of the ruling");
    }
    payload.chosen_option = own.chosen_option;
    let said: Vec<_> = payload.load_bearing_assumptions.iter().flatten().map(said_of).collect();
    let proved: Vec<_> = own.load_bearing_assumptions.iter().flatten().map(said_of).collect();
    if !said.is_empty() && said != proved {
        let problem = "the load-bearing assumptions of the payload differ from those of the order".to_owned();
        let help = "add each to the order with `.relies_on(verified)` or `.assumes(text)`, or omit them";
        return unlike(Code::Inv003, problem, "/payload/load_bearing_assumptions", help);
    }
    // The assumptions of the order cite the evidence of their loop.
    for (said, proved) in
        payload.load_bearing_assumptions.iter_mut().flatten().zip(own.load_bearing_assumptions.iter().flatten())
    {
        said.verification_packet_id.clone_from(&proved.verification_packet_id);
    }
    if said.is_empty() {
        payload.load_bearing_assumptions = own.load_bearing_assumptions;
    }
    let rejected = payload.rejected_alternatives.get_or_insert_with(Vec::new);
    for alternative in own.rejected_alternatives.into_iter().flatten() {
        if !rejected.iter().any(|said| said.option_id == alternative.option_id) {
            rejected.push(alternative);
        }
    }
    if rejected.is_empty() {
        payload.rejected_alternatives = None;
    }
    if let Some(modes) = own.failure_modes {
        payload.failure_modes.get_or_insert_with(Vec::new).extend(modes);
    }
    if !payload.decision_summary.as_str().ends_with(suffix) {
        payload.decision_summary = payload.decision_summary.suffixed(suffix);
    }
    Ok(payload)
}

/// Returns the text of an assumption, and whether it is stated as verified.
fn said_of(assumption: &LoadBearingAssumption) -> (String, bool) {
    (assumption.assumption.to_string(), assumption.verified)
}

fn unlike<T>(code: Code, problem: String, pointer: &str, help: &str) -> Result<T, Refusal> {
    Err(Refusal::rule(Diagnostic::error(code, problem).at(pointer).help(help)))
}
