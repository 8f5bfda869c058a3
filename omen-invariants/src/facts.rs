//! The facts of a packet's envelope, as types.
//!
//! The values of the schema's enums are types here ([`Observed`], [`Superb`], [`impact::High`]), and an [`OpenEnvelope`] is
//! composed of them. Each requirement of a rule on these facts is a trait ([`TierMayAct`], [`Grounded`] …). A program that
//! violates one does not compile; the error begins with the code of the rule and ends with the legal alternatives.
//!
//! An envelope whose facts are known only at run time is a [`DynEnvelope`]. The same rules check it at run time, and
//! the marker [`Judged`] represents the facts that they accepted.
//!
//! ```
//! use omen_invariants::facts::{
//!     Budgets, Envelope, Epistemics, Evidence, HighStakes, Inferred, Intent, OpenEnvelope, Quality, Realtime, Risk, Routing,
//!     Stakes, Superb, ToolsOk, adversariality, impact, irreversibility, uncertainty,
//! };
//! use omen_invariants::{text, unit};
//! use omen_types::{StakesLevel, TaskClass, Timestamp};
//!
//! # fn main() -> Result<(), omen_types::Invalid> {
//! let seen = Timestamp::new("2026-03-01T10:00:00Z")?;
//! let envelope: Envelope<HighStakes, Superb, ToolsOk> = OpenEnvelope {
//!     intent: Intent { summary: text!("drain pool 7"), scope: text!("pool 7 of the web tier").into() },
//!     stakes: Stakes {
//!         impact: impact::High,
//!         irreversibility: irreversibility::Partial,
//!         uncertainty: uncertainty::High,
//!         adversariality: adversariality::Benign,
//!     },
//!     quality: Quality::superb(text!("no request goes to pool 7"), ["connections of pool 7 are 0"]),
//!     budgets: Budgets {
//!         tokens: 20_000,
//!         tool_calls: 12,
//!         seconds: 600,
//!         risk: Risk::new(text!("conservative"), text!("one pool out of service")),
//!     },
//!     epistemics: Epistemics::new(Inferred, Realtime, unit!(0.8), text!("one metric, two sources"))
//!         .assuming("the load balancer reports what it does")
//!         .stale_after(30),
//!     evidence: Evidence::tool_output(text!("lb://pools/7"), seen),
//!     routing: Routing { task_class: TaskClass::Verify, tools: ToolsOk },
//! }
//! .seal();
//! assert_eq!(envelope.mcp().stakes.stakes_level, StakesLevel::High);
//! # Ok(())
//! # }
//! ```
//!
//! # Envelopes by level of stakes
//!
//! For common cases, [`OpenEnvelope::low`], [`OpenEnvelope::medium`], [`OpenEnvelope::high`] and
//! [`OpenEnvelope::critical`] take the intent, the definition of done and the evidence, and fill in the rest:
//!
//! | | LOW | MEDIUM | HIGH | CRITICAL |
//! |---|---|---|---|---|
//! | axes | impact LOW, REVERSIBLE, uncertainty LOW | impact MEDIUM, PARTIAL, uncertainty MEDIUM | impact HIGH, IRREVERSIBLE, uncertainty MEDIUM | impact CRITICAL, IRREVERSIBLE, uncertainty HIGH |
//! | tier, verification | PAR, one | PAR, one | SUPERB, all | SUPERB, all |
//! | tokens | 4,000 | 10,000 | 20,000 | 20,000 |
//! | tool calls | 8 | 12 | 20 | 20 |
//! | time | 5 minutes | 15 minutes | 30 minutes | 30 minutes |
//! | freshness, oldest evidence | OPERATIONAL, a day | OPERATIONAL, a day | REALTIME, an hour | REALTIME, 10 minutes |
//! | task class | LOOKUP | CREATE | CREATE | CREATE |
//!
//! At every level, adversariality is BENIGN, no loss is accepted, the status is INFERRED with a confidence of 0.5, and
//! the tools work. The documentation of the four functions gives the reasons. Any field can be changed, for instance
//! with [`OpenEnvelope::budgets`], and is checked as if it were written out.
//!
//! # What does not compile
//!
//! A missing field is error E0063, which names up to three of them (INV-001). A predicate that does not hold is error E0277:
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn act<Tier: TierMayAct>() {}
//! act::<Subpar>(); // INV-002
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn act<Level: StakesAllowAct<Superb, SomeUnverified>>() {}
//! act::<HighStakes>(); // INV-003
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn seal<Fact: Grounded>() {}
//! seal::<Claim<Inferred, Realtime, Archive>>(); // INV-004
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn state<Status: NeedsNoEvidence>() {}
//! state::<Hypothesized>(); // INV-004
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn send<Class: NeedsNoToken>() {}
//! send::<MixedClass>(); // INV-007, E4
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::{facts::*, scope, tool};
//! # fn send<S: GrantsTool<T>, T: Tool>() {}
//! # tool!(CfgWrite = "cfg.write", Write);
//! # tool!(DnsWrite = "dns.write", Write);
//! # scope!(Deploy: tools [CfgWrite], operations [Write]);
//! send::<Deploy, DnsWrite>(); // INV-007, E4
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::{facts::*, scope, tool};
//! # fn send<S: GrantsOp<op::Delete>>() {}
//! # tool!(CfgWrite = "cfg.write", Write);
//! # scope!(Deploy: tools [CfgWrite], operations [Write]);
//! send::<Deploy>(); // INV-007, E4
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn directive<Op: OpFits<ReadClass>>() {}
//! directive::<op::Delete>(); // INV-007, E4
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn observe_without_success<Tools: Degraded>() {}
//! observe_without_success::<ToolsOk>(); // INV-008, E3
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn observe<Status: CountsAsEvidence>() {}
//! observe::<Remembered>(); // INV-008, E3
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn plan<const N: usize>() where [(); N]: AtLeastOneTarget {}
//! plan::<0>(); // INV-008, E3
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn escalate<const N: usize>() where [(); N]: TwoOrThree {}
//! escalate::<4>(); // INV-009, E5
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn escalate<const N: usize>() where [(); N]: AtLeastOne {}
//! escalate::<0>(); // INV-009, E5
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::facts::*;
//! # fn act<Tools: ToolsAllowAct<CriticalStakes>>() {}
//! act::<ToolsDown>(); // INV-010
//! ```
//!
//! ```compile_fail,E0277
//! # use omen_invariants::{facts::*, text};
//! let quality = Quality::par(text!("done"), []); // INV-001
//! ```
//!
//! rustc prints the names of markers without their paths if they are imported one by one, and with their paths after a
//! glob import.
//!
//! Markers and predicates are generated (`facts/markers.rs`): the markers from the schemas and `facts.json`, the texts
//! of the predicates from `rules.json`. The facts that satisfy each predicate are listed in `facts/predicates.rs`.

