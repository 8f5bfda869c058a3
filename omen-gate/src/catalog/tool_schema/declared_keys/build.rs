//! Conversion of a schema's text into the [`SchemaNode`]s of [`DeclaredKeys`](super::DeclaredKeys).

use std::collections::BTreeMap;

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use super::node::{ConditionalSchema, Id, InPlaceSchema, MatchComplexity, RestSchema, SchemaNode, SchemaSize};
use crate::base::bounded;
use crate::base::json::below;
use crate::catalog::tool_schema::document::{Document, LARGEST, PATTERN_SIZE, annotates};

/// Returns all reachable schemas and their pointers. Nothing is compiled yet: the nodes decide whether that is possible.
pub(super) fn nodes(document: &Document) -> Result<(Vec<SchemaNode>, Vec<String>), String> {
    let mut build = Build {
        document,
        ids: BTreeMap::new(),
        nodes: Vec::new(),
        todo: Vec::new(),
        room: LONGEST_PLACES,
        full: false,
    };
    build.id(String::new());
    while let Some((id, pointer)) = build.todo.pop() {
        let node = build.node(&pointer)?;
        if build.full {
            return Err(format!(
                "the JSON pointers to its schemas exceed {LONGEST_PLACES} bytes in total; shorten the keys, or nest less"
            ));
        }
        if let Some(place) = build.nodes.get_mut(id) {
            *place = node;
        }
    }
    let mut places = vec![String::new(); build.nodes.len()];
    for (pointer, id) in build.ids {
        if let Some(place) = places.get_mut(id) {
            *place = pointer;
        }
    }
    Ok((build.nodes, places))
}

struct Build<'d> {
    document: &'d Document,
    /// Ids by JSON pointer.
    ids: BTreeMap<String, Id>,
    nodes: Vec<SchemaNode>,
    todo: Vec<(Id, String)>,
    /// Remaining total length of pointers: each is stored whole, and a long key is repeated in all pointers below it.
    room: usize,
    /// Whether the total length was exceeded.
    full: bool,
}

impl Build<'_> {
    /// Returns the id of the schema at a pointer, and queues the schema if it is new.
    fn id(&mut self, pointer: String) -> Id {
        if let Some(id) = self.ids.get(&pointer) {
            return *id;
        }
        let Some(room) = self.room.checked_sub(pointer.len()) else {
            // The schema will be refused, so any id will do.
            self.full = true;
            return 0;
        };
        self.room = room;
        let id = self.nodes.len();
        self.nodes.push(SchemaNode::default());
        self.ids.insert(pointer.clone(), id);
        self.todo.push((id, pointer));
        id
    }

    fn node(&mut self, at: &str) -> Result<SchemaNode, String> {
        let document = self.document;
        let draft = document.draft;
        let Some(schema) = document.root.pointer(at) else {
            return Err(format!("`$ref` to `#{}` does not resolve", bounded(at)));
        };
        let mut node = SchemaNode::default();
        // `true` and `false` do not mention members.
        let Value::Object(schema) = schema else { return Ok(node) };
        followable(schema, draft, at)?;
        node.weight = weight(schema, at);
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let id = self.id(target(reference)?);
            node.same.push(InPlaceSchema::Always(id));
            node.reference = Some(id);
            node.only_refers = draft <= Draft::Draft7 || schema.len() == 1;
            if draft <= Draft::Draft7 {
                // These dialects ignore keywords next to a reference.
                return Ok(node);
            }
        }
        self.members(&mut node, schema, at);
        self.elements(&mut node, schema, at);
        self.same(&mut node, schema, at);
        Ok(node)
    }

    fn members(&mut self, node: &mut SchemaNode, schema: &Map<String, Value>, at: &str) {
        for (key, place) in each(schema, "properties", at) {
            let id = self.id(place);
            node.properties.insert(key.clone(), id);
        }
        for (pattern, place) in each(schema, "patternProperties", at) {
            let id = self.id(place);
            node.patterns.push((pattern.clone(), kind(pattern), id));
        }
        node.speaks = schema.contains_key("properties") || schema.contains_key("patternProperties");
        node.additional = self.rest(schema, "additionalProperties", at);
        if self.document.draft >= Draft::Draft201909 {
            node.unevaluated = self.rest(schema, "unevaluatedProperties", at);
        }
        let keys = schema.contains_key("propertyNames");
        node.silent.keys = keys.then(|| self.id(below(at, "propertyNames")));
    }

    fn rest(&mut self, schema: &Map<String, Value>, key: &str, at: &str) -> Option<RestSchema> {
        let demands = match schema.get(key)? {
            Value::Object(rest) => rest.keys().any(|key| !annotates(key)),
            _ => false,
        };
        Some(RestSchema { id: self.id(below(at, key)), demands })
    }

    fn elements(&mut self, node: &mut SchemaNode, schema: &Map<String, Value>, at: &str) {
        let draft = self.document.draft;
        // In older dialects, `items` is either a list for the first elements or one schema for all elements.
        let (first, others) = match schema.get("items") {
            _ if draft >= Draft::Draft202012 => (Some("prefixItems"), "items"),
            Some(Value::Array(_)) => (Some("items"), "additionalItems"),
            _ => (None, "items"),
        };
        if let Some(key) = first
            && let Some(Value::Array(items)) = schema.get(key)
        {
            node.first = (0..items.len()).map(|index| self.id(format!("{}/{index}", below(at, key)))).collect();
        }
        let modern = draft >= Draft::Draft201909;
        let rest = [others, "unevaluatedItems"].into_iter().take(if modern { 2 } else { 1 });
        let key = rest.into_iter().find(|key| schema.contains_key(*key));
        node.others = key.map(|key| self.id(below(at, key)));
        let beside = ["additionalItems", "unevaluatedItems"];
        let beside = beside.into_iter().filter(|beside| schema.contains_key(*beside) && Some(*beside) != key);
        node.silent.elements = beside.map(|key| self.id(below(at, key))).collect();
        if draft >= Draft::Draft6 && schema.contains_key("contains") {
            let id = self.id(below(at, "contains"));
            node.contains = Some(ConditionalSchema { by: id, id });
        }
    }

    fn same(&mut self, node: &mut SchemaNode, schema: &Map<String, Value>, at: &str) {
        let draft = self.document.draft;
        for key in ["allOf", "anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..branches {
                let id = self.id(format!("{}/{index}", below(at, key)));
                node.same.push(match key {
                    "allOf" => InPlaceSchema::Always(id),
                    _ => InPlaceSchema::Valid(ConditionalSchema { by: id, id }),
                });
            }
        }
        if draft >= Draft::Draft7 && schema.contains_key("if") {
            let by = self.id(below(at, "if"));
            node.same.push(InPlaceSchema::Valid(ConditionalSchema { by, id: by }));
            if schema.contains_key("then") {
                node.same.push(InPlaceSchema::Valid(ConditionalSchema { by, id: self.id(below(at, "then")) }));
            }
            if schema.contains_key("else") {
                node.same.push(InPlaceSchema::Invalid(ConditionalSchema { by, id: self.id(below(at, "else")) }));
            }
        }
        let dependent = if draft <= Draft::Draft7 { "dependencies" } else { "dependentSchemas" };
        for (key, place) in each(schema, dependent, at) {
            node.same.push(InPlaceSchema::Key(key.clone(), self.id(place)));
        }
        if draft > Draft::Draft7 {
            // These dialects still check values against `dependencies`.
            node.silent.same = each(schema, "dependencies", at).map(|(_, place)| self.id(place)).collect();
        }
        node.silent.same.extend(schema.contains_key("not").then(|| self.id(below(at, "not"))));
    }
}

