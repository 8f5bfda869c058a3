//! From a schema's text to [`Names`].

use std::collections::BTreeMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::{Document, Id, Names, Node, Rest, Same};
use crate::bounded;
use crate::json::below;
use crate::schema::annotates;

pub(super) fn build(document: &Document) -> Result<Names, String> {
    let mut build = Build { document, ids: BTreeMap::new(), nodes: Vec::new(), todo: Vec::new() };
    build.id(String::new());
    while let Some((id, pointer)) = build.todo.pop() {
        let node = build.node(&pointer)?;
        if let Some(place) = build.nodes.get_mut(id) {
            *place = node;
        }
    }
    let names = Names { nodes: build.nodes };
    comes_to_an_end(&names)?;
    Ok(names)
}

struct Build<'d> {
    document: &'d Document,
    /// By JSON pointer.
    ids: BTreeMap<String, Id>,
    nodes: Vec<Node>,
    todo: Vec<(Id, String)>,
}

impl Build<'_> {
    /// The schema at a pointer, to be looked at if it was not yet.
    fn id(&mut self, pointer: String) -> Id {
        if let Some(id) = self.ids.get(&pointer) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.ids.insert(pointer.clone(), id);
        self.todo.push((id, pointer));
        id
    }

    fn node(&mut self, at: &str) -> Result<Node, String> {
        let document = self.document;
        let draft = document.draft;
        let Some(schema) = document.root.pointer(at) else {
            return Err(format!("`$ref` leads to `#{}`, where there is nothing", bounded(at)));
        };
        let mut node = Node::default();
        // `true` and `false` say nothing of members.
        let Value::Object(schema) = schema else { return Ok(node) };
        followable(schema, draft, at)?;
        if let Some(Value::String(reference)) = schema.get("$ref") {
            node.same.push(Same::Always(self.id(target(reference)?)));
            if draft <= Draft::Draft7 {
                // What stands beside a reference is not looked at in these dialects.
                return Ok(node);
            }
        }
        self.members(&mut node, schema, at)?;
        self.elements(&mut node, schema, at)?;
        self.same(&mut node, schema, at)?;
        Ok(node)
    }

    fn members(&mut self, node: &mut Node, schema: &Map<String, Value>, at: &str) -> Result<(), String> {
        for (key, place) in each(schema, "properties", at) {
            let id = self.id(place);
            node.properties.insert(key.clone(), id);
        }
        for (pattern, place) in each(schema, "patternProperties", at) {
            let test = self.document.pattern(pattern)?;
            node.patterns.push((test, self.id(place)));
        }
        node.speaks = schema.contains_key("properties") || schema.contains_key("patternProperties");
        node.additional = self.rest(schema, "additionalProperties", at);
        if self.document.draft >= Draft::Draft201909 {
            node.unevaluated = self.rest(schema, "unevaluatedProperties", at);
        }
        if schema.contains_key("propertyNames") {
            // It names nothing, but has to come to an end like all others.
            self.id(below(at, "propertyNames"));
        }
        Ok(())
    }

    fn rest(&mut self, schema: &Map<String, Value>, key: &str, at: &str) -> Option<Rest> {
        let demands = match schema.get(key)? {
            Value::Object(rest) => rest.keys().any(|key| !annotates(key)),
            _ => false,
        };
        Some(Rest { id: self.id(below(at, key)), demands })
    }

    fn elements(&mut self, node: &mut Node, schema: &Map<String, Value>, at: &str) -> Result<(), String> {
        let draft = self.document.draft;
        // In older dialects `items` is both: a list for the first elements, or one schema for all.
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
        node.others = rest.into_iter().find(|key| schema.contains_key(*key)).map(|key| self.id(below(at, key)));
        if draft >= Draft::Draft6 && schema.contains_key("contains") {
            let place = below(at, "contains");
            node.contains = Some((self.document.validator(&place)?, self.id(place)));
        }
        Ok(())
    }

    fn same(&mut self, node: &mut Node, schema: &Map<String, Value>, at: &str) -> Result<(), String> {
        let (document, draft) = (self.document, self.document.draft);
        for key in ["allOf", "anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..branches {
                let place = format!("{}/{index}", below(at, key));
                let same = match key {
                    "allOf" => Same::Always(self.id(place)),
                    _ => Same::Valid(document.validator(&place)?, self.id(place)),
                };
                node.same.push(same);
            }
        }
        if draft >= Draft::Draft7 && schema.contains_key("if") {
            let place = below(at, "if");
            node.same.push(Same::Valid(document.validator(&place)?, self.id(place.clone())));
            if schema.contains_key("then") {
                node.same.push(Same::Valid(document.validator(&place)?, self.id(below(at, "then"))));
            }
            if schema.contains_key("else") {
                node.same.push(Same::Invalid(document.validator(&place)?, self.id(below(at, "else"))));
            }
        }
        let dependent = if draft <= Draft::Draft7 { "dependencies" } else { "dependentSchemas" };
        for (key, place) in each(schema, dependent, at) {
            node.same.push(Same::Key(key.clone(), self.id(place)));
        }
        node.not = schema.contains_key("not").then(|| self.id(below(at, "not")));
        Ok(())
    }
}

