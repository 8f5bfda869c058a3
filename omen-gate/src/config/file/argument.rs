//! Keys of one rule on arguments.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// What one argument has to be. All demands have to hold.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Argument {
    /// A folder, or several: the argument is the absolute path of one of them, or of something below it. Relative paths here start
    /// from the folder of this file.
    #[schemars(schema_with = "folders")]
    pub(in crate::config) under: Option<Folders>,
    /// The folder from which the server starts relative paths, with `under`. Without it, relative paths in the argument are refused.
    #[schemars(with = "String", length(min = 1))]
    pub(in crate::config) relative_to: Option<String>,
    /// The values that the argument may have: strings, integers, booleans.
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
    /// A regular expression (Rust crate `regex`) that the argument has to match as a whole.
    #[schemars(with = "String", length(min = 1, max = 10_000))]
    pub(in crate::config) matches: Option<String>,
    /// How many characters the argument may have, or members if it is an array.
    #[schemars(with = "Length")]
    pub(in crate::config) length: Option<Length>,
    /// The hosts that the URL in the argument may lead to; `*.example.com` stands for everything below `example.com`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 1000))]
    pub(in crate::config) host: Option<Vec<String>>,
    /// With `host`: the schemes that the URL may have. Without it, `https`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 100))]
    pub(in crate::config) scheme: Option<Vec<String>>,
    /// With `host`: the ports that the URL may have. Without it, the default port of its scheme.
    #[schemars(schema_with = "ports")]
    pub(in crate::config) port: Option<Vec<u16>>,
    /// The programs that the shell command in the argument may run: each part of a pipeline, list or subshell has to be one of
    /// them. What a shell expands, here-documents, variables and unusual syntax are refused.
    #[schemars(with = "CommandKeys")]
    pub(in crate::config) command: Option<CommandKeys>,
    /// Whether the member has to be missing.
    pub(in crate::config) absent: bool,
    /// Whether the member may be missing. What its tool takes in its place is then for the operator to know.
    pub(in crate::config) optional: bool,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Length {
    /// The fewest characters or members.
    #[schemars(with = "u32", range(min = 1, max = 4_294_967_295_u32))]
    pub(in crate::config) min: Option<u32>,
    /// The most characters or members.
    #[schemars(with = "u32", range(min = 1, max = 4_294_967_295_u32))]
    pub(in crate::config) max: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct CommandKeys {
    /// The programs, as they are written in a command. None of them may be one that runs others, such as `env` or `sh`.
    #[schemars(length(min = 1, max = 1000))]
    pub(in crate::config) program: Vec<String>,
    /// A regular expression (Rust crate `regex`) that each argument has to match as a whole.
    #[schemars(with = "String", length(min = 1, max = 10_000))]
    #[serde(default)]
    pub(in crate::config) argument: Option<String>,
    /// A folder, or several, with the files that the command may redirect to, and read from. Without it, only devices such as
    /// `/dev/null`.
    #[schemars(schema_with = "folders")]
    #[serde(default)]
    pub(in crate::config) redirect: Option<Folders>,
}

/// One folder, or several.
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
