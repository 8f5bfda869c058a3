//! The tool boundary: its codes, and the steps that every request goes through.

use super::{At, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// What `gate.json` says.
#[derive(Clone, Debug)]
pub struct Gate {
    /// All codes, in the order in which they are documented.
    pub codes: Vec<GateCode>,
    /// The steps, in order.
    pub pipeline: Vec<Step>,
    /// Where a request may end early.
    pub ends: Vec<End>,
    /// What explains a step that is taken twice.
    pub again: OutOfTurn,
}

/// One code of the tool boundary.
#[derive(Clone, Debug)]
pub struct GateCode {
    /// Such as `PG-3`.
    pub code: String,
    /// A few words.
    pub title: String,
    /// What the rule requires.
    pub statement: String,
    /// Why.
    pub rationale: String,
    /// The way out.
    pub help: String,
    /// Where it comes from.
    pub source: String,
}

/// One step of the way that a request takes.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where the request is, such as `Screened`; also the name of a type.
    pub state: String,
    /// What is known of a request that is here.
    pub description: String,
    /// What leads on; `None` at the end.
    pub next: Option<Next>,
}

/// What leads from a step to the next one.
#[derive(Clone, Debug)]
pub struct Next {
    /// The method.
    pub method: String,
    /// What explains the methods that come after it.
    pub refused: OutOfTurn,
}

/// Where a request ends that does not go all the way.
#[derive(Clone, Debug)]
pub struct End {
    /// Such as `Untyped`; also the name of a type.
    pub state: String,
    /// What is known of a request that is here.
    pub description: String,
    /// What explains all methods.
    pub refused: OutOfTurn,
}

/// What the compiler reports for a step out of turn.
#[derive(Clone, Debug)]
pub struct OutOfTurn {
    /// The code that is at stake.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub note: String,
}

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Gate, Mistake> {
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
    at: &At<'_>,
    json: &Json,
    key: &str,
    one: impl Fn(&At<'_>, &Json) -> Result<T, Mistake>,
) -> Result<Vec<T>, Mistake> {
    let list = json.get(key).map_or(&[][..], Json::elements);
    list.iter().enumerate().map(|(i, json)| one(&at.join(key).join(i), json)).collect()
}

fn code(at: &At<'_>, json: &Json) -> Result<GateCode, Mistake> {
    Ok(GateCode {
        code: text(at, json, "code")?,
        title: text(at, json, "title")?,
        statement: text(at, json, "statement")?,
        rationale: text(at, json, "rationale")?,
        help: text(at, json, "help")?,
        source: text(at, json, "source")?,
    })
}

fn step(at: &At<'_>, json: &Json) -> Result<Step, Mistake> {
    let next = match json.get("method") {
        Some(_) => Some(Next { method: text(at, json, "method")?, refused: refused(at, json)? }),
        None => None,
    };
    Ok(Step { state: text(at, json, "state")?, description: text(at, json, "description")?, next })
}

fn end(at: &At<'_>, json: &Json) -> Result<End, Mistake> {
    Ok(End {
        state: text(at, json, "state")?,
        description: text(at, json, "description")?,
        refused: refused(at, json)?,
    })
}

fn refused(at: &At<'_>, json: &Json) -> Result<OutOfTurn, Mistake> {
    Ok(OutOfTurn { code: text(at, json, "code")?, message: text(at, json, "message")?, note: text(at, json, "note")? })
}
