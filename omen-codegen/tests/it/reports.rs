//! Mistakes are reported once, with line and column.

use std::error::Error;

use omen_codegen::build_script::{Turn, report};
use omen_codegen::emit;
use omen_codegen::mistake::Mistakes;
use omen_codegen::model::Model;
use omen_codegen::place::Place;
use serde_json::Value;

const FSM: &str = "episode.fsm.json";

/// Builds the model of the real files with one text replaced.
fn model(file: &str, from: &str, to: &str) -> Result<Model, Mistakes> {
    let texts: Vec<(&str, String)> = omen_schema::FILES
        .iter()
        .map(|(path, text)| {
            assert!(*path != file || text.contains(from), "{file} does not have {from}");
            (*path, if *path == file { text.replacen(from, to, 1) } else { (*text).to_owned() })
        })
        .collect();
    omen_codegen::model(texts.iter().map(|(path, text)| (*path, text.as_str())))
}

fn line_of(text: &str, what: &str) -> usize {
    text.lines().position(|line| line.contains(what)).unwrap() + 1
}

#[test]
fn a_mistake_has_line_and_column() {
    let found = model(FSM, "\"unless\": \"believed\"", "\"unless\": \"beleived\"").unwrap_err();
    let line = line_of(omen_schema::file(FSM).unwrap(), "\"unless\": \"believed\"");
    let text = found.to_string();
    assert!(text.contains(&format!("{FSM}:{line}:19: unknown fact `beleived`")), "{text}");
    assert!(text.contains("\n  at: /cells/refusals/"), "{text}");
    assert!(text.contains("\n  help: did you mean `believed`?"), "{text}");
}

#[test]
fn so_has_one_that_only_an_emitter_finds() {
    // The table then leads to a state without a type.
    let model = model(FSM, "\"type\": \"Sense\"", "\"type\": \"Sensing\"");
    let found = emit::episode(&model.unwrap(), &[]).unwrap_err();
    let line = line_of(omen_schema::file(FSM).unwrap(), "\"moves\": [") + 1;
    assert!(found.to_string().contains(&format!("{FSM}:{line}:7: ")), "{found}");
    assert!(!found.are_in_every_build());
}

#[test]
fn a_syntax_error_has_them_too() {
    let found = model(FSM, "\"initial\": true", "\"initial\": @").unwrap_err();
    let line = line_of(omen_schema::file(FSM).unwrap(), "\"initial\": true");
    assert!(found.to_string().contains(&format!("{FSM}:{line}:")), "{found}");
    assert!(found.are_in_every_build());
}

#[test]
fn every_value_of_the_real_files_is_found() {
    for (path, text) in omen_schema::FILES {
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut found = 0;
        each(&whole, String::new(), &mut |pointer, value| {
            let place = Place::from_pointer(text, pointer).unwrap_or_else(|| panic!("{path}#{pointer}"));
            let [line, column] = [place.line(), place.column()].map(|n| usize::try_from(n).unwrap());
            let rest: String = text.lines().nth(line - 1).unwrap().chars().skip(column - 1).collect();
            let begins = match value {
                Value::Object(_) => "{".to_owned(),
                Value::Array(_) => "[".to_owned(),
                other => other.to_string(),
            };
            assert!(rest.starts_with(&begins), "{path}#{pointer}: {rest}");
            found += 1;
        });
        assert!(found > 10, "{path}");
    }
}

/// Visits some values of a file, at a distance, because each search starts at the beginning.
fn each(value: &Value, pointer: String, look: &mut impl FnMut(&str, &Value)) {
    look(&pointer, value);
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                each(value, format!("{pointer}/{}", omen_schema::pointer::escape(key)), look);
            }
        }
        Value::Array(elements) => {
            let last = elements.len().saturating_sub(1);
            for (i, value) in elements.iter().enumerate().filter(|(i, _)| *i < 2 || *i == last) {
                each(value, format!("{pointer}/{i}"), look);
            }
        }
        _ => {}
    }
}

#[test]
fn what_every_crate_finds_is_reported_by_the_first() {
    let every = model(FSM, "\"unless\": \"believed\"", "\"unless\": \"beleived\"").unwrap_err();
    let own = emit::episode(&model(FSM, "Sense", "Sense").unwrap(), &[]).unwrap_err();
    assert_eq!(report(Turn::First, &every), Some(every.to_string()));
    assert_eq!(report(Turn::Later, &every), None);
    assert_eq!(report(Turn::Later, &own), Some(own.to_string()));
    let other: Box<dyn Error> = "no such folder".into();
    assert_eq!(report(Turn::Later, other.as_ref()), Some("no such folder".to_owned()));
}
