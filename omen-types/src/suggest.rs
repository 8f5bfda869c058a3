//! "Did you mean": the most similar of a list of names.

pub use omen_schema::suggest::{completed, misspelt, nearest};
