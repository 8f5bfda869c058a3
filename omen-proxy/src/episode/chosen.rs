//! The tools that a decision to act names: what the token that is issued for it covers, and nothing else.

use omen_types::packet::{DecisionOutcome, OperationType};
use omen_types::{Code, Diagnostic};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::facts::CallFacts;
use super::refused::Refused;

/// The tools of a decision's chosen option; none if it does not act, or acts by reading alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen(Vec<ChosenTool>);

/// A tool that may be called for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChosenTool {
    /// Server and tool, as a directive names it.
    id: String,
    /// The name under which the client has it.
    shown: String,
    operations: Vec<OperationType>,
}

/// What a token covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) tools: Vec<String>,
    pub(super) operations: Vec<OperationType>,
}

/// One element of `tools`, as a model writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `tool` and `operations`")]
struct Stated {
    tool: String,
    operations: Vec<OperationType>,
}

impl Chosen {
    /// Reads `tools` of a decision. `id_of` gives the id of a tool that the operator allows.
    ///
    /// A decision to act has to say it here: a decision that rests can be replaced by VERIFY_FIRST alone, so a tool that turns out
    /// to be missing when it is called would cost a verification loop.
    pub(super) fn read(
        payload: &Map<String, Value>,
        tools: Option<Value>,
        id_of: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Refused> {
        let outcome = payload.get("decision_outcome").and_then(Value::as_str);
        let acts = outcome == Some(DecisionOutcome::Act.as_str());
        let Some(tools) = tools else {
            if !acts {
                return Ok(Self::default());
            }
            let finding =
                Diagnostic::error(Code::Inv007, "missing `tools`: no token covers a tool that was not decided on");
            return Err(Refused::finding(finding.at("/tools").help(HOW)));
        };
        let schema =
            |problem: String, at: String| Refused::finding(Diagnostic::error(Code::Schema, problem).at(at).help(HOW));
        let Value::Array(tools) = tools else {
            return Err(schema("expected an array for `tools`".to_owned(), "/tools".to_owned()));
        };
        let mut chosen = Vec::new();
        for (number, stated) in tools.into_iter().enumerate() {
            let at = format!("/tools/{number}");
            let Stated { tool, operations } = serde_json::from_value(stated)
                .map_err(|error| schema(format!("invalid element of `tools`: {error}"), at.clone()))?;
            if operations.is_empty() {
                return Err(schema("`operations` is empty".to_owned(), format!("{at}/operations")));
            }
            let Some(id) = id_of(&tool) else {
                let finding =
                    Diagnostic::error(Code::Inv007, format!("`{tool}` is not a tool of the server that may be called"));
                let help = "name it as `tools/list` does";
                return Err(Refused::finding(finding.at(format!("{at}/tool")).help(help)));
            };
            chosen.push(ChosenTool { id, shown: tool, operations });
        }
        if !acts && !chosen.is_empty() {
            let finding = Diagnostic::error(Code::Inv007, "`tools` is given, and this outcome calls none");
            return Err(Refused::finding(
                finding.at("/tools").help("leave it out, or give `[]`; only `ACT` names tools"),
            ));
        }
        Ok(Self(chosen))
    }

    /// What a token for a call of a tool covers: the tool as it was chosen, or all that was chosen, which the call then is outside
    /// of. None if nothing was chosen.
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

    /// Whether a tool was chosen.
    pub(super) fn names(&self, tool: &str) -> bool {
        self.0.iter().any(|one| one.id == tool)
    }

    /// The refusal of a call that no token of the decision covers, in words that name no token: none was issued.
    pub(super) fn outside(&self, call: &CallFacts) -> Refused {
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
        Refused::finding(finding)
    }
}

impl Scope {
    /// All that a tool can do: for a call that nothing but the gate has decided on.
    pub(super) fn whole(tool: &str) -> Self {
        Self { tools: vec![tool.to_owned()], operations: OperationType::ALL.to_vec() }
    }
}

fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

const HOW: &str = "state in `tools` each tool that may be called for this decision and can do more than read, with what it is to \
     do, for example `[{\"tool\": \"NAME\", \"operations\": [\"write\"]}]`; `[]` if nothing but reading is decided";
/// What a model can do whose call is not what was decided.
const OTHERWISE: &str = "call what the decision names; for anything else, decide again and name it in `tools`: call \
     a tool that only reads, then `omen_believe`, then `omen_decide`; or decide `VERIFY_FIRST` now";
