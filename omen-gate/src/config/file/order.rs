//! Keys of the order rules.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use omen_order::rules::config::{self, NameOrTable, PremiseTable};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::argument::Argument;

/// Premises of a rule: names of tools, or tables with details.
pub(in crate::config) type Premises = Vec<NameOrTable<PremiseTable<Argument>>>;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct OrderTable {
    /// The maximum time that a call waits for a running premise: `30s`, `2min`, `500ms`.
    #[schemars(length(min = 2, max = 20))]
    pub(in crate::config) wait: String,
    /// How long a call whose premise is missing is held back once, to allow for calls sent at the same time. `0s` turns
    /// this off.
    #[schemars(length(min = 2, max = 20))]
    pub(in crate::config) gather: String,
    /// How long a program's session lasts without calls. A client's session ends with the client.
    #[schemars(length(min = 2, max = 20))]
    pub(in crate::config) idle: String,
}

impl Default for OrderTable {
    fn default() -> Self {
        Self { wait: "30s".to_owned(), gather: "100ms".to_owned(), idle: "24h".to_owned() }
    }
}

pub(super) fn after(generator: &mut SchemaGenerator) -> Schema {
    key(generator, "after")
}

pub(super) fn never_after(generator: &mut SchemaGenerator) -> Schema {
    key(generator, "never_after")
}

pub(super) fn before_end(generator: &mut SchemaGenerator) -> Schema {
    key(generator, "before_end")
}

pub(super) fn max(generator: &mut SchemaGenerator) -> Schema {
    key(generator, "max")
}

/// Returns the schema of a key. All are created together, and once: each start of a gate needs them, with the same settings.
fn key(generator: &mut SchemaGenerator, key: &str) -> Schema {
    static KEYS: OnceLock<BTreeMap<&str, Value>> = OnceLock::new();
    let mut table = || generator.subschema_for::<BTreeMap<String, Argument>>().to_value();
    let schema = KEYS.get_or_init(|| config::schema(&table())).get(key).cloned().unwrap_or_default();
    Schema::try_from(schema).unwrap_or_default()
}
