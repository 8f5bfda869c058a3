//! Three policies, each with a model that errs, reads why, and recovers. `OMEN_BLESS=1` writes what it reads to the docs.

use std::fs;

use serde_json::{Value, json};

use super::story::{Act, Policy, Story};
use crate::support::entries;

/// The page that shows the policies, and what is read under them.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/gate.md");

/// Holds a part of the page against what a test has seen.
fn holds(name: &str, policy: &str, read: &str) {
    let part = format!("\n```toml\n{}```\n\n```text\n{read}```\n", policy.trim_start());
    let page = fs::read_to_string(PAGE).unwrap();
    let (start, end) = (format!("<!-- story: {name} -->\n"), "<!-- /story -->");
    let (before, rest) = page.split_once(&start).expect("the page has this part");
    let (shown, after) = rest.split_once(end).expect("it ends");
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(PAGE, [before, &start, &part, end, after].concat()).unwrap();
    } else {
        assert_eq!(shown, part, "OMEN_BLESS=1 rewrites the document");
    }
}

/// Entries of tools without rules, which rules of others name.
fn plain(tools: &[&str]) -> String {
    let entry = |tool: &&str| {
        let (server, tool) = tool.split_once('/').unwrap();
        format!("[[allow]]\nserver = \"{server}\"\ntool = \"{tool}\"\n")
    };
    tools.iter().map(entry).collect()
}

fn answers(content: Value) -> Act {
    Act { content: Some(content), ..Act::default() }
}

const DEPLOY: &str = r#"
[[allow]]
server = "ci"
tool = "deploy"
after = [{ tool = "run_tests", same = ["/commit"], within = "10min", answer = { "/structuredContent/passed" = { equals = true } }, until = ["files/write_file"] }]
never_after = [{ tool = "rollback", until = ["approve"] }]
"#;

