//! PG-2: arguments match a schema exactly.

mod hostile;
mod unevaluated;

use omen_gate::catalog::Catalog;
use omen_gate::{Blocked, GateCode, ServerName, ToolId, ToolName};
use serde_json::{Value, json};

fn conform(schema: &Value, args: &Value) -> Result<(), Blocked> {
    let id = ToolId { server: ServerName::new("s").unwrap(), tool: ToolName::new("t").unwrap() };
    let catalog = Catalog::parse(&json!({"s": [{"name": "t", "inputSchema": schema}]}).to_string()).unwrap();
    let problem = catalog.find(&id).unwrap().problem();
    assert_eq!(problem, None, "{schema}");
    catalog.conform(&id, args.as_object().unwrap()).map(drop)
}

/// Checks arguments; refused ones are given with the pointers of the unnamed keys.
#[track_caller]
fn check(schema: &Value, cases: &[(Value, &[&str])]) {
    for (args, unnamed) in cases {
        match conform(schema, args) {
            Ok(()) => assert!(unnamed.is_empty(), "{args} got through: {schema}"),
            Err(blocked) => {
                assert_eq!(blocked.code, GateCode::Pg2);
                let found: Vec<_> = blocked.message.match_indices("unknown field").collect();
                assert_eq!(found.len(), unnamed.len(), "{args}: {blocked}");
                assert!(!unnamed.is_empty(), "{args}: {blocked}");
                for pointer in *unnamed {
                    assert!(blocked.message.contains(&format!("`{pointer}`: unknown field")), "{blocked}");
                }
            }
        }
    }
}

#[track_caller]
fn invalid(schema: &Value, args: &Value, parts: &[&str]) {
    let blocked = conform(schema, args).expect_err(&args.to_string());
    assert_eq!(blocked.code, GateCode::Pg2);
    assert!(blocked.message.starts_with("the arguments do not match the `inputSchema` of `s/t`: "), "{blocked}");
    for part in parts {
        assert!(blocked.message.contains(part), "{part}: {blocked}");
    }
}

#[test]
fn every_keyword_counts() {
    let of = |schema: Value| json!({"properties": {"a": schema}, "required": ["a"]});
    let cases = [
        (json!({"type": "string"}), json!("x"), json!(1)),
        (json!({"type": ["string", "null"]}), json!(null), json!(1)),
        (json!({"type": "integer"}), json!(1.0), json!(1.5)),
        (json!({"enum": [1, "x"]}), json!("x"), json!("y")),
        (json!({"const": {"a": [1]}}), json!({"a": [1]}), json!({"a": [2]})),
        (json!({"minimum": 1, "maximum": 3}), json!(3), json!(4)),
        (json!({"exclusiveMinimum": 1}), json!(1.1), json!(1)),
        (json!({"exclusiveMaximum": 1}), json!(0), json!(1)),
        (json!({"multipleOf": 0.5}), json!(2.5), json!(2.3)),
        (json!({"minLength": 2, "maxLength": 3}), json!("äöü"), json!("a")),
        (json!({"pattern": "^a+$"}), json!("aa"), json!("ab")),
        (json!({"pattern": "^(?!.*secret).*$"}), json!("open"), json!("a secret")),
        (json!({"format": "date-time"}), json!("2026-03-01T10:00:00Z"), json!("yesterday")),
        (json!({"format": "email"}), json!("a@example.org"), json!("a")),
        (json!({"format": "no-such-format"}), json!("a"), json!(null)),
        (json!({"minItems": 1, "maxItems": 2}), json!([1]), json!([])),
        (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1])),
        (json!({"items": {"type": "string"}}), json!(["x"]), json!(["x", 1])),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), json!(["x"]), json!(["x", 1])),
        (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1])),
        (json!({"minProperties": 1}), json!({"x": 1}), json!({})),
        (json!({"maxProperties": 1}), json!({"x": 1}), json!({"x": 1, "y": 2})),
        (json!({"propertyNames": {"maxLength": 1}}), json!({"x": 1}), json!({"xx": 1})),
        (json!({"additionalProperties": {"type": "string"}}), json!({"x": "1"}), json!({"x": 1})),
        (json!({"patternProperties": {"^x": {"type": "string"}}}), json!({"x1": "1"}), json!({"x1": 1})),
        (json!({"dependentRequired": {"x": ["y"]}}), json!({"x": 1, "y": 1}), json!({"x": 1})),
        (json!({"dependentSchemas": {"x": {"required": ["y"]}}}), json!({"x": 1, "y": 1}), json!({"x": 1})),
        (json!({"not": {"type": "string"}}), json!(1), json!("x")),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(2), json!(3)),
        (json!({"anyOf": [{"minimum": 3}, {"maximum": 1}]}), json!(1), json!(2)),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 3}]}), json!(0), json!(2)),
        (json!({"if": {"minimum": 1}, "then": {"multipleOf": 2}, "else": {"const": 0}}), json!(4), json!(3)),
        (json!({"$ref": "#/$defs/x~1y%25", "$defs": {}}), json!("x"), json!(1)),
        (json!(true), json!({"x": [1]}), json!(null)),
        (json!(false), json!(null), json!(1)),
    ];
    for (schema, good, bad) in cases {
        let mut whole = of(schema.clone());
        whole["$defs"] = json!({"x/y%": {"type": "string"}});
        if schema != json!(false) {
            conform(&whole, &json!({"a": good})).unwrap_or_else(|blocked| panic!("{schema} {good}: {blocked}"));
        }
        // Two of these schemas accept every value.
        if schema != json!(true) && schema != json!({"format": "no-such-format"}) {
            conform(&whole, &json!({"a": bad})).expect_err(&format!("{schema} {bad}"));
        }
        conform(&whole, &json!({})).expect_err("a required key is missing");
    }
}

