//! Rank of a value in its list in the schema.

/// Rank of a value in the schema's list, lowest first: 0 is low, 1 medium, 2 high, 3 critical.
#[derive(Debug)]
pub struct Place<const N: usize>;
