//! Branches of conditionals: the form of an object for each case of the member that distinguishes them.

use super::{Conditional, Location, Object, When, text};
use crate::json::Json;
use crate::mistake::Mistake;

/// Case of a conditional's subject, with its builder.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Member that distinguishes the branches.
    pub subject: String,
    /// Case of that member.
    pub case: Case,
    /// Name of the function that starts the builder.
    pub name: String,
    /// Description of such an object, for the documentation.
    pub description: String,
    /// Members that are meaningless here, each with advice.
    pub leaves_out: Vec<(String, String)>,
    /// Required members with values that are excluded here.
    pub excludes: Vec<Excluded>,
}

/// Values of a member that a branch excludes.
#[derive(Clone, Debug)]
pub struct Excluded {
    /// Member, whose type is an enum.
    pub member: String,
    /// Excluded values, each with advice.
    pub values: Vec<(String, String)>,
}

/// Case of a conditional's subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// The subject has this enum value.
    Value(String),
    /// The subject is absent.
    Absent,
    /// The subject is an empty array.
    Empty,
    /// The subject is a non-empty array.
    Filled,
}

/// Words for the cases that are not values.
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
    /// Returns the conditionals that apply to every object of a branch.
    pub fn demanded_by(&self, branch: &Branch) -> impl Iterator<Item = &Conditional> {
        self.conditionals.iter().filter(|conditional| branch.meets(conditional))
    }
}

/// Builds the branches of an object.
pub(super) fn build(at: &Location<'_>, json: &Json) -> Result<Vec<Branch>, Mistake> {
    let mut branches = Vec::new();
    for (subject, list) in json.get("x-omen-branches").map_or(&[][..], Json::members) {
        let at = at.join("x-omen-branches").join(subject);
        for (i, json) in list.elements().iter().enumerate() {
            branches.push(branch(&at.join(i), subject, json)?);
        }
    }
    Ok(branches)
}

fn branch(at: &Location<'_>, subject: &str, json: &Json) -> Result<Branch, Mistake> {
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
