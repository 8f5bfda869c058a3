//! Clock of the episodes, as an argument.

use clap::Args;
use omen_types::Instant;

#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// Check as if it were this time throughout
    ///
    /// An RFC 3339 time with an offset, such as 2026-03-01T10:00:00Z. By default, the clock of an
    /// episode is the latest `created_at` in it, so a log gets the same verdict on every day.
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<Instant>,
}
