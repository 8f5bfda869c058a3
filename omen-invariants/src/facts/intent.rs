//! Intent of a packet.

use omen_types::{IntentScope, Text};

/// Intent and scope of a packet.
#[derive(Clone, Debug)]
pub struct Intent {
    /// Brief description of the intent.
    pub summary: Text,
    /// Bounds of the intent: a [`Text`] or a JSON object, converted with `.into()`.
    pub scope: IntentScope,
}

impl Intent {
    /// Creates an intent with bounds, given as text or as a JSON object.
    #[must_use]
    pub fn new(summary: Text, scope: impl Into<IntentScope>) -> Self {
        Self { summary, scope: scope.into() }
    }

    pub(super) fn sealed(self) -> omen_types::Intent {
        omen_types::Intent::builder().summary(self.summary).scope(self.scope).build()
    }
}
