//! Every constraint of the schemas, one by one: forbidden values are refused at their position, and allowed ones are accepted.
//!
//! The schemas are walked in parallel with packets of the examples. So a new member in a schema is tested without a line of Rust,
//! and a member that no example has is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use omen_types::Packet;
use serde_json::{Value, json};

static FILES: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let schemas = omen_schema::FILES.iter().filter(|(path, _)| path.ends_with(".schema.json"));
    schemas.map(|(path, text)| (*path, serde_json::from_str(text).unwrap())).collect()
});

/// A node of a schema file, and the member of a schema that refers to it.
#[derive(Clone)]
struct Node {
    file: &'static str,
    at: String,
    schema: &'static Value,
    /// Position of that member: a shared definition is tested at each member that refers to it.
    site: String,
}

impl Node {
    fn root(file: &'static str) -> Self {
        Self { file, at: String::new(), schema: &FILES[file], site: file.to_owned() }
    }

    fn child(&self, path: &str) -> Self {
        let at = format!("{}{path}", self.at);
        let schema = self.schema.pointer(path).unwrap_or_else(|| panic!("{}#{at}", self.file));
        Self { file: self.file, at, schema, site: self.site.clone() }
    }

    fn member(&self, name: &str) -> Self {
        let child = self.child(&format!("/properties/{name}"));
        Self { site: format!("{}#{}", child.file, child.at), ..child }
    }

    /// Returns the definition that the node refers to.
    fn referent(&self) -> Option<Self> {
        let (path, pointer) = match self.schema.get("$ref")?.as_str()?.split_once('#') {
            Some((path, pointer)) => (path.to_owned(), pointer.to_owned()),
            None => (self.schema["$ref"].as_str()?.to_owned(), String::new()),
        };
        let name = path.rsplit('/').next()?;
        let file = FILES.keys().copied().find(|file| !name.is_empty() && file.rsplit('/').next() == Some(name));
        let root = Self::root(file.unwrap_or(self.file));
        let schema = root.schema.pointer(&pointer)?;
        // Header and envelope are the same in every packet, and tested once.
        let site = if pointer.is_empty() { root.site.clone() } else { self.site.clone() };
        Some(Self { at: pointer, schema, site, ..root })
    }

    fn key(&self, keyword: &str) -> String {
        format!("{} {}#{}/{keyword}", self.site, self.file, self.at)
    }

    fn names(&self, keyword: &str) -> Vec<String> {
        self.schema[keyword].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the values of an enumeration.
    fn values(&self) -> Option<Vec<Value>> {
        let variants = self.schema.get("oneOf")?.as_array()?;
        variants.iter().map(|variant| variant["enum"].get(0).cloned()).collect()
    }

    /// Returns the JSON types that the node accepts.
    fn types(&self) -> Vec<String> {
        if let Some(to) = self.referent() {
            return to.types();
        }
        if let Some(variants) = self.schema["oneOf"].as_array() {
            return (0..variants.len()).flat_map(|index| self.child(&format!("/oneOf/{index}")).types()).collect();
        }
        self.schema["type"].as_str().map(str::to_owned).into_iter().chain(self.names("type")).collect()
    }
}

/// A packet, and the constraints that were tested so far.
struct Walk<'s> {
    packet: Value,
    shown: &'s mut BTreeSet<String>,
}