#[test]
fn all_that_is_wrong_is_reported_up_to_a_bound() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
        "required": ["path"],
    });
    invalid(
        &schema,
        &json!({"lines": [1, "x"], "pth": "a"}),
        &[
            "\"path\" is a required property",
            "`/lines/1`: \"x\" is not of type \"integer\"",
            "`/pth`: unknown field `pth`; did you mean `path`?",
        ],
    );
    let many: Vec<_> = (0..1000).map(|i| format!("{i}{}", "x".repeat(600))).collect();
    let blocked = conform(&schema, &json!({"path": "a", "lines": many})).unwrap_err();
    assert!(blocked.message.contains("; and more") && blocked.message.len() < 6000, "{}", blocked.message.len());
}

#[test]
fn a_forbidden_key_is_reported_once() {
    for closed in [json!({"additionalProperties": false}), json!({"unevaluatedProperties": false})] {
        let mut schema = json!({"properties": {"path": {}, "in": {"properties": {"x": {}}}}});
        schema.as_object_mut().unwrap().extend(closed.as_object().unwrap().clone());
        schema["properties"]["in"].as_object_mut().unwrap().extend(closed.as_object().unwrap().clone());
        let blocked = conform(&schema, &json!({"pathh": 1, "in": {"y": 1}})).unwrap_err();
        assert_eq!(
            blocked.message,
            "the arguments do not match the `inputSchema` of `s/t`: `/in/y`: unknown field `y`; did you mean \
             `x`?; `/pathh`: unknown field `pathh`; did you mean `path`?"
        );
    }
}

#[test]
fn arguments_are_named_by_properties_alone() {
    let opens = [
        json!({}),
        json!({"additionalProperties": true}),
        json!({"additionalProperties": {}}),
        json!({"additionalProperties": {"type": "string"}}),
        json!({"patternProperties": {"^b$": {"type": "string"}}}),
        json!({"unevaluatedProperties": {"type": "string"}}),
    ];
    for open in opens {
        let mut schema = json!({"type": "object", "properties": {"a": {}}});
        schema.as_object_mut().unwrap().extend(open.as_object().unwrap().clone());
        check(&schema, &[(json!({}), &[]), (json!({"a": "x"}), &[]), (json!({"a": "x", "b": "x"}), &["/b"])]);
        // A schema without any `properties` closes the arguments, too.
        check(&open, &[(json!({}), &[]), (json!({"b": "x"}), &["/b"])]);
    }
}

