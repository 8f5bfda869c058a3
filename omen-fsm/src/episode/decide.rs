//! Decisions whose outcome is known at run time.

use std::sync::Arc;

use omen_invariants::facts::{Judged, MayAsk};
use omen_types::DecisionOutcome;

use super::state::{Unplanned, Unseen};
use super::{Act, ActOrder, CanDecide, Decide, Episode, Escalate, Refused, Stop, Verify};

/// Episode after a decision whose outcome is known at run time. A `match` must handle every outcome.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub enum Decided {
    /// A decision to act was made.
    Act(Episode<Decide<Act>>),
    /// A verification loop runs.
    VerifyFirst(Episode<Verify<Unplanned, Unseen, Judged>>),
    /// A decision to escalate was made.
    Escalate(Episode<Decide<Escalate>>),
    /// A decision to defer or cancel was made.
    Stop(Episode<Decide<Stop>>),
}

impl<S: CanDecide> Episode<S> {
    /// Makes a decision whose outcome is known at run time, in any envelope.
    ///
    /// # Errors
    /// Violations that a validator would report: INV-002, INV-003 and INV-010 for ACT, INV-005 over budget.
    pub fn decide<A, E: MayAsk>(
        mut self,
        outcome: DecisionOutcome,
        order: ActOrder<A>,
        envelope: &E,
    ) -> Result<Decided, Refused<S, ActOrder<A>>> {
        if let Err(why) = order.check(&self.core.tag) {
            return Err(self.refuse(why).giving_back(order));
        }
        let draft = order.draft(outcome).map_err(Arc::new);
        match draft.and_then(|draft| self.core.try_send_under(envelope, draft)) {
            Ok(()) => Ok(match outcome {
                DecisionOutcome::Act => Decided::Act(self.at()),
                DecisionOutcome::VerifyFirst => Decided::VerifyFirst(self.at()),
                DecisionOutcome::Escalate => Decided::Escalate(self.at()),
                DecisionOutcome::Defer | DecisionOutcome::Cancel => Decided::Stop(self.at()),
            }),
            Err(why) => Err(self.refuse(why).giving_back(order)),
        }
    }
}
