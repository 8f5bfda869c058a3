//! Envelope of a packet: the parts that the model states, and the parts that the proxy adds.

use omen_invariants::{text, unit};
use omen_types::builder::AtLeastOne;
use omen_types::packet::{
    EpistemicStatus, Epistemics, Evidence, EvidenceRef, FreshnessClass, RefType, Text, Timestamp, ToolsState,
};
use omen_types::{Code, Diagnostic};
use serde_json::{Map, Value, json};

use super::budgets::Budgets;
use super::schema::{self, BUDGETS, EPISTEMICS, EVIDENCE, ROUTING, TOOLS_STATE};
use super::step_refusal::StepRefusal;

/// Envelope parts stated by the model, as JSON. Each stays in force until it is replaced.
#[derive(Clone, Debug, Default)]
pub(super) struct StatedParts(Map<String, Value>);

impl StatedParts {
    /// Creates the parts stated by a program.
    pub(super) fn new(parts: Map<String, Value>) -> Self {
        Self(parts)
    }

    /// Returns these parts, updated with those that a model gives now.
    pub(super) fn with(&self, given: Option<&Value>) -> Result<Self, StepRefusal> {
        let mut parts = self.0.clone();
        match given {
            None => {}
            Some(Value::Object(given)) => {
                for (name, part) in given {
                    ours(name, part)?;
                    parts.insert(name.clone(), part.clone());
                }
            }
            Some(_) => {
                let finding = Diagnostic::error(Code::Schema, "expected an object for `mcp`").at("/mcp");
                return Err(StepRefusal::finding(finding.help("give the parts that change, such as `stakes`")));
            }
        }
        let missing: Vec<_> = schema::stated_parts().into_iter().filter(|part| !parts.contains_key(part)).collect();
        if missing.is_empty() {
            return Ok(Self(parts));
        }
        let missing = missing.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", ");
        let finding = Diagnostic::error(Code::Inv001, format!("the envelope `mcp` lacks {missing}")).at("/mcp");
        Err(StepRefusal::finding(
            finding.help("state each part once, in the first call; it stays in force until you give another one"),
        ))
    }

    /// Returns the epistemic status of the content.
    pub(super) fn status(&self) -> Option<&Value> {
        self.0.get(EPISTEMICS)?.get("status")
    }

    pub(super) fn envelope(&self, budgets: Budgets, evidence: &[EvidenceRef], tools: ToolsState) -> Value {
        let mut mcp = self.0.clone();
        mcp.insert(BUDGETS.to_owned(), json!(budgets.stated()));
        mcp.insert(EVIDENCE.to_owned(), json!(evidence_of(evidence)));
        if let Some(Value::Object(routing)) = mcp.get_mut(ROUTING) {
            routing.insert(TOOLS_STATE.to_owned(), json!(tools));
        }
        Value::Object(mcp)
    }

    /// Returns the envelope of a packet about something that the proxy itself has seen.
    pub(super) fn witnessed(&self, budgets: Budgets, evidence: &[EvidenceRef], tools: ToolsState) -> Value {
        let mut mcp = self.envelope(budgets, evidence, tools);
        if let Value::Object(mcp) = &mut mcp {
            mcp.insert(EPISTEMICS.to_owned(), json!(seen()));
        }
        mcp
    }
}

/// Refuses a part that the proxy supplies, so a model must not.
fn ours(name: &str, part: &Value) -> Result<(), StepRefusal> {
    let (name, help) = match name {
        BUDGETS => (name, "omit it: the operator sets the budgets"),
        EVIDENCE => (name, "omit it, and cite packets that `omen_state` lists in `evidence`, beside `mcp`"),
        ROUTING if part.get(TOOLS_STATE).is_some() => (TOOLS_STATE, "omit it: the proxy knows whether tools work"),
        _ => return Ok(()),
    };
    let code = if name == EVIDENCE { Code::Inv004 } else { Code::Schema };
    let finding = Diagnostic::error(code, format!("a model cannot state `{name}`")).at(format!("/mcp/{name}"));
    Err(StepRefusal::finding(finding.help(help)))
}

fn evidence_of(refs: &[EvidenceRef]) -> Evidence {
    match refs.split_first() {
        Some((first, rest)) => {
            let refs = AtLeastOne::new(first.clone(), rest.iter().cloned());
            Evidence::present().evidence_refs(refs).build()
        }
        None => Evidence::absent().evidence_absent_reason(text!("no output of a tool is cited")).build(),
    }
}

/// Returns a reference to a packet of the episode that reports what came from a tool or a human.
pub(super) fn reference(ref_type: RefType, packet_id: &str, at: &Timestamp) -> Option<EvidenceRef> {
    let id = Text::new(packet_id).ok()?;
    Some(EvidenceRef::builder().ref_type(ref_type).ref_id(id).timestamp(at.clone()).build())
}

/// How the gate knows what has passed it.
fn seen() -> Epistemics {
    Epistemics::builder()
        .status(EpistemicStatus::Observed)
        .confidence(unit!(1.0))
        .calibration_note(text!("the gate has seen it pass, but does not know whether it is true"))
        .freshness_class(FreshnessClass::Operational)
        .assumptions(Vec::<String>::new())
        .build()
}
