//! Senders of packets, as defined in `episode.fsm.json`.

use serde::Deserialize;

/// Senders of packets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
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

/// Layer with the packets that it sends.
#[derive(Clone, Debug, Deserialize)]
pub struct Sender {
    /// Number of the layer, or name of an overlay.
    pub layer: String,
    /// Packets that the layer sends.
    #[serde(default)]
    pub sends: Vec<String>,
    /// Description.
    pub description: String,
}

/// Principal for whom packets speak.
#[derive(Clone, Debug, Deserialize)]
pub struct Word {
    /// Id, such as `issuer`.
    pub id: String,
    /// Rust name, such as `Issuer`.
    pub name: String,
    /// Events whose packets speak for the principal.
    #[serde(default)]
    pub events: Vec<String>,
    /// Description of the principal.
    pub description: String,
}
