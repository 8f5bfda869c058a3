//! Health and metrics endpoints of a worker.

pub(crate) mod http;
pub(crate) mod metrics;
