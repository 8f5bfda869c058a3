//! PG-1 and PG-T: valid and invalid plans.

mod mutations;

use omen_gate::plan::{Plan, PlanLimits, ToolCall};
use omen_gate::{Blocked, GateCode, MAX_DEPTH};
use serde_json::{Value, json};

const CALL: &str = r#"{"type": "call_tool", "server": "files", "tool": "read", "args": {"path": "a.txt"}}"#;

fn parse(text: &str) -> Result<Plan, Blocked> {
    Plan::parse(text, &PlanLimits::default())
}

#[track_caller]
fn call(text: &str) -> ToolCall {
    match parse(text) {
        Ok(Plan::CallTool(call)) => call,
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn args(args: &str) -> Result<Value, Blocked> {
    match parse(&format!(r#"{{"type":"call_tool","server":"s","tool":"t","args":{args}}}"#))? {
        Plan::CallTool(call) => Ok(Value::Object(call.args().clone())),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(text: &str, message: &str, help: &str) {
    by(GateCode::Pg1, text, message, help);
}

#[track_caller]
fn by(code: GateCode, text: &str, message: &str, help: &str) {
    let blocked = parse(text).expect_err(text);
    assert_eq!((blocked.code, blocked.message.as_str()), (code, message), "{text}");
    assert!(blocked.help.contains(help), "{text}: {}", blocked.help);
}

#[test]
fn a_call_is_taken_as_it_is_written() {
    let call = call(CALL);
    assert_eq!(call.tool().to_string(), "files/read");
    assert_eq!(Value::Object(call.args().clone()), json!({"path": "a.txt"}));
    // JSON white space may surround a plan.
    self::call(&format!("\n\t {CALL}\r\n"));
}

#[test]
fn a_final_answer_asks_for_more() {
    let text = r#"{"type": "final_answer", "needs_more_info": true, "answer": "Which file?"}"#;
    let Ok(Plan::FinalAnswer(answer)) = parse(text) else { panic!("{text}") };
    assert_eq!(answer.answer(), "Which file?");
}

#[test]
fn what_stands_around_the_object_is_reported() {
    refused("", "the plan is empty", "one JSON object");
    refused(" \n", "the plan is empty", "one JSON object");
    refused(&format!("\u{FEFF}{CALL}"), "the plan begins with a byte-order mark", "without it");
    refused(&format!("```json\n{CALL}\n```"), "the plan is inside a code fence", "remove the fence");
    refused(&format!("{CALL}\n```"), "a code fence follows the plan", "remove the fence");
    refused(&format!("Sure! {CALL}"), "there is text before the plan, beginning with `Sure!`", "nothing else");
    refused(&format!("1. {CALL}"), "there is text before the plan, beginning with `1.`", "nothing else");
    refused(&format!("null {CALL}"), "there is text before the plan, beginning with `null`", "nothing else");
    refused("I do not know.", "expected a JSON object, found text beginning with `I`", "nothing else");
    refused(&format!("{CALL} I hope this helps"), "there is text after the plan, beginning with `I`", "nothing else");
    refused(&format!("{CALL},"), "there is text after the plan, beginning with `,`", "nothing else");
    refused(&format!("{CALL}{CALL}"), "there is a second object after the plan", "plan one step");
    refused(&format!("{CALL}\u{a0}"), "there is text after the plan, beginning with ``", "nothing else");
    refused(&format!("{CALL}\0"), "there is text after the plan, beginning with ` `", "nothing else");
}

#[test]
fn another_value_is_no_plan() {
    refused(&format!("[{CALL}]"), "expected an object, found an array", "at most one call");
    refused("[]", "expected an object, found an array", "plan one step");
    refused("null", "expected an object, found null", "one JSON object");
    refused("true", "expected an object, found a boolean", "one JSON object");
    refused("-3.5", "expected an object, found a number", "one JSON object");
    let quoted = serde_json::to_string(CALL).unwrap();
    refused(&quoted, "expected an object, found a string", "one JSON object");
}

#[test]
fn broken_json_is_no_plan() {
    let broken = "the plan is incomplete: unexpected end of JSON";
    refused("{", broken, "output limit");
    // A plan truncated at every position.
    for (end, _) in CALL.char_indices().skip(1) {
        refused(&CALL[..end], broken, "output limit");
    }
    for text in
        ["{\"type\":}", "{\"a\":1,}", "{'a':1}", "{a:1}", "{\"a\":01}", "{\"a\":.5}", "{\"a\":1.}", "{\"a\":NaN}"]
    {
        let blocked = parse(text).unwrap_err();
        assert_eq!(blocked.code, GateCode::Pg1);
        assert!(blocked.message.starts_with("the plan is not valid JSON: "), "{text}: {blocked}");
    }
    for text in [r#""\ud800""#, r#""\udc00\ud800""#, r#""\x""#, "\"\u{1}\"", "[1,]", "/* */ 1", "+1", "0x1"] {
        let blocked = args(&format!("{{\"a\": {text}}}")).expect_err(text);
        assert!(blocked.message.starts_with("the plan is not valid JSON: "), "{text}: {blocked}");
    }
    assert_eq!(args(r#"{"a": "\ud83d\ude00"}"#).unwrap(), json!({"a": "\u{1F600}"}));
}

#[test]
fn a_repeated_key_is_named_with_its_place() {
    let message = |text: &str| args(text).unwrap_err().message;
    assert_eq!(message(r#"{"a": 1, "a": 1}"#), "duplicate field `a` in `/args`");
    assert_eq!(message(r#"{"a": 1, "\u0061": 2}"#), "duplicate field `a` in `/args`");
    assert_eq!(message(r#"{"x": [{}, {"y/z": {"a": 1, "b": 2, "a": 3}}]}"#), "duplicate field `a` in `/args/x/1/y~1z`");
    assert_eq!(args(r#"{"a": {"a": 1}, "b": {"a": 1}}"#).unwrap(), json!({"a": {"a": 1}, "b": {"a": 1}}));
    let twice = r#"{"type": "final_answer", "type": "call_tool", "server": "s", "tool": "t", "args": {}}"#;
    refused(twice, "duplicate field `type` in the outermost object", "once");
}

#[test]
fn a_key_that_would_have_a_value_read_once_more_is_refused() {
    for key in ["$serde_json::private::RawValue", r"$serde\u005fjson::private::RawValue"] {
        let blocked = args(&format!(r#"{{"a": [{{"{key}": "{{\"b\": 1}}"}}]}}"#)).unwrap_err();
        assert_eq!(
            blocked.message,
            "the plan cannot be read: the key `$serde_json::private::RawValue` in `/args/a/0` is reserved"
        );
    }
}

#[test]
fn numbers_are_those_that_every_reader_takes_for_the_same() {
    let fine =
        "0 1 -1 9007199254740991 -9007199254740991 0.1 1.50 -2.5e-3 1E2 1e+2 0.30000000000000004 1e15 5e-324 0.0 0e9";
    for text in fine.split(' ') {
        let value = args(&format!("{{\"n\": {text}}}")).unwrap_or_else(|blocked| panic!("{text}: {blocked}"));
        assert_eq!(value["n"].as_f64().unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
    }
    let cases = [
        (
            "is outside ±9007199254740991",
            "9007199254740992 -9007199254740992 1e16 18446744073709551616 1e308 1e309 -1e999",
        ),
        (
            "has more digits than a double carries",
            "0.1000000000000000000001 1e-400 3.14159265358979323846 4503599627370497.25",
        ),
        ("is a negative zero", "-0 -0.0 -0e5 -0.000e-2"),
    ];
    for (why, texts) in cases {
        for text in texts.split(' ') {
            let message = args(&format!("{{\"n\": [{text}]}}")).expect_err(text).message;
            assert!(message.starts_with(&format!("the number `{text}` at `/args/n/0` {why}")), "{message}");
        }
    }
    // A power of ten beyond every double, written at length.
    assert!(args(&format!("{{\"n\": 1e{}}}", "9".repeat(40))).is_err());
    assert!(args(&format!("{{\"n\": 0.{}1}}", "0".repeat(400))).is_err());
}

#[test]
fn size_and_depth_have_limits() {
    let at = |depth: usize| format!("{{\"a\": {}{}}}", "[".repeat(depth - 2), "]".repeat(depth - 2));
    args(&at(32)).unwrap();
    assert_eq!(args(&at(33)).unwrap_err().message, "the plan is nested more than 32 levels deep");
    // Deep enough to overflow a recursive parser.
    let deepest = "[".repeat(30_000);
    refused(&deepest, "the plan is incomplete: unexpected end of JSON", "");
    let deep = format!("{deepest}{}", "]".repeat(30_000));
    refused(&deep, "the plan is nested more than 32 levels deep", "flatten");
    let limits = PlanLimits { bytes: usize::MAX, depth: usize::MAX };
    let blocked = Plan::parse(&deep, &limits).unwrap_err();
    assert_eq!(blocked.message, format!("the plan is nested more than {MAX_DEPTH} levels deep"));

    let long = |bytes: usize| format!("{CALL}{}", " ".repeat(bytes - CALL.len()));
    parse(&long(65536)).unwrap();
    refused(&long(65537), "the plan exceeds 65536 bytes (65537 bytes)", "large data");
}

#[test]
fn the_type_is_named_by_type_alone() {
    let with = |tag: &str| format!(r#"{{{tag}, "server": "s", "tool": "t", "args": {{}}}}"#);
    refused(
        &with(r#""action": "call_tool""#),
        "missing field `type`; `action` is not accepted in its place",
        "\"type\"",
    );
    refused(&with(r#""typ": "call_tool""#), "missing field `type`; is `typ` a misspelling of it?", "\"type\"");
    refused(&with(r#""x": 1"#), "missing field `type` in the plan", "\"type\": \"call_tool\"");
    refused(r#"{"call_tool": {}}"#, "missing field `type`; `call_tool` is not accepted in its place", "\"type\"");
    refused("{}", "missing field `type` in the plan", "final_answer");
    refused(&with(r#""type": "calltool""#), "invalid value `calltool` for `type`", "did you mean `call_tool`?");
    refused(&with(r#""type": "Call_Tool""#), "invalid value `Call_Tool` for `type`", "did you mean `call_tool`?");
    refused(&with(r#""type": "shell""#), "invalid value `shell` for `type`", "\"type\": \"call_tool\"");
    refused(&with(r#""type": null"#), "expected a string for `type`, found null", "instead of `null`");
}

#[test]
fn a_call_has_its_members_and_no_other() {
    let with = |members: &str| format!(r#"{{"type": "call_tool"{members}}}"#);
    refused(&with(""), "missing field `server` in the plan", "exactly as listed");
    refused(&with(r#", "server": "s""#), "missing field `tool` in the plan", "exactly as listed");
    refused(&with(r#", "server": "s", "tool": "t""#), "missing field `args` in the plan", "\"args\": {}");
    refused(
        &with(r#", "server": "s", "tool": "t", "args": null"#),
        "expected an object for `args`, found null",
        "instead of `null`",
    );
    refused(
        &with(r#", "server": "s", "tool": "t", "args": "{}""#),
        "expected an object for `args`, found a string",
        "an object",
    );
    refused(
        &with(r#", "server": 1, "tool": "t", "args": {}"#),
        "expected a string for `server`, found a number",
        "instead of `1`",
    );
    refused(
        &with(r#", "server": "s", "tool": "t", "arguments": {}"#),
        "unknown field `arguments` of a `call_tool`",
        "",
    );
    refused(
        &with(r#", "server": "s", "tool": "t", "arg": {}"#),
        "unknown field `arg` of a `call_tool`",
        "did you mean `args`?",
    );
    refused(&with(r#", "answer": "x""#), "unknown field `answer` of a `call_tool`", "`server`, `tool`, `args`");
    // Errors of form come first.
    refused(
        &with(r#", "server": "a b", "tool": "t", "args": 1"#),
        "expected an object for `args`, found a number",
        "instead of `1`",
    );
}

/// An invalid name is in no catalogue, like an unlisted name: both are PG-2.
#[test]
fn a_name_that_no_catalogue_holds_is_refused_as_one_that_is_not_listed() {
    let with = |members: &str| format!(r#"{{"type": "call_tool"{members}}}"#);
    let blank = with(r#", "server": "docs ", "tool": "t", "args": {}"#);
    by(
        GateCode::Pg2,
        &blank,
        "invalid server name `docs `: expected 1 to 128 characters, none of them blank, a control character or invisible",
        "listed",
    );
    let bad = with(r#", "server": "a b", "tool": "t", "args": {}"#);
    by(
        GateCode::Pg2,
        &bad,
        "invalid server name `a b`: expected 1 to 128 characters, none of them blank, a control character or invisible",
        "listed",
    );
    let bad = with(r#", "server": "s", "tool": "", "args": {}"#);
    by(
        GateCode::Pg2,
        &bad,
        "invalid tool name ``: expected 1 to 128 characters, none of them blank, a control character or invisible",
        "listed",
    );
}

#[test]
fn a_final_answer_that_does_not_ask_is_refused() {
    let with = |members: &str| format!(r#"{{"type": "final_answer"{members}}}"#);
    let help = "\"needs_more_info\": true";
    let pgt = |members: &str, message: &str| by(GateCode::PgT, &with(members), message, help);
    pgt(r#", "answer": "It is 42.", "needs_more_info": false"#, "`needs_more_info` of a `final_answer` is false");
    pgt(r#", "answer": "It is 42.""#, "missing field `needs_more_info` of a `final_answer`");
    for blank in ["", " ", "\\n\\t", "\u{a0}\u{3000}", "\u{200b}\u{feff}", "...", "?"] {
        let members = format!(r#", "answer": "{blank}", "needs_more_info": true"#);
        pgt(&members, "the `answer` of a `final_answer` is blank: it has no letter and no digit");
    }
    refused(&with(r#", "needs_more_info": true"#), "missing field `answer` in the plan", "");
    refused(&with(r#", "answer": 42, "needs_more_info": true"#), "expected a string for `answer`, found a number", "");
    refused(
        &with(r#", "answer": "a", "needs_more_info": "true""#),
        "expected a boolean for `needs_more_info`, found a string",
        "",
    );
    refused(
        &with(r#", "answer": "a", "needs_more_info": 1"#),
        "expected a boolean for `needs_more_info`, found a number",
        "",
    );
    let calls = with(r#", "answer": "a", "needs_more_info": true, "tool": "rm""#);
    refused(&calls, "unknown field `tool` of a `final_answer`", "`answer`, `needs_more_info`");
}

/// A message is short and on one line for every plan.
#[test]
fn messages_are_bounded() {
    let long = "x\\n".repeat(10_000);
    for text in [
        format!(r#"{{"type": "{long}"}}"#),
        format!(r#"{{"type": "call_tool", "{long}": 1}}"#),
        format!(r#"{{"{long}": 1, "{long}": 1}}"#),
        format!(r#"{{"{long}": {{"a": 1, "a": 2}}}}"#),
        format!(r#"{{"type": "call_tool", "server": "{long}", "tool": "t", "args": {{}}}}"#),
        format!(r#"{{"type": "call_tool", "server": ["{long}"], "tool": "t", "args": {{}}}}"#),
        format!(r#"{{"a": 1.{}}}"#, "1".repeat(30_000)),
        format!("{} {{", "y".repeat(30_000)),
    ] {
        let blocked = parse(&text).unwrap_err();
        assert!(blocked.message.len() < 2000 && blocked.help.len() < 2000, "{blocked}");
        assert!(!blocked.to_string().contains('\n'), "{blocked}");
    }
}
