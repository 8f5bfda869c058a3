//! Episodes: recorded transcripts of a model, played to a proxy.

mod audited;
mod ends;
mod interrupted;
mod listed;
mod observed;
mod play;
mod table;
mod transcripts;
