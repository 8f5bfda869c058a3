//! Budgets and what was used of them (D32).

use std::fmt;

use omen_types::{Instant, PacketFacts, TaskResultPayloadFacts};

/// The budgets of an episode's first decision, and what was used since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    tokens: u64,
    calls: u64,
    seconds: u64,
    since: Instant,
    tokens_used: u64,
    calls_used: u64,
}

impl Budget {
    /// The budgets that a decision states.
    #[must_use]
    pub fn new(decision: &PacketFacts<'_>) -> Self {
        let budgets = &decision.mcp.budgets;
        Self {
            tokens: budgets.token_budget.get(),
            calls: budgets.tool_call_budget.get(),
            seconds: budgets.time_budget_seconds.get(),
            since: decision.header.created_at,
            tokens_used: 0,
            calls_used: 0,
        }
    }

    /// Counts what a result reports: no tokens and one call if it says nothing.
    pub(super) fn spend(&mut self, result: &TaskResultPayloadFacts<'_>) {
        let metadata = result.execution_metadata.as_ref();
        let tokens = metadata.and_then(|m| m.tokens_used).map_or(0, omen_types::Count::get);
        let calls = metadata.and_then(|m| m.tool_calls_used).map_or(1, omen_types::Count::get);
        self.tokens_used = self.tokens_used.saturating_add(tokens);
        self.calls_used = self.calls_used.saturating_add(calls);
    }

    /// What is over budget at a time; empty if nothing is.
    #[must_use]
    pub fn overruns(&self, now: Instant) -> Vec<Overrun> {
        let mut overruns = Vec::new();
        if self.tokens_used > self.tokens {
            overruns.push(Overrun::Tokens { used: self.tokens_used, budget: self.tokens });
        }
        if self.calls_used > self.calls {
            overruns.push(Overrun::Calls { used: self.calls_used, budget: self.calls });
        }
        let elapsed = now.since(self.since);
        if elapsed.exceeds_seconds(self.seconds) {
            overruns.push(Overrun::Time { elapsed, budget: self.seconds });
        }
        overruns
    }
}

/// A budget that is overrun. Risk is not among them: the wire has no figure for it (D32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// LLM tokens.
    Tokens {
        /// Used so far.
        used: u64,
        /// Allowed.
        budget: u64,
    },
    /// Tool calls.
    Calls {
        /// Used so far.
        used: u64,
        /// Allowed.
        budget: u64,
    },
    /// Time since the first decision.
    Time {
        /// Passed so far.
        elapsed: omen_types::Span,
        /// Allowed, in seconds.
        budget: u64,
    },
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overrun::Tokens { used, budget } => write!(f, "{used} of {budget} tokens"),
            Overrun::Calls { used, budget } => write!(f, "{used} of {budget} tool calls"),
            Overrun::Time { elapsed, budget } => write!(f, "{elapsed} of {budget} s"),
        }
    }
}
