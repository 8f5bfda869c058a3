//! A packet before it has a header.

use omen_types::{EpistemicStatus, LayerSource, Payload};

/// A packet before it is sent.
pub(crate) struct Draft {
    pub(crate) payload: Payload,
    /// The epistemic status of its content, if it differs from that of the envelope.
    pub(crate) status: Option<EpistemicStatus>,
    /// The layer that it comes from, if it is not the usual sender of such packets.
    pub(crate) layer: Option<LayerSource>,
}

impl Draft {
    pub(crate) fn new(payload: impl Into<Payload>) -> Self {
        Self { payload: payload.into(), status: None, layer: None }
    }
}
