//! The typed API as `episode.fsm.json` has it: types that stand for states, methods that make events
//! happen, and what explains a call in the wrong state.

use super::{At, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// The typed API.
#[derive(Clone, Debug, Default)]
pub struct TypedApi {
    /// The types, in the order of their states.
    pub states: Vec<Typestate>,
    /// The methods.
    pub moves: Vec<Move>,
    /// The explanations of illegal calls; the first that fits is used.
    pub texts: Vec<Text>,
}

/// A type that stands for one state or, where the table leaves it open, for several.
#[derive(Clone, Debug)]
pub struct Typestate {
    /// As it is written in Rust, such as `Decide<Act>`.
    pub ty: String,
    /// The states, or states with sub-state.
    pub of: Vec<String>,
    /// Whether directives are open in it.
    pub open: bool,
    /// Facts that usually hold in it: where the code of a call depends on them, they are assumed.
    pub usually: Vec<String>,
    /// What it means.
    pub description: String,
}

/// A method that makes an event happen.
#[derive(Clone, Debug)]
pub struct Move {
    /// Its name.
    pub method: String,
    /// The events that it can make happen.
    pub events: Vec<String>,
    /// The types that alone have it, if it is not all for which the table has a row.
    pub only: Vec<String>,
    /// The types that do not have it although the table has a row: another method stands for the event there.
    pub except: Vec<String>,
    /// The trait of the states that have it, for code that is generic over the state.
    pub capability: Option<Capability>,
    /// Whether it is written by hand, in one piece for all states that have it: this entry then only explains illegal
    /// calls.
    pub by_hand: bool,
    /// The names of the values that it takes, if it is written by hand.
    pub takes: Vec<String>,
}

/// A trait of the states that have a method.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Its name, such as `CanObserve`.
    pub name: String,
    /// The name of its associated type, such as `Observed`: where the method leads.
    pub then: String,
    /// Whether its states have different functions, and methods of their own.
    pub per_state: bool,
    /// Type parameters of these functions that are parameters of the trait.
    pub over: Vec<String>,
}

/// The explanation of illegal calls.
#[derive(Clone, Debug)]
pub struct Text {
    /// The codes that it explains.
    pub rules: Vec<String>,
    /// The methods that it is for; none for all.
    pub methods: Vec<String>,
    /// The types that it is for; none for all.
    pub within: Vec<String>,
    /// Why the call is refused.
    pub message: String,
    /// The way out.
    pub note: String,
}

impl Move {
    /// Whether the typed API offers it in a state, as far as the table has a row.
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

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<TypedApi, Mistake> {
    Ok(TypedApi {
        states: each(at, json, "states", state)?,
        moves: each(at, json, "moves", movement)?,
        texts: each(at, json, "refused", answer_text)?,
    })
}

fn state(at: &At<'_>, json: &Json) -> Result<Typestate, Mistake> {
    Ok(Typestate {
        ty: text(at, json, "type")?,
        of: strings(json, "of"),
        open: json.get("open").and_then(Json::as_bool).unwrap_or(false),
        usually: strings(json, "usually"),
        description: text(at, json, "description")?,
    })
}

fn movement(at: &At<'_>, json: &Json) -> Result<Move, Mistake> {
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

fn capability(at: &At<'_>, json: &Json) -> Result<Capability, Mistake> {
    Ok(Capability {
        name: text(at, json, "name")?,
        then: text(at, json, "then")?,
        per_state: json.get("per_state").and_then(Json::as_bool).unwrap_or(false),
        over: strings(json, "over"),
    })
}

fn answer_text(at: &At<'_>, json: &Json) -> Result<Text, Mistake> {
    Ok(Text {
        rules: strings(json, "rules"),
        methods: strings(json, "methods"),
        within: strings(json, "in"),
        message: text(at, json, "message")?,
        note: text(at, json, "note")?,
    })
}
