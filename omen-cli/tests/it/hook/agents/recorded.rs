//! Recorded events, without what differs between runs and machines.

use std::collections::BTreeSet;

use regex::Regex;

use super::*;

/// Compares the members of the events with those that were recorded. `OMEN_BLESS=1` records them.
pub(super) fn compare(site: &Site) {
    let file = file(site);
    let found = neutral(site);
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(&file, &found).unwrap();
    }
    let recorded = fs::read_to_string(&file).unwrap();
    let shapes = |text: &str| -> BTreeSet<String> {
        text.lines().map(|line| shape(&serde_json::from_str(line).unwrap()).to_string()).collect()
    };
    assert_eq!(shapes(&found), shapes(&recorded), "OMEN_BLESS=1 records the events");
}

/// File with the recorded events of an agent.
fn file(site: &Site) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-hook/tests/fixtures");
    fixtures.join(format!("{}-{}.jsonl", site.agent.name, site.seen()))
}

/// Without the agents, their recorded events are decided as they were, but that the file needs no confirmation.
#[test]
fn recorded_sessions_are_decided_as_they_were() {
    for agent in [CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE] {
        let site = Site::new(agent, GRANTED);
        let (gate, project) = (site.path("gate"), site.path("project").display().to_string());
        let (mut calls, before) = (0, format!("\"{}\"", site.agent.before()));
        for event in fs::read_to_string(file(&site)).unwrap().lines() {
            let answer =
                hook_with(&["--root", &project], &gate, site.agent.name, &event.replace("/home/dev/p", &project));
            let is_before = event.contains(&before);
            calls += usize::from(is_before);
            let is_granted = ["touch ", "confirmed"].iter().any(|granted| event.contains(granted));
            assert!(!is_before || is_allowed(&answer) == is_granted, "{event}\n{} {}", answer.stdout, answer.stderr);
        }
        is_logged(&site, calls);
    }
}

/// Events, with other folders, ids and times.
fn neutral(site: &Site) -> String {
    let mut text = site.text("gate/events.jsonl");
    for (name, neutral) in [("project", "/home/dev/p"), ("home", "/home/dev")] {
        let path = site.path(name).display().to_string();
        text = text.replace(&path, neutral).replace(path.trim_start_matches('/'), neutral.trim_start_matches('/'));
    }
    for (pattern, neutral) in [
        (r#""transcript_path":"[^"]*""#, r#""transcript_path":"/home/dev/transcript.jsonl""#),
        (r#""timestamp":"[^"]*""#, r#""timestamp":"2026-11-26T00:00:00.000Z""#),
        (r#""duration_ms":\d+"#, r#""duration_ms":1"#),
        (r"PGID: \d+", "PGID: 1"),
        (r"ses_\w+", "ses_1"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, neutral).into_owned();
    }
    let id = Regex::new(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    let mut ids = Vec::new();
    let number = |found: &regex::Captures<'_>| {
        let at = ids.iter().position(|id| *id == found[0]).unwrap_or_else(|| {
            ids.push(found[0].to_owned());
            ids.len() - 1
        });
        format!("00000000-0000-4000-8000-{at:012}")
    };
    id.replace_all(&text, number).into_owned()
}

/// Value with the types of its members instead of their values. Names, by which events and tools are known, stay.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let shaped = |(name, value): (&String, &Value)| {
                let is_name = ["hook_event_name", "event", "tool_name", "tool"].contains(&name.as_str());
                (name.clone(), if is_name { value.clone() } else { shape(value) })
            };
            members.iter().map(shaped).collect()
        }
        Value::Array(values) => values.iter().map(shape).collect(),
        Value::Null => json!("null"),
        Value::Bool(_) => json!("boolean"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
    }
}
