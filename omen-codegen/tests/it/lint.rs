//! Lint phase: the real files have no mistakes, and each kind of mistake is found where it occurs.
//!
//! `lint/cases.txt` has the cases, and describes their format.

use std::collections::BTreeMap;

use omen_codegen::lint::{KINDS, lint};
use omen_codegen::load::SchemaSet;
use omen_codegen::mistake::Mistake;
use serde_json::Value;

const CASES: &str = include_str!("lint/cases.txt");

#[test]
fn real_files_have_no_mistake() {
    let found = mistakes(&real_files());
    assert!(found.is_empty(), "{}", found.iter().map(|m| format!("{m}\n")).collect::<String>());
}

#[test]
fn each_mistake_is_found_where_it_is() {
    let failures: Vec<String> = cases().filter_map(|case| run(case).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn each_kind_has_a_case() {
    let expected: Vec<&str> =
        cases().flat_map(str::lines).filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    for (kind, _) in KINDS {
        assert!(expected.contains(kind), "no case in lint/cases.txt expects `{kind}`");
    }
}

#[test]
fn kinds_are_distinct_and_said_in_prose() {
    let mut slugs = Vec::new();
    for (slug, meaning) in KINDS {
        assert!(!slugs.contains(slug), "{slug}");
        assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{slug}");
        assert!(!meaning.is_empty() && !meaning.ends_with('.'), "{slug}: {meaning}");
        slugs.push(*slug);
    }
}

#[test]
fn nothing_at_all_is_not_fine() {
    let found = mistakes(&BTreeMap::new());
    assert!(found.iter().all(|mistake| mistake.kind == "missing-file"));
    assert_eq!(found.len(), 8);
}

/// The lint phase never panics, whichever single value is missing or has the wrong type.
#[test]
fn no_edit_makes_it_panic() {
    let files = real_files();
    for (file, text) in &files {
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut pointers = Vec::new();
        list_pointers(&whole, String::new(), &mut pointers);
        // A prime stride covers all kinds of locations quickly.
        for (i, pointer) in pointers.iter().enumerate().step_by(31) {
            let other = [Value::Null, 1.into(), "".into(), Value::Array(vec![]), "#/$defs".into()];
            let mut value = whole.clone();
            *value.pointer_mut(pointer).unwrap() = other[i % other.len()].clone();
            let mut files = files.clone();
            files.insert(file.clone(), value.to_string());
            mistakes(&files);
        }
    }
}

type Files = BTreeMap<String, String>;

fn real_files() -> Files {
    omen_schema::FILES.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
}

fn mistakes(files: &Files) -> Vec<Mistake> {
    let set = SchemaSet::load(files.iter().map(|(file, text)| (file.as_str(), text.as_str())))
        .expect("the edited files are still JSON");
    lint(&set).err().map(|found| found.iter().cloned().collect()).unwrap_or_default()
}

fn cases() -> impl Iterator<Item = &'static str> {
    CASES.split("\n\n").filter(|block| block.lines().any(|line| is_edit(&line)))
}

fn is_edit(line: &&str) -> bool {
    !line.starts_with([' ', '#']) && !line.is_empty()
}

/// Runs one case; the error is the actual result.
fn run(case: &str) -> Result<(), String> {
    let found = mistakes(&edited(case));
    let edited_file = case.lines().find(is_edit).and_then(|line| line.split(' ').nth(1)).unwrap();
    let mut left = found.clone();
    let mut amiss = String::new();
    for line in case.lines().filter_map(|line| line.strip_prefix("  ")) {
        let mut parts = line.splitn(3, ' ');
        let (kind, place) = (parts.next().unwrap(), parts.next().unwrap());
        let text = parts.next().unwrap_or("");
        let (file, pointer) = match place.split_once('#') {
            Some(("", pointer)) => (edited_file, pointer),
            Some((file, pointer)) => (file, pointer),
            None => panic!("a place is written `file#pointer` or `#pointer`: {line}"),
        };
        let is_it = |mistake: &Mistake| {
            (mistake.kind, mistake.file.as_str(), mistake.pointer.as_str()) == (kind, file, pointer)
                && mistake.to_string().contains(text)
        };
        match left.iter().position(is_it) {
            Some(i) => drop(left.remove(i)),
            None => amiss += &format!("  missing: {line}\n"),
        }
    }
    for mistake in &left {
        amiss += &format!("  not expected: {mistake}\n");
    }
    for mistake in found.iter().filter(|mistake| !is_prose(mistake)) {
        amiss += &format!("  not in lower-case prose: {mistake}\n");
    }
    if amiss.is_empty() { Ok(()) } else { Err(format!("{case}\n{amiss}")) }
}

/// Whether the text is in lower case, without full stop, and with balanced backticks.
fn is_prose(mistake: &Mistake) -> bool {
    [&mistake.problem, &mistake.help].iter().all(|text| {
        text.starts_with(|c: char| c == '`' || c.is_ascii_lowercase())
            && !text.ends_with('.')
            && text.matches('`').count() % 2 == 0
    })
}

/// Returns the real files with the edits of a case.
fn edited(case: &str) -> Files {
    let mut files = real_files();
    for line in case.lines().filter(is_edit) {
        let mut parts = line.splitn(3, ' ');
        let (verb, file) = (parts.next().unwrap(), parts.next().unwrap());
        let rest = parts.next().unwrap_or("");
        let text = files.entry(file.to_owned()).or_default();
        match verb {
            "put" => {
                let (pointer, json) = rest.split_once(' ').unwrap();
                let json = serde_json::from_str(json).unwrap_or_else(|e| panic!("{line}: {e}"));
                *text = with(text, pointer, Some(json));
            }
            "cut" if rest.is_empty() => drop(files.remove(file)),
            "cut" => *text = with(text, rest, None),
            "text" => {
                let (from, to) = rest.split_once(" => ").unwrap();
                assert!(text.contains(from), "{line}: the file does not have this text");
                *text = text.replacen(from, to, 1);
            }
            _ => panic!("unknown edit: {line}"),
        }
    }
    files
}

/// Returns the JSON `text` with another value at `pointer`, or without it.
fn with(text: &str, pointer: &str, value: Option<Value>) -> String {
    if pointer == "/" {
        return value.unwrap().to_string();
    }
    let mut whole: Value = serde_json::from_str(text).unwrap();
    let (above, step) = pointer.rsplit_once('/').unwrap();
    let step = omen_schema::pointer::unescape(step).into_owned();
    let parent = whole.pointer_mut(above).unwrap_or_else(|| panic!("nothing at {above}"));
    match (parent, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(step, value)),
        (Value::Object(members), None) => {
            members.remove(&step).unwrap_or_else(|| panic!("nothing at {pointer}"));
        }
        (Value::Array(elements), Some(value)) if step == "-" => elements.push(value),
        (Value::Array(elements), Some(value)) => elements[step.parse::<usize>().unwrap()] = value,
        (Value::Array(elements), None) => drop(elements.remove(step.parse().unwrap())),
        _ => panic!("{above} is neither an object nor an array"),
    }
    whole.to_string()
}

fn list_pointers(value: &Value, here: String, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = omen_schema::pointer::escape(key);
                list_pointers(value, format!("{here}/{key}"), into);
            }
        }
        Value::Array(elements) => {
            for (i, value) in elements.iter().enumerate() {
                list_pointers(value, format!("{here}/{i}"), into);
            }
        }
        _ => {}
    }
    into.push(here);
}
