//! Episodes: recorded transcripts of a model, played to a proxy.

mod play;
mod transcripts;
