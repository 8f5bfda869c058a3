//! Conversions into the variants of a union.

use super::{IntentScope, LossAmount, LossText, MaxLoss, ScopeText, Text};
use crate::scalar::FromChecked as _;

/// Scope of an intent, as text.
impl From<Text> for IntentScope {
    fn from(text: Text) -> Self {
        Self::ScopeText(ScopeText::trusted(text.into()))
    }
}

/// A free-form object.
impl From<serde_json::Map<String, serde_json::Value>> for IntentScope {
    fn from(object: serde_json::Map<String, serde_json::Value>) -> Self {
        Self::JsonObject(object)
    }
}

/// Maximum loss, as text.
impl From<Text> for MaxLoss {
    fn from(text: Text) -> Self {
        Self::Text(LossText::trusted(text.into()))
    }
}

/// Maximum loss as a whole number, in a unit that sender and receiver agree on.
impl From<u32> for MaxLoss {
    fn from(amount: u32) -> Self {
        Self::Amount(LossAmount::trusted(amount.into()))
    }
}

impl From<LossAmount> for MaxLoss {
    fn from(amount: LossAmount) -> Self {
        Self::Amount(amount)
    }
}