/// Returns a value of each JSON type.
fn samples() -> [(&'static str, Value); 7] {
    [
        ("null", Value::Null),
        ("boolean", json!(true)),
        ("integer", json!(1)),
        ("number", json!(1.5)),
        ("string", json!("x")),
        ("array", json!([])),
        ("object", json!({})),
    ]
}

impl Walk<'_> {
    /// Returns the positions of the errors after replacing a value of the packet.
    fn errors(&self, pointer: &str, value: Value) -> Vec<String> {
        let mut packet = self.packet.clone();
        *packet.pointer_mut(pointer).unwrap() = value;
        match packet.to_string().parse::<Packet>() {
            Ok(_) => Vec::new(),
            Err(rejected) => {
                rejected.errors.iter().for_each(crate::packets::says_what_to_do);
                rejected.errors.iter().filter_map(|error| error.pointer.clone()).collect()
            }
        }
    }

    fn refused_at(&self, pointer: &str, value: Value, place: &str) {
        let errors = self.errors(pointer, value.clone());
        assert!(
            errors.iter().any(|error| error == place),
            "{value} at `{pointer}` has no error at `{place}`: {errors:?}"
        );
    }

    fn refused(&self, pointer: &str, value: Value) {
        self.refused_at(pointer, value, pointer);
    }

    /// Checks that a value is accepted at its position. A conditional may require more elsewhere.
    fn taken(&self, pointer: &str, value: Value) {
        let errors = self.errors(pointer, value.clone());
        assert!(errors.iter().all(|error| error != pointer), "{value} at `{pointer}`: {errors:?}");
    }

    fn first(&mut self, node: &Node, keyword: &str) -> bool {
        node.schema.get(keyword).is_some() && self.shown.insert(node.key(keyword))
    }

    fn visit(&mut self, node: &Node, pointer: &str, elsewhere: &[String]) {
        if let Some(to) = node.referent() {
            self.visit(&to, pointer, elsewhere);
        }
        self.types(node, pointer, elsewhere);
        self.scalars(node, pointer);
        self.arrays(node, pointer);
        self.objects(node, pointer);
        self.unions(node, pointer);
        for name in node.schema["properties"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            let inner = format!("{pointer}/{name}");
            if self.packet.pointer(&inner).is_some() {
                self.visit(&node.member(name), &inner, &[]);
            }
        }
    }

    fn types(&mut self, node: &Node, pointer: &str, elsewhere: &[String]) {
        if !self.first(node, "type") {
            return;
        }
        let mut allowed = [node.types(), elsewhere.to_vec()].concat();
        if allowed.iter().any(|name| name == "number") {
            allowed.push("integer".to_owned());
        }
        for (name, value) in samples() {
            if !allowed.iter().any(|allowed| allowed == name) {
                self.refused(pointer, value);
            }
        }
    }

    fn scalars(&mut self, node: &Node, pointer: &str) {
        if self.first(node, "enum") {
            self.taken(pointer, node.schema["enum"][0].clone());
            self.refused(pointer, json!("ZZZ"));
        }
        if self.first(node, "pattern") {
            let text = self.packet.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
            self.taken(pointer, json!(format!("{text}Az09_-")));
            let (prefix, name) = text.split_once('_').unwrap();
            for wrong in
                [name, "", &format!("{text}\n"), &format!("{text} "), &format!("{prefix}_"), &format!(" {text}")]
            {
                self.refused(pointer, json!(wrong));
            }
        }
        if self.first(node, "format") {
            self.taken(pointer, json!("2026-03-01T10:00:00+01:00"));
            for wrong in ["2026-03-01T10:00:00", "2026-03-01", "yesterday", ""] {
                self.refused(pointer, json!(wrong));
            }
        }
        if self.first(node, "minLength") {
            let length = usize::try_from(node.schema["minLength"].as_u64().unwrap()).unwrap();
            self.taken(pointer, json!("x".repeat(length)));
            self.refused(pointer, json!("x".repeat(length - 1)));
        }
        for (keyword, step) in [("minimum", -1), ("maximum", 1)] {
            if self.first(node, keyword) {
                let bound = node.schema[keyword].as_i64().unwrap();
                self.taken(pointer, json!(bound));
                self.refused(pointer, json!(bound + step));
            }
        }
    }

    fn arrays(&mut self, node: &Node, pointer: &str) {
        let Some(Value::Array(elements)) = self.packet.pointer(pointer).cloned() else { return };
        let Some(element) = elements.first() else { return };
        if node.schema.get("items").is_none() {
            return;
        }
        for (keyword, step) in [("minItems", -1), ("maxItems", 1)] {
            if self.first(node, keyword) {
                let bound = node.schema[keyword].as_i64().unwrap();
                let of = |length: i64| Value::Array(vec![element.clone(); usize::try_from(length).unwrap()]);
                self.taken(pointer, of(bound));
                self.refused(pointer, of(bound + step));
            }
        }
        self.visit(&node.child("/items"), &format!("{pointer}/0"), &[]);
    }

    fn objects(&mut self, node: &Node, pointer: &str) {
        let Some(Value::Object(members)) = self.packet.pointer(pointer).cloned() else { return };
        let without = |name: &str| {
            let mut members = members.clone();
            members.remove(name);
            Value::Object(members)
        };
        let mut with = members.clone();
        with.insert("zzz".to_owned(), Value::Null);
        if self.first(node, "additionalProperties") {
            if node.schema["additionalProperties"] == json!(false) {
                self.refused_at(pointer, Value::Object(with), &format!("{pointer}/zzz"));
            } else {
                self.taken(pointer, Value::Object(with));
            }
        }
        if self.first(node, "minProperties") {
            self.refused(pointer, json!({}));
        }
        let required = node.names("required");
        if self.first(node, "required") {
            for name in &required {
                self.refused(pointer, without(name));
            }
        }
        let conditionals: Vec<Value> = node.schema["allOf"].as_array().cloned().unwrap_or_default();
        let asked: Vec<_> =
            conditionals.iter().flat_map(|each| each["then"]["required"].as_array().unwrap().clone()).collect();
        for name in node.schema["properties"].as_object().into_iter().flat_map(serde_json::Map::keys) {
            let optional = !required.contains(name) && !asked.contains(&json!(name));
            // A reference's own `properties` narrow those of its target.
            let own = node.schema.get("$ref").is_none();
            if own
                && optional
                && members.contains_key(name)
                && self.shown.insert(node.key(&format!("properties/{name}")))
            {
                self.taken(pointer, without(name));
            }
        }
        for (index, each) in conditionals.iter().enumerate() {
            let key = node.key(&format!("allOf/{index}"));
            if self.shown.contains(&key) {
                continue;
            }
            let name = each["then"]["required"][0].as_str().unwrap();
            // Only a packet that meets the condition shows its requirements.
            if members.contains_key(name) && self.errors(pointer, without(name)).iter().any(|error| error == pointer) {
                self.shown.insert(key);
            }
        }
    }

    fn unions(&mut self, node: &Node, pointer: &str) {
        if let Some(values) = node.values() {
            if self.first(node, "oneOf") {
                values.iter().for_each(|value| self.taken(pointer, value.clone()));
                self.refused(pointer, json!("ZZZ"));
                samples().into_iter().filter(|(name, _)| *name != "string").for_each(|(_, value)| {
                    self.refused(pointer, value);
                });
            }
            return;
        }
        let Some(variants) = node.schema.get("oneOf").and_then(Value::as_array) else { return };
        let variants: Vec<_> = (0..variants.len()).map(|index| node.child(&format!("/oneOf/{index}"))).collect();
        if self.first(node, "oneOf") {
            [Value::Null, json!(true), json!([])].into_iter().for_each(|value| self.refused(pointer, value));
        }
        let value = self.packet.pointer(pointer).unwrap();
        let of_value = |name: &String| match value {
            Value::Number(_) => name == "number" || name == "integer",
            Value::String(_) => name == "string",
            _ => name == "object",
        };
        let Some(chosen) = variants.iter().position(|variant| variant.types().iter().any(of_value)) else { return };
        let others = variants.iter().enumerate().filter(|(index, _)| *index != chosen);
        let elsewhere: Vec<_> = others.flat_map(|(_, variant)| variant.types()).collect();
        // A text may also be refused by an alternative that is a list of values.
        let listed = |variant: &Node| variant.referent().is_some_and(|to| to.values().is_some());
        if listed(&variants[chosen]) {
            self.shown.insert(variants[chosen].referent().unwrap().key("oneOf"));
            self.refused(pointer, json!("ZZZ"));
        } else {
            self.visit(&variants[chosen], pointer, &elsewhere);
        }
    }
}

