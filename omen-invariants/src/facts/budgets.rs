//! Budgets of an episode.

use omen_types::{MaxLoss, RiskBudget, Text};

/// Limits on the resources of an episode. Those of its first decision are binding and cannot be raised (INV-005, D32).
#[derive(Clone, Debug)]
pub struct Budgets {
    /// Maximum number of language-model tokens.
    pub tokens: u32,
    /// Maximum number of tool calls.
    pub tool_calls: u32,
    /// Maximum wall-clock time, in seconds.
    pub seconds: u32,
    /// Acceptable risk. No rule checks it (D32).
    pub risk: Risk,
}

/// Acceptable risk.
#[derive(Clone, Debug)]
pub struct Risk {
    /// Attitude to risk, such as `conservative`.
    pub envelope: Text,
    /// Maximum acceptable loss: a [`Text`] or a whole number, with `.into()`, or a [`LossAmount`](omen_types::LossAmount).
    pub max_loss: MaxLoss,
}

impl Risk {
    /// Creates a risk with a maximum loss in words or as a number.
    #[must_use]
    pub fn new(envelope: Text, max_loss: impl Into<MaxLoss>) -> Self {
        Self { envelope, max_loss: max_loss.into() }
    }
}

impl Budgets {
    pub(super) fn sealed(self) -> omen_types::Budgets {
        omen_types::Budgets::builder()
            .token_budget(self.tokens.into())
            .tool_call_budget(self.tool_calls.into())
            .time_budget_seconds(self.seconds.into())
            .risk_budget(RiskBudget::builder().envelope(self.risk.envelope).max_loss(self.risk.max_loss).build())
            .build()
    }
}
