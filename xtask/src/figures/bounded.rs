//! Figures with a bound.

use std::fmt;

/// A figure and its bound, in the same unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded {
    /// What was counted or measured, and its unit.
    pub what: String,
    /// The figure; `None` if this system does not report it.
    pub found: Option<u64>,
    /// Largest accepted figure; `None` if the figure is informational.
    pub bound: Option<u64>,
}

impl Bounded {
    /// Returns whether the figure is accepted. A missing figure is not a failure, since the report shows it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.found.zip(self.bound).is_none_or(|(found, bound)| found <= bound)
    }
}

impl fmt::Display for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [found, bound] = [self.found, self.bound].map(|n| n.map_or("-".to_owned(), |n| n.to_string()));
        let above = if self.is_kept() { "" } else { "  above the bound" };
        write!(f, "{:34}{found:>9}{bound:>9}{above}", self.what)
    }
}

/// Figures as a table.
#[derive(Clone, Debug)]
pub struct Bounds(pub Vec<Bounded>);

impl Bounds {
    /// Returns whether all figures are accepted.
    #[must_use]
    pub fn are_kept(&self) -> bool {
        self.0.iter().all(Bounded::is_kept)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:34}{:>9}{:>9}", "", "figure", "bound")?;
        self.0.iter().try_for_each(|figure| writeln!(f, "{figure}"))
    }
}
