//! Tools with which a model drives its episode.

use omen_gate::confirm::Reply;
use omen_types::packet::{
    AlertSeverity, AlertType, EpistemicStatus, EscalationTrigger, ObservationType, PacketId, PacketType, RefType,
};
use omen_types::{Code, Diagnostic};
use serde_json::{Map, Value, json};

use super::catalog::OwnTool;
use super::decided_tools::DecidedTools;
use super::drafts;
use super::episode_state::EpisodeState;
use super::human_answers::HumanAnswer;
use super::recorder::SentPacket;
use super::reply::{self, CompletedAction, Standing};
use super::schema::{self, TOOLS};
use super::step_refusal::{StepRefusal, in_tools};

/// Arguments of a model's call of one of the episode's tools.
struct ToolArguments {
    payload: Map<String, Value>,
    mcp: Option<Value>,
    evidence: Option<Vec<String>>,
    tools: Option<Value>,
}

/// Sends the packet that a tool stands for. `id_of` returns the id of a server's tool that the operator allows.
pub(super) fn send(
    state: &mut EpisodeState,
    tool: OwnTool,
    packet: PacketType,
    args: Map<String, Value>,
    id_of: impl Fn(&str) -> Option<String>,
) -> Result<CompletedAction, StepRefusal> {
    let ToolArguments { mut payload, mcp, evidence, tools } = given(packet, args)?;
    let stated = state.stating(mcp.as_ref())?;
    let cited = match evidence {
        Some(named) => state.citing(&named)?,
        None => state.cited.to_vec(),
    };
    match packet {
        PacketType::ObservationPacket => seen_by_nobody(&payload, stated.status())?,
        PacketType::BeliefUpdatePacket => integrates(state, &payload)?,
        PacketType::VerificationPlanPacket => decided(state, &mut payload, "decision_packet_id"),
        PacketType::EscalationPacket => decided(state, &mut payload, "blocking_decision_packet_id"),
        _ => {}
    }
    let chosen = (packet == PacketType::DecisionPacket).then(|| DecidedTools::read(&payload, tools, id_of)).transpose();
    if chosen.is_err() {
        // Findings of the rules about the packet come first.
        state.judge(packet, &payload, &stated, &cited)?;
    }
    let chosen = chosen?;
    let SentPacket { packet_id, warnings, .. } = state.send(packet, &Value::Object(payload), stated, cited)?;
    if chosen.is_some() {
        state.chosen = chosen;
    }
    let mut text = format!("Accepted: `{}` is packet `{packet_id}`.", tool.name());
    let warnings: Vec<_> = warnings.iter().map(|warning| (warning, in_tools(warning))).collect();
    for (warning, said) in &warnings {
        text.push_str(&format!("\n- warning ({}): {}", warning.code, said.message));
        if let Some(help) = &said.help {
            text.push_str(&format!("; what to do: {help}"));
        }
    }
    let warnings: Vec<_> = warnings.iter().map(|(warning, said)| reply::json(warning, said)).collect();
    let members = json!({ "packet_id": packet_id, "warnings": warnings });
    Ok(CompletedAction { text, members, standing: Standing::new(state) })
}

pub(super) fn state(state: &EpisodeState) -> CompletedAction {
    let open: Vec<String> =
        state.recorder.ledger(|ledger| ledger.open().in_order().iter().map(|one| one.packet_id.to_string()).collect());
    let evidence: Vec<_> = state
        .seen()
        .map(|seen| json!({ "packet_id": seen.packet_id, "from": seen.from, "is": seen.ref_type }))
        .collect();
    let budgets = json!({
        "tool_calls": { "used": state.calls_used, "allowed": state.budgets.tool_calls },
        "seconds": { "allowed": state.budgets.seconds },
    });
    let mut text = format!("{} packets are recorded.", state.recorder.packets());
    if let Some(most) = state.budgets.tool_calls {
        text.push_str(&format!(" {} of {most} tool calls are used.", state.calls_used));
    }
    for one in &open {
        text.push_str(&format!("\nOpen: the directive `{one}`."));
    }
    for seen in state.seen() {
        text.push_str(&format!("\nEvidence: `{}`, from {}.", seen.packet_id, seen.from));
    }
    let members =
        json!({ "open": open, "evidence": evidence, "budgets": budgets, "packets": state.recorder.packets() });
    CompletedAction { text, members, standing: Standing::new(state) }
}

/// Splits the arguments. Members that the proxy supplies are refused, whatever their values.
fn given(packet: PacketType, mut args: Map<String, Value>) -> Result<ToolArguments, StepRefusal> {
    let (mcp, evidence) = (args.remove("mcp"), args.remove("evidence"));
    let tools = if packet == PacketType::DecisionPacket { args.remove(TOOLS) } else { None };
    let evidence = match evidence {
        None => None,
        Some(value) => Some(serde_json::from_value::<Vec<String>>(value).map_err(|_| {
            let finding = Diagnostic::error(Code::Schema, "expected an array of packet ids for `evidence`");
            StepRefusal::finding(
                finding.at("/evidence").help("write it as `[\"pkt_7\"]`; `omen_state` lists what can be cited"),
            )
        })?),
    };
    let (own, tokens, headers) = (schema::payload_members(packet), schema::of_tokens(), schema::of_headers());
    for name in args.keys().filter(|name| !own.contains(name)) {
        let (code, problem, help) = if tokens.contains(name) {
            let help = "omit it, and call the tool that writes: its token is issued by the operator's grants";
            (Code::E4, "a model cannot issue or name a token", help)
        } else if schema::is_supplied(packet, name) || headers.contains(name) {
            (Code::Schema, "this is supplied by the proxy", "leave it out")
        } else {
            continue;
        };
        let finding = Diagnostic::error(code, format!("{problem}: `{name}`")).at(format!("/{name}"));
        return Err(StepRefusal::finding(finding.help(help)));
    }
    Ok(ToolArguments { payload: args, mcp, evidence, tools })
}

