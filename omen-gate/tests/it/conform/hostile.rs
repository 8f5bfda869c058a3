//! Schemas and arguments that exhaust time or memory. Without the count in advance, each would run for minutes or
//! longer, or end the process.

use omen_gate::catalog::Catalog;
use omen_gate::{ServerName, ToolId, ToolName};
use serde_json::{Map, Value, json};

use super::{conform, invalid};

const STEPS: &str = "validating it would take more than 4000000 steps";
const DEPTH: &str = "validating it would take more than 512 nested schemas";

/// Reason why a schema is unusable.
fn problem(schema: &Value) -> Option<String> {
    let id = ToolId { server: ServerName::new("s").unwrap(), tool: ToolName::new("t").unwrap() };
    let catalog = Catalog::parse(&json!({"s": [{"name": "t", "inputSchema": schema}]}).to_string()).unwrap();
    catalog.find(&id).unwrap().problem().map(str::to_owned)
}

#[track_caller]
fn refused(schema: &Value, part: &str) {
    assert!(schema.to_string().len() <= 256 * 1024, "it is the length that is refused");
    let problem = problem(schema).expect("it is taken");
    assert!(problem.contains(part), "{problem}");
}

fn refs(target: &str, times: usize) -> Value {
    vec![json!({ "$ref": target }); times].into()
}

/// Definitions `first`, `second`, …, each of which refers to the next.
fn chain(links: usize, link: impl Fn(&str) -> Value) -> Map<String, Value> {
    let each = (0..links).map(|i| (format!("{i}"), link(&format!("#/$defs/{}", i + 1))));
    each.chain([(links.to_string(), json!({}))]).collect()
}

fn nested(value: Value, levels: usize) -> Value {
    (0..levels).fold(value, |inner, _| json!([inner]))
}

/// Runs on a stack like that of a runtime thread with half of it used.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(test).unwrap().join().unwrap();
}

#[test]
fn schemas_that_multiply_with_each_level_are_not_gone_through() {
    for key in ["allOf", "anyOf", "oneOf"] {
        let schema = json!({
            "properties": {"x": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"items": {key: refs("#/$defs/n", 3)}}},
        });
        invalid(&schema, &json!({"x": nested(json!([]), 28)}), &[STEPS]);
        // Shallower values are checked.
        if key == "oneOf" {
            invalid(&schema, &json!({"x": [[[]]]}), &["oneOf"]);
        } else {
            conform(&schema, &json!({"x": [[[]]]})).unwrap();
        }
    }
}

#[test]
fn errors_are_not_collected_without_end() {
    let nulls = |times: usize| json!({"properties": {"x": {"items": {"allOf": vec![json!({"type": "null"}); times]}}}});
    invalid(&nulls(9_000), &json!({"x": vec![1; 30_000]}), &[STEPS]);
    // The value can be checked, but not all violations reported.
    invalid(&nulls(30), &json!({"x": vec![1; 30_000]}), &["it is invalid, and too large to report where"]);
    invalid(&nulls(3), &json!({"x": vec![1; 3_000]}), &["`/x/0`: 1 is not of type \"null\"", "; and more"]);
}

#[test]
fn a_long_key_does_not_stand_in_every_error() {
    let schema = json!({"properties": {"o": {"additionalProperties": {"items": {"type": "null"}}}}});
    let args = json!({"o": {"x".repeat(40_000): vec![1; 10_000]}});
    invalid(&schema, &args, &["too large to report where"]);
    invalid(&schema, &json!({"o": {"x": vec![1; 10_000]}}), &["`/o/x/0`: 1 is not of type \"null\""]);
}

#[test]
fn what_is_not_evaluated_is_not_sought_without_end() {
    let nest = |levels: usize| {
        let inner = json!({"properties": {"a": {}}});
        let unevaluated = |inner, _| json!({"unevaluatedProperties": {}, "anyOf": [inner]});
        json!({"properties": {"o": (0..levels).fold(inner, unevaluated)}})
    };
    refused(&nest(28), "`unevaluated…`");
    conform(&nest(4), &json!({"o": {"a": 1}})).unwrap();
    // It is compiled anew for each reference.
    let long = "x".repeat(4_000);
    let link = |next: &str| json!({"unevaluatedProperties": {}, "anyOf": refs(next, 2), "x-note": long});
    refused(&json!({"properties": {"o": {"$ref": "#/$defs/0"}}, "$defs": chain(11, link)}), "`unevaluated…`");
}