mod assumptions;
mod budgets;
mod dynamic;
mod envelope;
mod epistemics;
mod evidence;
mod intent;
mod levels;
mod listed;
mod markers;
mod open_envelope;
mod predicates;
mod quality;
mod rank;
mod sealed;
mod setters;
mod stakes;
mod text;
mod tool;

pub use assumptions::{AllVerified, Overridden, SomeUnverified};
pub use budgets::{Budgets, Risk};
pub use dynamic::{DynEnvelope, DynHypothesis, Judged};
pub use envelope::{AnyEnvelope, Envelope, Hypothesis, MayAsk};
pub use epistemics::{Claim, Epistemics};
pub use evidence::{Absent, Archive, BestEvidence, Evidence, Live};
pub use intent::Intent;
pub use markers::*;
pub use open_envelope::{OpenEnvelope, Routing};
pub use quality::{Done, Quality};
pub use stakes::{Stakes, StakesLevelOf};
#[doc(hidden)]
pub use tool::__are_distinct;
pub use tool::{OperationList, Scope, ScopeTypes, Tool, ToolList};

// Items for macro expansions. None of them creates a value that the types would refuse.
#[doc(hidden)]
pub use listed::{OperationListed, ToolListed, WritingListed};
#[doc(hidden)]
pub use omen_types as __types;

/// Positions of a grant's tool or operation in the scope's list, as written by [`scope!`](crate::scope).
#[doc(hidden)]
pub mod __places {
    pub use super::listed::{First, Next};
}
