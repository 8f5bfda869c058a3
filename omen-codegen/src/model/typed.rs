//! The typed API as `episode.fsm.json` has it: types that stand for states, methods that make events
//! happen, and what a call in the wrong state is answered.

use super::fsm::{Fsm, Target, each, strings};
use super::{At, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// The typed API.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// The types, in the order of their states.
    pub states: Vec<Typestate>,
    /// The methods.
    pub moves: Vec<Move>,
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
    /// Whether it is written by hand, in one piece for all states that have it: what is said here is then for its
    /// answers alone.
    pub by_hand: bool,
    /// The names of the values that it takes, if it is written by hand.
    pub takes: Vec<String>,
    /// Answers to calls where it is not legal: the first that fits, those with a list before those
    /// without.
    pub refused: Vec<Refusal>,
}

/// The answer to a call where a method is not legal.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The code of the rule that it breaks.
    pub rule: String,
    /// The types that get this answer; none for all the others.
    pub within: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub note: String,
}

/// What a call comes to.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'m> {
    /// The method is legal here.
    Legal,
    /// It is refused.
    Refused(&'m Refusal),
    /// It is not legal, and nothing says so.
    Nothing,
}

impl Typed {
    /// What a call of a method in a state comes to.
    #[must_use]
    pub fn answer<'m>(&self, fsm: &Fsm, state: &Typestate, mv: &'m Move) -> Answer<'m> {
        let named = |list: &[String]| list.contains(&state.ty);
        if let Some(refusal) = mv.refused.iter().find(|refusal| named(&refusal.within)) {
            return Answer::Refused(refusal);
        }
        let offered = mv.only.is_empty() || named(&mv.only);
        if offered && !fsm.targets(state, &mv.events).is_empty() {
            return Answer::Legal;
        }
        mv.refused.iter().find(|refusal| refusal.within.is_empty()).map_or(Answer::Nothing, Answer::Refused)
    }
}

impl Fsm {
    /// Where any of some events leads from the states of a type: states, or states with sub-state, in
    /// the order of the rows, each once.
    #[must_use]
    pub fn targets<'m>(&'m self, state: &'m Typestate, events: &[String]) -> Vec<&'m str> {
        let mut targets = Vec::new();
        for row in self.rows.iter().filter(|row| row.events.iter().any(|event| events.contains(event))) {
            let of: Vec<&String> = state.of.iter().filter(|of| row.is_from(of)).collect();
            for to in &row.to {
                match to {
                    Target::Same => targets.extend(of.iter().map(|of| of.as_str())),
                    Target::State(to) if !of.is_empty() => targets.push(to),
                    Target::State(_) => {}
                }
            }
        }
        let mut seen = Vec::new();
        targets.retain(|target| {
            let is_new = !seen.contains(target);
            seen.push(*target);
            is_new
        });
        targets
    }
}

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Typed, Mistake> {
    Ok(Typed { states: each(at, json, "states", state)?, moves: each(at, json, "moves", movement)? })
}

fn state(at: &At<'_>, json: &Json) -> Result<Typestate, Mistake> {
    Ok(Typestate {
        ty: text(at, json, "type")?,
        of: strings(json, "of"),
        open: json.get("open").and_then(Json::as_bool).unwrap_or(false),
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
        refused: each(at, json, "refused", refusal)?,
    })
}

fn refusal(at: &At<'_>, json: &Json) -> Result<Refusal, Mistake> {
    Ok(Refusal {
        rule: text(at, json, "rule")?,
        within: strings(json, "in"),
        message: text(at, json, "message")?,
        note: text(at, json, "note")?,
    })
}
