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
//!
//! The same nodes show what a schema costs before it is used: whether it comes to an end, how much is
//! compiled of it and how deep, and how many steps a value takes.

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

use super::document::{Document, Registered};
use super::violation::Violation;
use crate::base::bounded;
use crate::base::json::below;
use node::{Id, Node, Same};

pub(super) use effort::{Beyond, Effort};

/// All schemas that a value can meet; the first is the whole.
#[derive(Debug)]
pub(super) struct Names {
    nodes: Vec<Node>,
    /// Where those stand that are to be compiled yet.
    places: BTreeMap<Id, String>,
    /// Of the schemas whose being valid decides whether others apply, by their place.
    tests: BTreeMap<Id, Validator>,
    /// Of the keys of `patternProperties`.
    patterns: BTreeMap<String, Validator>,
    /// The keys of every `properties`, collected when they are asked for.
    declared: OnceLock<BTreeSet<String>>,
}

impl Names {
    /// Reads a schema. Nothing is compiled before it is known that the schema ends: [`Names::compile`] does
    /// that.
    pub(super) fn of(document: &Document) -> Result<Self, String> {
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

    /// Compiles what decides which schemas apply.
    pub(super) fn compile(mut self, registered: &Registered) -> Result<Self, String> {
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

    /// Lets references be judged by what they lead to, so that each is compiled once; gives all that are judged by.
    fn share_tests(&mut self) -> BTreeSet<Id> {
        let leads: Vec<_> = self.nodes.iter().map(|node| node.reference.filter(|_| node.only_refers)).collect();
        let end = |mut id: Id| {
            // There is no cycle, because it comes to an end.
            while let Some(Some(next)) = leads.get(id) {
                id = *next;
            }
            id
        };
        let mut all = BTreeSet::new();
        for node in &mut self.nodes {
            for test in node.same.iter_mut().filter_map(Same::test).chain(&mut node.contains) {
                test.by = end(test.by);
                all.insert(test.by);
            }
        }
        all
    }

    /// Whether some schema names a key, wherever that is: then the key is a word of the tool's, and not data of a call.
    pub(super) fn declares(&self, key: &str) -> bool {
        let all = || self.nodes.iter().flat_map(|node| node.properties.keys().cloned()).collect();
        self.declared.get_or_init(all).contains(key)
    }

    /// The keys of arguments that no schema names; at most so many.
    pub(super) fn unnamed(&self, args: &Value, most: usize) -> Vec<Violation> {
        let mut search = Search { names: self, most, found: Vec::new() };
        search.value(vec![0], args, "", true);
        search.found
    }

    fn valid(&self, by: Id, value: &Value) -> bool {
        self.tests.get(&by).is_some_and(|test| test.is_valid(value))
    }

    fn applies(&self, same: &Same, value: &Value) -> bool {
        match same {
            Same::Always(_) => true,
            Same::Valid(test) => self.valid(test.by, value),
            Same::Invalid(test) => !self.valid(test.by, value),
            Same::Key(key, _) => value.get(key).is_some(),
        }
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
                    self.value(self.element(&applied, index, item), item, &format!("{at}/{index}"), false);
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
                if node.looks_within() {
                    applied.push(node);
                }
                todo.extend(node.same.iter().filter(|same| self.names.applies(same, value)).map(Same::id));
            }
        }
        applied
    }

    fn object(&mut self, applied: &[&Node], members: &Map<String, Value>, at: &str, outermost: bool) {
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

    fn member(&self, applied: &[&Node], key: &str) -> Member {
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

    /// The schemas of one element of an array.
    fn element(&self, applied: &[&Node], index: usize, item: &Value) -> Vec<Id> {
        let mut schemas = Vec::new();
        for node in applied {
            schemas.extend(node.first.get(index).copied().or(node.others));
            schemas.extend(node.contains.filter(|test| self.names.valid(test.by, item)).map(|test| test.id));
        }
        schemas
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
