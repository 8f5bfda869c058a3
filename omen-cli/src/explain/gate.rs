//! Examples for the gate's codes, from `gate.json`.

use omen_gate::GateCode;
use serde::Deserialize;

use crate::exit::Failure;

#[derive(Deserialize)]
struct CodesFile {
    codes: Vec<CodeEntry>,
}

#[derive(Deserialize)]
struct CodeEntry {
    code: String,
    example: GateExample,
}

/// Example for a code: a refused case, and the same case fixed.
#[derive(Deserialize)]
pub(super) struct GateExample {
    pub(super) refused: String,
    pub(super) fixed: String,
}

pub(super) fn example(code: GateCode) -> Result<GateExample, Failure> {
    let json = omen_schema::file("gate.json").unwrap_or_default();
    let file: CodesFile =
        serde_json::from_str(json).map_err(|error| Failure::Internal(format!("gate.json: {error}")))?;
    let entry = file.codes.into_iter().find(|entry| entry.code == code.as_str());
    entry.map(|entry| entry.example).ok_or_else(|| Failure::Internal(format!("gate.json: no example of {code}")))
}
