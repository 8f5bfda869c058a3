//! The past of a gate, as far as rules depend on it: calls, the facts that premises count, and debts.
//!
//! Arguments are not stored. A call consists of its tool, times, end, the tests that it fits, keys and amounts; an index holds the
//! calls that fit one matcher in one scope, by key.

mod call;
mod call_index;
mod debts;
mod entry;
mod store;

pub(crate) use call::{Call, Moment, Reading, State, all_equal, could_equal};
pub(crate) use debts::{Debt, Debts, MAX_DEBTS};
pub use entry::{Ended, Entry, OrderMember};
pub(crate) use store::History;

/// Readings of both clocks, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic clock.
    pub mono: i64,
    /// Wall clock, since 1970. It may go back.
    pub wall: i64,
}

/// Identifier of a call: the number of its request, unique in one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct CallId(pub u64);

/// Scope of the calls in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    All,
    Session(u64),
    Turn(u64),
    /// Calls whose session is unknown: each could belong to any.
    Unplaced,
}
