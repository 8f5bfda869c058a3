//! The tool boundary: its codes, and the steps that every call goes through.

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
}

/// One code of the tool boundary.
#[derive(Clone, Debug)]
pub struct GateCode {
    /// Such as `PG-3`.
    pub code: String,
    /// A few words.
    pub title: String,
    /// What must be so.
    pub statement: String,
    /// Why.
    pub rationale: String,
    /// The way out.
    pub mend: String,
    /// Where it comes from.
    pub source: String,
}

/// One step of the way that a call takes.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where the call is, such as `Screened`; also the name of a type.
    pub state: String,
    /// What is known of a call that is here.
    pub description: String,
    /// What leads on; `None` at the end.
    pub next: Option<Next>,
}

/// What leads from a step to the next one.
#[derive(Clone, Debug)]
pub struct Next {
    /// The method.
    pub method: String,
    /// The code that it enforces.
    pub code: String,
}

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Gate, Mistake> {
    Ok(Gate { codes: each(at, json, "codes", code)?, pipeline: each(at, json, "pipeline", step)? })
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
        mend: text(at, json, "mend")?,
        source: text(at, json, "source")?,
    })
}

fn step(at: &At<'_>, json: &Json) -> Result<Step, Mistake> {
    let next = match json.get("method") {
        Some(_) => Some(Next { method: text(at, json, "method")?, code: text(at, json, "code")? }),
        None => None,
    };
    Ok(Step { state: text(at, json, "state")?, description: text(at, json, "description")?, next })
}