/// Checks that only the model made an observation. Output of a tool or a human must have passed through the proxy.
fn seen_by_nobody(payload: &Map<String, Value>, status: Option<&Value>) -> Result<(), StepRefusal> {
    let said = |value: Option<&Value>, own: &str| value.and_then(Value::as_str) == Some(own);
    let observed = payload.get(schema::OBSERVATION_TYPE);
    let (problem, pointer, help) = if said(observed, ObservationType::ToolOutput.as_str()) {
        let help = "call the tool: its output is recorded as an observation, with its packet id";
        ("the output of a tool is what has passed the proxy, not what a model reports", "/observation_type", help)
    } else if said(observed, ObservationType::UserInput.as_str()) {
        let help =
            "wait for the user: the proxy records the answer to `omen_escalate`; or use another `observation_type`";
        let finding = Diagnostic::error(Code::Fsm, "a model cannot speak for the user").at("/observation_type");
        return Err(StepRefusal::finding(finding.help(help)));
    } else if said(status, EpistemicStatus::Observed.as_str()) {
        let help = "state how you know it, for example `REMEMBERED` or `INFERRED`; or call a tool that shows it";
        ("only what has passed the proxy is `OBSERVED`", "/mcp/epistemics/status", help)
    } else {
        return Ok(());
    };
    Err(StepRefusal::finding(Diagnostic::error(Code::Inv004, problem).at(pointer).help(help)))
}

/// Checks that a belief rests on existing packets. In a verification loop, the machine requires more.
fn integrates(state: &EpisodeState, payload: &Map<String, Value>) -> Result<(), StepRefusal> {
    let named = payload.get("evidence_integration").and_then(Value::as_array).into_iter().flatten();
    for (at, id) in named.enumerate() {
        let Some(id) = id.as_str().filter(|id| !state.recorder.has(id)) else { continue };
        let in_loop = state.recorder.nodes() == omen_fsm::NodeSet::of(omen_fsm::Node::Verify);
        let code = if in_loop { Code::E3 } else { Code::Inv004 };
        let finding = Diagnostic::error(code, format!("`{id}` is not a packet of this episode"));
        let help = "cite packets that `omen_state` lists as evidence";
        return Err(StepRefusal::finding(finding.at(format!("/evidence_integration/{at}")).help(help)));
    }
    Ok(())
}

/// Sets the decision that a plan or an escalation serves to the resting decision.
fn decided(state: &EpisodeState, payload: &mut Map<String, Value>, member: &str) {
    if let Some(decision) = &state.decision {
        payload.insert(member.to_owned(), json!(decision));
    }
}

/// Returns whether an escalation asks to continue beyond the budgets.
pub(super) fn asks_for_budget(args: &Map<String, Value>) -> bool {
    args.get("escalation_trigger").and_then(Value::as_str) == Some(EscalationTrigger::BudgetInsufficient.as_str())
}

/// Records a human's answer to an escalation.
pub(super) fn answered(
    state: &mut EpisodeState,
    escalation: &PacketId,
    args: &Map<String, Value>,
    reply: Option<&Reply>,
) -> Result<CompletedAction, StepRefusal> {
    let members = |answer: Value| json!({ "packet_id": escalation, "answer": answer });
    let Some(heard) = reply.and_then(HumanAnswer::from_reply) else {
        let why = match reply {
            Some(Reply::Denied { why }) => why.as_str(),
            _ => "no answer in time",
        };
        let text = format!(
            "The escalation `{escalation}` is recorded, and nobody has answered it ({}). Call `omen_escalate` again to \
             present it again.",
            drafts::short(why)
        );
        return Ok(CompletedAction { text, members: members(Value::Null), standing: Standing::new(state) });
    };
    let step = args.get("recommended_next_step").cloned().unwrap_or_default();
    let data = heard.data(escalation.as_str(), step);
    let payload = drafts::observation(ObservationType::UserInput, data);
    let (answer, from) = if heard.yes { ("yes", "user") } else { ("no", "user") };
    if !heard.yes && asks_for_budget(args) {
        // The escalation alone approves the overrun (D32), but the human has declined, so the episode cannot continue.
        state.alert(
            AlertType::BudgetOverrun,
            AlertSeverity::Critical,
            "the user declined to go on beyond the budget",
        )?;
        let text = format!("The user answered `{answer}`: the budget stays as it is, and the episode is halted.");
        return Ok(CompletedAction { text, members: members(json!(answer)), standing: Standing::new(state) });
    }
    let id = state.observed(&payload, RefType::UserObservation, from)?;
    let why = heard.why.as_deref().map(|why| format!(" ({})", drafts::short(why))).unwrap_or_default();
    let text = format!(
        "The user answered `{answer}`{why} to the recommended step of `{escalation}`; the answer is packet `{id}`."
    );
    Ok(CompletedAction { text, members: members(json!(answer)), standing: Standing::new(state) })
}
