//! The cases of Dogwood, another language for rules about earlier events, as an oracle.
//!
//! `.ci/install dogwood` brings the package `dogwood-language`, which has them: policies, traces and expected verdicts. They
//! are read where they lie, and none is copied. `dogwood/cases.txt` says of each case what came of it.

mod body;
mod clause;
mod language;
mod policy;
mod translate;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use omen_order::Fit;
use omen_testkit::Need;
use serde_json::{Map, Value, json};

use self::clause::Entry;
use self::language::{Outside, Tokens};
use self::policy::{Policy, Schema};
use self::translate::{entry, tool};
use crate::naive;
use crate::tests_of_values::table;

/// Event of a trace.
#[derive(Debug)]
struct Event {
    seconds: i64,
    kind: String,
    action: String,
    /// Members of the event and of the request's context.
    members: Value,
}

/// What came of a case.
#[derive(Debug, Default)]
struct Compared {
    traces: usize,
    verdicts: usize,
    rules: usize,
    /// Where a verdict is another one.
    differ: Vec<String>,
    has_odd_values: bool,
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files of a case, such as `trace_1.log`, in order.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix)).collect();
    files.sort();
    files
}

/// Reads `@T scope(…) request_context(…) A::B::"Action"::kind(…)`, one event a line.
fn trace(text: &str, schema: &Schema) -> Vec<Event> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let events = lines.map(|line| {
        let mut input = Tokens::new(line);
        input.expect("@");
        let seconds = input.value().as_i64().unwrap();
        let mut members = Map::new();
        loop {
            if let Some((kind, id)) = input.entity() {
                input.expect("::");
                let event = input.word();
                input.expect("(");
                let Value::Object(own) = input.members(")") else { unreachable!() };
                // The members of an event are those of its request; where they are not, they are the event's.
                for (name, value) in own {
                    let alias = schema.aliases.iter().find(|(alias, _)| alias[1..] == *name);
                    members.insert(alias.map_or(name, |(_, own)| own[1..].to_owned()), value);
                }
                return Event { seconds, kind: event, action: format!("{kind}::{id}"), members: members.into() };
            }
            let part = input.word();
            input.expect("(");
            if part == "entities" {
                input.skip();
                continue;
            }
            let Value::Object(of_request) = input.members(")") else { unreachable!() };
            members.extend(of_request);
        }
    });
    events.collect()
}

/// Expected verdicts by the number of the event.
fn expected(text: &str) -> BTreeMap<usize, bool> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let verdicts = lines.map(|line| {
        let (_, rest) = line.split_once("(time point ").unwrap();
        let (point, verdict) = rest.split_once("): ").unwrap();
        (point.parse().unwrap(), verdict.trim() == "true")
    });
    verdicts.collect()
}

/// Verdicts of an engine on a trace, by the number of the event.
fn decided(entries: &BTreeMap<String, Option<Entry>>, events: &[Event], schema: &Schema) -> Vec<(usize, bool)> {
    let mut tools: Map<String, Value> = Map::new();
    for event in events {
        tools.insert(tool(&event.kind, &event.action), json!({}));
    }
    for (action, entry) in entries {
        let rules = entry.as_ref().map(|entry| entry.rules.clone()).unwrap_or_default();
        for rule in &rules {
            named(rule, &mut tools);
        }
        tools.insert(tool(&schema.decides, action), json!({ "rules": rules }));
    }
    let mut trace = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let (t, id) = (event.seconds * 1000, index.to_string());
        let session: Vec<_> =
            schema.sessions().iter().map(|(_, own)| event.members.pointer(own).cloned().unwrap_or_default()).collect();
        let decides = event.kind == schema.decides;
        let refused =
            decides.then(|| entries.get(&event.action).and_then(Option::as_ref)).and_then(|entry| match entry {
                None => Some("PG-1"),
                Some(entry) => (!is_within(entry, &event.members)).then_some("PG-3"),
            });
        trace.push(json!({
            "ev": "ask", "t": t, "id": id, "tool": tool(&event.kind, &event.action),
            "session": json!(session).to_string(), "turn": "1", "args": event.members, "pre": refused,
        }));
        let result = if event.kind == "error" { "failed" } else { "ok" };
        let mut end = json!({ "ev": "end", "t": t, "id": id, "result": result });
        if !decides {
            end["answer"] = event.members.clone();
        }
        trace.push(end);
    }
    let case = json!({ "policies": [{ "gather_ms": 0, "tools": tools }], "trace": trace, "mode": "live" });
    let ours = omen_order::trace::run(&case, &table).unwrap().verdicts;
    assert_eq!(ours, naive::run(&case).verdicts, "{case}");
    let decides = events.iter().enumerate().filter(|(_, event)| event.kind == schema.decides);
    decides.map(|(index, _)| (index, ours[&index.to_string()] == "allow")).collect()
}

/// Whether a value is not compared or added: a fraction, a large or negative number, `null`.
fn is_odd(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_none_or(|number| !(0..1 << 53).contains(&number)),
        Value::Array(items) => items.iter().any(is_odd),
        Value::Object(members) => members.values().any(is_odd),
        value => value.is_null(),
    }
}

