//! Names that most agents need: `use omen::prelude::*;`.
//!
//! Other names are in modules: the states, moves and errors of the typed API in [`episode`](crate::episode), the parts
//! of an envelope in [`facts`](crate::facts), the packets in [`packet`](crate::packet), the validator in
//! [`validator`](crate::validator) and [`finding`](crate::finding), and the gate in `gate`. The time of a packet,
//! [`omen::Instant`](crate::Instant), is not included because [`std::time::Instant`] has the same name.
//!
//! Contains at most 60 names and no globs; a test counts the names.

// Episodes and their states.
pub use omen_fsm::episode::{
    Act, AnyEpisode, Authorize, Closed, Decide, Episode, Execute, Halt, Idle, JsonLines, Model, Review, SafeMode,
    Sense, Setup, SystemClock, Verify,
};
// Arguments and results of moves.
pub use omen_fsm::episode::{
    Alert, Answer, Arbitration, Belief, Choice, Directive, Escalation, ExecuteError, Gap, NothingLeft, Observation,
    Order, Pending, Permit, Plan, ReadOnly, ReadWrite, Recommendation, Ruling, Settled, Target, TokenSpec, Tradeoff,
};
// Parts of an envelope.
pub use omen_invariants::facts::{
    Done, Envelope, Evidence, HighStakes, Intent, LowStakes, MediumStakes, Observed, OpenEnvelope, Par, Superb,
    ToolsOk, op,
};
pub use omen_types::{AlertType, EscalationTrigger};

pub use omen_fsm::fields;
pub use omen_invariants::{scope, text, tool, unit};

// Unnamed traits that explain illegal calls.
pub use omen_fsm::episode::explain::in_scope::*;
#[doc(no_inline)]
pub use omen_fsm::episode::{ExplainArbitration as _, ExplainRuling as _};
