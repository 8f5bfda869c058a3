//! Keys that a schema names. An argument that the schema does not describe is refused, even if the schema would allow it (D47).
//!
//! The *arguments object itself* is closed: each key must be listed in a `properties` that applies to it. Neither
//! `additionalProperties` nor `patternProperties` names a key.
//!
//! A *nested object* is closed if a schema that applies to it has `properties` or `patternProperties`. Then each key
//! must be listed in such a `properties`, match such a pattern, or be described by `additionalProperties` or
//! `unevaluatedProperties` with a schema that constrains something; `true` and `{}` describe nothing. An object whose
//! members are mentioned by no schema, or only by `additionalProperties`, is a free-form map: its keys are data.
//!
//! A schema *applies* if it is reached by `$ref`, by `allOf`, by `dependentSchemas` for a present key, or as a branch of `anyOf`,
//! `oneOf` or `if` against which the object is valid, together with its `then`, or otherwise the `else`. JSON Schema 2019-09 uses
//! these rules to determine what `unevaluatedProperties` sees; here they apply to every dialect.
//!
//! Constructs that cannot be followed (anchors, dynamic references, other base URIs, schemas that recurse without
//! descending into the value) make the schema, and thus its tool, unusable.
//!
//! The same nodes show in advance what a schema costs: whether checking terminates, how much is compiled and how deep,
//! and how many steps a value takes.

mod bottom_up;
mod build;
mod effort;
mod extent;
mod node;
mod termination;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use jsonschema::Validator;
use omen_types::suggest;
use serde_json::{Map, Value};

use super::document::{Document, RegisteredSchema};
use super::violation::Violation;
use crate::base::bounded;
use crate::base::json::below;
use node::{Id, InPlaceSchema, SchemaNode};

pub(super) use effort::{Beyond, Effort};

/// All schemas that a value can encounter; the first is the root.
#[derive(Debug)]
pub(super) struct DeclaredKeys {
    nodes: Vec<SchemaNode>,
    /// Pointers to schemas not yet compiled.
    places: BTreeMap<Id, String>,
    /// Validators of schemas whose result decides whether others apply.
    tests: BTreeMap<Id, Validator>,
    /// Validators for the keys of `patternProperties`.
    patterns: BTreeMap<String, Validator>,
    /// Keys of every `properties`, collected on first use.
    declared: OnceLock<BTreeSet<String>>,
}

impl DeclaredKeys {
    /// Reads a schema. Nothing is compiled until termination is proven; [`DeclaredKeys::compile`] compiles it.
    pub(super) fn from_document(document: &Document) -> Result<Self, String> {
        let (nodes, places) = build::nodes(document)?;
        termination::comes_to_an_end(&nodes)?;
        let mut names = Self {
            nodes,
            places: BTreeMap::new(),
            tests: BTreeMap::new(),
            patterns: BTreeMap::new(),
            declared: OnceLock::new(),
        };
        let tests = names.share_tests();
        extent::fits(&names.nodes, &tests)?;
        names.places = places.into_iter().enumerate().filter(|(id, _)| tests.contains(id)).collect();
        Ok(names)
    }

    /// Compiles the validators that decide which schemas apply.
    pub(super) fn compile(mut self, registered: &RegisteredSchema) -> Result<Self, String> {
        for (id, place) in std::mem::take(&mut self.places) {
            self.tests.insert(id, registered.validator(&place)?);
        }
        for (pattern, ..) in self.nodes.iter().flat_map(|node| &node.patterns) {
            if !self.patterns.contains_key(pattern) {
                self.patterns.insert(pattern.clone(), registered.pattern(pattern)?);
            }
        }
        Ok(self)
    }

    /// Replaces tests that are references by their targets, so that each is compiled once, and returns all tests.
    fn share_tests(&mut self) -> BTreeSet<Id> {
        let leads: Vec<_> = self.nodes.iter().map(|node| node.reference.filter(|_| node.only_refers)).collect();
        let end = |mut id: Id| {
            // Terminates because the nodes have no cycle.
            while let Some(Some(next)) = leads.get(id) {
                id = *next;
            }
            id
        };
        let mut all = BTreeSet::new();
        for node in &mut self.nodes {
            for test in node.same.iter_mut().filter_map(InPlaceSchema::test).chain(&mut node.contains) {
                test.by = end(test.by);
                all.insert(test.by);
            }
        }
        all
    }

