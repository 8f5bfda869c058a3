//! Tool boundary: codes, and the steps of every request.

use serde::Deserialize;

/// Content of `gate.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Gate {
    /// All codes, in the order of the documentation.
    #[serde(default)]
    pub codes: Vec<GateCode>,
    /// Steps, in order.
    #[serde(default)]
    pub pipeline: Vec<Step>,
    /// States in which a request may end early.
    #[serde(default)]
    pub ends: Vec<End>,
    /// Compile error for repeating a step.
    pub again: OutOfTurn,
}

/// Code of the tool boundary.
#[derive(Clone, Debug, Deserialize)]
pub struct GateCode {
    /// Code, such as `PG-3`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Requirement.
    pub statement: String,
    /// Reason for the requirement.
    pub rationale: String,
    /// Way to fix a violation.
    pub help: String,
    /// Source: decisions, or sections of the protocol documents.
    pub source: String,
}

/// Step in the path of a request.
#[derive(Clone, Debug, Deserialize)]
pub struct Step {
    /// State of the request, such as `Screened`; also the name of a type.
    pub state: String,
    /// Guarantees about a request in this state.
    pub description: String,
    /// Transition to the next step; `None` at the end.
    #[serde(flatten)]
    pub next: Option<Next>,
}

/// Transition from a step to the next.
#[derive(Clone, Debug, Deserialize)]
pub struct Next {
    /// Method that performs the transition.
    pub method: String,
    /// Compile error for the later methods.
    #[serde(flatten)]
    pub refused: OutOfTurn,
}

/// State in which a request ends early.
#[derive(Clone, Debug, Deserialize)]
pub struct End {
    /// State, such as `Untyped`; also the name of a type.
    pub state: String,
    /// Guarantees about a request in this state.
    pub description: String,
    /// Compile error for all methods.
    #[serde(flatten)]
    pub refused: OutOfTurn,
}

/// Compile error for a step out of order.
#[derive(Clone, Debug, Deserialize)]
pub struct OutOfTurn {
    /// Code that the call would violate.
    pub code: String,
    /// Description of the problem.
    pub message: String,
    /// Way to fix the problem.
    pub note: String,
}
