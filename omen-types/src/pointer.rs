//! JSON pointers (RFC 6901): their steps, and how a step is written.

pub use omen_schema::pointer::{escape, push, steps, unescape};
