//! Members of an object with the types of their values, in the short notation of `schema/hooks`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Members with their types: `{"path": "string", "limit?": "number"}`. A name that ends in `?` is optional, `any` stands for
/// every type, and `|` separates alternatives.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct MemberTypes(BTreeMap<String, String>);

/// Mismatch between an object and the expected members.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MemberFlaw {
    #[error("missing field `{0}`")]
    Missing(String),
    #[error("`{name}`: expected {expected}, found {found}")]
    WrongType { name: String, expected: String, found: &'static str },
    #[error("field `{found}` differs from `{known}` only in case; readers differ in which one they use")]
    CaseDiffers { found: String, known: String },
}

impl MemberTypes {
    /// Returns the member names without the mark for optional ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| name.strip_suffix('?').unwrap_or(name))
    }

    /// Returns the members with their types; names keep the mark for optional ones.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, types)| (name.as_str(), types.as_str()))
    }

    /// Checks that the members are present with their types. Others are ignored, since agents add members with each release, but
    /// not if they differ from a known one only in case.
    pub(crate) fn check(&self, object: &Map<String, Value>) -> Result<(), MemberFlaw> {
        for (key, types) in &self.0 {
            let name = key.strip_suffix('?').unwrap_or(key);
            match object.get(name) {
                None if key.ends_with('?') => {}
                None => return Err(MemberFlaw::Missing(name.to_owned())),
                Some(Value::Null) if key.ends_with('?') => {}
                Some(value) if types == "any" || types.split('|').any(|one| one == type_name(value)) => {}
                Some(value) => {
                    let expected = types.replace('|', " or ");
                    let found = type_name(value);
                    return Err(MemberFlaw::WrongType { name: name.to_owned(), expected, found });
                }
            }
        }
        let alike = |found: &str, known: &str| found != known && found.to_lowercase() == known.to_lowercase();
        for found in object.keys() {
            if let Some(known) = self.names().find(|known| alike(found, known)) {
                return Err(MemberFlaw::CaseDiffers { found: found.clone(), known: known.to_owned() });
            }
        }
        Ok(())
    }

    /// Returns the JSON Schema of the object; if `is_closed`, it accepts no other members.
    pub(crate) fn schema(&self, is_closed: bool) -> Map<String, Value> {
        let mut properties = Map::new();
        for (key, types) in &self.0 {
            let name = key.strip_suffix('?').unwrap_or(key);
            let form = match types.as_str() {
                "any" => json!({}),
                types => json!({ "type": types.split('|').collect::<Vec<_>>() }),
            };
            properties.insert(name.to_owned(), form);
        }
        let required: Vec<_> = self.0.keys().filter(|key| !key.ends_with('?')).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), json!(required));
        if is_closed {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        schema
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
