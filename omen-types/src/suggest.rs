//! "Did you mean": the nearest of a list of names.

pub use omen_schema::suggest::{completed, misspelt, nearest};
