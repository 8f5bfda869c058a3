//! Tool boundary: codes, and the steps of every request.

use super::read::{Location, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Content of `gate.json`.
#[derive(Clone, Debug)]
pub struct Gate {
    /// All codes, in the order of the documentation.
    pub codes: Vec<GateCode>,
    /// Steps, in order.
    pub pipeline: Vec<Step>,
    /// States in which a request may end early.
    pub ends: Vec<End>,
    /// Compile error for a step that is repeated.
    pub again: OutOfTurn,
}

/// Code of the tool boundary.
#[derive(Clone, Debug)]
pub struct GateCode {
    /// Code, such as `PG-3`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Requirement.
    pub statement: String,
    /// Reason for the requirement.
    pub rationale: String,
    /// How to fix a violation.
    pub help: String,
    /// Origin: decisions, or sections of the documents of the protocol.
    pub source: String,
}

/// Step of a request's path.
#[derive(Clone, Debug)]
pub struct Step {
    /// State of the request, such as `Screened`; also the name of a type.
    pub state: String,
    /// Guarantees about a request in this state.
    pub description: String,
    /// Transition to the next step; `None` at the end.
    pub next: Option<Next>,
}

/// Transition from a step to the next.
#[derive(Clone, Debug)]
pub struct Next {
    /// Method that performs it.
    pub method: String,
    /// Compile error for the later methods.
    pub refused: OutOfTurn,
}

/// State in which a request ends early.
#[derive(Clone, Debug)]
pub struct End {
    /// State, such as `Untyped`; also the name of a type.
    pub state: String,
    /// Guarantees about a request in this state.
    pub description: String,
    /// Compile error for all methods.
    pub refused: OutOfTurn,
}

/// Compile error for a step out of order.
#[derive(Clone, Debug)]
pub struct OutOfTurn {
    /// Code that the call would violate.
    pub code: String,
    /// Description of the problem.
    pub message: String,
    /// How to fix the problem.
    pub note: String,
}

pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Gate, Mistake> {
    let nothing = Json::Object(Vec::new());
    let again = json.get("again").unwrap_or(&nothing);
    Ok(Gate {
        codes: each(at, json, "codes", code)?,
        pipeline: each(at, json, "pipeline", step)?,
        ends: each(at, json, "ends", end)?,
        again: refused(&at.join("again"), again)?,
    })
}

fn each<T>(
    at: &Location<'_>,
    json: &Json,
    key: &str,
    one: impl Fn(&Location<'_>, &Json) -> Result<T, Mistake>,
) -> Result<Vec<T>, Mistake> {
    let list = json.get(key).map_or(&[][..], Json::elements);
    list.iter().enumerate().map(|(i, json)| one(&at.join(key).join(i), json)).collect()
}

fn code(at: &Location<'_>, json: &Json) -> Result<GateCode, Mistake> {
    Ok(GateCode {
        code: text(at, json, "code")?,
        title: text(at, json, "title")?,
        statement: text(at, json, "statement")?,
        rationale: text(at, json, "rationale")?,
        help: text(at, json, "help")?,
        source: text(at, json, "source")?,
    })
}

fn step(at: &Location<'_>, json: &Json) -> Result<Step, Mistake> {
    let next = match json.get("method") {
        Some(_) => Some(Next { method: text(at, json, "method")?, refused: refused(at, json)? }),
        None => None,
    };
    Ok(Step { state: text(at, json, "state")?, description: text(at, json, "description")?, next })
}

fn end(at: &Location<'_>, json: &Json) -> Result<End, Mistake> {
    Ok(End {
        state: text(at, json, "state")?,
        description: text(at, json, "description")?,
        refused: refused(at, json)?,
    })
}

fn refused(at: &Location<'_>, json: &Json) -> Result<OutOfTurn, Mistake> {
    Ok(OutOfTurn { code: text(at, json, "code")?, message: text(at, json, "message")?, note: text(at, json, "note")? })
}