/// Dialects with `dependentSchemas` check `dependencies` as well.
#[test]
fn no_keyword_is_left_out() {
    let each: [fn(Value) -> Value; 8] = [
        |next| json!({"additionalProperties": {"dependencies": {"k": next}}}),
        |next| json!({"additionalProperties": {"dependentSchemas": {"k": next}}}),
        |next| json!({"additionalProperties": {"not": next}}),
        |next| json!({"additionalProperties": {"if": next}}),
        |next| json!({"additionalProperties": {"if": true, "then": next}}),
        |next| json!({"patternProperties": {"k": next}}),
        |next| json!({"properties": {"k": next}}),
        |next| json!({ "unevaluatedProperties": next }),
    ];
    for with in each {
        let schema = json!({
            "properties": {"x": {"$ref": "#/$defs/n"}},
            "$defs": {"n": with(json!({"allOf": refs("#/$defs/n", 3)}))},
        });
        let deep = |levels: usize| json!({"x": (0..levels).fold(json!({}), |inner, _| json!({ "k": inner }))});
        invalid(&schema, &deep(28), &[STEPS]);
    }
    let elements: [fn(Value) -> Value; 4] = [
        |next| json!({"items": {"type": "array"}, "unevaluatedItems": next}),
        |next| json!({ "unevaluatedItems": next }),
        |next| json!({"prefixItems": [next]}),
        |next| json!({ "contains": next }),
    ];
    for with in elements {
        let schema = json!({
            "properties": {"x": {"$ref": "#/$defs/n"}},
            "$defs": {"n": with(json!({"allOf": refs("#/$defs/n", 3)}))},
        });
        invalid(&schema, &json!({"x": nested(json!([]), 28)}), &[STEPS]);
    }
    // Another dialect has other keywords.
    let other = json!({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": {"$ref": "#"}}});
    refused(&json!({"properties": {"a": other}}), "`$schema` in `#/properties/a` names another dialect");
}

#[test]
fn many_branches_do_not_compile_the_same_many_times() {
    let big: Map<String, Value> = (0..6_000).map(|i| (format!("property-{i}"), json!({}))).collect();
    let schema = |branches: Value| json!({"anyOf": branches, "$defs": {"D": {"properties": big}}});
    // These are one test, shared by all.
    assert_eq!(problem(&schema(refs("#/$defs/D", 3_000))), None);
    conform(&schema(refs("#/$defs/D", 300)), &json!({"property-1": 1})).unwrap();
    let apart = (0..2_000).map(|i| json!({"$ref": "#/$defs/D", "title": format!("{i}")})).collect();
    refused(&schema(apart), "its branches, with what they refer to, exceed 4194304 bytes when compiled");
    let few = (0..3).map(|i| json!({"$ref": "#/$defs/D", "title": format!("{i}")})).collect();
    conform(&schema(few), &json!({"property-1": 1})).unwrap();
}

#[test]
fn many_patterns_do_not_take_all_memory() {
    let pattern = |number: usize| json!({"pattern": format!(r"\p{{L}}{{8}}{number}")});
    let all = |count: usize| json!({"properties": {"x": {"allOf": (0..count).map(pattern).collect::<Vec<_>>()}}});
    assert_eq!(problem(&all(20)), None);
    // Each is as large as one of twenty may be.
    refused(&all(256), "regex");
    refused(&all(257), "it has more than 256 patterns");
}

#[test]
fn a_long_key_does_not_stand_in_every_place() {
    let many: Map<String, Value> = (0..10_000).map(|i| (format!("{i}"), json!({}))).collect();
    refused(&json!({"properties": {"x".repeat(50_000): {"properties": many}}}), "the JSON pointers to its schemas");
}

#[test]
fn a_chain_does_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let links: [fn(&str) -> Value; 4] = [
            |next| json!({ "$ref": next }),
            |next| json!({"allOf": [{"$ref": next}]}),
            |next| json!({"not": {"$ref": next}}),
            |next| json!({"anyOf": [{"$ref": next}], "unevaluatedProperties": {}}),
        ];
        for link in links {
            let longest = 240_000 / (link("#/$defs/1000").to_string().len() + 8);
            let schema = |links| json!({"properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": chain(links, link)});
            refused(&schema(longest.min(7_000)), "more than 64 of its schemas refer to each other");
            let (short, args) = (schema(20), json!({"x": 1}));
            let _ = conform(&short, &args);
        }
    });
}

