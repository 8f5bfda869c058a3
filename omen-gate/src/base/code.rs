//! Codes of the gate, generated from `gate.json`.

use std::fmt;
use std::str::FromStr;

use omen_types::suggest;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

impl fmt::Display for GateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error returned when parsing an unknown code.
pub type UnknownCode = omen_types::code::UnknownCode<GateCode>;

impl FromStr for GateCode {
    type Err = UnknownCode;

    /// Parses a code, ignoring case.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let upper = text.to_ascii_uppercase();
        let find = |name: &str| Self::ALL.iter().copied().find(|code| code.as_str() == name);
        find(&upper).ok_or_else(|| {
            // `PG3` still means `PG-3`. Codes are too short for a looser comparison.
            let same = |code: &Self| code.as_str().replace('-', "") == upper.replace(['-', '_', ' '], "");
            let long = || suggest::nearest(&upper, Self::ALL.iter().map(|code| code.as_str())).and_then(find);
            let near = Self::ALL.iter().copied().find(same).or_else(|| (upper.len() > 2).then(long).flatten());
            UnknownCode::new(text, near)
        })
    }
}