/// Iterates over the members of an object-valued keyword, with their JSON pointers.
fn each<'s>(schema: &'s Map<String, Value>, key: &str, at: &str) -> impl Iterator<Item = (&'s String, String)> {
    let at = below(at, key);
    let members = schema.get(key).and_then(Value::as_object);
    members.into_iter().flatten().map(move |(name, _)| (name, below(&at, name)))
}

/// Returns the JSON pointer of a reference's target in the same document.
fn target(reference: &str) -> Result<String, String> {
    let local = |pointer: &&str| pointer.is_empty() || pointer.starts_with('/');
    let pointer = reference.strip_prefix('#').filter(local).and_then(unescaped);
    pointer.ok_or_else(|| format!("unsupported `$ref` to `{}`; only `#` and `#/…` are supported", bounded(reference)))
}

/// Decodes percent-encoding, e.g. `%41` to `A`.
fn unescaped(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn weight(schema: &Map<String, Value>, at: &str) -> SchemaSize {
    let (mut bytes, mut demands) = (at.len(), 0_usize);
    for (key, value) in schema {
        let text = match value {
            // The contents are counted separately.
            Value::Object(members) if holds_schemas(key) => members.keys().map(String::len).sum(),
            Value::Array(items) if holds_schemas(key) => items.len(),
            _ if holds_schemas(key) => 0,
            value => value.to_string().len(),
        };
        bytes = bytes.saturating_add(key.len()).saturating_add(text);
        if !annotates(key) {
            demands = demands.saturating_add(text);
        }
    }
    SchemaSize {
        bytes,
        demands,
        pattern: schema.get("pattern").and_then(Value::as_str).map(kind),
        unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
        unevaluated: ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| schema.contains_key(*key)),
    }
}

/// Returns whether the value of a keyword is a schema, or a list or an object of schemas.
fn holds_schemas(keyword: &str) -> bool {
    matches!(
        keyword,
        "$defs"
            | "definitions"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "dependentSchemas"
            | "dependencies"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
    )
}

/// Returns the complexity of a pattern. Patterns that the linear engine rejects have look-around or back-references.
fn kind(pattern: &str) -> MatchComplexity {
    match regex::RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build() {
        Ok(_) => MatchComplexity::Linear,
        Err(_) => MatchComplexity::GoesBack,
    }
}

/// Refuses keywords that make it infeasible to determine which schemas apply.
fn followable(schema: &Map<String, Value>, draft: Draft, at: &str) -> Result<(), String> {
    let place = if at.is_empty() { "the root schema".to_owned() } else { format!("`#{}`", bounded(at)) };
    match ["$dynamicRef", "$recursiveRef"].into_iter().find(|key| schema.contains_key(*key)) {
        Some(key) => Err(format!("unsupported `{key}` in {place}; write `$ref`")),
        None if !at.is_empty() && draft.detect(&json!({ "$schema": schema.get("$schema") })) != draft => {
            Err(format!("`$schema` in {place} names another dialect; only the root schema may set the dialect"))
        }
        None if schema.get(draft.id_keyword()).is_some_and(Value::is_string) => Err(format!(
            "`{}` in {place} changes the base of references; only the root schema may have it",
            draft.id_keyword()
        )),
        None => Ok(()),
    }
}

/// Maximum length of all pointers together in bytes.
const LONGEST_PLACES: usize = 16 * LARGEST;
