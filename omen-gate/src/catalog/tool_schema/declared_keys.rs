//! Keys that a schema names. An argument that the schema does not describe is refused, even where the schema would
//! allow it (D47).
//!
//! The *arguments object itself* is closed: each key must be listed in a `properties` that applies to it. Neither
//! `additionalProperties` nor `patternProperties` names one.
//!
//! A *nested object* is closed if a schema that applies to it has `properties` or `patternProperties`. Then each key
//! must be listed in such a `properties`, match such a pattern, or be described by `additionalProperties` or
//! `unevaluatedProperties` with a schema that constrains something; `true` and `{}` describe nothing. An object whose
//! members no schema mentions, or only `additionalProperties`, is a free map: its keys are data.
//!
//! A schema *applies* if it is reached by `$ref`, `allOf`, `dependentSchemas` of a present key, or if it is a branch of
//! `anyOf`, `oneOf` or `if` that the object is valid against, with its `then`, or else the `else`. By these rules JSON
//! Schema 2019-09 determines what `unevaluatedProperties` sees; they are used for every dialect here.
//!
//! Constructs that cannot be followed (anchors, dynamic references, other base URIs, schemas that recurse without
//! descending into the value) make the schema, and its tool, unusable.
//!
//! The same nodes show in advance what a schema costs: whether checking terminates, how much is compiled and how deep,
//! and how many steps a value takes.

mod bottom_up;
mod build;
mod effort;
mod ends;
mod extent;
mod node;

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

/// All schemas that a value can meet; the first is the root.
#[derive(Debug)]
pub(super) struct DeclaredKeys {
    nodes: Vec<SchemaNode>,
    /// Pointers of schemas yet to be compiled.
    places: BTreeMap<Id, String>,
    /// Validators of the schemas whose outcome decides whether others apply.
    tests: BTreeMap<Id, Validator>,
    /// Validators of the keys of `patternProperties`.
    patterns: BTreeMap<String, Validator>,
    /// Keys of every `properties`, collected on first use.
    declared: OnceLock<BTreeSet<String>>,
}

impl DeclaredKeys {
    /// Reads a schema. Nothing is compiled before termination is proven: [`DeclaredKeys::compile`] does that.
    pub(super) fn from_document(document: &Document) -> Result<Self, String> {
        let (nodes, places) = build::nodes(document)?;
        ends::comes_to_an_end(&nodes)?;
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

    /// Replaces tests that are references by their targets, so that each is compiled once; returns all tests.
    fn share_tests(&mut self) -> BTreeSet<Id> {
        let leads: Vec<_> = self.nodes.iter().map(|node| node.reference.filter(|_| node.only_refers)).collect();
        let end = |mut id: Id| {
            // Terminates: the nodes have no cycle.
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

    /// Whether some schema names a key anywhere: then the key is part of the tool's vocabulary, not data of a call.
    pub(super) fn declares(&self, key: &str) -> bool {
        let all = || self.nodes.iter().flat_map(|node| node.properties.keys().cloned()).collect();
        self.declared.get_or_init(all).contains(key)
    }

    /// Returns the keys of arguments that no schema names, at most `most`.
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

    /// Returns the given schemas and all that apply to the same value because of them.
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

    /// Returns the schemas of one array element.
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
    /// Listed in `properties`.
    by_name: bool,
    /// Matched by a pattern, or by a constraining schema for other members.
    described: bool,
}
