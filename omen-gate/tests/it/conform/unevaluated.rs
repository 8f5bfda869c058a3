//! Named keys, compared with `unevaluatedProperties: false` of the `jsonschema` crate.

use omen_gate::catalog::Catalog;
use omen_gate::{ServerName, ToolId, ToolName};
use serde_json::{Map, Value, json};

use crate::random::Random;

const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Schemas with all constructs that apply to the same object. Arguments are refused exactly if the same schema with
/// `unevaluatedProperties: false` refuses them, at the top and in nested objects.
#[test]
fn names_are_those_that_are_evaluated() {
    let mut random = Random(0x5EED_0002);
    let id = ToolId { server: ServerName::new("s").unwrap(), tool: ToolName::new("t").unwrap() };
    let (mut passed, mut valid_only, mut invalid) = (0_u32, 0_u32, 0_u32);
    for _ in 0..300 {
        let defs = json!({"x": schema(&mut random, 1), "y": schema(&mut random, 0)});
        let mut plain = schema(&mut random, 3);
        // Closes nested objects in any case.
        let properties = plain.as_object_mut().unwrap().entry("properties").or_insert_with(|| json!({}));
        properties.as_object_mut().unwrap().entry("e").or_insert_with(|| json!(true));
        let mut closed = plain.clone();
        closed["unevaluatedProperties"] = false.into();

        let whole = |schema: &Value, within: bool| {
            let mut schema = if within { json!({"properties": {"o": schema}}) } else { schema.clone() };
            schema["$defs"] = defs.clone();
            schema
        };
        for within in [false, true] {
            let (ours, theirs) = (whole(&plain, within), whole(&closed, within));
            let tools = json!({"s": [{"name": "t", "inputSchema": ours}]});
            let catalog = Catalog::parse(&tools.to_string()).unwrap();
            let plainly = jsonschema::validator_for(&ours).unwrap();
            let oracle = jsonschema::validator_for(&theirs).unwrap();
            for _ in 0..20 {
                let args = object(&mut random);
                let args = if within { json!({"o": args}) } else { args };
                let got = catalog.conform(&id, args.as_object().unwrap());
                assert_eq!(got.is_ok(), oracle.is_valid(&args), "{ours}\n{args}\n{got:?}");
                match (got.is_ok(), plainly.is_valid(&args)) {
                    (true, _) => passed += 1,
                    (false, true) => valid_only += 1,
                    (false, false) => invalid += 1,
                }
            }
        }
    }
    println!("{passed} passed, {valid_only} were valid with a key that is not named, {invalid} were invalid");
    assert!(passed > 1_000 && valid_only > 1_000 && invalid > 1_000, "{passed} {valid_only} {invalid}");
}

fn schema(random: &mut Random, depth: usize) -> Value {
    let mut schema = Map::new();
    for _ in 0..=random.below(2) {
        let (keyword, value) = keyword(random, depth);
        schema.insert(keyword.to_owned(), value);
        if schema.contains_key("if") {
            schema.insert("then".to_owned(), self::schema(random, depth.saturating_sub(1)));
            schema.insert("else".to_owned(), self::schema(random, depth.saturating_sub(1)));
        }
    }
    Value::Object(schema)
}

fn keyword(random: &mut Random, depth: usize) -> (&'static str, Value) {
    let below = depth.saturating_sub(1);
    match random.below(if depth == 0 { 3 } else { 10 }) {
        0 | 1 => ("properties", properties(random)),
        2 => ("required", json!([KEYS[random.below(KEYS.len())]])),
        3 => ("allOf", json!([schema(random, below), schema(random, below)])),
        4 => ("anyOf", json!([schema(random, below), schema(random, below)])),
        5 => ("oneOf", json!([schema(random, below), schema(random, below), schema(random, below)])),
        6 => ("if", schema(random, below)),
        7 => ("dependentSchemas", json!({KEYS[random.below(KEYS.len())]: schema(random, below)})),
        8 => ("not", schema(random, 0)),
        // From depth 2 on, both may be referenced, below that only the one without references.
        _ if depth >= 3 => ("$ref", json!(["#/$defs/x", "#/$defs/y"][random.below(2)])),
        _ => ("$ref", json!("#/$defs/y")),
    }
}

fn properties(random: &mut Random) -> Value {
    let mut properties = Map::new();
    for _ in 0..=random.below(3) {
        let value = [json!(true), json!({"const": 1}), json!({"type": "integer"})][random.below(3)].clone();
        properties.insert(KEYS[random.below(KEYS.len())].to_owned(), value);
    }
    Value::Object(properties)
}

fn object(random: &mut Random) -> Value {
    let mut object = Map::new();
    for _ in 0..random.below(5) {
        object.insert(KEYS[random.below(KEYS.len())].to_owned(), json!(random.below(3)));
    }
    Value::Object(object)
}
