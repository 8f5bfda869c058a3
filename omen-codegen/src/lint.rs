//! Lint: refuses every schema file that does not have the form that the later phases expect.
//!
//! A file that passes has one of a few shapes (see `lint/schema.rs`), its names and references are sound, and the state machine
//! agrees with the schemas that it refers to. The later phases rely on that without checking again. All mistakes are reported,
//! not only the first; a mistake that merely follows from another one is suppressed until that one is fixed.
//!
//! Architecture invariant: this phase knows the form of the files, but not the meaning of any rule.

mod branches;
mod codes;
mod conditional;
mod decisions;
mod fsm;
mod gate;
mod guard;
mod help;
mod index;
mod keyword;
mod kind;
mod names;
mod node;
mod object;
mod packet;
mod predicate;
mod property;
mod record;
mod references;
mod report;
mod root;
mod rules;
mod schema;
mod suggest;

pub use kind::KINDS;

use crate::load::SchemaSet;
use crate::mistake::Mistakes;
use index::Index;
use report::Report;

/// Checks the schema files for mistakes.
///
/// ```
/// use omen_codegen::{lint::lint, load::SchemaSet};
///
/// let set = SchemaSet::load([("rules.json", r#"{ "version": "0.7", "structral": [] }"#)])?;
/// let mistakes = lint(&set).unwrap_err();
/// assert!(mistakes.to_string().contains("did you mean `structural`?"));
/// # Ok::<(), omen_codegen::mistake::Mistakes>(())
/// ```
///
/// # Errors
/// All mistakes that were found; [`KINDS`] lists their kinds.
pub fn lint(set: &SchemaSet) -> Result<(), Mistakes> {
    let mut report = Report::default();
    let index = Index::new(set);
    root::check(set, &mut report);
    names::check(&index, &mut report);
    references::check(&index, &mut report);
    schema::check(&index, &mut report);
    packet::check(set, &index, &mut report);
    rules::check(set, &index, &mut report);
    fsm::check(set, &index, &mut report);
    gate::check(set, &index, &mut report);
    decisions::check(set, &mut report);
    Mistakes::none_in(report.into_mistakes()).map_err(|mistakes| mistakes.located(set.texts()))
}
