//! Model: content of the linted files, in terms of the emitters. Immutable once built.
//!
//! Building the model repeats no check of the lint phase, but never panics: anything that the lint should have
//! refused is returned as a [`Mistake`] of kind `not-linted`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::json::Json;
use crate::load::{DECISIONS_FILE, FSM_FILE, GATE_FILE, RULE_LISTS, SchemaDefinition, SchemaSet, referenced};
use crate::mistake::{Mistake, Mistakes, bug};
use crate::pattern::Pattern;
use crate::typify::Declarations;

pub mod answer;
pub mod branches;
pub mod cells;
pub mod defs;
pub mod fsm;
pub mod gate;
pub mod layers;
pub mod outcomes;
mod read;
pub mod rules;
pub mod table;
pub mod typed;

pub use answer::Answer;
pub use cells::{Cells, Fact, Refusal};
pub use defs::{
    Branch, Case, Conditional, Def, Demand, Excluded, Field, Item, Kind, Object, TextRule, Ty, Variant, When,
};
pub use fsm::{Fsm, LoopEvidence, VerificationLoop};
pub use gate::{End, Gate, GateCode, Next, OutOfTurn, Step};
pub use layers::{Layers, Sender, Word};
pub use outcomes::Outcomes;
pub use rules::{By, Help, Holds, Predicate, Rule, Stage};
pub use table::{Derived, Event, Guard, GuardOn, Obligation, Row, State, SubState, Target};
pub use typed::{Capability, Move, Text, TypedApi, Typestate};

pub(crate) use read::{Location, list, read, text};

/// Enum of the packet types.
pub(crate) const PACKET_TYPE: &str = "PacketType";

/// Decision on a question that the protocol's documents leave open; rules and texts refer to it by its code.
#[derive(Clone, Debug, Deserialize)]
pub struct Decision {
    /// Code, such as `D29`.
    pub code: String,
    /// Short title.
    pub title: String,
    /// Paragraphs; those that begin with `- ` are list items.
    #[serde(default)]
    pub text: Vec<String>,
}

/// Content of all schema files.
#[derive(Clone, Debug)]
pub struct Model {
    /// Version of the protocol, such as `0.7`.
    pub version: String,
    /// All definitions, by name.
    pub defs: BTreeMap<String, Def>,
    /// Names of the packet roots, in the order of the packet type enum.
    pub packets: Vec<String>,
    /// All codes, in the order of the documentation.
    pub rules: Vec<Rule>,
    /// The state machine.
    pub fsm: Fsm,
    /// The tool boundary.
    pub gate: Gate,
    /// Decisions that texts refer to.
    pub decisions: Vec<Decision>,
    /// Declarations made by typify.
    pub(crate) declared: Declarations,
    /// Texts of the files, used to locate an emitter's mistakes.
    pub(crate) texts: crate::mistake::Texts,
}

impl Model {
    /// Builds the model of a linted set.
    ///
    /// # Errors
    /// Mistakes that the lint phase should have refused.
    pub fn build(set: &SchemaSet) -> Result<Self, Mistakes> {
        let mut defs = BTreeMap::new();
        for SchemaDefinition { file, pointer, name, json } in set.definitions() {
            defs.insert(name.to_owned(), def(&Location { file, pointer }, name, json)?);
        }
        let declared = Declarations::from_schemas(set)?;
        for def in defs.values_mut() {
            if let Kind::Enum(values) = &mut def.kind {
                for value in values {
                    value.name = declared.value(&def.name, &value.wire)?;
                }
            }
        }
        let mut packets = Vec::new();
        if let Some(Def { kind: Kind::Enum(variants), .. }) = defs.get(PACKET_TYPE) {
            packets.extend(variants.iter().map(|v| v.wire.clone()));
        }
        let file = |file| {
            let at = Location { file, pointer: String::new() };
            let json = set.file(file).ok_or_else(|| at.wrong("the file is missing"))?;
            Ok::<_, Mistake>((at, json))
        };
        let (fsm_at, fsm) = file(FSM_FILE)?;
        let (gate_at, gate) = file(GATE_FILE)?;
        let (decisions_at, decisions) = file(DECISIONS_FILE)?;
        let mut rules = Vec::new();
        for (name, key) in RULE_LISTS {
            let (at, json) = file(name)?;
            rules.extend(list::<Rule>(&at, json, key)?);
        }
        Ok(Self {
            version: text(&fsm_at, fsm, "version")?,
            defs,
            packets,
            rules,
            fsm: machine(&fsm_at, fsm)?,
            gate: read(&gate_at, gate)?,
            decisions: list(&decisions_at, decisions, "decisions")?,
            declared,
            texts: set.texts().clone(),
        })
    }

