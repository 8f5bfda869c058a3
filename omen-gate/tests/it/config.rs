//! C1: the configuration.

mod mistakes;
mod sample;
mod schema;
