//! What an episode may use.

use omen_types::{MaxLoss, RiskBudget, Text};

/// Limits on what an episode may use. Those of its first decision bind and are never raised (INV-005,
/// D32).
#[derive(Clone, Debug)]
pub struct Budgets {
    /// The most language-model tokens.
    pub tokens: u32,
    /// The most tool calls.
    pub tool_calls: u32,
    /// The most wall-clock time, in seconds.
    pub seconds: u32,
    /// The risk that may be run. No rule checks it (D32).
    pub risk: Risk,
}

/// The risk that may be run.
#[derive(Clone, Debug)]
pub struct Risk {
    /// The attitude to risk, such as `conservative`.
    pub envelope: Text,
    /// The greatest loss that is acceptable: a [`Text`] or a whole number, with `.into()`, or a
    /// [`LossAmount`](omen_types::LossAmount).
    pub max_loss: MaxLoss,
}

impl Risk {
    /// A risk with a greatest loss in words or as a number.
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
