//! Budgets of an episode, set by the operator.

use omen_invariants::text;
use omen_types::packet::{Budgets as Stated, Count, MaxLoss, RiskBudget};

/// Limits of an episode (INV-005). The proxy counts calls and time; it does not see a model's tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// Maximum number of calls that the episode's directives may make. Unlimited by default.
    pub tool_calls: Option<u32>,
    /// Maximum duration of the episode after its first decision, in seconds. Unlimited by default.
    pub seconds: Option<u32>,
}

impl Budgets {
    /// Returns the budgets as stated in packets. Each needs a value, so an unlimited budget is one that no session reaches.
    pub(super) fn stated(self) -> Stated {
        let limit = |most: Option<u32>| Count::from(most.unwrap_or(NO_LIMIT));
        Stated::builder()
            .token_budget(limit(None))
            .tool_call_budget(limit(self.tool_calls))
            .time_budget_seconds(limit(self.seconds))
            .risk_budget(
                RiskBudget::builder().envelope(NOT_STATED).max_loss(MaxLoss::from(text!("not stated"))).build(),
            )
            .build()
    }
}

const NO_LIMIT: u32 = u32::MAX;
const NOT_STATED: &str = "not stated";
