//! Index of the files: schema definitions by location and name, and rule codes.

use super::node::Node;
use crate::json::Json;
use crate::load::{BASE_FILE, RULE_LISTS, SchemaSet, resolve};

/// File whose root is the union of all packets.
pub(super) const PACKET_UNION: &str = "Packet.schema.json";
/// Folder of the packet schemas.
pub(super) const PACKETS: &str = "packets/";
/// File whose root is the header of a packet.
pub(super) const HEADER: &str = "header/PacketHeader.schema.json";
/// File whose root is the MCP envelope.
pub(super) const MCP: &str = "mcp/MCP.schema.json";

/// Location of a definition: its file, and its name in `$defs`, or `None` for the file's root.
pub(super) type Key<'a> = (&'a str, Option<&'a str>);

/// Kinds of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An object with named fields.
    Object,
    /// A free-form object.
    Free,
    /// Any value.
    Any,
    /// One of some strings.
    Enum,
    /// One of some other definitions.
    Union,
    /// A string.
    Text,
    Integer,
    Number,
    /// None of the above.
    Unknown,
}

/// Named schema.
#[derive(Clone, Debug)]
pub(super) struct Definition<'a> {
    pub(super) key: Key<'a>,
    pub(super) name: &'a str,
    pub(super) node: Node<'a>,
    pub(super) shape: Shape,
}

impl<'a> Definition<'a> {
    /// Returns the field `name` of an object.
    pub(super) fn property(&self, name: &str) -> Option<Node<'a>> {
        self.node.get("properties")?.get(name)
    }

    /// Returns the fields of an object, by name.
    pub(super) fn properties(&self) -> Vec<(&'a str, Node<'a>)> {
        self.node.get("properties").map(|node| node.members().collect()).unwrap_or_default()
    }

    /// Returns the names of an object's fields.
    pub(super) fn property_names(&self) -> Vec<&'a str> {
        self.properties().into_iter().map(|(name, _)| name).collect()
    }

    /// Returns whether an object requires the field `name`.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.node.texts("required").iter().any(|(required, _)| *required == name)
    }

    /// Returns the values of an enum, each with its node.
    pub(super) fn values(&self) -> Vec<(&'a str, Node<'a>)> {
        self.node.list("oneOf").iter().flat_map(|branch| branch.texts("enum")).collect()
    }

    pub(super) fn value_names(&self) -> Vec<&'a str> {
        self.values().into_iter().map(|(value, _)| value).collect()
    }

    /// Returns whether this is the root of a packet's file.
    pub(super) fn is_packet(&self) -> bool {
        self.key.0.starts_with(PACKETS) && self.key.1.is_none()
    }

    pub(super) fn is_packet_union(&self) -> bool {
        self.key == (PACKET_UNION, None)
    }
}

/// All possible targets of references.
#[derive(Debug)]
pub(super) struct Index<'a> {
    /// Definitions, grouped by file, in file order.
    definitions: Vec<Definition<'a>>,
    codes: Vec<(&'a str, Node<'a>)>,
}

impl<'a> Index<'a> {
    pub(super) fn new(set: &'a SchemaSet) -> Self {
        let mut definitions: Vec<Definition<'a>> = Vec::new();
        let mut add = |key: Key<'a>, name: &'a str, node: Node<'a>| {
            // The first of several equal keys counts; repeats are reported elsewhere.
            if definitions.iter().all(|other| other.key != key) {
                let shape = shape_of(node.json);
                definitions.push(Definition { key, name, node, shape });
            }
        };
        for (file, json) in set.schemas().filter(|(file, _)| *file != BASE_FILE) {
            let root = Node::root(file, json);
            if !is_library(json) {
                let title = root.text("title").unwrap_or_else(|| stem(file));
                add((file, None), title, root.clone());
            }
            for (name, node) in root.get("$defs").iter().flat_map(Node::members) {
                add((file, Some(name)), name, node);
            }
        }
        Self { definitions, codes: codes_of(set) }
    }

    pub(super) fn definitions(&self) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions.iter()
    }

    pub(super) fn definition(&self, key: Key<'_>) -> Option<&Definition<'a>> {
        self.definitions().find(|definition| definition.key == key)
    }

    /// Returns the definition that `reference`, as written in `file`, refers to.
    pub(super) fn target(&self, file: &str, reference: &str) -> Option<&Definition<'a>> {
        let (file, name) = resolve(file, reference)?;
        self.definition((file.as_str(), name))
    }

    /// Returns the definition that the value refers to with `$ref`.
    pub(super) fn referred(&self, node: &Node<'_>) -> Option<&Definition<'a>> {
        self.target(node.file, node.text("$ref")?)
    }

    pub(super) fn packet(&self, name: &str) -> Option<&Definition<'a>> {
        self.packets().find(|packet| packet.name == name)
    }

    /// Returns the roots of the packets' files.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions().filter(|definition| definition.is_packet())
    }

    /// Returns every `code` of a rule, with its node.
    pub(super) fn codes(&self) -> &[(&'a str, Node<'a>)] {
        &self.codes
    }

    /// Returns every code of a rule.
    pub(super) fn code_names(&self) -> Vec<&'a str> {
        self.codes.iter().map(|(code, _)| *code).collect()
    }
}

/// Returns the name of a schema file without folder and extension.
pub(super) fn stem(file: &str) -> &str {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    name.strip_suffix(".schema.json").unwrap_or(name)
}

/// Returns whether a file's root defines no type and only contains `$defs`.
pub(super) fn is_library(root: &Json) -> bool {
    root.get("$defs").is_some_and(|defs| !defs.members().is_empty()) && shape_of(root) == Shape::Any
}

fn shape_of(json: &Json) -> Shape {
    if !matches!(json, Json::Object(_)) {
        return Shape::Unknown;
    }
    if let Some(branches) = json.get("oneOf") {
        let refers = branches.elements().iter().any(|branch| branch.get("$ref").is_some());
        return if refers { Shape::Union } else { Shape::Enum };
    }
    match json.get("type").map(Json::as_str) {
        Some(Some("object")) => {
            let open = json.get("additionalProperties") == Some(&Json::Bool(true));
            let free = json.get("properties").is_none() && open;
            if free { Shape::Free } else { Shape::Object }
        }
        Some(Some("string")) if json.get("enum").is_none() => Shape::Text,
        Some(Some("integer")) => Shape::Integer,
        Some(Some("number")) => Shape::Number,
        Some(_) => Shape::Unknown,
        None if json.get("properties").is_some() => Shape::Object,
        None if ["$ref", "enum", "const"].iter().any(|key| json.get(key).is_some()) => Shape::Unknown,
        None => Shape::Any,
    }
}

fn codes_of(set: &SchemaSet) -> Vec<(&str, Node<'_>)> {
    let mut codes = Vec::new();
    for (file, list) in RULE_LISTS {
        let Some(json) = set.file(file) else { continue };
        for rule in Node::root(file, json).list(list) {
            if let (Some(code), Some(at)) = (rule.text("code"), rule.get("code")) {
                codes.push((code, at));
            }
        }
    }
    codes
}
