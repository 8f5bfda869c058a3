//! The table of the page on episodes: which rule the wire proves, which needs the agent's packets. Each line is shown by a log that
//! breaks the rule, or by a transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use omen_proxy::episode::Mode;
use omen_types::Code;
use serde_json::{Value, json};

use super::play::{Lines, first_calls, folder, play, transcripts};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/episode-mode.md");
const WIRE: &str = "proven by the wire";
const OWN: &str = "of the proxy's own packets alone";
const AGENT: &str = "only with the agent's packets";
const JUDGED: &str = "judged before it is recorded";

/// What each mode says of a rule.
fn said(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::E4 | Code::E6 | Code::Inv007 | Code::Inv011 => (WIRE, WIRE),
        Code::Inv005 => ("not at all: each call is an episode", "proven by the wire: calls and time"),
        Code::Id | Code::Layer | Code::Chain | Code::Time => (OWN, OWN),
        Code::Json | Code::Schema => (OWN, JUDGED),
        _ => (AGENT, JUDGED),
    }
}

/// The codes that refuse something in each transcript.
async fn refusing() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, lines) in transcripts() {
        for result in play(Mode::Enforce, &lines).await.results {
            for finding in result["structuredContent"]["findings"].as_array().into_iter().flatten() {
                let also = finding["also"].as_array().unwrap().iter();
                for code in also.chain([&finding["code"]]) {
                    found.entry(code.as_str().unwrap().to_owned()).or_default().insert(name.clone());
                }
            }
        }
    }
    found
}

#[tokio::test]
async fn the_page_says_of_every_rule_what_each_mode_shows() {
    let refusing = refusing().await;
    let mut table = "| Code | Rule | `observe` | `enforce` | Transcripts |\n|---|---|---|---|---|\n".to_owned();
    for code in Code::ALL {
        let (observe, enforce) = said(*code);
        let names = refusing.get(code.as_str()).cloned().unwrap_or_default();
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(table, "| {code} | {} | {observe} | {enforce} | {} |", code.info().title, names.join(", ")).unwrap();
        // What is judged of an agent is shown by one that breaks the rule.
        let shown = [Code::Json, Code::Inv010, Code::Claim].contains(code) || !names.is_empty();
        assert!(enforce != JUDGED || shown, "no transcript breaks {code}");
    }
    // The first refusals of a transcript, as its fixture has them.
    let read = fs::read_to_string(folder().join("write-before-decision.read.txt")).unwrap();
    let excerpt: Vec<_> = read.split("\n\n").take(3).collect();
    let excerpt = format!("```text\n{}\n```\n", excerpt.join("\n\n"));
    holds(&[("episode-rules", &table), ("episode-transcript", &excerpt), ("episode-first-calls", &first())]);
}

/// The first calls, as a client sends them.
fn first() -> String {
    let calls: Vec<_> = first_calls()
        .into_iter()
        .map(|(name, arguments)| {
            let call = json!({ "name": name, "arguments": arguments });
            format!("`{name}`:\n\n```json\n{}\n```\n", pretty(&call, 0))
        })
        .collect();
    format!("\n{}\n", calls.join("\n"))
}

/// JSON in several lines, with what is short in one.
fn pretty(value: &Value, depth: usize) -> String {
    let line = value.to_string();
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    let (open, items, close) = match value {
        _ if line.len() + 2 * depth <= 110 => return line,
        Value::Object(members) => {
            let item = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), pretty(value, depth + 1));
            ("{", members.iter().map(item).collect::<Vec<_>>(), "}")
        }
        Value::Array(items) => ("[", items.iter().map(|item| pretty(item, depth + 1)).collect(), "]"),
        _ => return line,
    };
    format!("{open}\n{inner}{}\n{outer}{close}", items.join(&format!(",\n{inner}")))
}

