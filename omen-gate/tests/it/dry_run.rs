//! Dry runs agree with the gate.

use std::collections::BTreeSet;
use std::sync::Arc;

use omen_gate::catalog::Catalog;
use omen_gate::confirm::Reply;
use omen_gate::dry_run::{DryRun, PlanVerdict};
use omen_gate::pipeline::Way;
use omen_gate::server::ToolServer as _;
use omen_gate::{Blocked, Config, Demand, GateClock, GateCode, Permission, TurnId};
use serde_json::{Value, json};

use crate::gates::{MAY_WRITE, Person, World, config, local, world};
use crate::support::{clock, tool};

async fn catalog() -> Catalog {
    Catalog::parse(&json!({ "store": local().list().await.unwrap() }).to_string()).unwrap()
}

async fn dry_run(more: &str) -> DryRun {
    DryRun::new(&config(more).await, catalog().await, clock()).unwrap()
}

fn plan(server: &str, tool: &str, args: Value) -> String {
    json!({ "type": "call_tool", "server": server, "tool": tool, "args": args }).to_string()
}

fn get() -> String {
    plan("store", "get", json!({ "key": "pool" }))
}

fn set(value: Value) -> String {
    plan("store", "set", json!({ "key": "pool", "value": value }))
}

/// Planner's texts, valid and invalid.
fn outputs() -> Vec<String> {
    let answer = |answer: &str, more: bool| {
        json!({ "type": "final_answer", "answer": answer, "needs_more_info": more }).to_string()
    };
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    vec![
        get(),
        format!("\n\t{}\r\n ", get()),
        set(json!(80)),
        format!("```json\n{}\n```", get()),
        format!("Here is the plan: {}", get()),
        format!("{} I hope that this helps.", get()),
        format!("{}{}", get(), get()),
        format!("[{}]", get()),
        format!("\u{feff}{}", get()),
        get().replace("\"args\"", "\"args\": {}, \"args\""),
        get().replace("{\"key\"", "{\"key\": \"a\", \"key\""),
        get().trim_end_matches('}').to_owned(),
        String::new(),
        "null".to_owned(),
        "17".to_owned(),
        "I cannot do that.".to_owned(),
        json!({ "type": "call_tool", "server": "store", "tool": "get" }).to_string(),
        json!({ "type": "call_tol", "server": "store", "tool": "get", "args": {} }).to_string(),
        get().replace("\"type\"", "\"thought\": \"hm\", \"type\""),
        plan("store", "get", json!({ "key": "pool", "verbose": true })),
        plan("store", "get", json!({ "key": 1 })),
        plan("store", "get", json!({})),
        plan("store", "get", deep),
        plan("store", "gett", json!({ "key": "pool" })),
        plan("shop", "get", json!({ "key": "pool" })),
        plan("elsewhere", "get", json!({ "key": "pool" })),
        set(json!("80")),
        set(json!(80.5)),
        set(json!(1)).replace(":1}", ":9007199254740993}"),
        set(json!(1)).replace(":1}", ":-0}"),
        format!("{}{}", get(), " ".repeat(70_000)),
        answer("Which pool?", true),
        answer("Done.", false),
        answer(" \u{200b}", true),
    ]
}

/// Effect of the gate on a plan that it does not block.
#[derive(Debug)]
enum Done {
    Called(Demand),
    Asked(String),
}

/// Runs a request up to the answer of the tool, or to the question to the user.
async fn way(world: &World, turn: usize, output: &str) -> Result<Done, Blocked> {
    let request = world.gate.request(TurnId::new(format!("turn_{turn}")).unwrap(), "what is the pool?");
    let planned = match request.screen().await?.plan(output).await? {
        Way::Call(planned) => planned,
        Way::Terminal(ended) => return Ok(Done::Asked(ended.answer().to_owned())),
    };
    let authorized = planned.conform().await?.authorize().await?;
    let demand = authorized.authorized().demand().clone();
    let _ = authorized.dispatch().await.unwrap();
    Ok(Done::Called(demand))
}

