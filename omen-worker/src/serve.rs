//! What a worker says of itself over HTTP.

pub(crate) mod http;
pub(crate) mod metrics;