/// The generated parts of the page.
fn holds(parts: &[(&str, &str)]) {
    let mut page = fs::read_to_string(PAGE).unwrap();
    for (name, part) in parts {
        let (start, end) = (format!("<!-- generated: {name} -->\n"), "<!-- /generated -->");
        let (before, rest) = page.split_once(&start).expect("the page has this part");
        let (shown, after) = rest.split_once(end).expect("it ends");
        let is_blessed = std::env::var_os("OMEN_BLESS").is_some();
        assert!(is_blessed || shown == *part, "run with OMEN_BLESS=1; {name} is now:\n{part}");
        page = [before, &start, part, end, after].concat();
    }
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(PAGE, page).unwrap();
    }
}

/// A packet of a log, to be changed.
fn packet<'l>(log: &'l mut [Value], packet_type: &str) -> &'l mut Value {
    log.iter_mut().find(|packet| packet["header"]["packet_type"] == packet_type).unwrap()
}

fn without(log: &mut Vec<Value>, packet_type: &str) {
    log.retain(|packet| packet["header"]["packet_type"] != packet_type);
}

fn set(value: &mut Value, pointer: &str, to: Value) {
    *value.pointer_mut(pointer).unwrap() = to;
}

/// How a log of a mode breaks a rule that its wire proves.
fn broken(code: Code, log: &mut Vec<Value>) {
    match code {
        Code::E4 => without(log, "ToolAuthorizationToken"),
        Code::E6 => without(log, "TaskResultPacket"),
        Code::Inv007 => {
            set(packet(log, "ToolAuthorizationToken"), "/payload/authorized_scope/tool_ids", json!(["s/other"]))
        }
        Code::Inv011 => {
            let result = log.iter().position(|packet| packet["header"]["packet_type"] == "TaskResultPacket").unwrap();
            log.iter_mut()
                .skip(result)
                .for_each(|packet| set(packet, "/header/created_at", "2999-01-01T00:00:00Z".into()));
        }
        Code::Inv005 => {
            for packet in log.iter_mut() {
                set(packet, "/mcp/budgets/tool_call_budget", 0.into());
            }
        }
        Code::Id => {
            let first = log[0]["header"]["packet_id"].clone();
            set(&mut log[1], "/header/packet_id", first);
        }
        Code::Layer => set(&mut log[0], "/header/layer_source", 3.into()),
        Code::Time => set(log.last_mut().unwrap(), "/header/created_at", "2000-01-01T00:00:00Z".into()),
        Code::Chain => set(&mut log[1], "/header/previous_packet_id", "pkt_99".into()),
        Code::Schema => set(&mut log[0], "/payload/observation_type", "guess".into()),
        Code::Json => {}
        other => panic!("no log breaks {other}"),
    }
}

#[tokio::test]
async fn what_the_wire_proves_is_found_where_it_is_broken() {
    let (_, good) = transcripts().into_iter().find(|(name, _)| name == "good").unwrap();
    for mode in Mode::ALL {
        // The second call of this transcript writes.
        let played = play(mode, &good).await;
        for code in Code::ALL {
            let (observe, enforce) = said(*code);
            let proven = if mode == Mode::Observe { observe } else { enforce };
            if proven != OWN && !proven.starts_with(WIRE) {
                continue;
            }
            let mut log = if mode == Mode::Observe { writing(&played.log) } else { played.log.all() };
            broken(*code, &mut log);
            let mut text: Vec<_> = log.iter().map(ToString::to_string).collect();
            if *code == Code::Json {
                text[0].pop();
            }
            let found = Lines::new(text).findings();
            let codes: Vec<_> = found.iter().flat_map(|finding| &finding.diagnostic.also).collect();
            let is_found = found.iter().any(|finding| finding.diagnostic.code == *code) || codes.contains(&code);
            assert!(is_found, "{mode} {code}: {found:?}");
        }
    }
}

/// The episode of the call that writes.
fn writing(log: &Lines) -> Vec<Value> {
    let all = log.all();
    let token = all.iter().find(|packet| packet["header"]["packet_type"] == "ToolAuthorizationToken").unwrap();
    let id = token["header"]["correlation_id"].clone();
    all.into_iter().filter(|packet| packet["header"]["correlation_id"] == id).collect()
}
