//! Mistakes in schema files, reported so that their author can fix them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::place::Place;

/// Texts of files by path, used to locate mistakes.
pub type Texts = Arc<BTreeMap<String, String>>;

/// Mistake: location, problem and help.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Path of the file under `v0.7/`, such as `packets/DecisionPacket.schema.json`.
    pub file: String,
    /// JSON pointer (RFC 6901) to the offending value; empty for the whole file.
    pub pointer: String,
    /// Short stable name of the kind of mistake, such as `inline-object`.
    pub kind: &'static str,
    /// Description of the problem.
    pub problem: String,
    /// Way to fix the problem.
    pub help: String,
    /// Line and column of the value, if the file contains it.
    pub place: Option<Place>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{}:{}", place.line(), place.column())?;
        }
        write!(f, ": {} [{}]", self.problem, self.kind)?;
        if !self.pointer.is_empty() {
            write!(f, "\n  at: {}", self.pointer)?;
        }
        write!(f, "\n  help: {}", self.help)
    }
}

/// All mistakes in a set of schema files, sorted by file and location; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    all: Vec<Mistake>,
    in_every_build: bool,
}

impl Mistakes {
    /// Sorts `mistakes` and drops exact duplicates; returns `Ok` if there are none.
    ///
    /// # Errors
    /// The mistakes, if there is at least one.
    pub fn none_in(mut mistakes: Vec<Mistake>) -> Result<(), Self> {
        mistakes.sort();
        mistakes.dedup();
        if mistakes.is_empty() { Ok(()) } else { Err(Self { all: mistakes, in_every_build: false }) }
    }

    /// Adds line and column to each mistake whose file is in `texts`.
    pub(crate) fn located(mut self, texts: &Texts) -> Self {
        for mistake in &mut self.all {
            let text = texts.get(&mistake.file);
            mistake.place = mistake.place.or_else(|| Place::from_pointer(text?, &mistake.pointer));
        }
        self.all.sort_by(|a, b| (&a.file, a.place, &a.pointer).cmp(&(&b.file, b.place, &b.pointer)));
        self
    }

    /// Marks mistakes that every crate generated from the files would find.
    pub(crate) fn in_every_build(mut self) -> Self {
        self.in_every_build = true;
        self
    }

    /// Returns whether every crate generated from the files finds these mistakes, and not just one emitter.
    #[must_use]
    pub fn are_in_every_build(&self) -> bool {
        self.in_every_build
    }

    /// Returns the mistakes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.all.iter()
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self { all: vec![mistake], in_every_build: false }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.all.len();
        writeln!(f, "{n} error{} in the schema files (paths are below `schema/v0.7`):", if n == 1 { "" } else { "s" })?;
        for mistake in &self.all {
            writeln!(f, "{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// Returns a mistake that no schema file can cause after the lint has passed.
pub(crate) fn bug(problem: String) -> Mistakes {
    Mistake {
        place: None,
        file: "omen-codegen".to_owned(),
        pointer: String::new(),
        kind: "codegen",
        problem,
        help: "this is a bug in the generator, not a mistake in the schema: please report it".to_owned(),
    }
    .into()
}
