//! Reasons quote the values of a call in the audit log only if arguments are recorded in full and none of them is
//! secret.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_gate::server::{Dispatch, ToolServer};
use omen_gate::summary::Summary;
use omen_gate::tool::{Answer, Tool};
use omen_gate::{Blocked, Config, Fault, Gate, GateClock, ManualClock, ServerName, Stopped, TurnId};
use omen_testkit::proofs::Proofs;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::random::Random;
use crate::support::{clock, logged_of_turns, secs, tool};

/// Marker in texts and names of calls.
const MARKER: &str = "zQxMARKx";
/// Marker in numbers.
const NUMBER: &str = "7306518294";

/// Answer of the tool `typed`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Said {
    #[expect(dead_code, reason = "it is typed, and not read")]
    text: String,
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "maxLength": 40, "pattern": "^[a-z./]*$" },
            "mode": { "enum": ["r", "w"] },
            "same": { "const": "x" },
            "mail": { "type": "string", "format": "email" },
            "amount": { "type": "integer", "minimum": 1, "maximum": 100, "multipleOf": 3 },
            "either": { "anyOf": [{ "type": "integer" }, { "type": "object", "required": ["a"] }] },
            "one": { "oneOf": [{ "minLength": 3 }, { "maxLength": 5 }] },
            "never": { "not": { "type": "string" } },
            "list": { "type": "array", "maxItems": 2, "uniqueItems": true, "contains": { "const": "c" },
                      "items": { "type": "object", "properties": { "name": { "type": "string" } }, "additionalProperties": false } },
            "tuple": { "prefixItems": [{ "type": "string" }], "items": false },
            "map": { "additionalProperties": { "type": "integer" }, "propertyNames": { "maxLength": 3 } },
            "free": { "type": "object", "additionalProperties": true },
            "inner": { "type": "object", "properties": { "password": { "type": "string" }, "key": { "type": "boolean" } },
                       "unevaluatedProperties": false, "minProperties": 2 },
        },
        "dependentRequired": { "mode": ["amount"] },
    })
}

/// Tool that fails, or answers, by quoting its arguments.
#[derive(Debug)]
struct Echo {
    tools: Vec<Tool>,
    random: Mutex<Random>,
}

#[async_trait]
impl ToolServer for Echo {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        Ok(self.tools.clone())
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let said = json!(dispatch.args()).to_string();
        let way = self.random.lock().unwrap().below(9);
        let answer = |answer: Value| Ok(serde_json::from_value(answer).unwrap());
        let text = json!([{ "type": "text", "text": said }]);
        match way {
            0 => Err(Fault::tool(&said)),
            1 => Err(Fault::refused(-32_602, &said)),
            2 => Err(Fault::died(&said)),
            3 => Err(Fault::malformed(&said)),
            4 => Err(Fault::unreachable(&said)),
            // Without the panic hook, which writes to the terminal.
            5 => std::panic::resume_unwind(Box::new(said)),
            6 => answer(json!({ "content": text, "isError": true })),
            7 => answer(json!({ "content": text, "structuredContent": { "text": [said] } })),
            _ => answer(json!({ "content": text, "structuredContent": { "text": said } })),
        }
    }
}

/// Confirmer that denies half of the calls.
#[derive(Debug)]
struct Somebody(Mutex<Random>);

#[async_trait]
impl Confirmer for Somebody {
    async fn confirm(&self, question: &Question) -> Reply {
        let way = self.0.lock().unwrap().below(3);
        match way {
            0 => Reply::Confirmed,
            1 => Reply::Denied { why: "not now".to_owned() },
            _ => std::panic::resume_unwind(Box::new(question.args.clone())),
        }
    }
}

struct World {
    gate: Gate,
    clock: Arc<ManualClock>,
    memory: Memory,
    turns: u32,
}

impl World {
    fn new(arguments: &str, policy: &str, seed: u64) -> Self {
        // `redacted` records the texts that a rule checks, so it gets no rules.
        Self::with_rules(arguments, policy, seed, if arguments.contains("redacted") { "" } else { RULES })
    }

