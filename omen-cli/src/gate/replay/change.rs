//! A call on which two policies differ.

use omen_gate::replay::ReplayVerdict;
use serde::Serialize;
use serde_json::{Map, Value};

/// Identity and arguments of a call.
#[derive(Clone, Serialize)]
pub(super) struct CallDetails<'p> {
    /// Number of the entry in the log, or of the line in a plan file.
    pub(super) number: u64,
    pub(super) time: Option<&'p str>,
    pub(super) turn: Option<&'p str>,
    pub(super) tool: Option<String>,
    /// Arguments, if known.
    pub(super) args: Option<&'p Map<String, Value>>,
}

#[derive(Serialize)]
pub(super) struct VerdictChange<'p> {
    pub(super) change: ChangeKind,
    #[serde(flatten)]
    pub(super) place: CallDetails<'p>,
    pub(super) old: PolicyVerdict<'p>,
    pub(super) new: PolicyVerdict<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct PolicyVerdict<'p> {
    verdict: &'static str,
    code: Option<&'static str>,
    why: Option<&'p str>,
}

/// Kind of change for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeKind {
    DenyToAllow,
    AllowToDeny,
    /// Made under both policies, but with a confirmation only under the old one.
    Unconfirmed,
    /// Made under both policies, but with a confirmation only under the new one.
    Confirmed,
    /// The log lacks information that an order rule needs.
    Undecidable,
}

impl<'p> PolicyVerdict<'p> {
    pub(super) fn from_verdict(verdict: &'p ReplayVerdict) -> Self {
        match verdict {
            ReplayVerdict::Allow => Self { verdict: "allow", code: None, why: None },
            ReplayVerdict::Confirm => Self { verdict: "confirm", code: None, why: None },
            ReplayVerdict::Deny(why) => {
                Self { verdict: "deny", code: Some(why.code.as_str()), why: Some(&why.message) }
            }
            ReplayVerdict::Undecidable(why) => Self { verdict: UNDECIDABLE, code: None, why: Some(why) },
            ReplayVerdict::UndecidableOrder(why) => Self { verdict: UNDECIDABLE, code: None, why: Some(why) },
        }
    }

    pub(super) fn to_text(self) -> String {
        match (self.code, self.why) {
            (Some(code), Some(why)) => format!("{code}: {why}"),
            (None, Some(why)) => format!("{}: {why}", self.verdict),
            _ if self.verdict == "confirm" => "allow once somebody has confirmed it".to_owned(),
            _ => self.verdict.to_owned(),
        }
    }
}

impl VerdictChange<'_> {
    /// Returns the change of verdict in one word, and the tool.
    pub(super) fn title(&self) -> String {
        let tool = self.place.tool.as_deref().unwrap_or("-");
        format!("{}→{}  {tool}", self.old.verdict.to_uppercase(), self.new.verdict.to_uppercase())
    }

    /// Describes the change.
    pub(super) fn in_words(&self) -> &'static str {
        match (self.old.verdict, self.new.verdict) {
            (UNDECIDABLE, _) | (_, UNDECIDABLE) => "cannot be decided",
            ("deny", "confirm") => "would be made once somebody has confirmed it",
            ("deny", _) => "would be made",
            ("confirm", "deny") => "would be refused without asking anybody to confirm it",
            (_, "deny") => "would be refused",
            ("confirm", _) => "would be made without a confirmation",
            _ => "would need a confirmation",
        }
    }

    /// Formats the identity and arguments of the call.
    pub(super) fn example(&self) -> String {
        let CallDetails { number, time, turn, args, .. } = &self.place;
        let part = |part: Option<&str>| part.map(|part| format!("  {part}")).unwrap_or_default();
        let args = args.map(|args| Value::Object((*args).clone()).to_string());
        let args = args.as_deref().map(omen_gate::bounded);
        format!("{number}{}{}{}", part(*time), part(*turn), part(args.as_deref()))
    }
}

/// Name of the verdict on a call that the recorded facts do not decide.
const UNDECIDABLE: &str = "undecidable";
