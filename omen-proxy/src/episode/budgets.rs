//! The budgets of an episode, which are the operator's.

use omen_invariants::text;
use omen_types::packet::{Budgets as Stated, Count, MaxLoss, RiskBudget};

/// What an episode may use (INV-005). The proxy counts calls and time; it does not see a model's tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// How many calls its directives may make. By default there is no limit.
    pub tool_calls: Option<u32>,
    /// How long it may last after its first decision, in seconds. By default there is no limit.
    pub seconds: Option<u32>,
}

impl Budgets {
    /// As packets state them. Each must have a figure, so no limit is a figure that no session reaches.
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
