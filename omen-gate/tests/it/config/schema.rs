//! JSON Schema of the configuration.

use std::collections::BTreeSet;

use omen_gate::Config;
use serde_json::{Value, json};

use super::sample::SAMPLE;

/// Keys of a schema, as `allow[].tool` and `servers.*.env.*`.
fn keys(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (key, schema) in properties {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            found.insert(path.clone());
            keys(schema, &path, found);
        }
    }
    if schema["items"].is_object() {
        keys(&schema["items"], &format!("{path}[]"), found);
    }
    if schema["additionalProperties"].is_object() {
        keys(&schema["additionalProperties"], &format!("{path}.*"), found);
    }
}

/// Tables of free keys in order rules.
const FREE: [&str; 4] = ["where", "answer", "if", "sum"];

/// Tables of a schema.
fn tables<'s>(schema: &'s Value, found: &mut Vec<&'s Value>) {
    if schema["type"] == "object" {
        found.push(schema);
    }
    let children = schema["properties"].as_object().into_iter().flat_map(|properties| properties.values());
    for child in children.chain([&schema["items"], &schema["additionalProperties"]]).filter(|child| child.is_object()) {
        tables(child, found);
    }
}

/// Sample as JSON, parsed by serde instead of the gate.
fn sample() -> Value {
    let table: toml::Table = toml::from_str(SAMPLE).unwrap();
    let mut value = serde_json::to_value(table).unwrap();
    // Serde represents a TOML date as a table with one key.
    let expires = &mut value["grants"][1]["expires"];
    *expires = json!(expires.as_object().unwrap().values().next().unwrap());
    value
}

#[test]
fn it_is_a_schema_and_accepts_the_sample() {
    let schema = Config::json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    assert!(validator.is_valid(&sample()));
    let mut wrong = sample();
    wrong["allow"][0]["permision"] = json!(["READ"]);
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn the_sample_shows_every_key_of_the_schema() {
    let mut known = BTreeSet::new();
    keys(&Config::json_schema(), "", &mut known);
    let mut shown = BTreeSet::new();
    collect(&sample(), "", &mut shown);
    // The alternative source of the key; a file has one of the two.
    shown.insert("audit.key_env".to_owned());
    // The tables of the order rules have the same keys everywhere; each of them is shown somewhere.
    let (known, shown): (BTreeSet<_>, BTreeSet<_>) =
        (known.iter().map(|key| short(key)).collect(), shown.iter().map(|key| short(key)).collect());
    assert_eq!(known.difference(&shown).collect::<Vec<_>>(), [""; 0]);
    // The test covers arrays, tables and tables of free keys.
    for key in ["limits.call_timeout_seconds", "servers.*.pass_env", "allow[].permissions", "policy.patterns[].reason"]
    {
        assert!(known.contains(key), "{key}");
    }

    fn collect(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let key = if ["servers", "servers.*.headers", "allow[].where"].contains(&path)
                        || FREE.contains(&path.rsplit('.').next().unwrap_or_default())
                    {
                        "*"
                    } else {
                        key
                    };
                    let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                    found.insert(path.clone());
                    collect(value, &path, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, &format!("{path}[]"), found)),
            _ => {}
        }
    }
}

/// Key below an order rule, without the path to it. Its tests of arguments are those of `where`.
fn short(path: &str) -> String {
    let rules = ["allow[].after", "allow[].never_after", "allow[].max", "allow[].before_end"];
    let Some(rest) = rules.iter().find_map(|rule| path.strip_prefix(rule)) else { return path.to_owned() };
    for test in ["where.*", "answer.*", "if.*"] {
        if let Some((_, key)) = rest.split_once(test) {
            return format!("allow[].where.*{key}");
        }
    }
    format!("an order rule {}", rest.rsplit(['.', '[', ']']).next().unwrap_or_default())
}

#[test]
fn every_key_is_described_and_every_table_is_closed() {
    let schema = Config::json_schema();
    let mut all = Vec::new();
    tables(&schema, &mut all);
    assert!(all.len() >= 11, "{}", all.len());
    for table in all {
        // A table of free keys has a schema for their values; any other table forbids unknown keys.
        let open = table["additionalProperties"].is_object();
        assert!(open || table["additionalProperties"] == json!(false), "{table}");
        for (key, schema) in table["properties"].as_object().into_iter().flatten() {
            assert!(schema["description"].as_str().is_some_and(|text| text.ends_with('.')), "{key}: {schema}");
        }
    }
}

#[test]
fn every_number_has_a_range_with_its_default_in_it() {
    let schema = Config::json_schema();
    let mut all = Vec::new();
    tables(&schema, &mut all);
    // The order rules repeat the numbers of `where`.
    let mut numbers = BTreeSet::new();
    for (key, schema) in all.iter().flat_map(|table| table["properties"].as_object()).flatten() {
        if schema["type"] == "integer" {
            numbers.insert((key, schema.to_string()));
            // Bounds of a call's number may be any integers that all programs read alike.
            if matches!(key.as_str(), "min" | "max") && schema["minimum"].as_i64() < Some(0) {
                assert_eq!(schema["minimum"], json!(-9_007_199_254_740_991_i64));
                assert_eq!(schema["maximum"], json!(9_007_199_254_740_991_i64));
                continue;
            }
            let (min, max) = (schema["minimum"].as_u64().unwrap(), schema["maximum"].as_u64().unwrap());
            // A number that is too large for its type is out of range, too.
            assert!(min >= 1 && min <= max && max <= u64::from(u32::MAX), "{key}");
            if let Some(default) = schema["default"].as_u64() {
                assert!((min..=max).contains(&default), "{key}");
            }
        }
    }
    assert_eq!(numbers.len(), 24);
}

#[test]
fn nothing_may_be_null() {
    // TOML has no null; a schema that allowed it would mislead.
    let schema = Config::json_schema().to_string();
    assert!(!schema.contains(r#""null""#) && !schema.contains(":null"), "{schema}");
}
