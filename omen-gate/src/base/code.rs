//! The codes of the gate, generated from `gate.json`.

use std::fmt;
use std::str::FromStr;

use omen_types::suggest;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

impl fmt::Display for GateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An unknown code.
pub type UnknownCode = omen_types::code::UnknownCode<GateCode>;

impl FromStr for GateCode {
    type Err = UnknownCode;

    /// In any case of letters.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let upper = text.to_ascii_uppercase();
        let find = |name: &str| Self::ALL.iter().copied().find(|code| code.as_str() == name);
        find(&upper).ok_or_else(|| {
            // `PG3` is `PG-3` to anyone who types it; beyond that a code is too short to be near another.
            let same = |code: &Self| code.as_str().replace('-', "") == upper.replace(['-', '_', ' '], "");
            let long = || suggest::nearest(&upper, Self::ALL.iter().map(|code| code.as_str())).and_then(find);
            let near = Self::ALL.iter().copied().find(same).or_else(|| (upper.len() > 2).then(long).flatten());
            UnknownCode::new(text, near)
        })
    }
}