#[tokio::test]
async fn it_says_what_the_gate_says() {
    let expired = format!("{MAY_WRITE}expires = 2025-12-31T00:00:00Z\n");
    let pre_granted = format!("{MAY_WRITE}pre_granted = true\n");
    let small = "[limits]\nplan_bytes = 60\nplan_depth = 2\n";
    let mut kinds = BTreeSet::new();
    for more in ["", MAY_WRITE, &expired, &pre_granted, small] {
        let person = Person::who_says(Reply::Confirmed);
        let world = world(more, |builder| builder.confirmer(person.clone())).await;
        let dry_run = dry_run(more).await;
        for (turn, output) in outputs().iter().enumerate() {
            let done = way(&world, turn, output).await;
            let confirmed = person.asked.lock().unwrap().drain(..).count();
            let found = dry_run.judge(output);
            match (&found, &done) {
                (PlanVerdict::Allow, Ok(Done::Called(_))) => assert_eq!(confirmed, 0, "{output}"),
                (PlanVerdict::NeedsConfirmation(found), Ok(Done::Called(demand))) => {
                    assert_eq!((found, confirmed), (demand, 1), "{output}");
                }
                (PlanVerdict::Terminal(found), Ok(Done::Asked(answer))) => assert_eq!(found.answer(), answer),
                (PlanVerdict::Block(found), Err(blocked)) => assert_eq!(found, blocked, "{output}"),
                _ => panic!("{more}{output}: {found:?}, but {done:?}"),
            }
            kinds.insert((found.name(), found.code().map(GateCode::as_str)));
        }
    }
    let expect = [
        ("allow", None),
        ("block", Some("G1")),
        ("block", Some("G2")),
        ("block", Some("PG-1")),
        ("block", Some("PG-2")),
        ("block", Some("PG-T")),
        ("needs_confirmation", Some("G3")),
        ("terminal", Some("PG-T")),
    ];
    assert!(kinds.iter().eq(&expect), "every kind of verdict has come about: {kinds:?}");
}

#[tokio::test]
async fn a_tool_in_another_form_is_suspended_as_by_the_gate() {
    let world = world("", |builder| builder).await;
    let changed = json!({ "name": "get", "description": "Reads all.", "inputSchema": { "type": "object",
        "properties": { "key": { "type": "string" } } } });
    world.seen.more.lock().unwrap().push(serde_json::from_value(changed.clone()).unwrap());
    let more = json!({ "name": "drop", "inputSchema": { "type": "object" } });
    world.seen.more.lock().unwrap().push(serde_json::from_value(more.clone()).unwrap());
    let catalog = Catalog::parse(&json!({ "store": [changed, more] }).to_string()).unwrap();
    let dry_run = DryRun::new(&config("").await, catalog, clock()).unwrap();
    for (output, message) in [(get(), "is suspended"), (plan("store", "drop", json!({})), "has not allowed")] {
        let blocked = way(&world, 1, &output).await.unwrap_err();
        assert!(blocked.code == GateCode::Pg3 && blocked.message.contains(message), "{blocked}");
        assert_eq!(dry_run.judge(&output), PlanVerdict::Block(blocked));
    }
}

#[tokio::test]
async fn what_is_not_configured_is_not_allowed() {
    let text = json!({ "store": [], "shop": [{ "name": "buy", "inputSchema": { "type": "object" } }] }).to_string();
    let dry_run = DryRun::new(&config("").await, Catalog::parse(&text).unwrap(), clock()).unwrap();
    assert_eq!(dry_run.judge(&plan("shop", "buy", json!({}))).code(), Some(GateCode::Pg3));
    let nothing = DryRun::new(&Config::parse("").unwrap(), catalog().await, clock()).unwrap();
    assert_eq!(nothing.judge(&get()).code(), Some(GateCode::Pg3));
    let nobody = DryRun::new(&config("").await, Catalog::default(), clock()).unwrap();
    assert_eq!(nobody.judge(&get()).code(), Some(GateCode::Pg2));
}

/// Nothing is used up, and grants expire.
#[tokio::test]
async fn each_plan_is_judged_by_itself_and_now() {
    let clock = clock();
    let shared: Arc<dyn GateClock> = clock.clone();
    let once = format!("{MAY_WRITE}uses = 1\npre_granted = true\nexpires = 2026-01-01T00:01:00Z\n");
    let dry_run = DryRun::new(&config(&once).await, catalog().await, shared).unwrap();
    for _ in 0..3 {
        assert_eq!(dry_run.judge(&set(json!(1))), PlanVerdict::Allow);
    }
    clock.advance(std::time::Duration::from_secs(60));
    assert_eq!(dry_run.judge(&set(json!(1))).code(), Some(GateCode::G2));
}