/// A chain that descends into the value with each link is as deep as the value.
#[test]
fn a_chain_through_members_does_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let schema = json!({
            "properties": {"a": {"$ref": "#/$defs/0"}},
            "$defs": chain(4_500, |next| json!({"properties": {"a": {"$ref": next}}})),
        });
        let deep = (0..120).fold(json!(1), |inner, _| json!({ "a": inner }));
        if let Err(blocked) = conform(&schema, &deep) {
            panic!("{blocked}");
        }
        let misnamed = (0..120).fold(json!({"b": 1}), |inner, _| json!({ "a": inner }));
        invalid(&schema, &misnamed, &["unknown field `b`"]);
    });
}

/// Checks the deepest nesting of schemas, with the keywords that take most of the stack.
#[test]
fn the_deepest_that_is_judged_fits_on_the_stack() {
    on_a_small_stack(|| {
        for key in ["allOf", "anyOf", "oneOf"] {
            let levels = |chained: usize| {
                let last = json!({"items": {"$ref": "#/$defs/n"}, "type": "array"});
                let link = |inner, _| json!({ key: [inner] });
                json!({"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": (0..chained).fold(last, link)}})
            };
            // Each level takes two schemas and those of the chain; all errors are collected.
            invalid(&levels(2), &json!({"x": nested(json!(1), 120)}), &["`/x"]);
            invalid(&levels(10), &json!({"x": nested(json!(1), 120)}), &[DEPTH]);
        }
        let each: [fn(Value) -> Value; 4] = [
            |next| json!({"properties": {"k": next}}),
            |next| json!({"patternProperties": {"k": next}}),
            |next| json!({"additionalProperties": next}),
            |next| json!({"dependentSchemas": {"k": {"properties": {"k": next}}}}),
        ];
        for with in each {
            let schema = json!({
                "properties": {"x": {"$ref": "#/$defs/n"}},
                "$defs": {"n": {"type": "object", "allOf": [with(json!({"$ref": "#/$defs/n"}))]}},
            });
            let deep = (0..120).fold(json!(1), |inner, _| json!({ "k": inner }));
            invalid(&schema, &json!({ "x": deep }), &["/k/k/k"]);
        }
    });
}

/// Schemas of maximal nesting, whose references lead to others of that kind.
#[test]
fn compiling_what_is_nested_fits_on_the_stack() {
    on_a_small_stack(|| {
        let links: [fn(Value) -> Value; 4] = [
            |inner| json!({"items": inner, "type": "array"}),
            |inner| json!({"properties": {"a": inner}}),
            |inner| json!({"items": {"allOf": [inner]}}),
            |inner| json!({"additionalProperties": inner, "unevaluatedProperties": {}}),
        ];
        for link in links {
            let schema = |levels: usize| {
                let nest = |next: &str| (0..levels).fold(json!({ "$ref": next }), |inner, _| link(inner));
                json!({"properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": chain(40, nest)})
            };
            refused(&schema(18), "are nested more than 128 levels deep");
            // Deepest nesting that is accepted.
            let taken = (1..18).rev().find(|levels| {
                let problem = problem(&schema(*levels));
                if let Some(problem) = &problem {
                    assert!(problem.contains("are nested more than 128 levels deep"), "{problem}");
                }
                problem.is_none()
            });
            assert!(taken.is_some_and(|levels| levels >= 5), "{taken:?}");
        }
        // Each of these is compiled within the previous one, and not lazily.
        let link = |next: &str| json!({"unevaluatedProperties": {"unevaluatedProperties": {}, "$ref": next}});
        refused(&json!({"properties": {"x": {"$ref": "#/$defs/0"}}, "$defs": chain(2_000, link)}), "128 levels deep");
    });
}