/// The members of an object under a key, each with its JSON pointer.
fn each<'s>(schema: &'s Map<String, Value>, key: &str, at: &str) -> impl Iterator<Item = (&'s String, String)> {
    let at = below(at, key);
    let members = schema.get(key).and_then(Value::as_object);
    members.into_iter().flatten().map(move |(name, _)| (name, below(&at, name)))
}

/// The JSON pointer that a reference leads to: within the same document.
fn target(reference: &str) -> Result<String, String> {
    let local = |pointer: &&str| pointer.is_empty() || pointer.starts_with('/');
    let pointer = reference.strip_prefix('#').filter(local).and_then(unescaped);
    pointer.ok_or_else(|| format!("`$ref` to `{}` is not followed; only `#` and `#/…` are", bounded(reference)))
}

/// Takes `%41` back to `A`.
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

/// Refuses keywords after which nobody could say which schema applies without the whole machinery.
fn followable(schema: &Map<String, Value>, draft: Draft, at: &str) -> Result<(), String> {
    let place = if at.is_empty() { "the outermost schema".to_owned() } else { format!("`#{}`", bounded(at)) };
    match ["$dynamicRef", "$recursiveRef"].into_iter().find(|key| schema.contains_key(*key)) {
        Some(key) => Err(format!("`{key}` in {place} is not followed; write `$ref`")),
        None if schema.get(draft.id_keyword()).is_some_and(Value::is_string) => Err(format!(
            "`{}` in {place} changes what references mean; only the outermost may have one",
            draft.id_keyword()
        )),
        None => Ok(()),
    }
}

/// Refuses schemas that come back to themselves for the same value, or that apply very often to it: judging it
/// would take for ever, or as good as.
fn comes_to_an_end(names: &Names) -> Result<(), String> {
    // How often schemas apply because of one; `None` while that is being counted.
    let mut costs: BTreeMap<Id, Option<usize>> = BTreeMap::new();
    for root in 0..names.nodes.len() {
        let mut path = vec![(root, false)];
        while let Some((id, ready)) = path.pop() {
            let Some(node) = names.nodes.get(id) else { continue };
            let next = || node.same.iter().map(Same::id).chain(node.not);
            if ready {
                let cost = |id: Id| costs.get(&id).copied().flatten().unwrap_or(0);
                let cost = next().map(cost).fold(1, usize::saturating_add);
                if cost > MOST_APPLIED {
                    return Err(format!("its references multiply to more than {MOST_APPLIED} schemas for one value"));
                }
                costs.insert(id, Some(cost));
                continue;
            }
            match costs.get(&id) {
                Some(Some(_)) => continue,
                Some(None) => return Err("it leads back to itself without going into the value".to_owned()),
                None => {}
            }
            costs.insert(id, None);
            path.push((id, true));
            path.extend(next().map(|id| (id, false)));
        }
    }
    Ok(())
}

/// The most schemas that may apply to one value because of one.
const MOST_APPLIED: usize = 10_000;