#[test]
fn properties_are_found_wherever_they_apply() {
    check(
        &json!({"$ref": "#/$defs/x", "$defs": {"x": {"allOf": [{"properties": {"a": {}}}, {"$ref": "#/$defs/y"}]},
            "y": {"properties": {"b": {}}}}}),
        &[(json!({"a": 1, "b": 1}), &[]), (json!({"c": 1}), &["/c"])],
    );
    let kinds = |key: &str| {
        json!({key: [
            {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}, "y": {}}, "required": ["kind"]},
        ]})
    };
    for key in ["anyOf", "oneOf"] {
        check(
            &kinds(key),
            &[
                (json!({"kind": "a", "x": 1}), &[]),
                (json!({"kind": "b", "y": 1}), &[]),
                (json!({"kind": "a", "y": 1}), &["/y"]),
            ],
        );
    }
    check(
        &json!({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"properties": {"b": {}}},
            "else": {"properties": {"a": {}, "c": {}}}}),
        &[
            (json!({"a": 1, "b": 1}), &[]),
            (json!({"a": 1, "c": 1}), &["/c"]),
            (json!({"a": 2, "c": 1}), &[]),
            (json!({"a": 2, "b": 1}), &["/b"]),
        ],
    );
    check(
        &json!({"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}}),
        &[(json!({"a": 1, "b": 1}), &[]), (json!({"b": 1}), &["/b"])],
    );
    // `not` does not name keys.
    check(
        &json!({"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}}),
        &[(json!({}), &[]), (json!({"a": 2}), &["/a"])],
    );
}

#[test]
fn objects_within_are_closed_if_their_members_are_described() {
    let within = |schema: Value| json!({"properties": {"o": schema}});
    let at = |value: Value| json!({"o": value});
    let closed = [
        json!({"properties": {"a": {}}}),
        json!({"properties": {"a": {}}, "additionalProperties": true}),
        json!({"properties": {"a": {}}, "additionalProperties": {}}),
        json!({"properties": {"a": {}}, "additionalProperties": {"description": "whatever you like"}}),
        json!({"properties": {"a": {}}, "unevaluatedProperties": {"title": "rest"}}),
        json!({"patternProperties": {"^a$": {}}}),
        json!({"anyOf": [{"properties": {"a": {}}}, {"type": "string"}]}),
    ];
    for schema in closed {
        check(&within(schema), &[(at(json!({"a": 1})), &[]), (at(json!({"b": 1})), &["/o/b"])]);
    }
    check(&within(json!({"properties": {}})), &[(at(json!({})), &[]), (at(json!({"b": 1})), &["/o/b"])]);
    let open = [
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}),
        json!({"properties": {"a": {}}, "patternProperties": {"^b": {}}}),
        json!({"properties": {"a": {}}, "unevaluatedProperties": {"type": "integer"}}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({}),
        json!(true),
    ];
    for schema in open {
        check(&within(schema), &[(at(json!({"a": 1, "b": 1})), &[])]);
    }
    // A described member is checked inside; a free one is not.
    check(
        &within(json!({"additionalProperties": {"properties": {"x": {}}}})),
        &[(at(json!({"any": {"x": 1}})), &[]), (at(json!({"any": {"y": 1}})), &["/o/any/y"])],
    );
    check(&within(json!({"type": "object"})), &[(at(json!({"any": {"y": {"z": 1}}})), &[])]);
}

#[test]
fn elements_of_arrays_are_looked_into() {
    let x = json!({"properties": {"x": {}}});
    let at = |value: Value| json!({"l": value});
    let items = [
        json!({"items": x}),
        json!({"prefixItems": [x], "items": x}),
        json!({"prefixItems": [x, x]}),
        json!({"unevaluatedItems": x}),
        json!({"contains": x}),
        json!({"allOf": [{"items": x}]}),
    ];
    for schema in items {
        let whole = json!({"properties": {"l": schema}});
        check(&whole, &[(at(json!([{"x": 1}, {"x": 2}])), &[]), (at(json!([{"x": 1}, {"y": 2}])), &["/l/1/y"])]);
    }
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"l": {"items": [x, true], "additionalItems": {"properties": {"z": {}}}}},
    });
    check(
        &old,
        &[
            (at(json!([{"x": 1}, {"any": 1}, {"z": 1}])), &[]),
            (at(json!([{"z": 1}, {"any": 1}, {"x": 1}])), &["/l/0/z", "/l/2/x"]),
        ],
    );
}

#[test]
fn older_dialects_are_read_as_they_were_meant() {
    let draft7 = |mut schema: Value| {
        schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        schema
    };
    // Keywords beside `$ref` are ignored there.
    let beside =
        json!({"$ref": "#/definitions/x", "properties": {"b": {}}, "definitions": {"x": {"properties": {"a": {}}}}});
    check(&draft7(beside.clone()), &[(json!({"a": 1}), &[]), (json!({"b": 1}), &["/b"])]);
    check(&beside, &[(json!({"a": 1, "b": 1}), &[])]);
    let dependencies = json!({"properties": {"a": {}}, "dependencies": {"a": {"properties": {"b": {}}}, "b": ["a"]}});
    check(&draft7(dependencies), &[(json!({"a": 1, "b": 1}), &[])]);
    let of_2019 = json!({"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}});
    check(&draft7(of_2019), &[(json!({"a": 1, "b": 1}), &["/b"])]);
    let draft4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.org/x",
        "properties": {"n": {"minimum": 1, "exclusiveMinimum": true}, "id": {"type": "string"}}});
    check(&draft4, &[(json!({"n": 2, "id": "x"}), &[]), (json!({"m": 2}), &["/m"])]);
    invalid(&draft4, &json!({"n": 1}), &["`/n`"]);
}

#[test]
fn recursion_goes_as_deep_as_the_value() {
    let tree = json!({"$ref": "#/$defs/tree", "$defs": {"tree": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    }}});
    let nested = |leaf: Value| json!({"name": "a", "children": [{"children": [{}, {"children": [leaf]}]}]});
    check(
        &tree,
        &[
            (nested(json!({"name": "b"})), &[]),
            (nested(json!({"nmae": "b"})), &["/children/0/children/1/children/0/nmae"]),
        ],
    );
}

/// A match that exceeds the backtracking limit has no result: everything that depends on it is refused, soon.
#[test]
fn a_hostile_pattern_ends_and_refuses() {
    let hostile = json!({"pattern": "^(?:(a+)(?=a|$))+b$"});
    let text = "a".repeat(40);
    for schema in [
        hostile.clone(),
        json!({"not": hostile}),
        json!({"if": hostile, "then": false}),
        json!({"anyOf": [hostile, {"type": "integer"}]}),
    ] {
        let schema = json!({"properties": {"a": schema}});
        invalid(&schema, &json!({"a": text}), &["Max limit for backtracking count exceeded"]);
    }
    let keys = json!({"properties": {"o": {"patternProperties": {"^(?:(a+)(?=a|$))+b$": true}}}});
    conform(&keys, &json!({"o": {text: 1}})).unwrap_err();
}
