//! Codes of findings, generated from `rules.json` and `episode.fsm.json`.

use std::fmt;
use std::str::FromStr;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

/// Stage that reports a finding, in the order in which the stages run (D1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The line is not valid JSON.
    Json,
    /// The packet does not match its schema, or repeats an id.
    Schema,
    /// The packet is not legal in this state, according to the transition table and E1–E7.
    Fsm,
    /// The packet breaks an invariant.
    Invariant,
    /// The stream has ended. Only findings have this stage; each code belongs to one of the other stages.
    End,
}

impl Stage {
    /// Returns the name of the stage in JSON output, such as `fsm`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Schema => "schema",
            Self::Fsm => "fsm",
            Self::Invariant => "invariant",
            Self::End => "end",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Description of a code: the text of `omen explain`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RuleInfo {
    /// Code, such as `INV-007`.
    pub code: &'static str,
    /// Title of a few words.
    pub title: &'static str,
    /// Stage that reports the code.
    pub stage: Stage,
    /// Severity: `error`, `warning`, or `error|warning`.
    pub severity: &'static str,
    /// Policies that the code belongs to, if any.
    pub policy: &'static [&'static str],
    /// Condition under which the rule applies.
    pub condition: &'static str,
    /// Packet types that the rule applies to; empty for all types.
    pub packet_types: &'static [&'static str],
    /// Requirement of the rule.
    pub statement: &'static str,
    /// Reason for the rule.
    pub rationale: &'static str,
    /// Way to fix a violation.
    pub help: &'static str,
    /// Consequence of a violation.
    pub failure: &'static str,
    /// Source of the rule: a section of the specification, or a decision.
    pub source: &'static str,
    /// Code of another stage for the same rule, if any.
    pub shared_with: Option<Code>,
    /// Code under which every finding is reported, if it is always a different one; this code then occurs only in `also`.
    pub reported_as: Option<Code>,
}

impl Code {
    /// Returns whether a user may change this code's severity, as for codes of the stage `invariant`. A code whose
    /// findings another stage reports under its own code is not adjustable.
    #[must_use]
    pub fn is_adjustable(self) -> bool {
        self.info().stage == Stage::Invariant && self.info().reported_as.is_none()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for a text that is not a known code, either of `omen check` or of another family of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCode<C = Code> {
    text: String,
    near: Option<C>,
    family: Option<(C, C)>,
}

impl<C: Copy> UnknownCode<C> {
    /// Maximum number of characters of the text that a message shows.
    pub const MAX_CHARS: usize = 32;

    /// Creates the error for a text, with the code that was probably meant.
    #[must_use]
    pub fn new(text: &str, near: Option<C>) -> Self {
        Self { text: text.chars().take(Self::MAX_CHARS).collect(), near, family: None }
    }

    /// Creates the error for a text whose number is out of range, with the first and last code of the family.
    #[must_use]
    pub fn outside(text: &str, first: C, last: C) -> Self {
        Self { family: Some((first, last)), ..Self::new(text, None) }
    }

    /// Returns the code that was probably meant.
    #[must_use]
    pub fn near(&self) -> Option<C> {
        self.near
    }
}

impl<C: fmt::Display> fmt::Display for UnknownCode<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown code `{}`", self.text)?;
        match (&self.near, &self.family) {
            (Some(near), _) => write!(f, "; did you mean `{near}`?"),
            (None, Some((first, last))) => write!(f, "; the codes of this kind are {first} to {last}"),
            (None, None) => Ok(()),
        }
    }
}

impl<C: fmt::Debug + fmt::Display> std::error::Error for UnknownCode<C> {}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Parses a code, ignoring case.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let upper = text.to_ascii_uppercase();
        Self::ALL.iter().copied().find(|code| code.as_str() == upper).ok_or_else(|| unknown(text))
    }
}

#[cold]
fn unknown(text: &str) -> UnknownCode {
    let all = || Code::ALL.iter().copied();
    // `INV-7` and `inv7` both mean `INV-007`.
    let (letters, number) = plain(text);
    let same = all().find(|code| plain(code.as_str()) == (letters.clone(), number));
    let mut family = all().filter(|code| plain(code.as_str()).0 == letters);
    if same.is_none()
        && number.is_some()
        && let (Some(first), Some(last)) = (family.next(), family.next_back())
    {
        return UnknownCode::outside(text, first, last);
    }
    let near = crate::suggest::nearest(text, all().map(Code::as_str));
    UnknownCode::new(text, same.or_else(|| all().find(|code| Some(code.as_str()) == near)))
}

/// Splits a code into its letters, in upper case, and its number without leading zeros.
fn plain(code: &str) -> (String, Option<u64>) {
    let letters = code.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase()).collect();
    let digits: String = code.chars().filter(char::is_ascii_digit).collect();
    (letters, digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(text.parse::<Code>().map_err(|unknown| unknown.to_string()), Err(expected.to_owned()));
    }

    #[test]
    fn a_code_in_another_form_is_recognized() {
        check("inv7", "unknown code `inv7`; did you mean `INV-007`?");
        check("INV_007", "unknown code `INV_007`; did you mean `INV-007`?");
        check("E-04", "unknown code `E-04`; did you mean `E4`?");
        check("SCHEMAS", "unknown code `SCHEMAS`; did you mean `SCHEMA`?");
    }

    #[test]
    fn a_number_that_no_code_has_is_not_corrected() {
        check("INV-013", "unknown code `INV-013`; the codes of this kind are INV-001 to INV-012");
        check("E8", "unknown code `E8`; the codes of this kind are E1 to E7");
        check("nothing", "unknown code `nothing`");
    }
}