    /// Returns a definition, by name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn def(&self, name: &str) -> Result<&Def, Mistakes> {
        self.defs.get(name).ok_or_else(|| {
            Location { file: "", pointer: String::new() }.wrong(&format!("no definition `{name}`")).into()
        })
    }

    /// Returns the value of an enum, given its JSON name `wire`.
    ///
    /// # Errors
    /// An unknown enum or value.
    pub fn value(&self, of: &str, wire: &str) -> Result<&Variant, Mistakes> {
        let found = match &self.def(of)?.kind {
            Kind::Enum(values) => values.iter().find(|value| value.wire == wire),
            _ => None,
        };
        found.ok_or_else(|| bug(format!("`{of}` has no value `{wire}`")))
    }

    /// Returns the definition's object, if it is one.
    #[must_use]
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.defs.get(name).map(|def| &def.kind) {
            Some(Kind::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Returns the definition of a packet type's payload.
    #[must_use]
    pub fn payload_of(&self, packet: &str) -> Option<&str> {
        self.object(packet)?.field("payload")?.ty.reference()
    }
}

/// Builds the state machine, including every position that a legal log can reach.
pub(crate) fn machine(at: &Location<'_>, json: &Json) -> Result<Fsm, Mistake> {
    let mut fsm: Fsm = read(at, json)?;
    fsm.cells.places = fsm.places();
    Ok(fsm)
}

fn def(at: &Location<'_>, name: &str, json: &Json) -> Result<Def, Mistake> {
    Ok(Def {
        name: name.to_owned(),
        file: at.file.to_owned(),
        description: text(at, json, "description")?,
        kind: kind(at, json)?,
    })
}

fn kind(at: &Location<'_>, json: &Json) -> Result<Kind, Mistake> {
    if let Some(branches) = json.get("oneOf") {
        return one_of(at, branches.elements());
    }
    match json.get("type").and_then(Json::as_str) {
        None => Ok(Kind::Any),
        Some("object") if json.get("properties").is_some() => object(at, json).map(Kind::Object),
        Some("object") => Ok(Kind::FreeObject { min: size(json, "minProperties").unwrap_or(0) }),
        Some("string") => text_rule(at, json).map(Kind::Text),
        Some("integer") => Ok(Kind::Integer {
            min: json.get("minimum").and_then(Json::as_u64).unwrap_or(0),
            max: json
                .get("maximum")
                .and_then(Json::as_u64)
                .ok_or_else(|| at.join("maximum").wrong("an integer is expected here"))?,
        }),
        Some("number") => Ok(Kind::Number {
            min: json.get("minimum").and_then(Json::as_f64),
            max: json.get("maximum").and_then(Json::as_f64),
        }),
        Some(other) => Err(at.join("type").wrong(&format!("type `{other}` is not supported here"))),
    }
}

fn one_of(at: &Location<'_>, branches: &[Json]) -> Result<Kind, Mistake> {
    if branches.iter().all(|branch| branch.get("$ref").is_some()) {
        let names = branches.iter().map(|branch| reference(at, branch)).collect::<Result<_, _>>()?;
        return Ok(Kind::Union(names));
    }
    branches
        .iter()
        .map(|branch| match branch.get("enum").map(Json::strings).as_deref() {
            Some([wire]) => Ok(Variant {
                wire: (*wire).to_owned(),
                name: String::new(),
                description: text(at, branch, "description")?,
                stale_after: branch.get("x-omen-stale-after-seconds").and_then(Json::as_u64),
            }),
            _ => Err(at.join("oneOf").wrong("each branch is a one-value enum")),
        })
        .collect::<Result<_, _>>()
        .map(Kind::Enum)
}

fn reference(at: &Location<'_>, json: &Json) -> Result<String, Mistake> {
    referenced(at.file, &text(at, json, "$ref")?)
        .ok_or_else(|| at.join("$ref").wrong("this form of reference is not supported"))
}

fn size(json: &Json, key: &str) -> Option<usize> {
    json.get(key).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok())
}

