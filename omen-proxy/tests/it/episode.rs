//! Episodes: recorded transcripts of a model, played to a proxy.

mod audited;
mod call_log;
mod ends;
mod halts;
mod interrupted;
mod listed;
mod observed;
pub(crate) mod play;
mod several;
mod table;
mod transcripts;
