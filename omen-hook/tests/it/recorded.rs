//! Events that the agents themselves have sent, recorded by tests of `omen-cli` (`hook::agents`), with their version in the name.

use std::fs;
use std::path::Path;

use omen_hook::{Dialect, Event, ReportedOutcome};
use serde_json::{Map, Value};

/// Whether arguments fit the form of their tool.
fn fits(args: &Map<String, Value>, schema: &Map<String, Value>) -> bool {
    let properties = schema["properties"].as_object().unwrap();
    let is_there = |name: &Value| args.contains_key(name.as_str().unwrap());
    let is_known = |(name, value): (&String, &Value)| match properties.get(name) {
        Some(form) => form["type"].as_array().is_none_or(|types| types.iter().any(|one| is_of(one, value))),
        None => !schema.contains_key("additionalProperties"),
    };
    schema["required"].as_array().unwrap().iter().all(is_there) && args.iter().all(is_known)
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    }
}

/// The commands have outcomes, what was denied has none, and the tools and their arguments are those of the dialect.
#[test]
fn recorded_events_are_those_of_the_dialect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let install = fs::read_to_string(folder.join("../../../.ci/install")).unwrap();
    // The vendor of the remaining one publishes no package that could be run.
    for agent in Dialect::agents().filter(|agent| *agent != "cursor") {
        let dialect = Dialect::from_agent(agent).unwrap();
        let tools = dialect.tools();
        assert!(install.contains(&format!("@{}\n", dialect.seen)), "another version of {agent} is installed");
        let text = fs::read_to_string(folder.join(format!("{agent}-{}.jsonl", dialect.seen))).unwrap();
        let mut outcomes = Vec::new();
        let mut waiting = None;
        for line in text.lines() {
            let event = dialect.read(line.as_bytes(), |_| Some(dialect.seen.clone()));
            match event.unwrap_or_else(|error| panic!("{agent}: {error}\n{line}")) {
                Event::Before(call) => {
                    for made in dialect.calls(&call, [dialect.agent.clone()].iter()).unwrap() {
                        let tool = tools.iter().find(|tool| tool.name == made.tool.tool);
                        let tool = tool.unwrap_or_else(|| panic!("{agent} has no tool of this name: {line}"));
                        assert!(fits(&made.args, &tool.input_schema), "{agent}: {line}");
                    }
                    waiting = Some(call);
                }
                Event::After(call, outcome) => {
                    assert_eq!(waiting.take(), Some(call), "{agent}: {line}");
                    outcomes.push(outcome);
                }
                _ => {}
            }
        }
        let (ended, failed, written) = match agent {
            "codex" => (ReportedOutcome::Unknown, ReportedOutcome::Unknown, ReportedOutcome::Unknown),
            "gemini-cli" => (ReportedOutcome::Unknown, ReportedOutcome::Unknown, ReportedOutcome::Ok),
            _ => (ReportedOutcome::Ok, ReportedOutcome::Failed, ReportedOutcome::Ok),
        };
        assert_eq!(outcomes, [ended, failed, written], "{agent}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 5, "a file of another version");
}
