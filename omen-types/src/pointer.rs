//! JSON pointers (RFC 6901): their steps, and the escaping of a step.

pub use omen_schema::pointer::{escape, push, steps, unescape};
