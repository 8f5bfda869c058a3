//! PG-5: summaries in which each bullet cites its evidence.
//!
//! Only the *evidence* is checked: it must occur verbatim in the answer. Whether a bullet's text follows from its
//! evidence, and whether a heading is fair, is left to the reader, who sees both side by side.

use serde::{Deserialize, Serialize};

use crate::answer::output::TypedAnswer;
use crate::base::{Blocked, GateCode, bounded};

/// Summary written by a model: an unchecked claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Sections; at least one.
    pub sections: Vec<Section>,
}

/// Section of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Topic of the section.
    pub heading: String,
    /// Statements of the section. A section without bullets claims nothing, e.g. one on the risks of a harmless text.
    pub bullets: Vec<Bullet>,
}

/// Statement with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bullet {
    /// Statement, with at least one letter or digit.
    pub text: String,
    /// Evidence: a verbatim excerpt of the answer's canonical text, with at least one letter or digit. The text is
    /// JSON, so a quotation mark within a string is written `\"`.
    pub evidence: String,
}

/// Summary whose evidence all occurs in the answer. Only [`ground`] creates one.
#[derive(Debug, PartialEq, Eq)]
pub struct GroundedSummary {
    summary: Summary,
}

/// Accepts a summary if the evidence of every bullet, in every section, occurs in the typed answer's text.
///
/// A section without bullets has no evidence to check, so it passes. A summary without sections is refused, as is a
/// bullet with a blank statement, which no evidence can support.
///
/// # Errors
/// PG-5, listing the faulty bullets up to a limit.
pub fn ground<T>(typed: &TypedAnswer<T>, summary: Summary) -> Result<GroundedSummary, Blocked> {
    let mut faults = Faults::default();
    if summary.sections.is_empty() {
        faults.add("it has no sections".to_owned());
    }
    for (number, section) in (1..).zip(&summary.sections) {
        for (bullet, Bullet { text, evidence }) in (1..).zip(&section.bullets) {
            if is_blank(text) {
                faults.add(format!("bullet {bullet} of section {number} has text without letters or digits"));
            }
            if let Some(fault) = fault(typed.text(), evidence) {
                let place = format!("bullet {bullet} of section {number} {fault}");
                faults.add_quoting(place, evidence);
            }
        }
    }
    if faults.shown.is_empty() {
        return Ok(GroundedSummary { summary });
    }
    let more = if faults.more > 0 { format!("; and {} more", faults.more) } else { String::new() };
    let said =
        |faults: Vec<String>| format!("the summary of `{}` is not grounded: {}{more}", typed.tool(), faults.join("; "));
    let (shown, unquoted) = faults.shown.into_iter().unzip();
    let help = "quote the canonical text exactly, or remove the bullet";
    Err(Blocked::new(GateCode::Pg5, said(shown), help).unquoted_as(said(unquoted)))
}

impl GroundedSummary {
    /// Returns the checked summary.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the bare summary, which no longer proves anything.
    #[must_use]
    pub fn into_summary(self) -> Summary {
        self.summary
    }
}

/// First faults, and the number of remaining ones.
#[derive(Default)]
struct Faults {
    /// Message for each fault, with and without the evidence.
    shown: Vec<(String, String)>,
    more: usize,
}

impl Faults {
    fn add(&mut self, fault: String) {
        self.push(fault.clone(), fault);
    }

    fn add_quoting(&mut self, fault: String, evidence: &str) {
        self.push(format!("{fault}: `{}`", bounded(evidence)), fault);
    }

    fn push(&mut self, shown: String, unquoted: String) {
        if self.shown.len() < SHOWN {
            self.shown.push((shown, unquoted));
        } else {
            self.more += 1;
        }
    }
}

fn fault(text: &str, evidence: &str) -> Option<&'static str> {
    if is_blank(evidence) {
        // A comma or a brace occurs in every answer, so it proves nothing.
        return Some("has evidence without letters or digits");
    }
    (!text.contains(evidence)).then_some("has evidence that is not in the answer")
}

fn is_blank(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// Maximum number of faults listed in a message.
const SHOWN: usize = 8;