    fn with_rules(arguments: &str, policy: &str, seed: u64, rules: &str) -> Self {
        let named = |name: &str| {
            let mut tool = json!({ "name": name, "inputSchema": schema() });
            if name == "typed" || name == "promises" {
                tool["outputSchema"] =
                    json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
            }
            serde_json::from_value::<Tool>(tool).unwrap()
        };
        let names = ["plain", "typed", "promises", "asks", "ungranted", "expired", "unlisted", "changed"];
        let tools: Vec<_> = names.iter().map(|name| named(name)).collect();
        let mut text = format!(
            "{policy}[limits]\nplan_depth = 12\n[breaker]\nfailures = 2\ncooldown_seconds = 1\n[servers.s]\n[audit]\nlog = 'l'\nkey_file = 'k'\n{arguments}"
        );
        for tool in tools.iter().filter(|tool| tool.name.as_str() != "unlisted") {
            let name = tool.name.as_str();
            let permission = if name == "asks" { "WRITE" } else { "READ" };
            let pinned =
                if name == "changed" { format!("v1:{}", "0".repeat(64)) } else { pin(tool).unwrap().to_string() };
            write!(
                text,
                "[[allow]]\nserver = 's'\ntool = '{name}'\npermissions = ['{permission}']\npin = '{pinned}'\n{rules}"
            )
            .unwrap();
            if name != "ungranted" {
                let expires = if name == "expired" { "expires = 2025-01-01T00:00:00Z\n" } else { "" };
                write!(text, "[[grants]]\nserver = 's'\ntool = '{name}'\npermissions = ['{permission}']\n{expires}")
                    .unwrap();
            }
        }
        let config = Config::parse(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let memory = Memory::default();
        let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        let clock = clock();
        let shared: Arc<dyn GateClock> = clock.clone();
        let audit = Audit::over(memory.clone(), key, Arc::clone(&shared), Options::default()).unwrap();
        let server = Echo { tools, random: Mutex::new(Random(seed)) };
        let gate = Gate::builder(config)
            .audit(audit)
            .clock(shared)
            .server(ServerName::new("s").unwrap(), server)
            .output::<Said>(tool("s/typed"))
            .confirmer(Somebody(Mutex::new(Random(seed))))
            .build()
            .unwrap();
        Self { gate, clock, memory, turns: 0 }
    }

    /// Runs a plan as far as possible.
    async fn take(&mut self, query: &str, plan: &str, evidence: &str) -> Result<(), Stopped> {
        self.turns += 1;
        // Lets breakers open and close.
        self.clock.advance(secs(1) / 2);
        // Twenty calls are one turn, so that some turns have spent their failures.
        let turn = TurnId::new(format!("turn_{}", self.turns / 20)).unwrap();
        let screened = self.gate.request(turn, query).screen().await?;
        let Ok(planned) = screened.plan(plan).await?.call() else { return Ok(()) };
        let is_typed = planned.planned().tool().tool.as_str() == "typed";
        let dispatched = planned.conform().await?.authorize().await?.dispatch().await?;
        if !is_typed {
            return dispatched.as_promised().await.map(drop).map_err(|untyped| untyped.why().clone().into());
        }
        let typed = dispatched.type_output::<Said>().await.map_err(|untyped| Stopped::from(untyped.why().clone()))?;
        let bullet = json!({ "text": "it says so", "evidence": evidence });
        let summary: Summary =
            serde_json::from_value(json!({ "sections": [{ "heading": "h", "bullets": [bullet] }] })).unwrap();
        typed.ground(summary).await.map(drop).map_err(Stopped::from)
    }

    fn log(&self) -> String {
        String::from_utf8(self.memory.bytes()).unwrap()
    }
}

/// Text that contains a marker: short, long, or truncated within the marker.
fn text(random: &mut Random, marker: &str) -> String {
    let around = [0, 1, 3, 30, 500, 505, 510, 700];
    let pad = |random: &mut Random| "a".repeat(around[random.below(around.len())]);
    format!("{}{marker}{}", pad(random), pad(random))
}

fn value(random: &mut Random, marker: &str, depth: usize) -> Value {
    match random.below(if depth == 0 { 7 } else { 9 }) {
        0 => json!(NUMBER.parse::<u64>().unwrap()),
        1 => serde_json::from_str(&format!("{NUMBER}.5")).unwrap(),
        2 => json!(true),
        3 => json!("r"),
        4 => json!(6),
        5 | 6 => json!(text(random, marker)),
        7 => (0..random.below(4)).map(|_| value(random, marker, depth - 1)).collect(),
        _ => {
            let names = ["name", "a", "key", "password"];
            (0..random.below(4))
                .map(|_| {
                    let name = match random.below(3) {
                        0 => text(random, marker),
                        1 => format!("{}/~{marker}", random.below(9)),
                        _ => names[random.below(names.len())].to_owned(),
                    };
                    (name, value(random, marker, depth - 1))
                })
                .collect::<serde_json::Map<_, _>>()
                .into()
        }
    }
}

/// Arguments that are valid in some members and invalid in others.
fn arguments(random: &mut Random, marker: &str) -> Value {
    let right = [
        ("path", json!("a")),
        ("mode", json!("r")),
        ("same", json!("x")),
        ("amount", json!(6)),
        ("never", json!(1)),
        ("map", json!({ "abc": 1 })),
        ("free", json!({})),
        ("inner", json!({ "password": "p", "key": true })),
    ];
    let names =
        ["path", "mode", "same", "mail", "amount", "either", "one", "never", "list", "tuple", "map", "free", "inner"];
    let mut args = json!({ "path": "a", "amount": 6 });
    // Half of the calls are well-formed, and contain a marker all the same.
    if random.below(2) == 0 {
        args["free"] = json!({ marker: text(random, marker), "x": [{ marker: NUMBER.parse::<u64>().unwrap() }] });
        args["mail"] = json!(format!("{marker}@example.com"));
        return args;
    }
    for _ in 0..random.below(4) {
        let (name, value) = match random.below(5) {
            0 => {
                let (name, value) = &right[random.below(right.len())];
                ((*name).to_owned(), value.clone())
            }
            1 => (text(random, marker), value(random, marker, 3)),
            _ => (names[random.below(names.len())].to_owned(), value(random, marker, 3)),
        };
        args[name] = value;
    }
    args
}

/// Planner's text, with markers in every place where an error may be.
fn plan(random: &mut Random, marker: &str) -> String {
    let tools = ["plain", "plain", "typed", "promises", "asks", "ungranted", "expired", "unlisted", "changed", "none"];
    let named = tools[random.below(tools.len())];
    let args = arguments(random, marker);
    let good = json!({ "type": "call_tool", "server": "s", "tool": named, "args": args }).to_string();
    match random.below(26) {
        0 => format!("{marker} {good}"),
        1 => format!("{good} {marker}"),
        2 => format!("```{marker}\n{good}\n```"),
        3 => marker.to_owned(),
        4 => json!({ "type": marker, "server": "s" }).to_string(),
        5 => json!({ "type": "call_tool", "server": "s", "tool": named, "args": text(random, marker) }).to_string(),
        6 => json!({ "type": "call_tool", "server": "s", "tool": { marker: marker }, "args": args }).to_string(),
        7 => json!({ "type": "call_tool", "server": "s", "tool": format!("a {marker}"), "args": args }).to_string(),
        8 => {
            json!({ "type": "call_tool", "server": format!("\u{7f}{marker}"), "tool": named, "args": args }).to_string()
        }
        9 => json!({ "type": "call_tool", "server": "s", "tool": named, "args": args, marker: 1 }).to_string(),
        10 => json!({ marker: "call_tool", "tipe": marker }).to_string(),
        11 => format!(r#"{{"type":"call_tool","server":"s","tool":"plain","args":{{"{marker}":1,"{marker}":2}}}}"#),
        12 => format!(
            r#"{{"type":"call_tool","server":"s","tool":"plain","args":{{"{marker}":{NUMBER}{NUMBER}{NUMBER}}}}}"#
        ),
        13 => format!(r#"{{"type":"call_tool","server":"s","tool":"plain","args":{{"a":{NUMBER}.{NUMBER}{NUMBER}}}}}"#),
        14 => format!(r#"{{"type":"call_tool","server":"s","tool":"plain","args":{{"a":"{marker}", {marker}}}}}"#),
        15 => format!(r#"{{"type":"call_tool","args":{{"a":{}"{marker}"{}}}}}"#, "[".repeat(20), "]".repeat(20)),
        16 => good[..good.len() - 3].to_owned(),
        17 => json!([good]).to_string(),
        18 => json!({ "type": "final_answer", "answer": marker, "needs_more_info": false }).to_string(),
        19 => json!({ "type": "final_answer", "answer": marker, "needs_more_info": marker }).to_string(),
        20 => format!(
            r#"{{"type":"call_tool","server":"s","tool":"plain","args":{{"$serde_json::private::Number":"{marker}"}}}}"#
        ),
        _ => good,
    }
}

/// Makes calls that are wrong in every way, and returns the codes of the refusals.
async fn calls(world: &mut World, random: &mut Random, marker: &str, count: usize) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::new();
    for _ in 0..count {
        let query = if random.below(20) == 0 { format!("forbidden {marker}") } else { format!("what of {marker}?") };
        let plan = plan(random, marker);
        if let Err(stopped) = world.take(&query, &plan, &format!("{marker} is not there")).await {
            codes.insert(stopped.code().as_str());
        }
    }
    codes
}

const RULES: &str = "where = { '/path' = { matches = '[a-z]*', optional = true }, \
                     '/list/*/name' = { in = ['a'], optional = true }, '/amount' = { max = 50, optional = true } }\n";

const PATTERNS: &str = "[[policy.patterns]]\npattern = 'forbidden'\nreason = 'it is forbidden'\n";

/// Entries without the arguments that are recorded as such.
fn without_args(mut entries: Vec<Value>) -> String {
    for entry in &mut entries {
        if let Some(data) = entry["data"].as_object_mut() {
            data.remove("args");
        }
    }
    json!(entries).to_string()
}

#[tokio::test]
async fn no_value_is_in_the_log_through_a_reason() {
    let mut codes = BTreeSet::new();
    for arguments in ["", "arguments = 'hash'\n", "arguments = 'redacted'\n"] {
        for (policy, seed) in [("[policy]\nshadow = true\n", 1), ("", 2), ("", 3), ("", 4), ("", 5)] {
            let mut world = World::new(arguments, &format!("{policy}{PATTERNS}"), seed);
            let mut random = Random(seed);
            codes.extend(calls(&mut world, &mut random, MARKER, Proofs::wanted().choose(500, 900)).await);
            let log = world.log();
            let found = log.lines().find(|line| line.contains(MARKER));
            assert_eq!(found, None, "{arguments:?} {policy:?}");
            // Numbers are part of the structure that `redacted` records.
            let reasons =
                if arguments.contains("redacted") { without_args(logged_of_turns(&world.memory)) } else { log };
            assert!(!reasons.contains(NUMBER), "{arguments:?} {policy:?}");
        }
    }
    let all = ["G1", "G2", "G3", "PG-0", "PG-1", "PG-2", "PG-3", "PG-4", "PG-5", "PG-T", "R1", "R2", "R3"];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), all);
}

/// A secret is not in the log, whether it is known by name, pointer or form, and however the call fails.
#[tokio::test]
async fn no_secret_is_in_a_log_of_all_arguments() {
    for (declared, seed) in [("secret_patterns = ['MARK']\n", 1), ("secret_patterns = ['(?i)zqxm']\n", 2)] {
        let mut world = World::new(&format!("arguments = 'full'\n{declared}"), PATTERNS, seed);
        let _ = calls(&mut world, &mut Random(seed), MARKER, Proofs::wanted().choose(100, 700)).await;
        let log = world.log();
        assert_eq!(log.lines().find(|line| line.contains(MARKER)), None, "{declared}");
    }
    // Secret by its pointer, and by the name of its member; the tool answers with it.
    let mut world = World::new("arguments = 'full'\nsecrets = ['/mail', '/free/x/0']\n", "", 5);
    for at in ["mail", "free", "inner", "both"] {
        for wrong in [false, true] {
            for _ in 0..12 {
                let mut args = match at {
                    "mail" => json!({ "mail": format!("{MARKER}@example.com") }),
                    "free" => json!({ "free": { "x": [{ "y": MARKER }] } }),
                    "inner" => json!({ "inner": { "password": MARKER, "key": true } }),
                    _ => {
                        json!({ "mail": format!("{MARKER}@example.com"), "inner": { "password": MARKER, "key": true } })
                    }
                };
                if wrong {
                    args["amount"] = json!(7);
                    args["unknown"] = json!(1);
                }
                let plan = json!({ "type": "call_tool", "server": "s", "tool": "plain", "args": args });
                let _ = world.take("q", &plan.to_string(), "e").await;
                world.turns += 10;
            }
        }
    }
    assert!(world.log().contains("the tool reports an error"), "some have failed");
    assert_eq!(world.log().lines().find(|line| line.contains(MARKER)), None);
}

/// If arguments are recorded in full and none of them is secret, reasons quote them.
#[tokio::test]
async fn a_log_of_all_arguments_has_all_reasons() {
    let mut world = World::new("arguments = 'full'\n", "", 1);
    let why = |world: &World| logged_of_turns(&world.memory).pop().unwrap()["data"]["why"].as_str().unwrap().to_owned();
    let plan = |args: Value| json!({ "type": "call_tool", "server": "s", "tool": "plain", "args": args }).to_string();
    let refused = world.take("q", &plan(json!({ "mode": MARKER })), "e").await.unwrap_err();
    assert_eq!(format!("PG-2: {}", why(&world)), refused.to_string());
    assert!(why(&world).contains(MARKER));
    // Invalid text is not known to be a call, so its secrets are unknown.
    let refused = world.take("q", &format!("{MARKER} {}", plan(json!({}))), "e").await.unwrap_err();
    assert!(refused.to_string().contains(MARKER), "the client reads it");
    assert_eq!(why(&world), "there is text before the plan");
}

/// A reason without quotations still says what is wrong, and where, as far as the schema has the words.
#[tokio::test]
async fn what_is_left_of_a_reason() {
    let mut world = World::new("", "", 1);
    let plan = |args: Value| json!({ "type": "call_tool", "server": "s", "tool": "plain", "args": args }).to_string();
    for (args, expect) in [
        (json!({ "path": 1 }), "`/path`: it is not of type \"string\""),
        (json!({ MARKER: 1 }), "`/[redacted]`: unknown field"),
        (json!({ "inner": { "password": "p", "key": true, MARKER: 1 } }), "`/inner/[redacted]`: unknown field"),
        (json!({ "map": { MARKER: 1 } }), "`/map`: it does not match `propertyNames` of the schema"),
        (json!({ "map": { "7": "x" } }), "`/map/[redacted]`: it is not of type \"integer\""),
        (json!({ "tuple": ["a", MARKER] }), "`/tuple/1`: it does not match `falseSchema` of the schema"),
        (json!({ "mode": "x", "amount": 3 }), "`/mode`: it is not one of \"r\" or \"w\""),
        (json!({ "mode": "r" }), "\"amount\" is a required property"),
    ] {
        let refused = world.take("q", &plan(args.clone()), "e").await.unwrap_err();
        assert!(matches!(&refused, Stopped::Blocked(Blocked { .. })), "{refused}");
        let entry = logged_of_turns(&world.memory).pop().unwrap();
        let why = entry["data"]["why"].as_str().unwrap();
        let (_, what) = why.split_once("`inputSchema` of `s/plain`: ").unwrap_or_else(|| panic!("{why}"));
        assert_eq!(what, expect, "{args}");
    }
}

/// Member names that no schema has are data, too.
#[tokio::test]
async fn redacted_arguments_have_the_names_that_the_tool_has() {
    let mut world = World::with_rules("arguments = 'redacted'\n", "", 1, RULES);
    let args = json!({ "amount": 3, "free": { MARKER: 1, "name": "x", "deep": [{ "key": 2 }] }, "path": "a" });
    let plan = json!({ "type": "call_tool", "server": "s", "tool": "plain", "args": args }).to_string();
    let _ = world.take("q", &plan, "e").await;
    let entries = logged_of_turns(&world.memory);
    let intent = entries.iter().find(|entry| entry["kind"] == "intent").unwrap();
    let expect = json!({
        "amount": 3, "path": "a",
        "free": { "name": "[redacted]", "[redacted]": [{ "key": 2 }] },
    });
    // Members with hidden names are merged into one.
    let mut found = intent["data"]["args"].clone();
    assert!(found["free"].as_object().unwrap().len() <= 3, "{found}");
    let hidden = found["free"]["[redacted]"].take();
    assert!(hidden == json!(1) || hidden == json!([{ "key": 2 }]), "{hidden}");
    found["free"]["[redacted]"] = expect["free"]["[redacted]"].clone();
    assert_eq!(found, expect);
}
