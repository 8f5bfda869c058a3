//! Senders of packets, as `episode.fsm.json` defines them.

use super::read::{Location, each, strings, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Senders of packets.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Layers, each with the packets that it sends.
    pub senders: Vec<Sender>,
    /// Events whose packets may come from any layer.
    pub anywhere: Vec<String>,
    /// Packets whose layer is not checked.
    pub unjudged: Vec<String>,
    /// Layers that may issue tokens on behalf of another layer.
    pub issues_for_others: Vec<String>,
    /// Layers from which the typed API sends, the preferred one first.
    pub typed: Vec<String>,
    /// Principals, other than the agent, for whom packets speak.
    pub words: Vec<Word>,
}

/// Layer and the packets that it sends.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Number of the layer, or name of an overlay.
    pub layer: String,
    /// Packets that it sends.
    pub sends: Vec<String>,
    /// Description.
    pub description: String,
}

/// Principal for whom packets speak.
#[derive(Clone, Debug)]
pub struct Word {
    /// Id, such as `issuer`.
    pub id: String,
    /// Rust name, such as `Issuer`.
    pub name: String,
    /// Events whose packets speak for the principal.
    pub events: Vec<String>,
    /// Description of the principal.
    pub description: String,
}

pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Layers, Mistake> {
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
