//! What agents do with answers, against the measured ones; and the facts about their settings.

use std::path::Path;

use omen_hook::{AgentReaction, Dialect, Event, EventRole, HookEnd};
use serde_json::{Map, json};

fn ended(exit: i32, stdout: &str, stderr: &str) -> HookEnd {
    HookEnd::Ended { exit: Some(exit), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

#[test]
fn answers_of_a_dialect_are_taken_for_what_they_are() {
    for agent in Dialect::agents() {
        let dialect = Dialect::from_agent(agent).unwrap();
        for (answer, expected) in [
            (dialect.allow(), AgentReaction::Proceeds),
            (dialect.deny("R; help: H"), AgentReaction::Refuses("R; help: H".to_owned())),
        ] {
            let end = ended(answer.exit.into(), &answer.stdout, &answer.stderr);
            assert_eq!(dialect.reaction(&end), expected, "{agent}");
        }
        for answer in [dialect.fail("R"), dialect.object_to("R"), dialect.deny("")] {
            let reaction = dialect.reaction(&ended(answer.exit.into(), &answer.stdout, &answer.stderr));
            assert!(matches!(reaction, AgentReaction::Refuses(_)), "{agent} {reaction:?}");
        }
    }
}

/// Makes the end of a hook of an agent.
type MakeEnd<'m> = &'m dyn Fn(&str) -> HookEnd;

/// Ends of a hook, and the agents that run the call then, with the handler that is installed.
#[test]
fn failures_have_the_measured_effects() {
    let deny = |agent: &str| Dialect::from_agent(agent).unwrap().deny("R").stdout;
    let cases: [(&str, MakeEnd<'_>, &[&str]); 11] = [
        ("missing", &|_| HookEnd::Missing, &["codex"]),
        ("slow", &|_| HookEnd::Slow, &["codex", "copilot-cli", "gemini-cli"]),
        (
            "signal",
            &|_| HookEnd::Ended { exit: None, stdout: String::new(), stderr: String::new() },
            &["codex", "gemini-cli"],
        ),
        ("exit 1", &|_| ended(1, "", "x"), &["codex", "gemini-cli"]),
        ("text", &|_| ended(0, "hello\n", ""), ALL_BUT_OPENCODE),
        ("cut short", &|agent| ended(0, &deny(agent)[..20], ""), ALL_BUT_OPENCODE),
        ("a line before", &|agent| ended(0, &format!("x\n{}", deny(agent)), ""), ALL_BUT_OPENCODE),
        ("two answers", &|agent| ended(0, &deny(agent).repeat(2), ""), ALL_BUT_OPENCODE),
        ("unknown member", &|agent| ended(0, &deny(agent).replacen('{', "{\"x\":1,", 1), ""), ALL_BUT_OPENCODE),
        ("blank reason", &|agent| ended(0, &deny(agent).replace("\"R\"", "\" \""), ""), ALL_BUT_OPENCODE),
        ("exit 2 without a reason", &|_| ended(2, "", " \n"), ALL_BUT_OPENCODE),
    ];
    for (name, end, expected) in cases {
        let runs = Dialect::agents().filter(|agent| match Dialect::from_agent(agent).unwrap().reaction(&end(agent)) {
            AgentReaction::HookFailed { runs, .. } => runs,
            other => panic!("{agent} {name}: {other:?}"),
        });
        assert_eq!(runs.collect::<Vec<_>>(), expected, "{name}");
    }
}

const ALL_BUT_OPENCODE: &[&str] = &["claude-code", "codex", "copilot-cli", "cursor", "gemini-cli"];

#[test]
fn samples_are_events_of_the_dialect() {
    for agent in Dialect::agents() {
        let dialect = Dialect::from_agent(agent).unwrap();
        let variable = |name: &str| dialect.version_variable().filter(|one| one.0 == name).map(|one| one.1.to_owned());
        let input: Map<_, _> = json!({"command": "ls"}).as_object().unwrap().clone();
        let sample = dialect.sample(EventRole::Before, "tool", input.clone(), Path::new("/p")).unwrap();
        let Event::Before(call) = dialect.read(sample.to_string().as_bytes(), variable).unwrap() else {
            panic!("{agent}")
        };
        assert_eq!((call.tool.as_str(), &call.input, call.cwd.as_path()), ("tool", &input, Path::new("/p")), "{agent}");
        for (_, role) in dialect.governed_events() {
            let sample = dialect.sample(role, "tool", Map::new(), Path::new("/p")).unwrap().to_string();
            dialect.read(sample.as_bytes(), variable).unwrap_or_else(|error| panic!("{agent}: {error}"));
        }
    }
}

#[test]
fn the_settings_of_every_agent_have_a_place_sources_and_what_to_tell() {
    let subjects = |agent: &str| {
        let dialect = Dialect::from_agent(agent).unwrap();
        dialect.guarantees.into_iter().map(|(subject, _)| subject).collect::<Vec<_>>()
    };
    for agent in Dialect::agents() {
        let dialect = Dialect::from_agent(agent).unwrap();
        let form = &dialect.install;
        assert!(form.date.starts_with("20") && !form.sources.is_empty(), "{agent}");
        assert_eq!(subjects(agent), subjects("codex"), "{agent}");
        for scope in ["user", "project"] {
            let place = &form.places[scope];
            let path = place.path(Path::new("/p"), |name| (name == "HOME").then(|| "/h".to_owned())).unwrap();
            assert!(path.starts_with(if scope == "user" { "/h" } else { "/p" }) && !place.tell.is_empty(), "{agent}");
            // An agent may not write where its hooks are.
            let guarded = Dialect::settings_of_all();
            assert!(guarded.iter().any(|part| path.to_string_lossy().contains(part)), "{agent} {path:?}");
        }
    }
    let claude = &Dialect::from_agent("claude-code").unwrap().install.places["user"];
    let moved = claude.path(Path::new("/p"), |name| (name == "CLAUDE_CONFIG_DIR").then(|| "/c".to_owned()));
    assert_eq!(moved.unwrap(), Path::new("/c/settings.json"));
}
