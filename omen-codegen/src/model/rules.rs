//! Codes and their meanings.

use super::read::{Location, text};
use crate::json::Json;
use crate::load::{FSM_FILE, RULE_LISTS};
use crate::mistake::Mistake;

/// Stage of the check that reports a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading JSON.
    Json,
    /// The packet's schema.
    Schema,
    /// The state machine.
    Fsm,
    /// Invariants, and the rules on the origin of packets. Their entries state no stage.
    Invariant,
}

impl Stage {
    /// All stages, in the order in which they run.
    pub const ALL: [Self; 4] = [Self::Json, Self::Schema, Self::Fsm, Self::Invariant];

    /// Returns the name in the schema files.
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

/// Documentation of one code: a structural one, a sequence rule, an invariant, or a rule on the origin of packets.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Code, such as `INV-007`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Stage that reports it.
    pub stage: Stage,
    /// `error`, `warning`, or `error|warning`.
    pub severity: String,
    /// Policies to which it belongs; may be empty.
    pub policy: Vec<String>,
    /// Condition under which it applies.
    pub condition: String,
    /// Packet types to which it applies; empty for all.
    pub packet_types: Vec<String>,
    /// Requirement.
    pub statement: String,
    /// Reason for the requirement.
    pub rationale: String,
    /// How to fix a violation.
    pub help: String,
    /// Consequence of a violation.
    pub failure: String,
    /// Origin: decisions, or sections of the documents of the protocol.
    pub source: String,
    /// Code of another stage with the same requirement.
    pub shared_with: Option<String>,
    /// Code under which every finding is reported, if it is always another one.
    pub reported_as: Option<String>,
    /// Help texts of findings that need a more specific one than `help`.
    pub helps: Vec<Help>,
    /// Conditions of the rule that types can express.
    pub predicates: Vec<Predicate>,
}

/// Help text for one sort of finding of a rule.
#[derive(Clone, Debug)]
pub struct Help {
    /// Id, such as `stale`.
    pub id: String,
    /// Text. `{name}` is a placeholder that the finding fills in.
    pub text: String,
}

/// Condition of a rule on types: a trait, and the compile error if it is not satisfied.
///
/// In the three texts, `{Self}` and `{Parameter}` stand for the actual types.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// Name of the trait, such as `TierMayAct`.
    pub name: String,
    /// Names of its type parameters, usually none. `N` is a number.
    pub parameters: Vec<String>,
    /// Trait of the typed episode that it presupposes, if it is a condition on moves; otherwise it is a condition on
    /// the facts of an envelope.
    pub requires: Option<String>,
    /// Enum values that satisfy it, if they alone decide.
    pub holds: Option<Holds>,
    /// Description of the problem, which begins with the rule's code.
    pub message: String,
    /// Short label for the location.
    pub label: String,
    /// How to fix the problem. Each line becomes a separate note.
    pub note: String,
}

/// Enum values that satisfy a predicate.
#[derive(Clone, Debug)]
pub struct Holds {
    /// Enum.
    pub of: String,
    /// Criterion.
    pub by: By,
}

/// Criterion that decides whether a value satisfies a predicate.
#[derive(Clone, Debug)]
pub enum By {
    /// Whether the value requires a member of an object.
    Demand {
        /// Object.
        object: String,
        /// Member.
        requires: String,
        /// Whether the predicate is satisfied if the member is required (`true`), or if it is not.
        required: bool,
    },
    /// The value of another enum, the predicate's parameter.
    Parameter {
        /// Other enum.
        of: String,
        /// For each value, the satisfying values of the other enum.
        values: Vec<(String, Vec<String>)>,
    },
}

/// Builds the list of rules: structural codes, sequence rules, invariants, and the rules on the origin of packets.
pub(super) fn build(
    fsm_at: &Location<'_>,
    fsm: &Json,
    rules_at: &Location<'_>,
    rules: &Json,
) -> Result<Vec<Rule>, Mistake> {
    let mut all = Vec::new();
    for (file, key) in RULE_LISTS {
        let (at, json) = if file == FSM_FILE { (fsm_at, fsm) } else { (rules_at, rules) };
        for (i, entry) in json.get(key).map_or(&[][..], Json::elements).iter().enumerate() {
            all.push(rule(&at.join(key).join(i), entry)?);
        }
    }
    Ok(all)
}

fn rule(at: &Location<'_>, json: &Json) -> Result<Rule, Mistake> {
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

fn help(at: &Location<'_>, json: &Json) -> Result<Help, Mistake> {
    Ok(Help { id: text(at, json, "id")?, text: text(at, json, "text")? })
}

fn predicate(at: &Location<'_>, json: &Json) -> Result<Predicate, Mistake> {
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

fn holds(at: &Location<'_>, json: &Json) -> Result<Holds, Mistake> {
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
