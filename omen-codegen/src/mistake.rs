//! A mistake in a schema file, said so that its author can mend it.

use std::fmt;

/// One mistake: where it stands, what is wrong, how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Path of the file under `v0.7/`, such as `packets/DecisionPacket.schema.json`.
    pub file: String,
    /// JSON pointer (RFC 6901) to the offending value; empty for the whole file.
    pub pointer: String,
    /// Short stable name of the kind of mistake, such as `inline-object`.
    pub kind: &'static str,
    /// What is wrong.
    pub problem: String,
    /// How to mend it.
    pub mend: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}: {} [{}]\n  help: {}", self.file, self.pointer, self.problem, self.kind, self.mend)
    }
}

/// All mistakes of a set of schema files, sorted by file and pointer; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Sorts `mistakes` and drops exact repeats; `Ok` when there is none.
    ///
    /// # Errors
    /// The mistakes, when there is at least one.
    pub fn none_in(mut mistakes: Vec<Mistake>) -> Result<(), Self> {
        mistakes.sort();
        mistakes.dedup();
        if mistakes.is_empty() { Ok(()) } else { Err(Self(mistakes)) }
    }

    /// The mistakes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.0.iter()
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.len();
        writeln!(f, "{n} mistake{} in the schema files:", if n == 1 { "" } else { "s" })?;
        for mistake in &self.0 {
            writeln!(f, "{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
