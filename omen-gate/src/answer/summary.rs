//! PG-5: a summary says where each of its bullets comes from.
//!
//! What is checked is the *evidence*: it stands in the answer, letter by letter. Whether a bullet's text follows from its
//! evidence, and whether a heading is fair, is for its reader to judge; that is why the two stand side by side.

use serde::{Deserialize, Serialize};

use crate::answer::output::TypedAnswer;
use crate::base::{Blocked, GateCode, bounded};

/// A summary as a model writes it. It is nothing but a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Its sections, at least one.
    pub sections: Vec<Section>,
}

/// A part of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// What it is about.
    pub heading: String,
    /// What it says. Without bullets it claims nothing, such as a section on risks where there are none.
    pub bullets: Vec<Bullet>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bullet {
    /// The statement, with at least one letter or digit.
    pub text: String,
    /// What it rests on: a piece of the canonical text of the answer, letter by letter, with at least one letter or
    /// digit. As that text is JSON, a quotation mark within a string stands there as `\"`.
    pub evidence: String,
}

/// A summary, all of whose evidence is in the answer. It can only come from [`ground`].
#[derive(Debug, PartialEq, Eq)]
pub struct GroundedSummary {
    summary: Summary,
}

/// Lets a summary pass if the evidence of every bullet, in every section, is a piece of the typed answer's text.
///
/// Of a section without bullets this holds, for there is nothing in it to find evidence for. A summary without sections
/// is none, and a bullet whose statement is blank states nothing that evidence could be for.
///
/// # Errors
/// PG-5, with all bullets that are at fault, up to a bound.
pub fn ground<T>(typed: &TypedAnswer<T>, summary: Summary) -> Result<GroundedSummary, Blocked> {
    let mut faults = Faults::default();
    if summary.sections.is_empty() {
        faults.add("it has no sections".to_owned());
    }
    for (number, section) in (1..).zip(&summary.sections) {
        for (bullet, Bullet { text, evidence }) in (1..).zip(&section.bullets) {
            if is_blank(text) {
                faults.add(format!("bullet {bullet} of section {number} has a text without a letter or a digit"));
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
    /// The summary.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The summary alone. What is left proves nothing any more.
    #[must_use]
    pub fn into_summary(self) -> Summary {
        self.summary
    }
}

/// The first faults, and how many more there are.
#[derive(Default)]
struct Faults {
    /// Each as it is shown, and without the evidence.
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
        // A comma or a brace stands in every answer.
        return Some("has evidence without a letter or a digit");
    }
    (!text.contains(evidence)).then_some("has evidence that is not in the answer")
}

fn is_blank(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// The most faults that a message lists.
const SHOWN: usize = 8;
