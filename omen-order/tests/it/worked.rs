//! Three policies as an operator writes them, and what a model that errs reads, row by row.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_order::rules::config::{Max, NameOrTable, PremiseTable, Rules, Surroundings};
use omen_order::rules::{Test, ToolPolicy};
use omen_order::{Ask, CallId, Ended, Engine, Mode, Now, Output, Policy, RuleSet, Secret, Tool, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tests_of_values::table;

type List = Vec<NameOrTable<PremiseTable<Value>>>;

#[derive(Deserialize)]
struct File {
    allow: Vec<Allow>,
}

#[derive(Deserialize)]
struct Allow {
    server: String,
    tool: String,
    #[serde(default)]
    always_confirm: bool,
    #[serde(default)]
    after: List,
    #[serde(default)]
    never_after: List,
    #[serde(default)]
    max: Option<Max<Value>>,
    #[serde(default)]
    before_end: List,
}

/// Tests of neutral JSON stand for those of the gate.
pub(crate) struct Neutral(pub(crate) Vec<Tool>);

impl Surroundings<Value> for Neutral {
    fn test(&mut self, _: &str, tests: &BTreeMap<String, Value>, _: bool) -> Option<Test> {
        table(&json!(tests)).ok()
    }

    fn tools(&self) -> &[Tool] {
        &self.0
    }

    fn nearest(&self, _: &str) -> Option<String> {
        None
    }

    fn least(&self, _: &str) -> Option<i64> {
        Some(1)
    }
}

/// Rules of a configuration, or the mistakes in it as `pointer: message`.
pub(crate) fn policy(text: &str) -> Result<Policy, Vec<String>> {
    let file: File = toml::from_str(text).unwrap();
    let tools = file.allow.iter().map(|entry| Tool::new(&entry.server, &entry.tool)).collect();
    let mut with = Neutral(tools);
    let (mut policy, mut mistakes) = (Policy::default(), Vec::new());
    for (index, entry) in file.allow.iter().enumerate() {
        let max = match &entry.max {
            Some(Max::Limits(limits)) => Some(limits.as_ref()),
            _ => None,
        };
        let rules = Rules { after: &entry.after, never_after: &entry.never_after, max, before_end: &entry.before_end };
        let tool = Tool::new(&entry.server, &entry.tool);
        match rules.build(&tool, &format!("allow[{index}]"), &mut with) {
            Ok(rules) => drop(policy.tools.insert(tool, ToolPolicy { may_confirm: entry.always_confirm, rules })),
            Err(more) => mistakes.extend(more.into_iter().map(|wrong| format!("{}: {}", wrong.pointer, wrong.message))),
        }
    }
    if mistakes.is_empty() { Ok(policy) } else { Err(mistakes) }
}

/// One session of a client.
struct Client {
    engine: Engine,
    entry: u64,
}

impl Client {
    fn new(text: &str, wait_ms: u64) -> Self {
        let policy = Policy { wait_ms, ..policy(text).unwrap() };
        let start = Now { mono: 0, wall: 0 };
        Self { engine: Engine::new(RuleSet::new(&policy), Secret::new(&[1; 32]), Mode::Enforce, start), entry: 40 }
    }

    fn at(seconds: i64) -> Now {
        Now { mono: seconds * 1000, wall: seconds * 1000 }
    }

    fn ask(&mut self, seconds: i64, tool: &str, args: Value) -> CallId {
        let (server, name) = tool.split_once('/').unwrap();
        let ask = Ask {
            tool: Tool::new(server, name),
            session: "s".to_owned(),
            turn: seconds.to_string(),
            args: Some(Arc::new(args)),
            must_confirm: name == "request_approval",
            is_refused: false,
        };
        self.engine.ask(Self::at(seconds), ask)
    }

    /// The verdict on a call and its text, once time has passed.
    fn said(&mut self, seconds: i64, id: CallId) -> (String, String) {
        self.engine.tick(Self::at(seconds));
        let verdict = self.engine.outputs().filter_map(|output| match output {
            Output::Verdict(of, verdict) if of == id => Some(verdict),
            _ => None,
        });
        match verdict.last() {
            None => ("waits".to_owned(), String::new()),
            Some(Verdict::Refuse(refusal)) => {
                let text = refusal.text();
                assert!(!text.message.contains('{') && !text.help.contains('{'), "{text:?}");
                let owed = refusal.owed_line();
                (refusal.code.to_string(), format!("{}; {} {owed}", text.message, text.help).trim().to_owned())
            }
            Some(_) => {
                self.entry += 1;
                self.engine.logged(id, self.entry, false);
                ("allow".to_owned(), String::new())
            }
        }
    }

    /// A call that is allowed at once, and ends.
    fn does(&mut self, seconds: i64, tool: &str, args: Value, answer: Value) {
        let id = self.ask(seconds, tool, args);
        assert_eq!(self.said(seconds, id).0, "allow", "{tool}");
        self.engine.end(Self::at(seconds), id, Ended::Ok, Some(&answer));
    }

    /// A call that is refused for good, with its text.
    fn refused(&mut self, seconds: i64, tool: &str, args: Value, code: &str) -> String {
        let id = self.ask(seconds, tool, args);
        let (said, text) = self.said(seconds + 1, id);
        assert_eq!(said, code, "{text}");
        text
    }
}

const DEPLOY: &str = r#"
[[allow]]
server = "ci"
tool = "run_tests"
[[allow]]
server = "files"
tool = "write_file"
[[allow]]
server = "ci"
tool = "rollback"
[[allow]]
server = "ci"
tool = "approve"
[[allow]]
server = "ci"
tool = "deploy"
after = [{ tool = "run_tests", same = ["/commit"], within = "10min", answer = { "/structuredContent/passed" = { equals = true } }, until = ["files/write_file"] }]
never_after = [{ tool = "rollback", until = ["approve"] }]
"#;

fn passed(yes: bool) -> Value {
    json!({ "structuredContent": { "passed": yes } })
}

#[test]
fn tests_come_before_a_deployment() {
    let mut client = Client::new(DEPLOY, 30_000);
    let (a1, b2) = (json!({ "commit": "a1" }), json!({ "commit": "b2" }));
    assert_eq!(
        client.refused(0, "ci/deploy", a1.clone(), "O-1"),
        "`ci/deploy` needs `ci/run_tests` with the same `/commit` within 10 min before it; no such call was made in \
         this session; call `ci/run_tests` with the same `/commit`, then `ci/deploy` again"
    );
    client.does(5, "ci/run_tests", a1.clone(), passed(false));
    let text = client.refused(55, "ci/deploy", a1, "O-1");
    assert!(text.contains("does not match the rule's conditions on its arguments and answer"), "{text}");
    client.does(60, "files/write_file", json!({}), json!({}));
    let tests = client.ask(70, "ci/run_tests", b2.clone());
    assert_eq!(client.said(70, tests).0, "allow");
    // Both at the same time: the deployment waits, but not long enough.
    let early = client.ask(70, "ci/deploy", b2.clone());
    assert_eq!(client.said(99, early).0, "waits");
    let (code, text) = client.said(101, early);
    assert_eq!(code, "O-5");
    assert!(
        text.starts_with(
            "`ci/deploy` waited 30 s for `ci/run_tests`, which did not finish; wait for `ci/run_tests` to"
        ),
        "{text}"
    );
    client.engine.end(Client::at(115), tests, Ended::Ok, Some(&passed(true)));
    client.does(120, "ci/deploy", b2.clone(), json!({}));
    let text = client.refused(720, "ci/deploy", b2.clone(), "O-1");
    assert!(text.contains("the last one with the same `/commit` ended 10 min 5 s ago"), "{text}");
    assert!(text.ends_with("call `ci/run_tests` again, then `ci/deploy` within 10 min"), "{text}");
    client.does(730, "ci/run_tests", b2.clone(), passed(true));
    client.does(731, "files/write_file", json!({}), json!({}));
    let text = client.refused(740, "ci/deploy", b2.clone(), "O-1");
    assert!(text.contains("but `files/write_file` was called after it began"), "{text}");
    client.does(750, "ci/run_tests", b2.clone(), passed(true));
    client.does(760, "ci/rollback", json!({}), json!({}));
    let text = client.refused(770, "ci/deploy", b2.clone(), "O-2");
    assert!(
        text.starts_with("`ci/deploy` may not follow `ci/rollback`, which was called 10 s ago; the operator's rule"),
        "{text}"
    );
    client.does(780, "ci/approve", json!({}), json!({}));
    client.does(790, "ci/deploy", b2, json!({}));
}

#[test]
fn with_patience_a_deployment_waits_for_its_tests() {
    let mut client = Client::new(DEPLOY, 120_000);
    let b2 = json!({ "commit": "b2" });
    // In the wrong order on the wire, too.
    let deploy = client.ask(70, "ci/deploy", b2.clone());
    let tests = client.ask(70, "ci/run_tests", b2);
    assert_eq!(client.said(114, deploy).0, "waits");
    client.engine.end(Client::at(115), tests, Ended::Ok, Some(&passed(true)));
    assert_eq!(client.said(115, deploy).0, "allow");
}

const TESTED_TWICE: &str = r#"
[[allow]]
server = "ci"
tool = "run_tests"
[[allow]]
server = "files"
tool = "write_file"
[[allow]]
server = "ci"
tool = "deploy"
after = [{ tool = "run_tests", times = 2, until = [{ tool = "files/write_file", same = ["/commit", { arg = "/run", answer = "/run" }] }] }]
"#;

#[test]
fn a_call_that_cancels_nothing_is_not_named() {
    let mut client = Client::new(TESTED_TWICE, 30_000);
    // The answer's `/run` is an object, which might equal anything, but the write is for another commit.
    client.does(5, "ci/run_tests", json!({ "commit": "a1" }), json!({ "run": {} }));
    client.does(6, "files/write_file", json!({ "commit": "b2", "run": "7" }), json!({}));
    let text = client.refused(7, "ci/deploy", json!({}), "O-1");
    assert!(text.contains("so far there are only 1 of 2"), "{text}");
}

const PAY: &str = r#"
[[allow]]
server = "bank"
tool = "request_approval"
always_confirm = true
[[allow]]
server = "bank"
tool = "pay"
after = [{ tool = "request_approval", was = "confirmed", same = ["/invoice"], within = "1h", if = { "/cents" = { min = 50_000 } } }]
never_after = [{ tool = "pay", was = "done", same = ["/invoice"], per = "all", within = "31day" }]
max = [{ sum = { "/cents" = 200_000 }, was = "done", within = "24h" }, { calls = 3, was = "done", within = "24h", same = ["/to"] }]
"#;

#[test]
fn payments_have_sums_and_an_approval() {
    let mut client = Client::new(PAY, 30_000);
    let pay = |cents: i64, invoice: &str, to: &str| json!({ "cents": cents, "invoice": invoice, "to": to });
    let approve = |client: &mut Client, seconds: i64, invoice: &str| {
        let id = client.ask(seconds, "bank/request_approval", json!({ "invoice": invoice }));
        client.engine.confirm(Client::at(seconds), id, true);
        assert_eq!(client.said(seconds, id).0, "allow");
        client.engine.end(Client::at(seconds), id, Ended::Ok, None);
    };
    client.refused(0, "bank/pay", pay(60_000, "INV-0001", "A"), "O-1");
    approve(&mut client, 10, "INV-0002");
    let text = client.refused(20, "bank/pay", pay(60_000, "INV-0001", "A"), "O-1");
    assert!(text.contains("the last one had a different `/invoice`"), "{text}");
    approve(&mut client, 30, "INV-0001");
    let paid = client.ask(40, "bank/pay", pay(60_000, "INV-0001", "A"));
    assert_eq!(client.said(40, paid).0, "allow");
    client.engine.end(Client::at(60), paid, Ended::MayHaveRun, None);
    approve(&mut client, 61, "INV-0001");
    let text = client.refused(100, "bank/pay", pay(60_000, "INV-0001", "A"), "O-2");
    assert!(text.contains("which was called 1 min ago and may have run"), "{text}");
    approve(&mut client, 110, "INV-0003");
    approve(&mut client, 111, "INV-0004");
    let first = client.ask(120, "bank/pay", pay(100_000, "INV-0003", "B"));
    let second = client.ask(120, "bank/pay", pay(100_000, "INV-0004", "C"));
    assert_eq!(
        client
            .engine
            .outputs()
            .filter(|output| matches!(output, Output::Verdict(id, Verdict::Allow { .. }) if *id == first))
            .count(),
        1
    );
    client.engine.end(Client::at(121), first, Ended::Ok, None);
    let _ = second;
    let text = client.refused(130, "bank/pay", pay(100_000, "INV-0004", "C"), "O-3");
    let used =
        "`/cents` may add up to at most 200000 in calls of `bank/pay` within 1 day; this session has used 160000";
    assert!(text.starts_with(used), "{text}");
    client.does(140, "bank/pay", pay(40_000, "INV-0005", "C"), json!({}));
    client.refused(150, "bank/pay", pay(1, "INV-0006", "D"), "O-3");
    let text = client.refused(160, "bank/pay", json!({ "cents": -1, "invoice": "INV-0007", "to": "D" }), "O-6");
    assert!(text.starts_with("the order rules require `/cents` of `bank/pay` to be an integer"), "{text}");
}

const TICKETS: &str = r#"
[[allow]]
server = "tickets"
tool = "open_ticket"
max = { calls = 20, within = "1h", per = "session" }
before_end = [{ tool = ["close_ticket", "escalate"], same = [{ arg = "/id", answer = "/structuredContent/id" }] }]
[[allow]]
server = "tickets"
tool = "notify_customer"
[[allow]]
server = "tickets"
tool = "escalate"
[[allow]]
server = "tickets"
tool = "close_ticket"
after = [{ tool = "open_ticket", same = [{ arg = "/id", answer = "/structuredContent/id" }] }, { tool = "notify_customer", same = ["/id"] }]
[[allow]]
server = "tickets"
tool = "finish"
never_after = [{ tool = "open_ticket", was = "ok", until = [{ tool = ["close_ticket", "escalate"], same = [{ arg = "/id", answer = "/structuredContent/id" }] }] }]
"#;

#[test]
fn a_ticket_is_an_obligation() {
    let mut client = Client::new(TICKETS, 30_000);
    let (id, made) = (|id: &str| json!({ "id": id }), |id: &str| json!({ "structuredContent": { "id": id } }));
    client.does(0, "tickets/open_ticket", json!({}), made("T7"));
    client.does(1, "tickets/open_ticket", json!({}), made("T8"));
    let text = client.refused(2, "tickets/close_ticket", id("T9"), "O-1");
    assert!(text.contains("the last one had a different `/id`"), "{text}");
    let owed =
        "Still owed before the end: `tickets/close_ticket` or `tickets/escalate` for 2 calls (entry 41, entry 42).";
    assert!(text.ends_with(owed), "{text}");
    let text = client.refused(4, "tickets/close_ticket", id("T7"), "O-1");
    assert!(text.starts_with("`tickets/close_ticket` needs `tickets/notify_customer` with the same `/id`"), "{text}");
    client.does(6, "tickets/notify_customer", id("T7"), json!({}));
    client.does(7, "tickets/close_ticket", id("T7"), json!({}));
    let text = client.refused(8, "tickets/finish", json!({}), "O-2");
    assert!(text.contains("may not follow `tickets/open_ticket`"), "{text}");
    assert!(text.contains("lifts the ban once `tickets/close_ticket` or `tickets/escalate` succeeds"), "{text}");
    assert_eq!(client.engine.owed("s").len(), 1);
    client.engine.end_session(Client::at(9), "s");
    let found = client.engine.outputs().find_map(|output| match output {
        Output::Found(found) => Some(found),
        _ => None,
    });
    let text = found.unwrap().text();
    assert_eq!(
        text.message,
        "the session or turn ended, still owing `tickets/close_ticket` or `tickets/escalate` with the same `/id` for \
         the call in entry 42, 8 s ago"
    );
    let mut client = Client::new(TICKETS, 30_000);
    client.does(0, "tickets/open_ticket", json!({}), made("T8"));
    client.does(1, "tickets/escalate", id("T8"), json!({}));
    client.does(2, "tickets/finish", json!({}), json!({}));
    client.engine.end_session(Client::at(3), "s");
    assert!(!client.engine.outputs().any(|output| matches!(output, Output::Found(_))));
}
