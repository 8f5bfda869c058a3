//! What an agent's author types daily: `use omen::prelude::*;`.
//!
//! The rest is in modules: [`episode`](crate::episode) has the states, moves and errors of the typed API,
//! [`facts`](crate::facts) what an envelope is written out of, [`packet`](crate::packet) the packets as they stand in a log,
//! [`validator`](crate::validator) and [`finding`](crate::finding) what judges logs, and [`gate`](crate::gate) the tool
//! boundary. The time of a packet is [`omen::Instant`](crate::Instant), which is not here because of
//! [`std::time::Instant`].
//!
//! At most 60 names, each written out; a test counts them.

// Episodes, and the states that helpers name.
pub use omen_fsm::episode::{
    Act, AnyEpisode, Authorize, Closed, Decide, Episode, Escalated, Execute, Halt, Idle, JsonLines, Model, Review,
    SafeMode, Sense, Setup, SystemClock, Verify,
};
// What moves take and give.
pub use omen_fsm::episode::{
    Alert, Answer, Arbitration, Belief, Choice, Directive, Escalation, ExecuteError, Gap, NothingLeft, Observation,
    Order, Pending, Permit, Plan, ReadOnly, ReadWrite, Ruling, Settled, Step, Target, TokenSpec, Tradeoff,
};
// What an envelope says.
pub use omen_invariants::facts::{
    Done, Envelope, Evidence, HighStakes, Intent, LowStakes, MediumStakes, Observed, OpenEnvelope, Par, Superb,
    ToolsOk, op,
};
pub use omen_types::AlertType;

pub use omen_fsm::fields;
pub use omen_invariants::{scope, text, tool, unit};

// Methods without names: what a call out of turn is explained by, and the moves of states that are type parameters.
pub use omen_fsm::episode::explain::in_scope::*;
#[doc(no_inline)]
pub use omen_fsm::episode::{ExplainArbitration as _, ExplainRuling as _};