#[tokio::test]
async fn tests_before_a_deployment() {
    let policy =
        Policy::new(&format!("{DEPLOY}{}", plain(&["ci/run_tests", "ci/rollback", "ci/approve", "files/write_file"])));
    let mut story = Story::stdio(&policy, "").await;
    let commit = |commit: &str| json!({ "commit": commit });
    assert_eq!(story.code("ci__deploy", commit("a1")).await.as_deref(), Some("O-1"));
    story.at(0, 5);
    story.script.next("run_tests", Act { takes: 45, ..answers(json!({ "passed": false })) });
    assert_eq!(story.code("ci__run_tests", commit("a1")).await, None);
    story.shows(0, 50);
    story.at(0, 55);
    assert_eq!(story.code("ci__deploy", commit("a1")).await.as_deref(), Some("O-1"));
    story.at(1, 0);
    assert_eq!(story.code("files__write_file", json!({ "path": "src/a.rs" })).await, None);
    // Sent together: the tests are still running when the deployment is requested, and take longer than it may wait.
    story.at(1, 10);
    story.script.next("run_tests", Act { holds: true, ..answers(json!({ "passed": true })) });
    let tests = story.send("ci__run_tests", commit("b2")).await;
    story.send("ci__deploy", commit("b2")).await;
    let clock = story.script.clock.clone();
    let passes = async {
        loop {
            clock.advance(std::time::Duration::from_secs(1));
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::select! {
        answer = story.next() => answer,
        () = passes => unreachable!("time passes for ever"),
    };
    assert_eq!(waited["result"]["_meta"]["omen/decision"]["code"], "O-5", "{waited}");
    story.shows(1, 40);
    story.reads(&waited);
    story.script.release.notify_one();
    let tested = story.next().await;
    assert_eq!(tested["id"], tests);
    story.shows(1, 55);
    story.reads(&tested);
    story.at(2, 0);
    assert_eq!(story.code("ci__deploy", commit("b2")).await, None);
    story.at(12, 0);
    assert_eq!(story.code("ci__deploy", commit("b2")).await.as_deref(), Some("O-1"));
    story.script.next("run_tests", Act { takes: 45, ..answers(json!({ "passed": true })) });
    assert_eq!(story.code("ci__run_tests", commit("b2")).await, None);
    story.shows(12, 45);
    assert_eq!(story.code("ci__deploy", commit("b2")).await, None);
    let called = story.script.called.lock().unwrap().join(" ");
    assert_eq!(called, "run_tests write_file run_tests deploy run_tests deploy");
    // The list says beforehand what is needed.
    let list = story.list().await.to_string();
    let sentence = "Does `deploy`. Order of calls: may only follow `ci/run_tests` with the same `/commit` within 10 min, \
        unless `files/write_file` was called since; may not follow `ci/rollback` until `ci/approve` succeeds.";
    assert!(list.contains(sentence), "{list}");
    let (_, _, read) = story.end().await;
    holds("tests before a deployment", DEPLOY, &read);
}

const PAYMENTS: &str = r#"
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
where = { "/cents" = { min = 1, max = 100_000 }, "/invoice" = { matches = 'INV-[0-9]{4}' }, "/to" = { matches = '[A-Z]{2}[0-9]{10,30}' } }
"#;

#[tokio::test]
async fn payments_with_sums_and_an_approval() {
    let mut story = Story::stdio(&Policy::new(PAYMENTS), "[limits]\ncall_timeout_seconds = 1\n").await;
    let pay = |cents: Value, invoice: &str| json!({ "cents": cents, "invoice": invoice, "to": "DE1234567890" });
    let invoice = |invoice: &str| json!({ "invoice": invoice });
    assert_eq!(story.code("pay", pay(json!(60_000), "INV-0001")).await.as_deref(), Some("O-1"));
    story.at(0, 10);
    assert_eq!(story.code("request_approval", invoice("INV-0002")).await, None);
    assert_eq!(story.code("pay", pay(json!(60_000), "INV-0001")).await.as_deref(), Some("O-1"));
    assert_eq!(story.code("request_approval", invoice("INV-0001")).await, None);
    story.script.next("pay", Act { holds: true, ..Act::default() });
    assert_eq!(story.code("pay", pay(json!(60_000), "INV-0001")).await.as_deref(), Some("R3"));
    story.at(1, 10);
    assert_eq!(story.code("pay", pay(json!(60_000), "INV-0001")).await.as_deref(), Some("O-2"));
    assert_eq!(story.code("pay", pay(json!("400"), "INV-0003")).await.as_deref(), Some("PG-3"));
    story.script.release.notify_one();
    for number in ["INV-0003", "INV-0004"] {
        assert_eq!(story.code("request_approval", invoice(number)).await, None);
    }
    assert_eq!(story.code("pay", pay(json!(100_000), "INV-0003")).await, None);
    assert_eq!(story.code("pay", pay(json!(100_000), "INV-0004")).await.as_deref(), Some("O-3"));
    assert_eq!(story.code("pay", pay(json!(40_000), "INV-0005")).await, None);
    let (_, _, read) = story.end().await;
    holds("payments", PAYMENTS, &read);
}

const TICKETS: &str = r#"
[[allow]]
server = "tickets"
tool = "open_ticket"
max = { calls = 20, within = "1h", per = "session" }
before_end = [{ tool = ["close_ticket", "escalate"], same = [{ arg = "/id", answer = "/structuredContent/id" }] }]

[[allow]]
server = "tickets"
tool = "close_ticket"
after = [{ tool = "open_ticket", same = [{ arg = "/id", answer = "/structuredContent/id" }] }, { tool = "notify_customer", same = ["/id"] }]

[[allow]]
server = "tickets"
tool = "finish"
never_after = [{ tool = "open_ticket", was = "ok", until = [{ tool = ["close_ticket", "escalate"], same = [{ arg = "/id", answer = "/structuredContent/id" }] }] }]
"#;

/// Opens two tickets and closes one, after two mistakes.
async fn half_done(story: &mut Story) {
    let id = |id: &str| json!({ "id": id });
    for ticket in ["T7", "T8"] {
        story.script.next("open_ticket", answers(id(ticket)));
        assert_eq!(story.code("open_ticket", json!({ "about": "the bill" })).await, None);
    }
    story.at(1, 0);
    assert_eq!(story.code("close_ticket", id("T9")).await.as_deref(), Some("O-1"));
    assert_eq!(story.code("close_ticket", id("T7")).await.as_deref(), Some("O-1"));
    assert_eq!(story.code("notify_customer", id("T7")).await, None);
    assert_eq!(story.code("close_ticket", id("T7")).await, None);
    story.at(2, 0);
}

fn tickets() -> Policy {
    Policy::new(&format!("{TICKETS}{}", plain(&["tickets/notify_customer", "tickets/escalate"])))
}

#[tokio::test]
async fn a_support_ticket_with_an_obligation_over_http() {
    let mut story = Story::http(&tickets(), "").await;
    half_done(&mut story).await;
    assert_eq!(story.code("finish", json!({})).await.as_deref(), Some("O-2"));
    assert_eq!(story.code("escalate", json!({ "id": "T8" })).await, None);
    assert_eq!(story.code("finish", json!({})).await, None);
    let (log, logs, read) = story.end().await;
    assert_eq!(logs.find(&["O-4"]), None);
    assert_eq!(ended(&log), [(json!("closed"), 0)]);
    holds("a ticket", TICKETS, &read);
}

#[tokio::test]
async fn a_model_that_leaves_owes_what_it_opened() {
    let mut story = Story::stdio(&tickets(), "").await;
    half_done(&mut story).await;
    let (log, logs, _) = story.end().await;
    let text = logs.lines().join("\n");
    let said = "has ended. Still owed before the end: `tickets/close_ticket` or `tickets/escalate` for 1 call (entry ";
    assert_eq!((text.matches("O-4").count(), text.contains(said)), (1, true), "{text}");
    assert_eq!(ended(&log), [(json!("closed"), 1)]);
}

/// Ends of sessions in a log: how, and the number of calls that were owed.
pub(crate) fn ended(log: &omen_gate::audit::store::Memory) -> Vec<(Value, usize)> {
    let data = entries(log).into_iter().map(|entry| entry["data"].clone());
    let ends = data.filter(|data| data["outcome"] == "session_ended");
    ends.map(|data| (data["how"].clone(), data["owed"].as_array().map_or(0, Vec::len))).collect()
}

#[tokio::test]
async fn a_session_that_was_open_at_a_kill_is_ended_by_the_next_start() {
    let mut story = Story::stdio(&tickets(), "").await;
    half_done(&mut story).await;
    let (script, log) = story.killed().await;
    assert_eq!(ended(&log), []);
    let story = Story::begun(&tickets(), "", None, script, log).await;
    let (log, logs, _) = story.end().await;
    let said =
        "was open when the proxy stopped. Still owed before the end: `tickets/close_ticket` or `tickets/escalate`";
    assert!(logs.find(&["O-4", said]).is_some(), "{:?}", logs.lines());
    assert_eq!(ended(&log), [(json!("lost"), 1)]);
}

#[tokio::test]
async fn a_deadline_that_passes_is_a_warning_though_no_call_comes() {
    let owes =
        "[[allow]]\nserver = \"ci\"\ntool = \"deploy\"\nbefore_end = [{ tool = \"watch\", within = \"10min\" }]\n";
    let mut story = Story::stdio(&Policy::new(&format!("{owes}{}", plain(&["ci/watch"]))), "").await;
    assert_eq!(story.code("deploy", json!({})).await, None);
    story.at(10, 0);
    let logs = story.logs.clone();
    crate::http::world::until(|| logs.find(&["O-4", "`ci/watch` is overdue"]).is_some()).await;
    assert_eq!(story.code("watch", json!({})).await, None);
    let (_, logs, _) = story.end().await;
    assert_eq!(logs.lines().iter().filter(|line| line.contains("O-4")).count(), 1, "{:?}", logs.lines());
}

/// A model may send all of its calls at once, in any order.
#[tokio::test]
async fn of_a_hundred_calls_at_once_none_is_denied_for_being_early() {
    let rule = "[[allow]]\nserver = \"ci\"\ntool = \"deploy\"\nafter = [{ tool = \"test\", same = [\"/commit\"] }]\n";
    let policy = Policy::new(&format!("{rule}{}", plain(&["ci/test"])));
    let mut story = Story::held_back(&policy).await;
    for commit in 0..50 {
        // Every second deployment overtakes its tests.
        let tools = if commit % 2 == 0 { ["deploy", "test"] } else { ["test", "deploy"] };
        for tool in tools {
            story.send(tool, json!({ "commit": commit })).await;
        }
    }
    let clock = story.script.clock.clone();
    let passes = async {
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            clock.advance(std::time::Duration::from_millis(10));
        }
    };
    let read = async {
        let mut refused = 0;
        for _ in 0..100 {
            let answer = story.next().await;
            refused += u32::from(answer["result"]["_meta"].is_object());
        }
        refused
    };
    let refused = tokio::select! {
        refused = read => refused,
        () = passes => unreachable!("time passes for ever"),
    };
    assert_eq!(refused, 0);
    story.end().await;
}
