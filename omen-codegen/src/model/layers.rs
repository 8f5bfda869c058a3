//! Who sends what, as `episode.fsm.json` has it.

use super::{At, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Who sends what.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// By layer, the packets that it sends.
    pub senders: Vec<Sender>,
    /// Events whose packets come from any layer.
    pub anywhere: Vec<String>,
    /// Packets whose layer is not checked.
    pub unjudged: Vec<String>,
    /// The layers that may issue tokens in the name of another layer.
    pub issues_for_others: Vec<String>,
    /// The layers that the typed API sends from, the preferred one first.
    pub typed: Vec<String>,
    /// Those for whose word packets stand that are not the agent's own.
    pub words: Vec<Word>,
}

/// A layer, and what it sends.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Its number, or the name of an overlay.
    pub layer: String,
    /// The packets that it sends.
    pub sends: Vec<String>,
    /// What it is.
    pub description: String,
}

/// Somebody for whose word packets stand.
#[derive(Clone, Debug)]
pub struct Word {
    /// Such as `issuer`.
    pub id: String,
    /// Rust name, such as `Issuer`.
    pub name: String,
    /// The events that are their word.
    pub events: Vec<String>,
    /// Who they are.
    pub description: String,
}

pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Layers, Mistake> {
    Ok(Layers {
        senders: each(at, json, "senders", |at, json| {
            Ok(Sender {
                layer: text(at, json, "layer")?,
                sends: strings(json, "sends"),
                description: text(at, json, "description")?,
            })
        })?,
        anywhere: strings(json, "anywhere"),
        unjudged: strings(json, "unjudged"),
        issues_for_others: strings(json, "issues_for_others"),
        typed: strings(json, "typed"),
        words: each(at, json, "words", |at, json| {
            Ok(Word {
                id: text(at, json, "id")?,
                name: text(at, json, "name")?,
                events: strings(json, "events"),
                description: text(at, json, "description")?,
            })
        })?,
    })
}
