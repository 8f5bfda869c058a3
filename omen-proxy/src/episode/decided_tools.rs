//! Tools named by a decision to act: the token issued for the decision covers exactly these.

use omen_types::packet::{DecisionOutcome, OperationType};
use omen_types::{Code, Diagnostic};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call_facts::CallFacts;
use super::step_refusal::StepRefusal;

/// Tools of a decision's chosen option; none if it does not act, or acts only by reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DecidedTools(Vec<ChosenTool>);

/// Tool that a decision allows to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChosenTool {
    /// Server and tool, as a directive names them.
    id: String,
    /// Name under which the client has the tool.
    shown: String,
    operations: Vec<OperationType>,
}

/// Scope of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) tools: Vec<String>,
    pub(super) operations: Vec<OperationType>,
}

/// Element of a decision's `tools` as written by a model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `tool` and `operations`")]
struct StatedTool {
    tool: String,
    operations: Vec<OperationType>,
}

impl DecidedTools {
    /// Reads the `tools` of a decision. `id_of` returns the id of a tool that the operator allows.
    ///
    /// A decision to act has to state its tools here: a resting decision can be replaced only by VERIFY_FIRST, so a tool found
    /// missing only when it is called would cost a verification loop.
    pub(super) fn read(
        payload: &Map<String, Value>,
        tools: Option<Value>,
        id_of: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StepRefusal> {
        let outcome = payload.get("decision_outcome").and_then(Value::as_str);
        let acts = outcome == Some(DecisionOutcome::Act.as_str());
        let Some(tools) = tools else {
            if !acts {
                return Ok(Self::default());
            }
            let finding =
                Diagnostic::error(Code::Inv007, "missing `tools`: no token covers a tool that was not decided on");
            return Err(StepRefusal::finding(finding.at("/tools").help(HOW)));
        };
        let schema = |problem: String, at: String| {
            StepRefusal::finding(Diagnostic::error(Code::Schema, problem).at(at).help(HOW))
        };
        let Value::Array(tools) = tools else {
            return Err(schema("expected an array for `tools`".to_owned(), "/tools".to_owned()));
        };
        let mut chosen = Vec::new();
        for (number, stated) in tools.into_iter().enumerate() {
            let at = format!("/tools/{number}");
            let StatedTool { tool, operations } = serde_json::from_value(stated)
                .map_err(|error| schema(format!("invalid element of `tools`: {error}"), at.clone()))?;
            if operations.is_empty() {
                return Err(schema("`operations` is empty".to_owned(), format!("{at}/operations")));
            }
            let Some(id) = id_of(&tool) else {
                let finding =
                    Diagnostic::error(Code::Inv007, format!("`{tool}` is not a tool of the server that may be called"));
                let help = "use its name as in `tools/list`";
                return Err(StepRefusal::finding(finding.at(format!("{at}/tool")).help(help)));
            };
            chosen.push(ChosenTool { id, shown: tool, operations });
        }
        if !acts && !chosen.is_empty() {
            let finding = Diagnostic::error(Code::Inv007, "`tools` is set, but this outcome calls none");
            return Err(StepRefusal::finding(
                finding.at("/tools").help("omit it, or set it to `[]`; only `ACT` names tools"),
            ));
        }
        Ok(Self(chosen))
    }

    /// Returns the scope of a token for a call of a tool: the tool as chosen, or, if the tool was not chosen, everything that
    /// was, which does not cover the call. `None` if nothing was chosen.
    pub(super) fn scope(&self, tool: &str) -> Option<Scope> {
        let mut scope = Scope { tools: Vec::new(), operations: Vec::new() };
        let chosen = |one: &&ChosenTool| !self.names(tool) || one.id == tool;
        for one in self.0.iter().filter(chosen) {
            if !scope.tools.contains(&one.id) {
                scope.tools.push(one.id.clone());
            }
            for operation in &one.operations {
                if !scope.operations.contains(operation) {
                    scope.operations.push(*operation);
                }
            }
        }
        (!scope.tools.is_empty()).then_some(scope)
    }

    /// Returns whether a tool was chosen.
    pub(super) fn names(&self, tool: &str) -> bool {
        self.0.iter().any(|one| one.id == tool)
    }

    /// Returns the refusal of a call that no token of the decision covers, worded without naming a token, since none was issued.
    pub(super) fn outside(&self, call: &CallFacts) -> StepRefusal {
        let tool = &call.shown;
        let finding = |problem: String| Diagnostic::error(Code::Inv007, problem).help(OTHERWISE);
        let finding = match (self.scope(&call.tool), &call.operation) {
            (None, _) => finding(format!("the decision names no tool, so `{tool}` is outside of it")),
            (Some(_), _) if !self.names(&call.tool) => {
                let mut shown: Vec<&str> = Vec::new();
                for one in &self.0 {
                    if !shown.contains(&one.shown.as_str()) {
                        shown.push(&one.shown);
                    }
                }
                let names = quoted(shown.into_iter());
                finding(format!("the decision names {names}, so `{tool}` is outside of it"))
            }
            (Some(scope), Some(operation)) => {
                let allowed = quoted(scope.operations.iter().map(|one| one.as_str()));
                let problem = format!("the decision allows `{tool}` to {allowed}, so `{operation}` is outside of it");
                finding(problem).at("/operation")
            }
            (Some(_), None) => {
                finding(format!("the decision allows `{tool}` only to read, and a call of it can do more"))
            }
        };
        StepRefusal::finding(finding)
    }
}

impl Scope {
    /// Returns the scope of everything that a tool can do, for a call that only the gate has decided on.
    pub(super) fn whole(tool: &str) -> Self {
        Self { tools: vec![tool.to_owned()], operations: OperationType::ALL.to_vec() }
    }
}

fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

const HOW: &str = "state in `tools` each tool that may be called for this decision and can do more than read, with what it is to \
     do, for example `[{\"tool\": \"NAME\", \"operations\": [\"write\"]}]`; `[]` if nothing but reading is decided";
/// Help for a model whose call does not match its decision.
const OTHERWISE: &str = "call what the decision names; for anything else, decide again and name it in `tools`: call \
     a tool that only reads, then `omen_believe`, then `omen_decide`; or decide `VERIFY_FIRST` now";
