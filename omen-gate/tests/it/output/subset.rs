//! Containment of promises in types: hand-written cases, and a search for wrong acceptance.

use std::cell::RefCell;
use std::collections::BTreeMap;

use omen_gate::Blocked;
use omen_gate::output::Outputs;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{catalog, id, listed};
use crate::random::Random;

fn check<T: serde::de::DeserializeOwned + JsonSchema + 'static>(promise: &Value) -> Result<(), Blocked> {
    let catalog = catalog(Some(promise));
    let mut outputs = Outputs::default();
    outputs.register::<T>(id()).unwrap();
    outputs.check(listed(&catalog))
}

#[track_caller]
fn takes<T: serde::de::DeserializeOwned + JsonSchema + 'static>(promise: Value) {
    check::<T>(&promise).unwrap_or_else(|blocked| panic!("{promise}: {blocked}"));
}

#[track_caller]
fn refuses<T: serde::de::DeserializeOwned + JsonSchema + 'static>(promise: Value, why: &str) {
    let blocked = check::<T>(&promise).expect_err(&promise.to_string());
    assert!(blocked.message.ends_with(&format!("may give: {why}")), "{blocked}");
}

macro_rules! types {
    ($($(#[$meta:meta])* $name:ident $fields:tt)*) => { $(
        #[derive(Deserialize, JsonSchema)]
        $(#[$meta])*
        #[expect(dead_code, reason = "only its schema counts")]
        struct $name $fields
    )* };
}

types! {
    Plain { a: String, b: Option<i64> }
    #[serde(deny_unknown_fields)]
    Closed { a: String }
    Small { n: u8 }
    Lists { l: Vec<Plain>, p: (u8, String), m: BTreeMap<String, f64> }
    Tree { name: String, children: Vec<Tree> }
    Tagged { e: Kind }
    Bounded {
        #[schemars(length(min = 1, max = 3))]
        s: String,
        #[schemars(range(min = 0.5))]
        f: f64,
        #[schemars(regex(pattern = "^a"))]
        r: String,
    }
    Anything { v: Value }
    One { l: (u8,) }
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema counts")]
enum Kind {
    Circle { radius: f64 },
    Square { side: f64 },
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

#[test]
fn members() {
    let a = json!({"type": "string"});
    takes::<Plain>(object(json!({"a": a, "b": {"type": "integer"}}), &["a"]));
    takes::<Plain>(object(
        json!({"a": {"enum": ["x", "y"]}, "b": {"type": ["integer", "null"]}, "c": {}}),
        &["a", "b"],
    ));
    takes::<Plain>(json!({"type": "object", "properties": {"a": a}, "required": ["a"], "additionalProperties": false}));
    refuses::<Plain>(
        object(json!({"a": a, "b": {"type": "integer"}}), &[]),
        "the answer may lack `a`, which the type requires",
    );
    let open = object(json!({"a": a}), &["a"]);
    refuses::<Plain>(open, "`/b` may be boolean, which the type does not accept");
    let wide = object(json!({"a": a, "b": {"type": "number"}}), &["a"]);
    refuses::<Plain>(wide, "`/b` may be number, which the type does not accept");
    refuses::<Plain>(json!({}), "the answer may be null, which the type does not accept");
    refuses::<Plain>(json!({"type": "array"}), "the answer may be array, which the type does not accept");

    takes::<Closed>(
        json!({"type": "object", "properties": {"a": a}, "required": ["a"], "additionalProperties": false}),
    );
    refuses::<Closed>(
        object(json!({"a": a}), &["a"]),
        "the answer may have additional members, which the type does not accept",
    );
    let more =
        json!({"type": "object", "properties": {"a": a, "z": {}}, "required": ["a"], "additionalProperties": false});
    refuses::<Closed>(more, "`/z` is promised, but the type accepts no value there");
    takes::<Anything>(object(json!({"v": {"type": "string"}}), &["v"]));
    takes::<Anything>(object(json!({}), &["v"]));
}

#[test]
fn values_and_bounds() {
    let n = |schema: Value| object(json!({"n": schema}), &["n"]);
    takes::<Small>(n(json!({"type": "integer", "minimum": 0, "maximum": 255})));
    takes::<Small>(n(json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9})));
    takes::<Small>(n(json!({"enum": [0, 17, 255.0]})));
    takes::<Small>(n(json!({"const": 3})));
    takes::<Small>(n(json!({"anyOf": [{"const": 3}, {"enum": [4]}, {"type": "integer", "minimum": 7, "maximum": 8}]})));
    refuses::<Small>(n(json!({"enum": [0, 256]})), "`/n` may be `256`, which the type does not accept");
    refuses::<Small>(n(json!({"type": "integer", "minimum": 0})), "`/n` is not bound by `maximum` 255");
    refuses::<Small>(n(json!({"type": "integer", "minimum": -1, "maximum": 1})), "`/n` is not bound by `minimum` 0");

    let of = |s: Value, f: Value, r: Value| object(json!({"s": s, "f": f, "r": r}), &["s", "f", "r"]);
    let s = json!({"type": "string", "minLength": 1, "maxLength": 2});
    let f = json!({"type": "number", "exclusiveMinimum": 0.5});
    let r = json!({"type": "string", "pattern": "^a"});
    takes::<Bounded>(of(s.clone(), f.clone(), r.clone()));
    let long = json!({"type": "string", "minLength": 1});
    refuses::<Bounded>(of(long, f.clone(), r.clone()), "`/s` is not bound by `maxLength` 3");
    let low = json!({"type": "number", "minimum": 0.4});
    refuses::<Bounded>(of(s.clone(), low, r), "`/f` is not bound by `minimum` 0.5");
    let other = json!({"type": "string", "pattern": "^ab"});
    refuses::<Bounded>(of(s, f, other), "`/r` is not bound by `pattern` \"^a\"");
}

#[test]
fn lists_maps_and_recursion() {
    let plain = object(json!({"a": {"type": "string"}, "b": {"type": "integer"}}), &["a"]);
    let p = json!({"type": "array", "prefixItems": [{"const": 1}, {"type": "string"}], "minItems": 2, "maxItems": 2});
    let m = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let of = |l: &Value, p: &Value, m: &Value| {
        object(json!({"l": {"type": "array", "items": l}, "p": p, "m": m}), &["l", "p", "m"])
    };
    takes::<Lists>(of(&plain, &p, &m));
    takes::<Lists>(of(
        &plain,
        &p,
        &json!({"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": false}),
    ));
    refuses::<Lists>(of(&json!({"type": "object"}), &p, &m), "`/l/*/a` may be null, which the type does not accept");
    let m_open = json!({"type": "object", "properties": {"x": {"type": "number"}}});
    refuses::<Lists>(of(&plain, &p, &m_open), "`/m/*` may be null, which the type does not accept");
    let m_text = json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": false});
    refuses::<Lists>(of(&plain, &p, &m_text), "`/m/x` may be string, which the type does not accept");
    let long = json!({"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 2});
    refuses::<Lists>(of(&plain, &long, &m), "`/p/1` may be `1`, which the type does not accept");
    let unbounded = json!({"type": "array", "prefixItems": [{"const": 1}, {"type": "string"}], "minItems": 2});
    refuses::<Lists>(of(&plain, &unbounded, &m), "`/p` is not bound by `maxItems` 2");

    let tree = |children: Value| json!({"$ref": "#/$defs/node", "$defs": {"node": object(json!({"name": {"type": "string"}, "children": children}), &["name", "children"])}});
    takes::<Tree>(tree(json!({"type": "array", "items": {"$ref": "#/$defs/node"}})));
    refuses::<Tree>(
        tree(json!({"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}})),
        "`/children/*` may be null, which the type does not accept",
    );
}

/// Promises that are weaker than they look.
#[test]
fn promises_that_are_less_than_they_look() {
    // `additionalProperties` does not apply to members that match a pattern.
    let patterns = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "patternProperties": {"^b": {"type": "string"}},
        "additionalProperties": false,
    });
    refuses::<Plain>(patterns.clone(), "`/b` may be boolean, which the type does not accept");
    refuses::<Closed>(patterns, "the answer may have additional members, which the type does not accept");
    // In draft 7, keywords beside a reference are ignored, and `items` may be a list; `prefixItems` is newer.
    let draft7 = |properties: Value, required: &[&str]| {
        let mut schema = object(properties, required);
        schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        schema["definitions"] = json!({"n": {"type": "integer", "minimum": 0}});
        schema
    };
    let beside = draft7(json!({"n": {"$ref": "#/definitions/n", "maximum": 9}}), &["n"]);
    refuses::<Small>(beside.clone(), "`/n` is not bound by `maximum` 255");
    let mut modern = beside;
    modern["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    takes::<Small>(modern);
    for first in ["items", "prefixItems"] {
        let l = json!({"type": "array", first: [{"const": 1}], "minItems": 1, "maxItems": 1});
        refuses::<One>(draft7(json!({"l": l}), &["l"]), "`/l/0` may be null, which the type does not accept");
    }
    let l = json!({"type": "array", "prefixItems": [{"const": 1}], "minItems": 1, "maxItems": 1});
    takes::<One>(object(json!({"l": l}), &["l"]));
}

#[test]
fn unions() {
    let shape =
        |kind: &str, key: &str| object(json!({"kind": {"const": kind}, key: {"type": "number"}}), &["kind", key]);
    let e = |schema: Value| object(json!({"e": schema}), &["e"]);
    for key in ["anyOf", "oneOf"] {
        takes::<Tagged>(e(json!({key: [shape("circle", "radius"), shape("square", "side")]})));
    }
    takes::<Tagged>(e(shape("circle", "radius")));
    refuses::<Tagged>(
        e(json!({"anyOf": [shape("circle", "radius"), shape("line", "length")]})),
        "`/e` matches no variant of the type",
    );
    refuses::<Tagged>(e(json!({"type": "object"})), "`/e` matches no variant of the type");
    // One part of an intersection suffices.
    takes::<Tagged>(e(json!({"allOf": [shape("circle", "radius"), {"type": "object", "minProperties": 1}]})));
}

#[test]
fn what_cannot_be_told_is_said_to_be_that() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema counts")]
    struct Both {
        e: Overlapping,
    }
    #[derive(Deserialize)]
    struct Overlapping;
    impl JsonSchema for Overlapping {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Overlapping".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            schemars::json_schema!({"oneOf": [{"type": "object"}, {"type": ["object", "null"], "minProperties": 1}]})
        }
    }
    let e = |schema: Value| object(json!({"e": schema}), &["e"]);
    refuses::<Both>(
        e(json!({"type": "object"})),
        "`/e` cannot be compared: it may match several branches of a `oneOf`",
    );
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"});
    refuses::<Small>(old, "the answer cannot be compared: its `outputSchema` uses a dialect older than draft 7");
    let conditional = from(json!({"not": {"required": ["x"]}}), json!({"type": "object"}));
    assert!(conditional.unwrap_err().message.ends_with("the answer cannot be compared: `not` is not compared"));
}

thread_local! {
    static SCHEMA: RefCell<Value> = const { RefCell::new(Value::Null) };
}

/// Type with the schema of a test.
#[derive(Deserialize)]
struct Posed;

impl JsonSchema for Posed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Posed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        SCHEMA.with_borrow(|schema| Schema::try_from(schema.clone()).unwrap())
    }
}

fn from(derived: Value, promise: Value) -> Result<(), Blocked> {
    SCHEMA.set(derived);
    check::<Posed>(&promise)
}

/// Two schemas, the promise mostly a modified copy of the other. If the promise is accepted, no promised value may be
/// rejected by the type.
#[test]
fn a_yes_is_a_proof() {
    let mut random = Random(0x5EED_0003);
    let (mut yes, mut no, mut tried) = (0_u32, 0_u32, 0_u32);
    for round in 0..4_000 {
        let derived = schema(&mut random, 3);
        let promise = if random.below(8) == 0 { schema(&mut random, 3) } else { changed(&derived, &mut random) };
        if from(derived.clone(), promise.clone()).is_err() {
            no += 1;
            continue;
        }
        yes += 1;
        let (promised, taken) =
            (jsonschema::validator_for(&promise).unwrap(), jsonschema::validator_for(&derived).unwrap());
        for _ in 0..40 {
            let value = if random.below(3) == 0 { value(&mut random, 2) } else { fitting(&promise, &mut random, 3) };
            if promised.is_valid(&value) {
                tried += 1;
                assert!(taken.is_valid(&value), "round {round}\npromise {promise}\nderived {derived}\nvalue {value}");
            }
        }
    }
    println!("{yes} yes, {no} no, {tried} promised values tried");
    assert!(yes > 400 && no > 400 && tried > 4_000, "{yes} {no} {tried}");
}

const KEYS: [&str; 3] = ["a", "b", "c"];

fn schema(random: &mut Random, depth: usize) -> Value {
    let below = depth.saturating_sub(1);
    let number = |random: &mut Random| json!(random.below(4));
    match random.below(if depth == 0 { 6 } else { 11 }) {
        0 => json!({"type": "string", "minLength": random.below(2)}),
        1 => json!({"type": "integer", "minimum": random.below(3)}),
        2 => json!({"type": "number", "maximum": random.below(4)}),
        3 => json!({"enum": [number(random), "x", null]}),
        4 => json!({"type": ["null", "string"]}),
        5 => json!({"const": number(random)}),
        6 | 7 => {
            let mut properties = Map::new();
            for _ in 0..=random.below(3) {
                properties.insert(KEYS[random.below(3)].to_owned(), schema(random, below));
            }
            let mut object = json!({"type": "object", "properties": properties, "required": [KEYS[random.below(3)]]});
            match random.below(4) {
                0 => object["additionalProperties"] = false.into(),
                1 => object["additionalProperties"] = schema(random, below),
                _ => {}
            }
            object
        }
        8 => {
            let mut array = json!({"type": "array", "items": schema(random, below), "maxItems": random.below(3) + 1});
            if random.below(2) == 0 {
                array["prefixItems"] = json!([schema(random, below)]);
            }
            array
        }
        9 => json!({["anyOf", "oneOf"][random.below(2)]: [schema(random, below), schema(random, below)]}),
        _ => json!({"allOf": [schema(random, below), schema(random, below)]}),
    }
}

/// Copy with at most one change.
fn changed(schema: &Value, random: &mut Random) -> Value {
    let mut copy = schema.clone();
    match (&mut copy, random.below(4)) {
        (_, 0) => {}
        (Value::Object(members), 1) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            if !keys.is_empty() && members.len() > 1 {
                members.remove(&keys[random.below(keys.len())]);
            }
        }
        (Value::Object(members), 2) => {
            let more = [
                ("type", json!("object")),
                ("minimum", json!(2)),
                ("maximum", json!(1)),
                ("minLength", json!(3)),
                ("additionalProperties", json!(false)),
                ("maxItems", json!(1)),
                ("const", json!(1)),
            ];
            let (key, value) = more[random.below(more.len())].clone();
            members.insert(key.to_owned(), value);
        }
        (Value::Object(members), _) => {
            for key in ["items", "additionalProperties"] {
                if let Some(schema) = members.get_mut(key).filter(|schema| schema.is_object()) {
                    *schema = changed(schema, random);
                }
            }
            for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
                if let Some(Value::Array(schemas)) = members.get_mut(key) {
                    schemas.iter_mut().for_each(|schema| *schema = changed(schema, random));
                }
            }
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties.values_mut().for_each(|schema| *schema = changed(schema, random));
            }
        }
        _ => {}
    }
    copy
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 8 }) {
        0 => json!(null),
        1 => json!(random.below(5)),
        2 => json!(random.below(5) as f64 + 0.5),
        3 => json!(["", "x", "xyz"][random.below(3)]),
        4 => json!(true),
        5 => json!({}),
        6 => (0..random.below(3)).map(|_| value(random, depth - 1)).collect(),
        _ => {
            let members = (0..random.below(4)).map(|_| (KEYS[random.below(3)].to_owned(), value(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Value that is likely valid against a schema.
fn fitting(schema: &Value, random: &mut Random, depth: usize) -> Value {
    if depth == 0 || random.below(10) == 0 {
        return value(random, 1);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(branches) = schema[key].as_array() {
            return fitting(&branches[random.below(branches.len())], random, depth);
        }
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[random.below(values.len())].clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!(["", "x", "xyz"][random.below(3)]),
        Some("integer" | "number") => json!(random.below(5)),
        Some("array") => (0..random.below(4))
            .map(|index| fitting(schema["prefixItems"].get(index).unwrap_or(&schema["items"]), random, depth - 1))
            .collect(),
        Some("object") => {
            let mut object = Map::new();
            for key in KEYS {
                if random.below(3) > 0 {
                    let known = schema["properties"].get(key);
                    let rest = schema.get("additionalProperties");
                    let member = match known.or(rest) {
                        Some(schema) => fitting(schema, random, depth - 1),
                        None => value(random, 1),
                    };
                    object.insert(key.to_owned(), member);
                }
            }
            Value::Object(object)
        }
        _ => value(random, 2),
    }
}
