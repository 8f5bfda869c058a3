//! Order rules for tool calls: what must come before a call, what must not, how often it may be made, and what is owed
//! at the end.
//!
//! [`Policy`] holds the rules, [`Engine`] the calls so far. The engine is a state machine: it reads no clock, opens no
//! file and never waits, so a gate, a replay of a log and a check reach the same decisions.
//!
//! One principle sets every default: what permits must be known to have happened, what forbids counts once it may have
//! happened, and what cannot be decided is refused.

mod data;
mod engine;
mod history;
mod judge;
mod lint;
pub mod prove;
pub mod rules;
pub mod text;
pub mod values;

pub use engine::{
    Ask, CallReading, Engine, Finding, HowEnded, JudgedCall, Mode, Output, Reader, RecordedArgs, RecordedCall,
    RecordedCalls, SessionsOf, trace,
};
pub use history::{CallId, Ended, Entry, Now, OrderMember};
pub use judge::{
    CallRelation, Cause, MissingPremise, Nearest, OrderCode, Owed, Refusal, RelatedCall, RuleKindName, Verdict, WhyNot,
};
pub use lint::{LintFinding, lint};
pub use rules::{ContentId, Policy, RuleSet, Tool};
pub use values::{Fit, Secret, ValueTest};
