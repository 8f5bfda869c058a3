//! Typed API as `episode.fsm.json` defines it: types that stand for states, methods that cause events, and explanations
//! of calls in the wrong state.

use super::read::{Location, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Typed API.
#[derive(Clone, Debug, Default)]
pub struct TypedApi {
    /// Typestates, in the order of their states.
    pub states: Vec<Typestate>,
    /// Methods.
    pub moves: Vec<Move>,
    /// Explanations of illegal calls; the first that applies is used.
    pub texts: Vec<Text>,
}

/// Type that stands for one state or, where the table is nondeterministic, for several.
#[derive(Clone, Debug)]
pub struct Typestate {
    /// Rust type, such as `Decide<Act>`.
    pub ty: String,
    /// States, or states with sub-state.
    pub of: Vec<String>,
    /// Whether directives are open in it.
    pub open: bool,
    /// Facts that usually hold in it. Where the code of a call depends on them, they are assumed.
    pub usually: Vec<String>,
    /// Description.
    pub description: String,
}

/// Method that causes an event.
#[derive(Clone, Debug)]
pub struct Move {
    /// Name.
    pub method: String,
    /// Events that it can cause.
    pub events: Vec<String>,
    /// Only types that have it; empty for all types for which the table has a row.
    pub only: Vec<String>,
    /// Types that do not have it although the table has a row, because another method causes the event there.
    pub except: Vec<String>,
    /// Trait of the states that have it, for code that is generic over the state.
    pub capability: Option<Capability>,
    /// Whether it is written by hand, once for all states that have it. This entry then only explains illegal calls.
    pub by_hand: bool,
    /// Names of its parameters, if it is written by hand.
    pub takes: Vec<String>,
}

/// Trait of the states that have a method.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Name, such as `CanObserve`.
    pub name: String,
    /// Name of its associated type, such as `Observed`: the state after the method.
    pub then: String,
    /// Whether its states have different functions and separate methods.
    pub per_state: bool,
    /// Type parameters of these functions that are parameters of the trait.
    pub over: Vec<String>,
}

/// Explanation of illegal calls.
#[derive(Clone, Debug)]
pub struct Text {
    /// Codes that it explains.
    pub rules: Vec<String>,
    /// Methods to which it applies; empty for all.
    pub methods: Vec<String>,
    /// Types to which it applies; empty for all.
    pub within: Vec<String>,
    /// Reason for the refusal.
    pub message: String,
    /// How to fix the call.
    pub note: String,
}

impl Move {
    /// Whether the typed API offers it in a state, provided that the table has a row.
    #[must_use]
    pub fn is_offered(&self, state: &Typestate) -> bool {
        (self.only.is_empty() || self.only.contains(&state.ty)) && !self.except.contains(&state.ty)
    }
}

impl Text {
    /// Whether it explains a code of a call.
    #[must_use]
    pub fn explains(&self, code: &str, state: &Typestate, mv: &Move) -> bool {
        let names = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        names(&self.methods, &mv.method) && names(&self.within, &state.ty) && self.rules.iter().any(|rule| rule == code)
    }
}

pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<TypedApi, Mistake> {
    Ok(TypedApi {
        states: each(at, json, "states", state)?,
        moves: each(at, json, "moves", movement)?,
        texts: each(at, json, "refused", answer_text)?,
    })
}

fn state(at: &Location<'_>, json: &Json) -> Result<Typestate, Mistake> {
    Ok(Typestate {
        ty: text(at, json, "type")?,
        of: strings(json, "of"),
        open: json.get("open").and_then(Json::as_bool).unwrap_or(false),
        usually: strings(json, "usually"),
        description: text(at, json, "description")?,
    })
}

fn movement(at: &Location<'_>, json: &Json) -> Result<Move, Mistake> {
    Ok(Move {
        method: text(at, json, "method")?,
        events: strings(json, "events"),
        only: strings(json, "only"),
        by_hand: json.get("by_hand").and_then(Json::as_bool).unwrap_or(false),
        takes: strings(json, "takes"),
        capability: json.get("capability").map(|json| capability(at, json)).transpose()?,
        except: strings(json, "except"),
    })
}

fn capability(at: &Location<'_>, json: &Json) -> Result<Capability, Mistake> {
    Ok(Capability {
        name: text(at, json, "name")?,
        then: text(at, json, "then")?,
        per_state: json.get("per_state").and_then(Json::as_bool).unwrap_or(false),
        over: strings(json, "over"),
    })
}

fn answer_text(at: &Location<'_>, json: &Json) -> Result<Text, Mistake> {
    Ok(Text {
        rules: strings(json, "rules"),
        methods: strings(json, "methods"),
        within: strings(json, "in"),
        message: text(at, json, "message")?,
        note: text(at, json, "note")?,
    })
}
