//! The codes and what they mean.

use super::{At, text};
use crate::json::Json;
use crate::load::{FSM_FILE, RULE_LISTS};
use crate::mistake::Mistake;

/// The stage of a check that reports a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading JSON.
    Json,
    /// The packet's schema.
    Schema,
    /// The state machine.
    Fsm,
    /// The invariants, and the rules on where packets come from. Their entries name no stage.
    Invariant,
}

impl Stage {
    /// Every stage, in the order in which they run.
    pub const ALL: [Self; 4] = [Self::Json, Self::Schema, Self::Fsm, Self::Invariant];

    /// As the schema files have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Schema => "schema",
            Self::Fsm => "fsm",
            Self::Invariant => "invariant",
        }
    }

    fn read(json: &Json) -> Self {
        let name = json.get("stage").and_then(Json::as_str);
        Self::ALL.into_iter().find(|stage| Some(stage.as_str()) == name).unwrap_or(Self::Invariant)
    }
}

/// One code: a structural one, a sequence rule, an invariant, or a rule on where packets come from.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Such as `INV-007`.
    pub code: String,
    /// A few words.
    pub title: String,
    /// The stage that finds it.
    pub stage: Stage,
    /// `error`, `warning`, or `error|warning`.
    pub severity: String,
    /// The policies that it belongs to; empty for codes that belong to none.
    pub policy: Vec<String>,
    /// When it applies.
    pub condition: String,
    /// The types of packets that it is about; empty if it is about all of them.
    pub packet_types: Vec<String>,
    /// What the rule requires.
    pub statement: String,
    /// Why.
    pub rationale: String,
    /// How to fix it.
    pub help: String,
    /// What happens when it is broken.
    pub failure: String,
    /// Where it comes from.
    pub source: String,
    /// The code of another stage that says the same.
    pub shared_with: Option<String>,
    /// The code of every finding on it, where that is always another one.
    pub reported_as: Option<String>,
    /// Helps for findings that need another one than `help`.
    pub helps: Vec<Help>,
    /// What of it can be said at the level of types.
    pub predicates: Vec<Predicate>,
}

/// The help of one sort of finding of a rule.
#[derive(Clone, Debug)]
pub struct Help {
    /// Such as `stale`.
    pub id: String,
    /// The help. `{name}` stands for what the finding fills in.
    pub text: String,
}

/// Something that a rule asks of types: a trait, and what the compiler says where it does not hold.
///
/// In the three texts `{Self}` and `{Parameter}` stand for the types that were given.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// Name of the trait, such as `TierMayAct`.
    pub name: String,
    /// Names of its type parameters; mostly none. `N` is a number.
    pub parameters: Vec<String>,
    /// The trait of the typed episode that it presupposes: then it is asked where an episode moves, and
    /// else of the facts of an envelope.
    pub requires: Option<String>,
    /// For which values of enums it holds, if those alone decide.
    pub holds: Option<Holds>,
    /// What is wrong. Begins with the rule's code.
    pub message: String,
    /// A few words for the place itself.
    pub label: String,
    /// How to fix it. Each line is a note of its own.
    pub note: String,
}

/// For which values of an enum a predicate holds.
#[derive(Clone, Debug)]
pub struct Holds {
    /// The enum.
    pub of: String,
    /// How to tell.
    pub by: By,
}

/// How to tell whether a predicate holds for a value.
#[derive(Clone, Debug)]
pub enum By {
    /// By whether the value demands a member of an object.
    Demand {
        /// The object.
        object: String,
        /// The member.
        requires: String,
        /// Whether it holds where the member is required, or where it is not.
        required: bool,
    },
    /// By the value of another enum, the predicate's parameter.
    Parameter {
        /// The other enum.
        of: String,
        /// By its values.
        values: Vec<(String, Vec<String>)>,
    },
}

/// Structural codes, then the sequence rules, then the invariants, then the rules on where packets come from.
pub(super) fn build(fsm_at: &At<'_>, fsm: &Json, rules_at: &At<'_>, rules: &Json) -> Result<Vec<Rule>, Mistake> {
    let mut all = Vec::new();
    for (file, key) in RULE_LISTS {
        let (at, json) = if file == FSM_FILE { (fsm_at, fsm) } else { (rules_at, rules) };
        for (i, entry) in json.get(key).map_or(&[][..], Json::elements).iter().enumerate() {
            all.push(rule(&at.join(key).join(i), entry)?);
        }
    }
    Ok(all)
}

fn rule(at: &At<'_>, json: &Json) -> Result<Rule, Mistake> {
    Ok(Rule {
        code: text(at, json, "code")?,
        title: text(at, json, "title")?,
        stage: Stage::read(json),
        severity: text(at, json, "severity")?,
        policy: strings(json, "policy"),
        condition: text(at, json, "condition")?,
        packet_types: strings(json, "packet_types"),
        statement: text(at, json, "statement")?,
        rationale: text(at, json, "rationale")?,
        help: text(at, json, "help")?,
        failure: text(at, json, "failure")?,
        source: text(at, json, "source")?,
        shared_with: json.get("shared_with").and_then(Json::as_str).map(str::to_owned),
        reported_as: json.get("reported_as").and_then(Json::as_str).map(str::to_owned),
        helps: json
            .get("helps")
            .map_or(&[][..], Json::elements)
            .iter()
            .enumerate()
            .map(|(i, json)| help(&at.join("helps").join(i), json))
            .collect::<Result<_, _>>()?,
        predicates: json
            .get("predicates")
            .map_or(&[][..], Json::elements)
            .iter()
            .enumerate()
            .map(|(i, json)| predicate(&at.join("predicates").join(i), json))
            .collect::<Result<_, _>>()?,
    })
}

fn strings(json: &Json, key: &str) -> Vec<String> {
    json.get(key).map(Json::strings).unwrap_or_default().into_iter().map(str::to_owned).collect()
}

fn help(at: &At<'_>, json: &Json) -> Result<Help, Mistake> {
    Ok(Help { id: text(at, json, "id")?, text: text(at, json, "text")? })
}

fn predicate(at: &At<'_>, json: &Json) -> Result<Predicate, Mistake> {
    Ok(Predicate {
        name: text(at, json, "name")?,
        parameters: strings(json, "parameters"),
        requires: json.get("requires").and_then(Json::as_str).map(str::to_owned),
        holds: json.get("holds").map(|json| holds(&at.join("holds"), json)).transpose()?,
        message: text(at, json, "message")?,
        label: text(at, json, "label")?,
        note: text(at, json, "note")?,
    })
}

fn holds(at: &At<'_>, json: &Json) -> Result<Holds, Mistake> {
    let of = text(at, json, "of")?;
    let demand = |key: &str, required| {
        let demanded = json.get(key).and_then(Json::as_str).and_then(|path| path.split_once('/'));
        demanded.map(|(object, requires)| By::Demand {
            object: object.to_owned(),
            requires: requires.to_owned(),
            required,
        })
    };
    let by = match demand("where", true).or_else(|| demand("unless", false)) {
        Some(by) => by,
        None => By::Parameter {
            of: text(at, json, "for")?,
            values: json
                .get("values")
                .map_or(&[][..], Json::members)
                .iter()
                .map(|(value, of)| (value.clone(), of.strings().into_iter().map(str::to_owned).collect()))
                .collect(),
        },
    };
    Ok(Holds { of, by })
}
