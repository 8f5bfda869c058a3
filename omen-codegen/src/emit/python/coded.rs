//! Facts that code decides.

/// Facts that are not in the schema files, because code decides them.
pub struct CodedRules<'r> {
    /// Returns the level that the axes justify: impact, irreversibility, uncertainty, adversariality.
    pub level: &'r dyn Fn([&str; 4]) -> Result<String, String>,
    /// Whether a level is high.
    pub is_high: &'r dyn Fn(&str) -> Result<bool, String>,
    /// Policies of an arbitration's tradeoff.
    pub policies: &'r [&'r str],
}