/// Tools that a rule names.
fn named(value: &Value, tools: &mut Map<String, Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "tools" {
                    for tool in value.as_array().unwrap() {
                        tools.entry(tool.as_str().unwrap()).or_insert_with(|| json!({}));
                    }
                }
                named(value, tools);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, tools)),
        _ => {}
    }
}

/// Whether a request fits the clauses about itself.
fn is_within(entry: &Entry, members: &Value) -> bool {
    entry.own.iter().all(|clause| {
        clause.iter().any(|own| {
            let (name, value) = &own.demand;
            let fit = table(&json!({ &own.member: { *name: value } })).unwrap().judge(members);
            fit == if own.holds { Fit::Yes } else { Fit::No }
        })
    })
}

fn compare(folder: &Path, schema: &Schema) -> Result<Compared, Outside> {
    let policies: Vec<Policy> =
        policy::policies(&files(folder, "policy_").iter().map(|path| read(path)).collect::<Vec<_>>().join("\n"))?;
    let traces = files(folder, "trace_");
    let traces: Vec<_> = traces.iter().map(|path| (path, trace(&read(path), schema))).collect();
    let asked = traces.iter().flat_map(|(_, events)| events).filter(|event| event.kind == schema.decides);
    let actions: BTreeSet<_> = asked.map(|event| event.action.clone()).collect();
    let mut entries = BTreeMap::new();
    for action in actions {
        let entry = entry(&policies, schema, &action)?;
        entries.insert(action, entry);
    }
    let mut compared = Compared {
        rules: entries.values().flatten().map(|entry| entry.rules.len()).sum(),
        has_odd_values: traces.iter().flat_map(|(_, events)| events).any(|event| is_odd(&event.members)),
        ..Compared::default()
    };
    for (path, events) in &traces {
        let name = path.file_name().unwrap().to_string_lossy().replace("trace_", "expected_").replace(".log", ".out");
        let expected = expected(&read(&folder.join(name)));
        let decided = decided(&entries, events, schema);
        assert!(decided.iter().map(|(index, _)| index).eq(expected.keys()), "{}", folder.display());
        compared.traces += 1;
        compared.verdicts += decided.len();
        for (index, verdict) in decided {
            if expected[&index] != verdict {
                compared.differ.push(format!("{}:{index}", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    Ok(compared)
}

/// Words in the list for what came of a case.
const EQUAL: &str = "equal";
const WITHOUT_HISTORY: &str = "equal, no rule is left";
const BY_VALUE: &str = "differs by a value that is not compared";

fn result(folder: &Path, shared: &str) -> (Compared, String) {
    let own = fs::read_to_string(folder.join("event.dwschema")).ok();
    let schema = Schema::new(own.as_deref().unwrap_or(shared));
    match compare(folder, &schema) {
        Err(why) => (Compared::default(), format!("outside: {why}")),
        Ok(compared) => {
            let text = match &compared.differ[..] {
                [] if compared.rules == 0 => WITHOUT_HISTORY.to_owned(),
                [] => EQUAL.to_owned(),
                differ if compared.has_odd_values => format!("{BY_VALUE}: {}", differ.join(", ")),
                differ => panic!("{}: other verdicts, and no reason: {differ:?}", folder.display()),
            };
            (compared, text)
        }
    }
}

#[test]
fn the_cases_of_dogwood_are_decided_as_listed() {
    let Some(root) = Need::Dogwood.path() else { return };
    let shared = read(&root.join("tests/fixtures/request_response.dwschema"));
    let (mut lines, mut all) = (String::new(), Compared::default());
    for folder in files(&root.join("tests/passing/temporal_only/corpus"), "") {
        let (compared, result) = result(&folder, &shared);
        (all.traces, all.verdicts) = (all.traces + compared.traces, all.verdicts + compared.verdicts);
        writeln!(lines, "{} {result}", folder.file_name().unwrap().to_string_lossy()).unwrap();
    }
    println!("{} traces with {} verdicts were compared", all.traces, all.verdicts);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/dogwood/cases.txt");
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(&list, &lines).unwrap();
    }
    let listed = read(&list);
    let differ: Vec<_> = listed.lines().zip(lines.lines()).filter(|(listed, now)| listed != now).collect();
    assert!(differ.is_empty() && listed == lines, "listed, and now: {differ:#?}");
}

/// What the list has to say, so that a rule that is no longer translated does not leave it unnoticed.
#[test]
fn most_cases_of_dogwood_are_decided_alike() {
    let list = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/dogwood/cases.txt"));
    let results = || list.lines().map(|line| line.split_once(' ').unwrap().1);
    let count = |wanted: &str| results().filter(|result| result.starts_with(wanted)).count();
    let counts = [results().count(), count(EQUAL), count(WITHOUT_HISTORY), count(BY_VALUE), count("outside: ")];
    assert_eq!(counts, [577, 383, 50, 8, 186]);
}
