//! The branches of conditionals: what an object looks like for each case of the member that distinguishes them.

use super::{At, Conditional, Object, When, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// One case of a conditional's subject, and the builder for it.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The member that distinguishes the branches.
    pub subject: String,
    /// Which case of it this is.
    pub case: Case,
    /// Name of the function that begins the builder.
    pub name: String,
    /// What such an object is, for the documentation.
    pub description: String,
    /// The members that mean nothing here, each with what to do instead.
    pub leaves_out: Vec<(String, String)>,
    /// The required members that cannot have some of their values here.
    pub excludes: Vec<Excluded>,
}

/// Values that a member cannot have in a branch.
#[derive(Clone, Debug)]
pub struct Excluded {
    /// The member, whose type is an enum.
    pub member: String,
    /// The values, each with what to do instead.
    pub values: Vec<(String, String)>,
}

/// A case of a conditional's subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// It has this value, of an enum.
    Value(String),
    /// It is not there.
    Absent,
    /// It is an array without elements.
    Empty,
    /// It is an array with elements.
    Filled,
}

/// The words for the cases that are not values.
pub(crate) const CASES: [(&str, Case); 3] =
    [("absent", Case::Absent), ("empty", Case::Empty), ("filled", Case::Filled)];

impl Branch {
    /// Whether a conditional applies to every object of this branch.
    #[must_use]
    pub fn meets(&self, conditional: &Conditional) -> bool {
        let holds = match (&conditional.when, &self.case) {
            (When::OneOf(values), Case::Value(value)) => values.contains(value),
            (When::Empty, Case::Empty) => true,
            _ => false,
        };
        holds && conditional.subject == self.subject
    }
}

impl Object {
    /// The conditionals that apply to every object of a branch.
    pub fn demanded_by(&self, branch: &Branch) -> impl Iterator<Item = &Conditional> {
        self.conditionals.iter().filter(|conditional| branch.meets(conditional))
    }
}

/// The branches that an object names.
pub(super) fn build(at: &At<'_>, json: &Json) -> Result<Vec<Branch>, Mistake> {
    let mut branches = Vec::new();
    for (subject, list) in json.get("x-omen-branches").map_or(&[][..], Json::members) {
        let at = at.join("x-omen-branches").join(subject);
        for (i, json) in list.elements().iter().enumerate() {
            branches.push(branch(&at.join(i), subject, json)?);
        }
    }
    Ok(branches)
}

fn branch(at: &At<'_>, subject: &str, json: &Json) -> Result<Branch, Mistake> {
    let word = json.get("when").and_then(Json::as_str);
    let case = match (json.get("value").and_then(Json::as_str), word) {
        (Some(value), None) => Case::Value(value.to_owned()),
        (None, Some(word)) => CASES
            .into_iter()
            .find_map(|(name, case)| (name == word).then_some(case))
            .ok_or_else(|| at.join("when").wrong("this case is not supported"))?,
        _ => return Err(at.wrong("a branch has either `value` or `when`")),
    };
    let mut leaves_out = Vec::new();
    if let Some(json) = json.get("leaves_out") {
        for (member, _) in json.members() {
            leaves_out.push((member.clone(), text(&at.join("leaves_out"), json, member)?));
        }
    }
    let mut excludes = Vec::new();
    for (member, json) in json.get("excludes").map_or(&[][..], Json::members) {
        let at = at.join("excludes").join(member);
        let values = json.members().iter().map(|(value, _)| Ok((value.clone(), text(&at, json, value)?)));
        excludes.push(Excluded { member: member.clone(), values: values.collect::<Result<_, Mistake>>()? });
    }
    Ok(Branch {
        subject: subject.to_owned(),
        case,
        name: text(at, json, "name")?,
        description: text(at, json, "description")?,
        leaves_out,
        excludes,
    })
}
