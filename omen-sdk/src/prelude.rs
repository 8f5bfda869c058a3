//! The names that most agents need: `use omen::prelude::*;`.
//!
//! Other names are in modules: [`episode`](crate::episode) has the states, moves and errors of the typed API,
//! [`facts`](crate::facts) the parts of an envelope, [`packet`](crate::packet) the packets of a log,
//! [`validator`](crate::validator) and [`finding`](crate::finding) the validation of logs, and [`gate`](crate::gate)
//! the tool boundary. The time of a packet is [`omen::Instant`](crate::Instant), which is not here because it would
//! clash with [`std::time::Instant`].
//!
//! At most 60 names, each listed; a test counts them.

// Episodes and their states.
pub use omen_fsm::episode::{
    Act, AnyEpisode, Authorize, Closed, Decide, Episode, Escalated, Execute, Halt, Idle, JsonLines, Model, Review,
    SafeMode, Sense, Setup, SystemClock, Verify,
};
// Parameters and results of moves.
pub use omen_fsm::episode::{
    Alert, Answer, Arbitration, Belief, Choice, Directive, Escalation, ExecuteError, Gap, NothingLeft, Observation,
    Order, Pending, Permit, Plan, ReadOnly, ReadWrite, Recommendation, Ruling, Settled, Target, TokenSpec, Tradeoff,
};
// Parts of an envelope.
pub use omen_invariants::facts::{
    Done, Envelope, Evidence, HighStakes, Intent, LowStakes, Mcp, MediumStakes, Observed, Par, Superb, ToolsOk, op,
};
pub use omen_types::AlertType;

pub use omen_fsm::fields;
pub use omen_invariants::{scope, text, tool, unit};

// Traits without names, which explain illegal calls.
pub use omen_fsm::episode::explain::in_scope::*;
#[doc(no_inline)]
pub use omen_fsm::episode::{ExplainArbitration as _, ExplainRuling as _};
