//! Python: modules and stubs of the package, from the model.

mod packets;

pub use packets::packets;

use crate::model::{Def, Kind, Model};

/// Module of Python, and its stub.
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

/// Returns a string literal.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the definitions of a kind, in the order of their names.
fn of_kind<'m, T>(model: &'m Model, take: impl Fn(&'m Kind) -> Option<T>) -> Vec<(&'m Def, T)> {
    model.defs.values().filter_map(|def| Some((def, take(&def.kind)?))).collect()
}
