//! Packet without a header.

use omen_types::{EpistemicStatus, LayerSource, Payload};

/// Packet that has no header yet, because it was not sent.
pub(crate) struct Draft {
    pub(crate) payload: Payload,
    /// Epistemic status of its content, if it differs from that of the envelope.
    pub(crate) status: Option<EpistemicStatus>,
    /// Layer of origin, if it differs from the usual sender of such packets.
    pub(crate) layer: Option<LayerSource>,
}

impl Draft {
    pub(crate) fn new(payload: impl Into<Payload>) -> Self {
        Self { payload: payload.into(), status: None, layer: None }
    }
}
