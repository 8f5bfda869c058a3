//! What a packet is for.

use omen_types::{IntentScope, Text};

/// What a packet is for, and how far it reaches.
#[derive(Clone, Debug)]
pub struct Intent {
    /// The intent in brief.
    pub summary: Text,
    /// The bounds within which it holds: a [`Text`] or a JSON object, with `.into()`.
    pub scope: IntentScope,
}

impl Intent {
    /// An intent within bounds that are given in words or as a JSON object.
    #[must_use]
    pub fn new(summary: Text, scope: impl Into<IntentScope>) -> Self {
        Self { summary, scope: scope.into() }
    }

    pub(super) fn sealed(self) -> omen_types::Intent {
        omen_types::Intent::builder().summary(self.summary).scope(self.scope).build()
    }
}
