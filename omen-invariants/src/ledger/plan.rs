//! Limits set by the plan of a verification loop (D82).

use std::fmt;

use omen_types::{Count, Instant, PositiveCount, Span, VerificationPlanPayloadFacts};

use super::bytes::{Reader, Writer};

/// Limits from a loop's latest plan, and the number of the loop's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    calls: Option<u64>,
    seconds: Option<u64>,
    since: Instant,
    results: u64,
}

impl Plan {
    pub(super) fn limit(&mut self, plan: &VerificationPlanPayloadFacts<'_>, created_at: Instant) {
        self.calls = plan.max_tool_calls.map(Count::get);
        self.seconds = plan.time_budget_seconds.map(PositiveCount::get);
        self.since = created_at;
    }

    pub(super) fn count(&mut self) {
        self.results = self.results.saturating_add(1);
    }

    /// Returns the limits that are exceeded at a given time.
    pub(super) fn excesses(&self, now: Instant) -> Vec<Excess> {
        let calls = self.calls.filter(|most| self.results > *most);
        let time = self.seconds.filter(|most| now > self.since.plus_seconds(*most));
        let calls = calls.map(|most| Excess::Calls { results: self.results, most });
        calls.into_iter().chain(time.map(|most| Excess::Time { elapsed: now.since(self.since), most })).collect()
    }

    pub(super) fn pack(&self, writer: &mut Writer<'_>) {
        let Self { calls, seconds, since, results } = self;
        writer.flags([calls.is_some(), seconds.is_some(), false, false, false, false, false, false]);
        [calls, seconds].into_iter().flatten().for_each(|most| writer.number(*most));
        writer.time(*since);
        writer.number(*results);
    }

    pub(super) fn unpack(reader: &mut Reader<'_>) -> Self {
        let [has_calls, has_seconds, ..] = reader.flags();
        let (calls, seconds) = (has_calls.then(|| reader.number()), has_seconds.then(|| reader.number()));
        Self { calls, seconds, since: reader.time(), results: reader.number() }
    }
}

/// Plan limit that its loop has exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// `max_tool_calls`.
    Calls {
        /// Number of results.
        results: u64,
        /// Permitted number.
        most: u64,
    },
    /// `time_budget_seconds`.
    Time {
        /// Time since the plan.
        elapsed: Span,
        /// Permitted time, in seconds.
        most: u64,
    },
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { results, most } => write!(f, "{results} results, `max_tool_calls` {most}"),
            Self::Time { elapsed, most } => write!(f, "{elapsed} s, `time_budget_seconds` {most}"),
        }
    }
}
