//! What a packet's envelope says, at the level of types.
//!
//! The values of the schema's enums are types here ([`Observed`], [`Superb`], [`impact::High`]), and
//! an [`Mcp`] is written out of them. What a rule asks of such facts is a trait, one for each
//! ([`TierMayAct`], [`Grounded`] …): where it does not hold, the program does not compile, and the
//! error begins with the code of the rule and ends with the legal way out.
//!
//! An envelope whose facts are only known at run time is a [`DynEnvelope`]; it is held to the same
//! rules, and what they allowed goes by the marker [`Judged`].
//!
//! Markers and predicates are generated: the markers from the schemas and `facts.json`, the texts of
//! the predicates from `rules.json`. Which facts fulfil a predicate stands in `facts/predicates.rs`.

mod assumptions;
mod budgets;
mod dynamic;
mod envelope;
mod epistemics;
mod evidence;
mod intent;
mod mcp;
mod predicates;
mod quality;
mod stakes;
mod text;
mod tool;

pub use assumptions::{AllVerified, Overridden, SomeUnverified};
pub use budgets::{Budgets, Risk};
pub use dynamic::{DynEnvelope, Judged};
pub use envelope::{AnyEnvelope, Envelope};
pub use epistemics::{Claim, Epistemics};
pub use evidence::{Absent, Archive, BestEvidence, Evidence, Live};
pub use intent::Intent;
pub use mcp::{Mcp, Routing};
pub use quality::Quality;
pub use stakes::{Stakes, StakesLevelOf};
pub use tool::{Scope, Tool};

// What the macros expand to.
#[doc(hidden)]
pub use omen_types::OperationType;
#[doc(hidden)]
pub use text::{text_of, unit_of, within_unit};
#[doc(hidden)]
pub use tool::{OperationListed, ToolListed};

use stakes::Place;

include!(concat!(env!("OUT_DIR"), "/facts.rs"));
include!(concat!(env!("OUT_DIR"), "/predicates.rs"));

/// Keeps the traits of this module to its own types.
mod sealed {
    /// Implemented for the facts of this module alone.
    pub trait Sealed {}
}
