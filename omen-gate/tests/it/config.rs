//! C1: the configuration.

mod mistakes;
mod paths;
mod sample;
mod schema;