    /// Returns whether some schema names a key anywhere. Such a key is part of the tool's vocabulary, not data of a call.
    pub(super) fn declares(&self, key: &str) -> bool {
        let all = || self.nodes.iter().flat_map(|node| node.properties.keys().cloned()).collect();
        self.declared.get_or_init(all).contains(key)
    }

    /// Returns at most `most` keys of the arguments that no schema names.
    pub(super) fn unnamed(&self, args: &Value, most: usize) -> Vec<Violation> {
        let mut search = Search { names: self, most, found: Vec::new() };
        search.value(vec![0], args, "", true);
        search.found
    }

    fn valid(&self, by: Id, value: &Value) -> bool {
        self.tests.get(&by).is_some_and(|test| test.is_valid(value))
    }

    fn applies(&self, same: &InPlaceSchema, value: &Value) -> bool {
        match same {
            InPlaceSchema::Always(_) => true,
            InPlaceSchema::Valid(test) => self.valid(test.by, value),
            InPlaceSchema::Invalid(test) => !self.valid(test.by, value),
            InPlaceSchema::Key(key, _) => value.get(key).is_some(),
        }
    }
}

struct Search<'n> {
    names: &'n DeclaredKeys,
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
                    self.value(self.element(&applied, index, item), item, &format!("{at}/{index}"), false);
                }
            }
            _ => {}
        }
    }

    /// Returns the given schemas and all others that apply to the same value because of them.
    fn applied(&self, schemas: Vec<Id>, value: &Value) -> Vec<&'n SchemaNode> {
        let (mut todo, mut seen, mut applied) = (schemas, BTreeSet::new(), Vec::new());
        while let Some(id) = todo.pop() {
            let Some(node) = self.names.nodes.get(id) else { continue };
            if seen.insert(id) {
                if node.looks_within() {
                    applied.push(node);
                }
                todo.extend(node.same.iter().filter(|same| self.names.applies(same, value)).map(InPlaceSchema::id));
            }
        }
        applied
    }

    fn object(&mut self, applied: &[&SchemaNode], members: &Map<String, Value>, at: &str, outermost: bool) {
        let closed = outermost || applied.iter().any(|node| node.speaks);
        for (key, value) in members {
            let member = self.member(applied, key);
            let named = member.by_name || (member.described && !outermost);
            if named || !closed {
                self.value(member.schemas, value, &below(at, key), false);
            } else if self.found.len() < self.most {
                let names = applied.iter().flat_map(|node| node.properties.keys()).map(String::as_str);
                let near = match suggest::nearest(key, names) {
                    Some(near) => format!("; did you mean `{}`?", bounded(near)),
                    None => String::new(),
                };
                let what = format!("unknown field `{}`{near}", bounded(key));
                self.found.push(Violation { at: below(at, key), what, unquoted: "unknown field".to_owned() });
            }
        }
    }

    fn member(&self, applied: &[&SchemaNode], key: &str) -> Member {
        let mut member = Member::default();
        for node in applied {
            let before = member.schemas.len();
            if let Some(id) = node.properties.get(key) {
                member.by_name = true;
                member.schemas.push(*id);
            }
            let text = Value::from(key);
            let matches = |pattern: &String| self.names.patterns.get(pattern).is_some_and(|test| test.is_valid(&text));
            for (_, _, id) in node.patterns.iter().filter(|(pattern, ..)| matches(pattern)) {
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

    fn element(&self, applied: &[&SchemaNode], index: usize, item: &Value) -> Vec<Id> {
        let mut schemas = Vec::new();
        for node in applied {
            schemas.extend(node.first.get(index).copied().or(node.others));
            schemas.extend(node.contains.filter(|test| self.names.valid(test.by, item)).map(|test| test.id));
        }
        schemas
    }
}

/// Coverage of one member by the schemas that apply to its object.
#[derive(Default)]
struct Member {
    schemas: Vec<Id>,
    /// Whether the member is listed in `properties`.
    by_name: bool,
    /// Whether the member matches a pattern, or a constraining schema for other members.
    described: bool,
}
