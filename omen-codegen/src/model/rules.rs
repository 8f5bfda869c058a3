//! Codes and their meanings.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Stage that reports a code.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Reading JSON.
    Json,
    /// The packet's schema.
    Schema,
    /// The state machine.
    Fsm,
    /// Invariants, and the rules on the origin of packets. Their entries do not state a stage.
    #[default]
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
}

/// Documentation of a code: structural, a sequence rule, an invariant, or a rule on the origin of packets.
#[derive(Clone, Debug, Deserialize)]
pub struct Rule {
    /// Code, such as `INV-007`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Stage that reports the code.
    #[serde(default)]
    pub stage: Stage,
    /// `error`, `warning`, or `error|warning`.
    pub severity: String,
    /// Policies that the code belongs to; may be empty.
    #[serde(default)]
    pub policy: Vec<String>,
    /// Condition under which the rule applies.
    pub condition: String,
    /// Packet types that the rule applies to; empty for all.
    #[serde(default)]
    pub packet_types: Vec<String>,
    /// Requirement.
    pub statement: String,
    /// Reason for the requirement.
    pub rationale: String,
    /// Way to fix a violation.
    pub help: String,
    /// Consequence of a violation.
    pub failure: String,
    /// Source: decisions, or sections of the protocol documents.
    pub source: String,
    /// Code of another stage with the same requirement.
    pub shared_with: Option<String>,
    /// Code under which every finding is reported, if it is always a different one.
    pub reported_as: Option<String>,
    /// Help texts for findings that need a more specific one than `help`.
    #[serde(default)]
    pub helps: Vec<Help>,
    /// Conditions of the rule that types can express.
    #[serde(default)]
    pub predicates: Vec<Predicate>,
}

/// Help text for one kind of finding of a rule.
#[derive(Clone, Debug, Deserialize)]
pub struct Help {
    /// Id, such as `stale`.
    pub id: String,
    /// Text. `{name}` is a placeholder that the finding fills in.
    pub text: String,
}

/// Condition of a rule on types: a trait, and the compile error if it is not satisfied.
///
/// In the three texts, `{Self}` and `{Parameter}` represent the actual types.
#[derive(Clone, Debug, Deserialize)]
pub struct Predicate {
    /// Name of the trait, such as `TierMayAct`.
    pub name: String,
    /// Names of the type parameters, usually none. `N` is a number.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// Trait of the typed episode that the predicate presupposes, if it is a condition on moves; otherwise, the
    /// predicate is a condition on the facts of an envelope.
    pub requires: Option<String>,
    /// Enum values that satisfy the predicate, if they alone decide.
    pub holds: Option<Holds>,
    /// Description of the problem, which begins with the rule's code.
    pub message: String,
    /// Short label for the location.
    pub label: String,
    /// Way to fix the problem. Each line becomes a separate note.
    pub note: String,
    /// The note for Python, if its code differs.
    pub python: Option<String>,
}

/// Enum values that satisfy a predicate.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "HoldsEntry")]
pub struct Holds {
    /// Enum.
    pub of: String,
    /// Criterion.
    pub by: By,
}

/// Criterion for whether a value satisfies a predicate.
#[derive(Clone, Debug)]
pub enum By {
    /// Whether the value requires a field of an object.
    Demand {
        /// Object.
        object: String,
        /// Field.
        requires: String,
        /// Whether the predicate is satisfied if the field is required (`true`) or if it is not (`false`).
        required: bool,
    },
    /// The value of another enum, which is the predicate's parameter.
    Parameter {
        /// Other enum.
        of: String,
        /// For each value, the satisfying values of the other enum.
        values: BTreeMap<String, Vec<String>>,
    },
}

/// Entry `holds` of a predicate, with the fields of each criterion.
#[derive(Deserialize)]
struct HoldsEntry {
    of: String,
    #[serde(rename = "where")]
    demanded: Option<String>,
    unless: Option<String>,
    #[serde(rename = "for")]
    parameter: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, Vec<String>>,
}

impl TryFrom<HoldsEntry> for Holds {
    type Error = &'static str;

    fn try_from(entry: HoldsEntry) -> Result<Self, Self::Error> {
        let demand = |path: Option<&String>, required| {
            let (object, requires) = path?.split_once('/')?;
            Some(By::Demand { object: object.to_owned(), requires: requires.to_owned(), required })
        };
        let demand = demand(entry.demanded.as_ref(), true).or_else(|| demand(entry.unless.as_ref(), false));
        let parameter = || Some(By::Parameter { of: entry.parameter?, values: entry.values });
        let by = demand.or_else(parameter).ok_or("expected `where`, `unless` or `for`")?;
        Ok(Self { of: entry.of, by })
    }
}