fn text_rule(at: &Location<'_>, json: &Json) -> Result<TextRule, Mistake> {
    if let Some(source) = json.get("pattern").and_then(Json::as_str) {
        let pattern = Pattern::parse(source).map_err(|why| at.join("pattern").wrong(&why))?;
        return Ok(TextRule::Pattern { source: source.to_owned(), pattern });
    }
    if json.get("format").is_some() {
        return Ok(TextRule::DateTime);
    }
    let (min, max) = (size(json, "minLength"), size(json, "maxLength"));
    Ok(match (min, max) {
        (None, None) => TextRule::Plain,
        (min, max) => TextRule::Length { min: min.unwrap_or(0), max },
    })
}

fn object(at: &Location<'_>, json: &Json) -> Result<Object, Mistake> {
    let required = json.get("required").map(Json::strings).unwrap_or_default();
    let mut fields = Vec::new();
    let mut packet = None;
    for (name, property) in json.get("properties").map_or(&[][..], Json::members) {
        let at = at.join("properties").join(name);
        if let Some(tag) = property.get("properties").and_then(|p| p.get("packet_type")) {
            packet = tag.get("enum").map(Json::strings).and_then(|tags| tags.first().map(|t| (*t).to_owned()));
        }
        fields.push(Field {
            name: name.clone(),
            description: text(&at, property, "description")?,
            ty: ty(&at, property)?,
            required: required.contains(&name.as_str()),
            rules: rule_codes(property),
            example: property
                .get("examples")
                .and_then(|all| all.elements().first())
                .map(|json| json.to_value().to_string()),
        });
    }
    let conditionals = json
        .get("allOf")
        .map_or(&[][..], Json::elements)
        .iter()
        .enumerate()
        .map(|(i, json)| conditional(&at.join("allOf").join(i), json))
        .collect::<Result<_, _>>()?;
    let metadata = json
        .get("patternProperties")
        .and_then(|patterns| patterns.members().first())
        .map(|(pattern, schema)| {
            Ok((pattern.clone(), text(&at.join("patternProperties").join(pattern), schema, "description")?))
        })
        .transpose()?;
    Ok(Object { fields, conditionals, branches: branches::build(at, json)?, packet, metadata })
}

fn rule_codes(json: &Json) -> Vec<String> {
    json.get("x-omen-rules").map(Json::strings).unwrap_or_default().into_iter().map(str::to_owned).collect()
}

fn ty(at: &Location<'_>, json: &Json) -> Result<Ty, Mistake> {
    if json.get("$ref").is_some() {
        return reference(at, json).map(Ty::Ref);
    }
    match json.get("type") {
        Some(Json::Array(_)) => Ok(Ty::NullableText),
        Some(Json::String(name)) if name == "boolean" => Ok(Ty::Bool),
        Some(Json::String(name)) if name == "string" => Ok(Ty::PlainText),
        Some(Json::String(name)) if name == "array" => {
            let items = json.get("items").ok_or_else(|| at.wrong("an array needs `items`"))?;
            Ok(Ty::Array {
                item: if items.get("$ref").is_some() {
                    Item::Ref(reference(&at.join("items"), items)?)
                } else {
                    Item::PlainText
                },
                min: size(json, "minItems").unwrap_or(0),
                max: size(json, "maxItems"),
            })
        }
        _ => Err(at.wrong("this form of member is not supported")),
    }
}

fn conditional(at: &Location<'_>, json: &Json) -> Result<Conditional, Mistake> {
    let bad = || at.wrong("this form of conditional is not supported");
    let then = json.get("then").ok_or_else(bad)?;
    let (subject, test) =
        json.get("if").and_then(|c| c.get("properties")).and_then(|p| p.members().first()).ok_or_else(bad)?;
    let requires = then.get("required").map(Json::strings).and_then(|r| r.first().copied()).ok_or_else(bad)?;
    Ok(Conditional {
        description: text(at, json, "description")?,
        subject: subject.clone(),
        when: match test.get("enum") {
            Some(values) => When::OneOf(values.strings().into_iter().map(str::to_owned).collect()),
            None => When::Empty,
        },
        requires: requires.to_owned(),
        non_empty: then.get("properties").is_some(),
        rules: rule_codes(json),
    })
}