#[tokio::test]
async fn a_catalogue_beyond_the_limits_is_refused_as_by_the_gate() {
    for more in ["[limits]\ncatalog_tools = 1\n", "[limits]\ncatalog_bytes = 100\n"] {
        let world = world(more, |builder| builder).await;
        let by_gate = way(&world, 1, &get()).await.unwrap_err();
        let blocked = DryRun::new(&config(more).await, catalog().await, clock()).unwrap_err();
        assert_eq!((blocked.code, &blocked), (GateCode::Pg2, &by_gate));
    }
}

#[tokio::test]
async fn a_line_is_a_text_or_an_object() {
    let dry_run = dry_run("").await;
    let line = |line: &[u8]| dry_run.judge_line(line);
    let said = |bytes: &[u8]| match line(bytes) {
        PlanVerdict::Block(Blocked { code: GateCode::Pg1, message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(get().as_bytes()), PlanVerdict::Allow);
    assert_eq!(line(format!(" \t{} \r", get()).as_bytes()), PlanVerdict::Allow);
    assert_eq!(line(json!(get()).to_string().as_bytes()), PlanVerdict::Allow);
    assert_eq!(line(format!("  {} ", json!(get())).as_bytes()), PlanVerdict::Allow);
    // An object is itself the planner's text: errors in the text remain.
    assert!(said(format!("{} ok", get()).as_bytes()).starts_with("there is text after the plan"));
    assert!(said(get().replace("\"args\"", "\"args\":{},\"args\"").as_bytes()).contains("duplicate field"));
    // A string is decoded once: a string within it stays a string.
    assert_eq!(said(json!(json!(get()).to_string()).to_string().as_bytes()), "expected an object, found a string");
    assert_eq!(said(b"\"\""), "the plan is empty");
    for (bad, why) in [
        (&b"17"[..], "expected a JSON string or an object, found a line that begins with `17`"),
        (b"[{}]", "expected a JSON string or an object, found a line that begins with `[{}]`"),
        (b"```json", "expected a JSON string or an object, found a line that begins with `"),
        (b"", "expected a JSON string or an object, found a line that begins with"),
        (b"\xef\xbb\xbf{}", "expected a JSON string or an object, found a line that begins with"),
        (b"\"abc", "invalid JSON string: "),
        (b"\"abc\" \"def\"", "invalid JSON string: "),
        (b"\"\\ud800\"", "invalid JSON string: "),
        (b"\"\x01\"", "invalid JSON string: "),
        (b"{\"a\": \"\xff\"}", "invalid UTF-8 at byte 7 of the line"),
    ] {
        assert!(said(bad).starts_with(why), "{}", said(bad));
    }
}

/// A plan at the limit fits into the longest line in any escaping.
#[tokio::test]
async fn no_line_is_too_long_whose_plan_is_not() {
    let dry_run = dry_run(&format!("[limits]\nplan_bytes = {}\n", get().len())).await;
    let escaped: String = get().chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let line = format!("\"{escaped}\"");
    assert!(line.len() <= dry_run.longest_line());
    assert_eq!(dry_run.judge_line(line.as_bytes()), PlanVerdict::Allow);
    let longer = format!("\"{escaped}\\u0020\"");
    assert_eq!(dry_run.judge_line(longer.as_bytes()).code(), Some(GateCode::Pg1));
    assert_eq!(dry_run.too_long().code(), Some(GateCode::Pg1));
}

#[tokio::test]
async fn verdicts_are_objects_with_four_members() {
    let of = |verdict: PlanVerdict| serde_json::to_string(&verdict).unwrap();
    let dry_run = dry_run(MAY_WRITE).await;
    assert_eq!(of(dry_run.judge(&get())), r#"{"verdict":"allow","code":null,"message":null,"help":null}"#);
    let asked = dry_run.judge(&set(json!(1)));
    assert!(
        of(dry_run.judge("")).starts_with(r#"{"verdict":"block","code":"PG-1","message":"the plan is empty","help":""#)
    );
    let PlanVerdict::NeedsConfirmation(demand) = &asked else { panic!("{asked:?}") };
    assert!(demand.tool == tool("store/set") && demand.permissions.contains(Permission::Write));
    assert!(asked.help().unwrap().contains("pre-grant"));
    let always = Demand { always_confirm: true, ..demand.clone() };
    assert!(PlanVerdict::NeedsConfirmation(always).help().unwrap().contains("every call"));
}
