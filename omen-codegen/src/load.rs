//! Load: from text to ordered JSON. This is the only phase that handles bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_schema::pointer;

use crate::json::Json;
use crate::mistake::{Mistake, Mistakes, Texts};
use crate::place::Place;

/// File that holds the state machine.
pub const FSM_FILE: &str = "episode.fsm.json";
/// File that holds the invariants and the structural codes.
pub const RULES_FILE: &str = "rules.json";
/// File that holds the codes of the tool boundary, and its steps.
pub const GATE_FILE: &str = "gate.json";
/// File that holds the decisions on questions that the protocol's documents leave open.
pub const DECISIONS_FILE: &str = "decisions.json";

/// File that defines the common part of all packets. It does not define a type, because each packet's file repeats it.
pub const BASE_FILE: &str = "packets/PacketBase.schema.json";

/// File stem and type of the MCP envelope, which is unrelated to the Model Context Protocol.
pub(crate) const ENVELOPE: (&str, &str) = ("MCP", "McpEnvelope");

/// Lists of rules, by file and field, in documentation order.
pub const RULE_LISTS: [(&str, &str); 4] =
    [(RULES_FILE, "structural"), (FSM_FILE, "rules"), (RULES_FILE, "invariants"), (RULES_FILE, "provenance")];

/// Parsed schema files, by path.
#[derive(Clone, Debug, Default)]
pub struct SchemaSet {
    files: BTreeMap<String, Json>,
    texts: Texts,
}

impl SchemaSet {
    /// Parses `(path, text)` pairs; paths are relative to the folder of the version.
    ///
    /// # Errors
    /// Every file that is not JSON, and every path that is given twice.
    pub fn load<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Mistakes> {
        let mut set = Self::default();
        let mut mistakes = Vec::new();
        let mut texts = BTreeMap::new();
        for (path, text) in files {
            texts.insert(path.to_owned(), text.to_owned());
            match Json::parse(text) {
                Ok(json) => {
                    if set.files.insert(path.to_owned(), json).is_some() {
                        mistakes.push(Mistake {
                            place: None,
                            file: path.to_owned(),
                            pointer: String::new(),
                            kind: "file-twice",
                            problem: "this path is given twice".to_owned(),
                            help: "give each file once".to_owned(),
                        });
                    }
                }
                Err(error) => mistakes.push(Mistake {
                    place: Some(Place::new(error.line(), error.column())),
                    file: path.to_owned(),
                    pointer: String::new(),
                    kind: "not-json",
                    problem: format!("invalid JSON: {error}"),
                    help: "correct the syntax at this position".to_owned(),
                }),
            }
        }
        set.texts = Arc::new(texts);
        Mistakes::none_in(mistakes).map(|()| set)
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Returns the JSON Schema files (`*.schema.json`), sorted by path.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.files.iter().filter(|(path, _)| path.ends_with(".schema.json")).map(|(path, json)| (path.as_str(), json))
    }

    /// Returns the definitions of all JSON Schema files: for each file its root, if it is a type, and then its `$defs`.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = SchemaDefinition<'_>> {
        self.schemas().filter(|(file, _)| *file != BASE_FILE).flat_map(|(file, root)| {
            let is_type = root.get("type").is_some() || root.get("oneOf").is_some();
            let title = root.get("title").and_then(Json::as_str).filter(|_| is_type);
            let root_type = title.map(|name| SchemaDefinition { file, pointer: String::new(), name, json: root });
            let inner = root.get("$defs").map_or(&[][..], Json::members).iter().map(move |(name, json)| {
                let mut pointer = "/$defs".to_owned();
                pointer::push(&mut pointer, name);
                SchemaDefinition { file, pointer, name, json }
            });
            root_type.into_iter().chain(inner)
        })
    }

    /// Returns a file, by path.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&Json> {
        self.files.get(path)
    }

    /// Returns all files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.files.iter().map(|(path, json)| (path.as_str(), json))
    }
}

/// Type that a schema file defines.
pub(crate) struct SchemaDefinition<'s> {
    pub(crate) file: &'s str,
    /// JSON pointer to the definition within the file.
    pub(crate) pointer: String,
    pub(crate) name: &'s str,
    pub(crate) json: &'s Json,
}

/// Returns the name of the definition that a reference in the file `from` leads to; `None` if the reference does not
/// have one of the permitted forms.
pub(crate) fn referenced(from: &str, reference: &str) -> Option<String> {
    let (path, name) = resolve(from, reference)?;
    // The name of a root is its title, and its file is named after it, with one exception.
    let stem = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".schema.json");
    Some(name.unwrap_or(if stem == ENVELOPE.0 { ENVELOPE.1 } else { stem }).to_owned())
}

/// Resolves a reference in the file `from` to `(path of the file, name)`; the name is `None` for a file's root. Returns
/// `None` if the reference does not have one of the permitted forms.
#[must_use]
pub fn resolve<'r>(from: &str, reference: &'r str) -> Option<(String, Option<&'r str>)> {
    let (path, fragment) = match reference.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (reference, None),
    };
    let name = match fragment {
        None => None,
        Some(fragment) => {
            let name = fragment.strip_prefix("/$defs/")?;
            if name.is_empty() || name.contains('/') {
                return None;
            }
            Some(name)
        }
    };
    if path.is_empty() {
        return name.map(|name| (from.to_owned(), Some(name)));
    }
    if path.contains(':') || path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some((parts.join("/"), name))
}
