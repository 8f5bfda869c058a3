//! The typed API can set every member of every packet. `says/how.json` names the method for each member. The programs here show
//! it twice: with the methods of the typed API alone, and with generated payloads.

mod doors;
mod payloads;
mod short;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use omen::*;
use omen_codegen::emit::{self, Setters};
use serde::Deserialize;

use walk::Said;

/// Content of `how.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct How {
    #[serde(rename = "description")]
    _description: String,
    /// Ways to set members, by object and member.
    objects: BTreeMap<String, BTreeMap<String, Way>>,
    /// Reasons why a value is never written, by enum and value.
    never: BTreeMap<String, BTreeMap<String, String>>,
}

/// Way to set a member.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Way {
    /// By methods of the typed API, and in every generated payload.
    By(String),
    /// Only in a generated payload.
    Payload(String),
    /// The episode sets the member in every such packet, for this reason.
    Itself(String),
    /// The member is never set, for this reason.
    Never(String),
}

fn how() -> How {
    serde_json::from_str(include_str!("says/how.json")).unwrap()
}

fn model() -> omen_codegen::model::Model {
    omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap()
}

fn said(logs: &[String]) -> Said {
    let model = model();
    let mut said = Said::default();
    for log in logs {
        judged_clean(log);
        log.lines().for_each(|line| said.packet(&model, &serde_json::from_str(line).unwrap()));
    }
    said
}

/// Checks that a log has no error.
#[track_caller]
fn judged_clean(log: &str) {
    #[derive(Default)]
    struct Errors(Vec<String>);
    impl Sink for Errors {
        type Error = std::convert::Infallible;

        fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Self::Error> {
            if finding.diagnostic.severity == Severity::Error {
                self.0.push(finding.diagnostic.to_string());
            }
            Ok(())
        }
    }
    let mut errors = Errors::default();
    let mut validator = Validator::new(ValidatorOptions::default());
    validator.feed(log.as_bytes(), &mut errors);
    let Ok(_) = validator.finish(&mut errors);
    assert!(errors.0.is_empty(), "{:#?}\n{log}", errors.0);
}

#[test]
fn the_table_has_every_member_of_every_object_once() {
    let model = model();
    let in_schemas: BTreeMap<String, BTreeSet<String>> = walk::objects(&model);
    let in_table: BTreeMap<String, BTreeSet<String>> =
        how().objects.into_iter().map(|(object, members)| (object, members.into_keys().collect())).collect();
    assert_eq!(in_table, in_schemas);
}

#[test]
fn every_member_is_said_as_the_table_has_it() {
    let (short, doors) = (said(&short::logs()), said(&doors::logs()));
    for (object, members) in how().objects {
        for (member, way) in members {
            let at = (object.clone(), member.clone());
            let (by_method, by_payload) = (short.members.contains(&at), doors.members.contains(&at));
            let (expected, says) = match way {
                Way::By(names) => ((true, true), names),
                Way::Payload(why) => ((false, true), why),
                Way::Itself(why) => ((true, true), why),
                Way::Never(why) => ((false, false), why),
            };
            assert_eq!((by_method, by_payload), expected, "{at:?} by methods and in payloads: {says}");
            assert!(!says.is_empty(), "{at:?}");
        }
    }
}

#[test]
fn every_value_of_every_enum_is_said() {
    let mut said = said(&short::logs());
    let model = model();
    for (name, values) in how().never {
        for value in values.into_keys() {
            assert!(said.values.insert((name.clone(), value.clone())), "`{value}` of `{name}` is said");
        }
    }
    let missing: Vec<_> = walk::values(&model).into_iter().filter(|value| !said.values.contains(value)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The table names existing methods of the typed API.
#[test]
fn the_table_names_methods_of_the_typed_api() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = String::new();
    for folder in ["omen-fsm/src/episode", "omen-invariants/src/facts"] {
        read(&root.join(folder), &mut sources);
    }
    for list in ["omen-fsm/setters.json", "omen-invariants/setters.json"] {
        let setters = Setters::parse(&fs::read_to_string(root.join(list)).unwrap()).unwrap();
        sources += &emit::setters(&model(), &setters).unwrap().to_string();
    }
    let names = how().objects.into_values().flat_map(BTreeMap::into_values).filter_map(|way| match way {
        Way::By(names) => Some(names),
        _ => None,
    });
    let mut seen = 0;
    for name in names.flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>()) {
        let (ty, method) = name.split_once("::").unwrap_or((&name, ""));
        assert!(sources.contains(&format!(" struct {ty}")), "no type `{ty}`");
        assert!(method.is_empty() || sources.contains(&format!(" fn {method}")), "`{ty}` has no `{method}`");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

fn read(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, into);
        } else {
            *into += &fs::read_to_string(path).unwrap();
        }
    }
}
