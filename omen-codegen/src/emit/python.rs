//! Python: the packets as classes, stubs in which an illegal move is a type error, the classes that they describe, and
//! the outcome of each call as JSON.
//!
//! A type checker reads the stubs. A move that is illegal in a state is a field of the state's class, and the type of
//! this field is the error text: it cannot be called, and every checker prints it in full.

use std::fmt::Write as _;

use crate::mistake::Mistakes;
use crate::model::{Def, Kind, Model};

mod packets;
mod signatures;
mod stakes;
mod texts;
mod values;

pub use packets::packets;
pub use texts::CodedRules;

use texts::{GENERATED, class_of};

/// Generated file: its path in the folder `omen-python`, and its text.
pub type File = (&'static str, String);

/// Emits the files of the typed episode.
///
/// # Errors
/// A legal move for which the emitter has no signature, or values that `rules` does not know.
pub fn episode(model: &Model, rules: &CodedRules<'_>) -> Result<Vec<File>, Mistakes> {
    Ok(vec![
        ("python/omen/_rules.pyi", codes(model)),
        ("python/omen/_stakes.pyi", stakes::emit(model, rules)?),
        ("python/omen/_values.pyi", values::emit(model, rules)?),
        ("python/omen/_states.pyi", signatures::emit(model, rules)?),
        ("python/omen/_states.py", signatures::classes(model)?),
        ("src/moves.json", texts::calls(model)?),
    ])
}

/// Emits a class for each code. Its type parameters are the error text.
fn codes(model: &Model) -> String {
    let mut out = format!(
        "{GENERATED}\"\"\"Codes of the protocol as types: an illegal move has one of them as its type.\"\"\"\n\nfrom typing \
         import Generic, final\n\nfrom typing_extensions import TypeVarTuple, Unpack\n\nText = TypeVarTuple(\"Text\")\n"
    );
    for rule in &model.rules {
        let (name, code, title) = (class_of(&rule.code), &rule.code, &rule.title);
        // Writing to a string cannot fail.
        let _ = write!(out, "\n@final\nclass {name}(Generic[Unpack[Text]]):\n    \"\"\"{code}: {title}.\"\"\"\n");
    }
    out
}

/// Python module with its stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonModule {
    /// Text of the module.
    pub source: String,
    /// Text of its stub.
    pub stub: String,
}

/// Returns a docstring with its indentation and line end.
fn docstring(indent: usize, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("{:indent$}\"\"\"{text}\"\"\"\n", "")
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the definitions of a kind, ordered by name.
fn of_kind<'m, T>(model: &'m Model, take: impl Fn(&'m Kind) -> Option<T>) -> Vec<(&'m Def, T)> {
    model.defs.values().filter_map(|def| Some((def, take(&def.kind)?))).collect()
}
