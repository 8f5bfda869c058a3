//! The proxy as the Integrity overlay of an episode driven by a model: what halts the episode, and how an operator ends
//! safe mode (D77).

use omen_fsm::{Node, NodeSet};
use omen_gate::config::OnVeto;
use omen_invariants::ledger::BUDGET_OVERRIDE;
use omen_types::packet::{AlertSeverity, AlertType, DecisionOutcome, PacketType};
use omen_types::{Code, Diagnostic};
use serde_json::{Map, Value, json};

use super::drafts;
use super::episode_state::EpisodeState;
use super::human_answers::HumanAnswer;
use super::reply::{CompletedAction, Standing};
use super::step_refusal::{SAFE_MODE, StepRefusal};

/// Halts an episode that exceeds its budgets without approval. This is checked before the model's next action and when a call
/// has ended, since time passes without packets.
///
/// # Errors
/// INV-005 if the episode was halted now, or if that cannot be recorded.
pub(super) fn within_budget(state: &mut EpisodeState, on_veto: OnVeto) -> Result<(), StepRefusal> {
    let overruns = state.overruns();
    if on_veto == OnVeto::Refuse || overruns.is_empty() || is_halted(state) {
        return Ok(());
    }
    let figures = overruns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let why = format!("the episode is over its budget ({figures}) without approval");
    state.alert(AlertType::BudgetOverrun, AlertSeverity::Critical, &why)?;
    Err(StepRefusal::new(Code::Inv005, format!("{why}, and is halted"), SAFE_MODE))
}

/// Halts an episode whose model proposes to act although it states that this violates the constitution. The decision itself was
/// refused.
pub(super) fn vetoed(
    state: &mut EpisodeState,
    on_veto: OnVeto,
    packet: PacketType,
    args: &Map<String, Value>,
    refused: StepRefusal,
) -> StepRefusal {
    let acts = args.get("decision_outcome").and_then(Value::as_str) == Some(DecisionOutcome::Act.as_str());
    let check = args.get("constraints_satisfied").and_then(|checks| checks.get("constitutional_check"));
    let violates = packet == PacketType::DecisionPacket && acts && check == Some(&Value::Bool(false));
    if on_veto == OnVeto::Refuse || !violates || is_halted(state) || state.recorder.packets() == 0 {
        return refused;
    }
    let why =
        "a decision to act states that it violates the constitution (`constitutional_check` is false); it was refused";
    match state.alert(AlertType::ConstitutionalViolation, AlertSeverity::Critical, why) {
        Ok(()) => {
            let halted = Diagnostic::error(
                Code::E7,
                "the episode is halted: a decision to act was refused for violating the constitution",
            );
            refused.and(halted.help(SAFE_MODE))
        }
        Err(unrecorded) => unrecorded,
    }
}

/// Returns whether the episode is in safe mode.
pub(super) fn is_halted(state: &EpisodeState) -> bool {
    state.recorder.nodes() == NodeSet::of(Node::SafeMode)
}

/// Returns the question whether to end safe mode: why the episode is in it, what a yes allows, and what the model says.
pub(super) fn question(state: &EpisodeState, args: &Map<String, Value>) -> Map<String, Value> {
    let overruns: Vec<_> = state.overruns().iter().map(ToString::to_string).collect();
    let mut question = Map::new();
    question.insert("end_safe_mode".to_owned(), true.into());
    question.insert("halted_because".to_owned(), json!(state.halted_because()));
    if !overruns.is_empty() {
        question.insert("go_on_beyond_the_budget".to_owned(), json!(overruns));
    }
    question.insert("the_model_says".to_owned(), json!(args));
    question
}

/// Ends safe mode, or leaves the episode in it, as answered by an operator, who speaks for layer 1 here (D13).
///
/// # Errors
/// If that cannot be recorded.
pub(super) fn answered(state: &mut EpisodeState, heard: Option<&HumanAnswer>) -> Result<CompletedAction, StepRefusal> {
    let done = |state: &EpisodeState, text: String, answer: Value| CompletedAction {
        text,
        members: json!({ "answer": answer }),
        standing: Standing::new(state),
    };
    let Some(heard) = heard else {
        let text =
            "The episode stays in safe mode: the operator has not answered. Call `omen_escalate` again to ask again.";
        return Ok(done(state, text.to_owned(), Value::Null));
    };
    if !heard.yes {
        let why = heard.why.as_deref().map(|why| format!(" ({})", drafts::short(why))).unwrap_or_default();
        return Ok(done(
            state,
            format!("The operator answered `no`{why}: the episode stays in safe mode."),
            json!("no"),
        ));
    }
    // The time until the answer counts too.
    let overruns = state.overruns();
    let mut rationale = format!("an operator ended safe mode, via {}", heard.via());
    if !overruns.is_empty() {
        let figures = overruns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        rationale.push_str(&format!("; {}: {figures}", BUDGET_OVERRIDE));
    }
    state.recorder.clear("an operator ends safe mode", &rationale)?;
    Ok(done(state, "The operator answered `yes`: safe mode has ended.".to_owned(), json!("yes")))
}
