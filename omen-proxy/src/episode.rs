//! The protocol for an agent that is unaware of it: the calls of a session recorded as episodes, or an episode that
//! decides which calls are made.
//!
//! [`Mode::Observe`] writes an episode for each call, with what the proxy itself has seen and done. [`Mode::Enforce`] gives
//! the client additional tools with which its model states what it observes, believes and decides; a server's tool is called
//! only where a directive or an observation is legal. In both modes, the log is written before the call.
//!
//! A [`CallLog`] is for callers in which several processes see one call, such as hooks of coding agents: it writes the same
//! episodes as [`Mode::Observe`], each resumed from the lines of its log.
//!
//! Architecture invariant: no rule is judged here. [`AnyEpisode::propose_with`] and the machine behind it decide what is legal;
//! the schema defines what the tools accept.
//! Architecture invariant: this adds conditions to calls and removes none. What the gate refuses stays refused.
//!
//! [`AnyEpisode::propose_with`]: omen_fsm::episode::AnyEpisode::propose_with

mod budgets;
mod call_facts;
mod call_file;
mod call_log;
mod call_record;
mod catalog;
mod client_names;
mod decided_tools;
mod disk_sync;
mod drafts;
mod enforce;
mod envelope;
mod episode_state;
mod human_answers;
mod integrity;
mod interrupted;
mod log;
mod mode;
mod moves;
mod not_stated;
mod numbered_ids;
mod observe;
mod outcome;
mod own_tool_list;
pub mod partial_write;
mod recorder;
mod reply;
mod schema;
mod session;
mod step_refusal;
mod unfinished_call;

pub use budgets::Budgets;
pub use call_log::{BegunCall, CallEnd, CallLog, LONGEST_CALL_SECONDS, NotRecorded, SeenCall};
pub use human_answers::{Answers, Witness};
pub use interrupted::Interrupted;
pub use mode::{Mode, UnknownMode};
pub use session::Recording;

pub(crate) use catalog::OwnTool;
pub(crate) use client_names::ClientNames;
pub(crate) use outcome::Outcome;
pub(crate) use reply::{NotNow, ReplyContext};
pub(crate) use session::{Episodes, SessionContext, unrecorded_result};
pub(crate) use unfinished_call::UnfinishedCall;
