//! Moves of an episode whose state is known at run time: the machine judges whether the state allows them.

use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_types::{Code, DecisionOutcome, Diagnostic};

use super::any::AnyEpisode;
use super::errors::Refusal;
use super::propose::NotMoved;
use super::{ActOrder, Order, Pending};

impl AnyEpisode {
    /// Makes a decision with any outcome, if the state allows it; see [`Episode::decide`](super::Episode::decide).
    ///
    /// # Errors
    /// A state in which the decision is illegal, or an error of [`Episode::decide`](super::Episode::decide), with the order.
    pub fn decide<A>(
        self,
        outcome: DecisionOutcome,
        order: ActOrder<A>,
        envelope: &impl MayAsk,
    ) -> Result<Self, (NotMoved, ActOrder<A>)> {
        let mut core = self.into_core();
        match core.decide(outcome, &order, envelope) {
            Ok(()) => Ok(Self::from_core(core)),
            Err(why) => Err((NotMoved { episode: Self::from_core(core), why }, order)),
        }
    }

    /// Sends directives whose number is known at run time, and returns a task for each, which needs a result.
    ///
    /// # Errors
    /// A refused directive: then none is sent, and the orders are returned. At least one order is required (E6).
    pub fn execute<C>(self, orders: Vec<Order<C>>) -> Result<(Self, Vec<Pending>), (NotMoved, Vec<Order<C>>)> {
        let mut core = self.into_core();
        let sent = match orders.as_slice() {
            [] => {
                let none = Diagnostic::error(Code::E6, "a step must send at least one directive");
                Err(Arc::new(Refusal::rule(none.help("pass one or more orders"))))
            }
            orders => core.dispatch(orders),
        };
        match sent {
            Ok(tasks) => Ok((Self::from_core(core), tasks)),
            Err(why) => Err((NotMoved { episode: Self::from_core(core), why }, orders)),
        }
    }
}
