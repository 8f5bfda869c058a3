//! Budgets and their use (D32).

use std::fmt;

use omen_types::{Instant, PacketFacts, TaskResultPayloadFacts};

use super::bytes::{Reader, Writer};

/// Budgets from an episode's first decision, and their use since then.
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
    /// Returns the budgets that a decision states.
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

    /// Returns the budgets after a result. A result that does not report its use counts as one call and no tokens.
    #[must_use]
    pub fn after(&self, result: &TaskResultPayloadFacts<'_>) -> Self {
        let mut after = self.clone();
        after.spend(result);
        after
    }

    /// Adds the use that a result reports.
    pub(super) fn spend(&mut self, result: &TaskResultPayloadFacts<'_>) {
        let metadata = result.execution_metadata.as_ref();
        let tokens = metadata.and_then(|m| m.tokens_used).map_or(0, omen_types::Count::get);
        let calls = metadata.and_then(|m| m.tool_calls_used).map_or(1, omen_types::Count::get);
        self.tokens_used = self.tokens_used.saturating_add(tokens);
        self.calls_used = self.calls_used.saturating_add(calls);
    }

    /// Returns the budgets that are exceeded at a given time.
    #[must_use]
    pub fn overruns(&self, now: Instant) -> Vec<Overrun> {
        let mut overruns = Vec::new();
        if self.tokens_used > self.tokens {
            overruns.push(Overrun::Tokens { used: self.tokens_used, budget: self.tokens });
        }
        if self.calls_used > self.calls {
            overruns.push(Overrun::Calls { used: self.calls_used, budget: self.calls });
        }
        if self.is_out_of_time(now) {
            overruns.push(Overrun::Time { elapsed: now.since(self.since), budget: self.seconds });
        }
        overruns
    }

    /// Returns whether any budget is exceeded at a given time.
    #[must_use]
    pub fn is_exceeded(&self, now: Instant) -> bool {
        self.tokens_used > self.tokens || self.calls_used > self.calls || self.is_out_of_time(now)
    }

    fn is_out_of_time(&self, now: Instant) -> bool {
        now > self.since.plus_seconds(self.seconds)
    }

    pub(super) fn pack(&self, writer: &mut Writer<'_>) {
        let Self { tokens, calls, seconds, since, tokens_used, calls_used } = self;
        [tokens, calls, seconds, tokens_used, calls_used].into_iter().for_each(|number| writer.number(*number));
        writer.time(*since);
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let [tokens, calls, seconds, tokens_used, calls_used] = [(); 5].map(|()| reader.number());
        Self { tokens, calls, seconds, since: reader.time(), tokens_used, calls_used }
    }
}

/// Exceeded budget. Risk is not included, because no packet reports its use (D32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// Language-model tokens.
    Tokens {
        /// Used tokens.
        used: u64,
        /// Permitted tokens.
        budget: u64,
    },
    /// Tool calls.
    Calls {
        /// Used calls.
        used: u64,
        /// Permitted calls.
        budget: u64,
    },
    /// Time since the first decision.
    Time {
        /// Elapsed time.
        elapsed: omen_types::Span,
        /// Permitted time, in seconds.
        budget: u64,
    },
}

impl Overrun {
    fn bit(self) -> u8 {
        match self {
            Self::Tokens { .. } => 1,
            Self::Calls { .. } => 2,
            Self::Time { .. } => 4,
        }
    }
}

/// Budgets whose overrun was reported; each is reported once per episode (D59).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReportedOverruns(u8);

impl ReportedOverruns {
    pub(super) fn add(&mut self, overruns: &[Overrun]) {
        self.0 = overruns.iter().fold(self.0, |bits, overrun| bits | overrun.bit());
    }

    pub(super) fn has(self, overrun: Overrun) -> bool {
        self.0 & overrun.bit() != 0
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    pub(super) fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
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
