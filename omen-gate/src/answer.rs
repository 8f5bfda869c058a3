//! Tool answers: typed output, and summaries that quote it.

pub mod output;
pub mod summary;

pub(crate) use output::{BadOutput, Outputs};
pub(crate) use summary::Summary;
