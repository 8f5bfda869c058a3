use std::collections::BTreeSet;
use std::ops::ControlFlow;

use jsonschema::{Draft, Validator};
use omen::packet::Packet;
use omen::schemars::schema_for;
use omen_proofs::referee::{Cases, Kind, Options, run};
use omen_testkit::proofs::Proofs;
use serde_json::Value;

#[test]
fn readers_and_json_schema_agree() {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let (count, cut, replace) = Proofs::wanted().choose((5_000, 1, 1), (50_000, 4, 2));
    let options = Options { count, seed: 20_260_301, cut, replace, threads, ..Options::default() };
    let report = run(&options).expect("the schemas make a validator");
    println!("{report}");
    assert!(report.disagreements.is_empty(), "{report}");
    // A referee that sees only one verdict proves nothing.
    assert!(report.accepted * 10 > report.mutants(), "{report}");
    assert!(report.refused * 10 > report.mutants(), "{report}");
    // No beginning of a packet is a packet, and few replaced bytes leave one.
    assert!(report.cut.0 > 1_000 * cut && report.cut.1 == 0, "{report}");
    assert!(report.replaced.0 > 8_000 * replace && report.replaced.1 > 500 * replace, "{report}");
    for kind in Kind::ALL {
        assert!(report.kinds.get(kind).is_some_and(|(all, _)| *all > count / 500), "too few of: {kind}");
    }
}

/// Were a keyword lost between the schema files, the Rust types and the schemas that these derive, the mutants would show it.
#[test]
fn no_keyword_of_the_derived_schemas_can_be_lost_unseen() {
    let whole = schema_for!(Packet).to_value();
    let mut keywords = BTreeSet::new();
    visit(&mut whole.clone(), &mut |schema| keywords.extend(schema.keys().cloned()));
    for annotation in ["$defs", "$schema", "description", "title"] {
        assert!(keywords.remove(annotation), "no `{annotation}`");
    }
    assert!(keywords.len() > 15, "{keywords:?}");
    let mut unseen: Vec<_> = keywords
        .into_iter()
        .map(|keyword| {
            let mut weak = whole.clone();
            visit(&mut weak, &mut |schema| drop(schema.remove(&keyword)));
            (keyword, validator(&weak))
        })
        .collect();
    let whole = validator(&whole);
    let options = Options { count: 50_000, seed: 20_260_301, ..Options::default() };
    Cases::new(&options).expect("the schemas make a validator").visit(0, |case| {
        if let Ok(value) = serde_json::from_slice(case.bytes) {
            let verdict = whole.is_valid(&value);
            unseen.retain(|(_, weak)| weak.is_valid(&value) == verdict);
        }
        if unseen.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let unseen: Vec<_> = unseen.into_iter().map(|(keyword, _)| keyword).collect();
    assert!(unseen.is_empty(), "no mutant needs {unseen:?}");
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(schema).expect("a schema")
}

/// Visits a schema and those in it.
fn visit(schema: &mut Value, see: &mut impl FnMut(&mut serde_json::Map<String, Value>)) {
    let Value::Object(keywords) = schema else { return };
    see(keywords);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("$defs" | "properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(|schema| visit(schema, see));
            }
            (_, Value::Array(schemas)) => schemas.iter_mut().for_each(|schema| visit(schema, see)),
            (_, value) => visit(value, see),
        }
    }
}
