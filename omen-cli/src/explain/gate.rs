//! Examples for the gate's codes, from `gate.json`.

use omen_gate::GateCode;
use serde::Deserialize;

use crate::exit::Failure;

#[derive(Deserialize)]
struct File {
    codes: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    code: String,
    example: Example,
}

/// Example for a code: a refused case, and the same case fixed.
#[derive(Deserialize)]
pub(super) struct Example {
    pub(super) refused: String,
    pub(super) fixed: String,
}

pub(super) fn example(code: GateCode) -> Result<Example, Failure> {
    let json = omen_schema::file("gate.json").unwrap_or_default();
    let file: File = serde_json::from_str(json).map_err(|error| Failure::Internal(format!("gate.json: {error}")))?;
    let entry = file.codes.into_iter().find(|entry| entry.code == code.as_str());
    entry.map(|entry| entry.example).ok_or_else(|| Failure::Internal(format!("gate.json: no example of {code}")))
}
