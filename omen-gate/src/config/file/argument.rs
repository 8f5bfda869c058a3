//! Keys of an argument rule.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// What an argument has to be. All conditions must hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Argument {
    /// One or more folders: the argument must be the absolute path of one of them, or of something below it. Relative paths here
    /// are resolved against the folder of this file.
    #[schemars(schema_with = "folders")]
    pub(in crate::config) under: Option<Folders>,
    /// With `under`: the folder against which the server resolves relative paths. Without it, relative paths are refused.
    #[schemars(with = "String", length(min = 1))]
    pub(in crate::config) relative_to: Option<String>,
    /// The values that the argument may have: strings, integers or booleans.
    #[schemars(schema_with = "values")]
    #[serde(rename = "in")]
    pub(in crate::config) one_of: Option<Vec<Value>>,
    /// The only value that the argument may have: a string, an integer or a boolean.
    #[schemars(schema_with = "value")]
    pub(in crate::config) equals: Option<Value>,
    /// The smallest integer that the argument may be.
    #[schemars(with = "i64", range(min = -9_007_199_254_740_991_i64, max = 9_007_199_254_740_991_i64))]
    pub(in crate::config) min: Option<i64>,
    /// The largest integer that the argument may be.
    #[schemars(with = "i64", range(min = -9_007_199_254_740_991_i64, max = 9_007_199_254_740_991_i64))]
    pub(in crate::config) max: Option<i64>,
    /// A regular expression (Rust crate `regex`) that must match the whole argument.
    #[schemars(with = "String", length(min = 1, max = 10_000))]
    pub(in crate::config) matches: Option<String>,
    /// How many characters the argument may have, or elements if it is an array.
    #[schemars(with = "LengthKeys")]
    pub(in crate::config) length: Option<LengthKeys>,
    /// The hosts that the URL in the argument may lead to; `*.example.com` stands for everything below `example.com`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 1000))]
    pub(in crate::config) host: Option<Vec<String>>,
    /// With `host`: the schemes that the URL may have. The default is `https`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 100))]
    pub(in crate::config) scheme: Option<Vec<String>>,
    /// With `host`: the ports that the URL may have. The default is the default port of its scheme.
    #[schemars(schema_with = "ports")]
    pub(in crate::config) port: Option<Vec<u16>>,
    /// The programs that the shell command in the argument may run: each part of a pipeline, list or subshell must be one of
    /// them. Shell expansions, here-documents, variables and unusual syntax are refused.
    #[schemars(with = "CommandKeys")]
    pub(in crate::config) command: Option<CommandKeys>,
    /// Whether the member must be missing.
    pub(in crate::config) absent: bool,
    /// Whether the member may be missing. The operator must know what the tool uses instead.
    pub(in crate::config) optional: bool,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct LengthKeys {
    /// The minimum number of characters or elements.
    #[schemars(with = "u32", range(min = 1, max = 4_294_967_295_u32))]
    pub(in crate::config) min: Option<u32>,
    /// The maximum number of characters or elements.
    #[schemars(with = "u32", range(min = 1, max = 4_294_967_295_u32))]
    pub(in crate::config) max: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct CommandKeys {
    /// The programs as written in a command. They must not run other programs, as `env` or `sh` do.
    #[schemars(length(min = 1, max = 1000))]
    pub(in crate::config) program: Vec<String>,
    /// A regular expression (Rust crate `regex`) that must match each argument as a whole.
    #[schemars(with = "String", length(min = 1, max = 10_000))]
    #[serde(default)]
    pub(in crate::config) argument: Option<String>,
    /// One or more folders whose files the command may redirect to and read from. Without it, only devices such as
    /// `/dev/null` are allowed.
    #[schemars(schema_with = "folders")]
    #[serde(default)]
    pub(in crate::config) redirect: Option<Folders>,
}

/// One or several folders.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(in crate::config) enum Folders {
    One(String),
    Many(Vec<String>),
}

fn folders(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["string", "array"],
        "minLength": 1,
        "minItems": 1,
        "maxItems": 100,
        "items": { "type": "string", "minLength": 1 },
    })
}

fn value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "integer", "boolean"] })
}

fn values(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "type": ["string", "integer", "boolean"] });
    json_schema!({ "type": "array", "minItems": 1, "maxItems": 1000, "uniqueItems": true, "items": value })
}

fn ports(_: &mut SchemaGenerator) -> Schema {
    let port = json_schema!({ "type": "integer", "minimum": 1, "maximum": 65_535 });
    json_schema!({ "type": "array", "minItems": 1, "maxItems": 1000, "items": port })
}
