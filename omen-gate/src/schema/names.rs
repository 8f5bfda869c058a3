//! Which keys of an object a schema names (D47): an argument that nobody described is refused, even where the
//! schema would let it pass.
//!
//! The *arguments themselves* are closed: each key has to stand in a `properties` that applies to them. Neither
//! `additionalProperties` nor `patternProperties` names one.
//!
//! An *object within them* is closed if a schema that applies to it has `properties` or `patternProperties`. Then
//! each key has to stand in such a `properties`, match such a pattern, or be described by `additionalProperties`
//! or `unevaluatedProperties` with a schema that demands something; `true` and `{}` describe nothing. An object of
//! whose members no schema says a word, or of which only `additionalProperties` speaks, is a free map: its keys
//! are data.
//!
//! A schema *applies* if it is reached by `$ref`, `allOf`, `dependentSchemas` of a key that is there, or if it is
//! a branch of `anyOf`, `oneOf` or `if` that the object is valid against, with its `then`, or else the `else`. These are
//! the rules by which JSON Schema 2019-09 says what `unevaluatedProperties` sees, for every dialect.
//!
//! What cannot be followed (references by anchor, dynamic ones, other base URIs, schemas that lead back to
//! themselves without going into the value) makes the schema unusable, and the tool with it.

mod build;

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use omen_types::suggest;
use serde_json::{Map, Value};

use super::{Document, Violation};
use crate::bounded;
use crate::json::below;

/// All schemas that a value can meet; the first is the whole.
#[derive(Debug)]
pub(super) struct Names {
    nodes: Vec<Node>,
}

/// A schema, by its place in [`Names`].
type Id = usize;

/// What one schema says of the members of a value.
#[derive(Debug, Default)]
struct Node {
    /// Whether it has `properties` or `patternProperties`.
    speaks: bool,
    properties: BTreeMap<String, Id>,
    patterns: Vec<(Validator, Id)>,
    /// `additionalProperties`: for what neither of the two above has.
    additional: Option<Rest>,
    /// `unevaluatedProperties`: for what no schema that applies has.
    unevaluated: Option<Rest>,
    /// Of the elements of an array, the first ones.
    first: Vec<Id>,
    /// Of the elements of an array, the others.
    others: Option<Id>,
    /// Of the elements of an array, those that are valid against it.
    contains: Option<(Validator, Id)>,
    /// Schemas for the same value.
    same: Vec<Same>,
    /// A schema for the same value that names nothing: `not`.
    not: Option<Id>,
}

/// A schema for all other members.
#[derive(Clone, Copy, Debug)]
struct Rest {
    id: Id,
    /// Whether it demands anything.
    demands: bool,
}

/// A schema that applies to the same value.
#[derive(Debug)]
enum Same {
    Always(Id),
    /// If the value is valid against it.
    Valid(Validator, Id),
    /// If the value is not valid.
    Invalid(Validator, Id),
    /// If the value has a key.
    Key(String, Id),
}

impl Same {
    fn id(&self) -> Id {
        match self {
            Self::Always(id) | Self::Valid(_, id) | Self::Invalid(_, id) | Self::Key(_, id) => *id,
        }
    }

    fn applies(&self, value: &Value) -> bool {
        match self {
            Self::Always(_) => true,
            Self::Valid(test, _) => test.is_valid(value),
            Self::Invalid(test, _) => !test.is_valid(value),
            Self::Key(key, _) => value.get(key).is_some(),
        }
    }
}

impl Names {
    pub(super) fn of(document: &Document) -> Result<Self, String> {
        build::build(document)
    }

    /// The keys of arguments that no schema names; at most so many.
    pub(super) fn unnamed(&self, args: &Value, most: usize) -> Vec<Violation> {
        let mut search = Search { names: self, most, found: Vec::new() };
        search.value(vec![0], args, "", true);
        search.found
    }
}

struct Search<'n> {
    names: &'n Names,
    most: usize,
    found: Vec<Violation>,
}

impl<'n> Search<'n> {
    fn value(&mut self, schemas: Vec<Id>, value: &Value, at: &str, outermost: bool) {
        if schemas.is_empty() || self.found.len() >= self.most {
            return;
        }
        match value {
            Value::Object(members) => {
                let applied = self.applied(schemas, value);
                self.object(&applied, members, at, outermost);
            }
            Value::Array(items) => {
                let applied = self.applied(schemas, value);
                for (index, item) in items.iter().enumerate() {
                    self.value(element(&applied, index, item), item, &format!("{at}/{index}"), false);
                }
            }
            _ => {}
        }
    }

    /// The schemas, and all that apply to the same value because of them.
    fn applied(&self, schemas: Vec<Id>, value: &Value) -> Vec<&'n Node> {
        let (mut todo, mut seen, mut applied) = (schemas, BTreeSet::new(), Vec::new());
        while let Some(id) = todo.pop() {
            let Some(node) = self.names.nodes.get(id) else { continue };
            if seen.insert(id) {
                applied.push(node);
                todo.extend(node.same.iter().filter(|same| same.applies(value)).map(Same::id));
            }
        }
        applied
    }

    fn object(&mut self, applied: &[&Node], members: &Map<String, Value>, at: &str, outermost: bool) {
        let closed = outermost || applied.iter().any(|node| node.speaks);
        for (key, value) in members {
            let member = member(applied, key);
            let named = member.by_name || (member.described && !outermost);
            if named || !closed {
                self.value(member.schemas, value, &below(at, key), false);
            } else if self.found.len() < self.most {
                let names = applied.iter().flat_map(|node| node.properties.keys()).map(String::as_str);
                let near = match suggest::nearest(key, names) {
                    Some(near) => format!("; did you mean `{}`?", bounded(near)),
                    None => String::new(),
                };
                let what = format!("the schema names no key `{}`{near}", bounded(key));
                self.found.push(Violation { at: below(at, key), what });
            }
        }
    }
}

/// What the schemas that apply to an object say of one member.
#[derive(Default)]
struct Member {
    schemas: Vec<Id>,
    /// By `properties`.
    by_name: bool,
    /// By a pattern, or by a schema for the rest that demands something.
    described: bool,
}

fn member(applied: &[&Node], key: &str) -> Member {
    let mut member = Member::default();
    for node in applied {
        let before = member.schemas.len();
        if let Some(id) = node.properties.get(key) {
            member.by_name = true;
            member.schemas.push(*id);
        }
        let key = Value::from(key);
        for (_, id) in node.patterns.iter().filter(|(pattern, _)| pattern.is_valid(&key)) {
            member.described = true;
            member.schemas.push(*id);
        }
        if let Some(rest) = node.additional
            && member.schemas.len() == before
        {
            member.described |= rest.demands;
            member.schemas.push(rest.id);
        }
    }
    if member.schemas.is_empty() {
        for rest in applied.iter().filter_map(|node| node.unevaluated) {
            member.described |= rest.demands;
            member.schemas.push(rest.id);
        }
    }
    member
}

/// The schemas of one element of an array.
fn element(applied: &[&Node], index: usize, item: &Value) -> Vec<Id> {
    let mut schemas = Vec::new();
    for node in applied {
        schemas.extend(node.first.get(index).copied().or(node.others));
        schemas.extend(node.contains.iter().filter(|(test, _)| test.is_valid(item)).map(|(_, id)| *id));
    }
    schemas
}