/// Collects all constraints below a node.
fn expected(node: &Node, into: &mut BTreeSet<String>) {
    if let Some(to) = node.referent() {
        expected(&to, into);
    }
    let Some(schema) = node.schema.as_object() else { return };
    for keyword in schema.keys() {
        match keyword.as_str() {
            "properties" => {
                let required = node.names("required");
                let none = Vec::new();
                let conditionals = schema.get("allOf").and_then(Value::as_array).unwrap_or(&none);
                for name in schema[keyword].as_object().unwrap().keys() {
                    expected(&node.member(name), into);
                    let asked = |each: &Value| each["then"]["required"].as_array().unwrap().contains(&json!(name));
                    let own = !schema.contains_key("$ref");
                    if own && !required.contains(name) && !conditionals.iter().any(asked) {
                        into.insert(node.key(&format!("properties/{name}")));
                    }
                }
            }
            "allOf" => {
                let count = schema[keyword].as_array().unwrap().len();
                into.extend((0..count).map(|index| node.key(&format!("allOf/{index}"))));
            }
            "items" => expected(&node.child("/items"), into),
            "oneOf" => {
                into.insert(node.key(keyword));
                if node.values().is_none() {
                    for index in 0..schema[keyword].as_array().unwrap().len() {
                        expected(&node.child(&format!("/oneOf/{index}")), into);
                    }
                }
            }
            "type"
            | "enum"
            | "pattern"
            | "format"
            | "minLength"
            | "minimum"
            | "maximum"
            | "minItems"
            | "maxItems"
            | "additionalProperties"
            | "minProperties"
            | "required" => {
                into.insert(node.key(keyword));
            }
            "$schema" | "$id" | "title" | "description" | "$ref" | "$defs" | "patternProperties" | "default"
            // The skeleton of each packet is made from the examples, and a doctest checks it.
            | "examples" => {}
            other if other.starts_with("x-omen-") => {}
            other => panic!("{}#{}: `{other}` is not tested", node.file, node.at),
        }
    }
}

#[test]
fn each_constraint_of_each_member_is_held() {
    let union = Node::root("Packet.schema.json");
    let types = 0..union.schema["oneOf"].as_array().unwrap().len();
    let types: Vec<_> = types.map(|index| union.child(&format!("/oneOf/{index}")).referent().unwrap()).collect();
    let mut wanted = BTreeSet::new();
    for node in &types {
        expected(&Node { site: node.file.to_owned(), ..node.clone() }, &mut wanted);
    }
    let mut shown = BTreeSet::new();
    let lines =
        omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")).flat_map(|(_, text)| text.lines());
    for line in lines.filter(|line| line.parse::<Packet>().is_ok()) {
        if shown.is_superset(&wanted) {
            break;
        }
        let packet: Value = serde_json::from_str(line).unwrap();
        let name = packet["header"]["packet_type"].as_str().unwrap();
        let node = types.iter().find(|node| node.schema["title"] == json!(name)).expect("a schema of each type");
        let node = Node { site: node.file.to_owned(), ..node.clone() };
        Walk { packet, shown: &mut shown }.visit(&node, "", &[]);
    }
    let missing: Vec<_> = wanted.difference(&shown).collect();
    assert!(missing.is_empty(), "no example has what these need: {missing:#?}");
    assert!(wanted.len() > 400);
}
