//! Errors of a refused packet: all of them, each at its position.
//!
//! In the edits, `«…»` marks the positions that the errors must have.

use omen_types::{Code, Diagnostic, Packet, PacketType};

use crate::packets::{self, edited, line, refused};

/// Formats an error on one line: pointer, message, help, further codes.
pub(crate) fn in_words(error: &Diagnostic) -> String {
    let mut words = format!("{}: {}", error.pointer.as_deref().unwrap_or("-"), error.message);
    if let Some(help) = &error.help {
        words += &format!("; help: {help}");
    }
    if !error.also.is_empty() {
        let also: Vec<_> = error.also.iter().map(|code| code.as_str()).collect();
        words += &format!("; also {}", also.join(", "));
    }
    words
}

#[track_caller]
fn check(packet: impl Into<Packet>, edits: &[(&str, &str)], expected: &[&str]) {
    check_line(&line(packet), edits, expected);
}

#[track_caller]
fn check_line(line: &str, edits: &[(&str, &str)], expected: &[&str]) {
    let marked = edited(line, edits);
    let (mut text, mut places, mut start) = (String::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            '«' => start = text.len(),
            '»' => places.push(start..text.len()),
            c => text.push(c),
        }
    }
    let rejected = refused(&text);
    assert_eq!(rejected.errors.iter().map(in_words).collect::<Vec<_>>(), expected, "{text}");
    let mut spans: Vec<_> = rejected.errors.iter().map(|error| error.span.clone().expect("a span")).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    assert_eq!(spans, places, "{text}");
}

#[test]
fn did_you_mean_a_value() {
    check(
        packets::directive(),
        &[(r#""tool_safety_class":"WRITE""#, r#""tool_safety_class":«"WRIET"»"#)],
        &[
            "/payload/tool_safety_class: invalid value `WRIET` for `tool_safety_class`; expected one of `READ`, `WRITE`, `MIXED`; \
           help: did you mean `WRITE`?",
        ],
    );
    check(
        packets::directive(),
        &[(r#""tool_safety_class":"WRITE""#, r#""tool_safety_class":«"read"»"#)],
        &[
            "/payload/tool_safety_class: invalid value `read` for `tool_safety_class`; expected one of `READ`, `WRITE`, `MIXED`; \
           help: did you mean `READ`?",
        ],
    );
    check(
        packets::directive(),
        &[(r#""tool_safety_class":"WRITE""#, r#""tool_safety_class":«"execute"»"#)],
        &["/payload/tool_safety_class: invalid value `execute` for `tool_safety_class`; \
           expected one of `READ`, `WRITE`, `MIXED`; help: write one of `READ`, `WRITE`, `MIXED`"],
    );
}

#[test]
fn did_you_mean_a_member() {
    check(
        packets::directive(),
        &[(r#""task_type""#, r#"«"task_typ"»"#), (r#""payload":{"#, r#""payload":«{»"#)],
        &[
            "/payload/task_typ: unknown field `task_typ` in TaskDirectivePayload; help: did you mean `task_type`?",
            "/payload: missing field `task_type` in TaskDirectivePayload; \
             help: rename `task_typ`, if that is meant",
        ],
    );
    check(
        packets::alert(),
        &[(r#""severity""#, r#"«"colour"»:"red","severity""#)],
        &[
            "/payload/colour: unknown field `colour` in IntegrityAlertPayload; help: remove it; IntegrityAlertPayload has the fields \
           `alert_type`, `severity`, `summary`, `rationale`, `revoked_token_ids`, `related_packet_ids`",
        ],
    );
}

#[test]
fn scalars() {
    check(
        packets::observation(),
        &[
            (r#""pkt_1""#, r#"«"pkt 1"»"#),
            (r#""created_at":"2026-03-01T10:00:00Z""#, r#""created_at":«"2026-03-01T10:00:00"»"#),
            (r#""layer_source":5"#, r#""layer_source":«7»"#),
            (r#""corr_1""#, r#"«5»"#),
            (r#""summary":"Resize the pool""#, r#""summary":«""»"#),
            (r#""scope":"pool-a""#, r#""scope":«[1]»"#),
            (r#""satisficing_mode":true"#, r#""satisficing_mode":«"true"»"#),
            (r#""token_budget":5000"#, r#""token_budget":«5.5»"#),
            (r#""tool_call_budget":5"#, r#""tool_call_budget":«-1»"#),
            (r#""time_budget_seconds":300"#, r#""time_budget_seconds":«1e16»"#),
            (r#""confidence":0.9"#, r#""confidence":«1.01»"#),
            (r#""assumptions":["The clock is right"]"#, r#""assumptions":["ok",«null»]"#),
        ],
        &[
            "/header/packet_id: invalid PacketId `pkt 1` for `packet_id`; expected a string such as `pkt_1` \
             (pattern `^pkt_[a-zA-Z0-9_-]+$`); help: write `\"pkt_1\"`",
            "/header/created_at: invalid Timestamp `2026-03-01T10:00:00` for `created_at`; \
             expected an RFC 3339 timestamp with an offset, e.g. `2026-03-01T10:00:00Z`; \
             help: write `\"2026-03-01T10:00:00Z\"` if it is UTC, or its offset instead of the `Z`, such as `+01:00`",
            "/header/layer_source: invalid value `7` for `layer_source`; expected an integer from 1 to 6 or `Integrity`; \
             help: write a value such as `1`; the layer that the packet comes from: 1 (constitution) to 5 (decisions) \
             and 6 (execution), or the overlay `Integrity`",
            "/header/correlation_id: expected a string such as `corr_1` (pattern `^corr_[a-zA-Z0-9_-]+$`) \
             for `correlation_id`, found a number; help: write a value such as `\"corr_1\"`",
            "/mcp/intent/summary: `summary` is empty; expected a non-empty string; help: write a value such as `\"…\"`",
            "/mcp/intent/scope: expected a string or an object for `scope`, found an array; \
             help: write a value such as `\"…\"`",
            "/mcp/quality/satisficing_mode: expected a boolean for `satisficing_mode`, found the string `\"true\"`; \
             help: write `true` without the quotes",
            "/mcp/budgets/token_budget: invalid value `5.5` for `token_budget`; expected an integer from 0 to 9007199254740991; \
             help: write a value such as `10000`",
            "/mcp/budgets/tool_call_budget: invalid value `-1` for `tool_call_budget`; \
             expected an integer from 0 to 9007199254740991; help: write a value such as `20`",
            "/mcp/budgets/time_budget_seconds: invalid value `1e16` for `time_budget_seconds`; \
             expected an integer from 0 to 9007199254740991; help: write a value such as `3600`",
            "/mcp/epistemics/confidence: invalid value `1.01` for `confidence`; expected a number from 0 to 1; \
             help: write a value such as `0`",
            "/mcp/epistemics/assumptions/1: expected a string for `assumptions[1]`, found null; \
             help: write a value such as `\"…\"`",
        ],
    );
}

#[test]
fn rules_that_a_schema_error_breaks_are_named() {
    check(
        packets::directive(),
        &[(r#""authorization_token_id":"token_1""#, r#""timeout_seconds":60"#), (r#""payload":{"#, r#""payload":«{»"#)],
        &["/payload: missing field `authorization_token_id`: a task that changes things must name the token that \
           permits it (E4, INV-007, D40); help: add `\"authorization_token_id\": \"token_1\"`: the token that permits the task; \
           also E4, INV-007"],
    );
    check(
        packets::escalation(),
        &[(r#""pros":[],"cons":[]},{"#, r#""pros":[]},{"#), (r#""top_options":[{"#, r#""top_options":[«{»"#)],
        &["/payload/top_options/0: missing field `cons` in EscalationOption; \
           help: add `\"cons\": []`: its disadvantages; it may be empty; also E5, INV-009"],
    );
    check(
        packets::decision(),
        &[(r#""tools_state":"tools_ok""#, r#""tools_state":«"tools_up"»"#)],
        &["/mcp/routing/tools_state: invalid value `tools_up` for `tools_state`; \
             expected one of `tools_ok`, `tools_partial`, `tools_down`; help: did you mean `tools_ok`?; also INV-001"],
    );
}

#[test]
fn errors_of_every_level_at_once() {
    check(
        packets::result(),
        &[
            (r#"{"header":{"#, r#"«{»"header":{"#),
            (r#""correlation_id""#, r#"«"correlationid"»"#),
            (r#""header":{"#, r#""header":«{»"#),
            (r#""mcp""#, r#"«"MCP"»"#),
            (r#""result_status":"SUCCESS""#, r#""result_status":"FAILURE""#),
            (r#""payload":{"#, r#""payload":«{»"#),
            (r#""size":8"#, r#""size":8,«"size"»:9"#),
        ],
        &[
            "/header/correlationid: unknown field `correlationid` in PacketHeader; help: did you mean `correlation_id`?",
            "/header: missing field `correlation_id` in PacketHeader; \
             help: rename `correlationid`, if that is meant",
            "/MCP: unknown field `MCP` in TaskResultPacket; help: did you mean `mcp`?",
            "/payload/result_data/1/size: duplicate field `size`; \
             help: remove one of the two: readers disagree about which value counts",
            "/payload: missing field `error_details`: a failure must be described (D40); \
             help: add `\"error_details\": {\"error_message\":\"no answer within 30 s\"}`: what went wrong",
            ": missing field `mcp` in TaskResultPacket; help: rename `MCP`, if that is meant",
        ],
    );
}

#[test]
fn without_a_type_header_and_envelope_are_checked_all_the_same() {
    let text = edited(
        &line(packets::observation()),
        &[
            ("\"ObservationPacket\"", "\"ObservationPackets\""),
            ("\"LOW\",\"irr", "\"LAW\",\"irr"),
            ("\"data\"", "\"date\""),
        ],
    );
    let rejected = refused(&text);
    let words: Vec<_> = rejected.errors.iter().map(in_words).collect();
    assert_eq!(
        words,
        [
            "/header/packet_type: invalid value `ObservationPackets` for `packet_type`; help: did you mean `ObservationPacket`?",
            "/mcp/stakes/impact: invalid value `LAW` for `impact`; expected one of `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`; \
             help: did you mean `LOW`?",
        ]
    );
    assert_eq!(rejected.claims.packet_type, None);
}

#[test]
fn claims_are_what_the_header_says_as_far_as_it_holds() {
    let rejected = refused(
        r#"{"payload":0,"header":{"packet_id":"pkt_9","correlation_id":"no","packet_type":"TaskResultPacket"}}"#,
    );
    assert_eq!(rejected.claims.packet_id.as_deref(), Some("pkt_9"));
    assert_eq!(rejected.claims.correlation_id, None);
    assert_eq!(rejected.claims.packet_type, Some(PacketType::TaskResultPacket));
}

#[test]
fn hostile_text_in_a_message_is_short_and_tame() {
    let long = "x".repeat(5000);
    let text = edited(&line(packets::alert()), &[("\"drift\"", &format!("\"\\u001b[31m{long}\""))]);
    let rejected = refused(&text);
    let message = &rejected.errors[0].message;
    assert!(message.chars().count() < 200 && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn a_thousand_errors_are_listed_and_the_others_counted() {
    let refs = vec!["0"; 1500].join(",");
    let text = edited(
        &line(packets::alert()),
        &[(r#""summary":"The"#, &format!(r#""related_packet_ids":[{refs}],"summary":"The"#))],
    );
    let rejected = refused(&text);
    assert_eq!(rejected.errors.len(), omen_types::limits::MAX_ERRORS_A_PACKET);
    assert_eq!(rejected.errors.last().unwrap().notes, ["and 500 more schema errors in this packet"]);
}

#[track_caller]
fn check_syntax(text: &str, place: std::ops::Range<usize>, message: &str) {
    let rejected = refused(text);
    assert_eq!(rejected.errors.len(), 1, "{text}");
    assert_eq!(rejected.errors[0].code, Code::Json, "{text}");
    assert_eq!(rejected.errors[0].message, message, "{text}");
    assert_eq!(rejected.errors[0].span, Some(place), "{text}");
}

#[test]
fn broken_json_comes_alone_and_with_its_column() {
    check_syntax(r#"{"header":}"#, 10..11, "invalid JSON: expected value");
    check_syntax(r#"{"header": tru}"#, 14..15, "invalid JSON: expected ident");
    check_syntax(r#"{"header":1e999}"#, 14..15, "number beyond the range of a double, a limit beyond RFC 8259");
    check_syntax(r#"{"a":"\ud800"}"#, 12..13, "half of a surrogate pair in a string, a limit beyond RFC 8259");
    check_syntax(r#"{"a":"\udc00 x"}"#, 11..12, "half of a surrogate pair in a string, a limit beyond RFC 8259");
    check_syntax(
        "{\"ä\":\"\n\"}",
        7..8,
        "invalid JSON: control character (\\u0000-\\u001F) found while parsing a string",
    );
    check_syntax(r#"{"header":"#, 9..10, "invalid JSON: EOF while parsing a value");
    check_syntax("{} x", 3..4, "invalid JSON: trailing characters");
    check_syntax("", 0..0, "invalid JSON: EOF while parsing a value");
}

/// Checks the help of the only error of a text.
#[track_caller]
fn check_help(text: &str, expected: &str) {
    let rejected = refused(text);
    assert_eq!(
        rejected.errors.iter().map(|error| error.help.as_deref()).collect::<Vec<_>>(),
        [Some(expected)],
        "{text}"
    );
}

#[test]
fn the_beginning_of_a_value_is_enough() {
    check_one(
        packets::result(),
        (r#""TaskResultPacket""#, r#""TaskResult""#),
        "/header/packet_type: invalid value `TaskResult` for `packet_type`; help: did you mean `TaskResultPacket`?",
    );
}

#[test]
fn json_within_a_string_says_so() {
    let text = line(packets::observation());
    let start = text.find("\"data\":").unwrap() + 7;
    let end = start + text[start..].find('}').unwrap() + 1;
    let quoted = serde_json::to_string(&text[start..end]).unwrap();
    let rejected = refused(&format!("{}{quoted}{}", &text[..start], &text[end..]));
    let help = rejected.errors[0].help.as_deref();
    assert_eq!(help, Some("remove the quotes around it and the backslashes in it: this is JSON within a string"));
}

#[test]
fn an_array_says_how_it_is_read() {
    check_help(
        "[{}]",
        "write each packet on one line, such as with `jq -c '.[]'`, or read the input as an array: `omen check --input array`",
    );
}

#[test]
fn broken_json_says_how_to_fix_it() {
    check_help("\u{feff}{}", "remove it: save the log as UTF-8 without a byte-order mark");
    check_help(r#"{"a":1,}"#, "remove the comma before the closing bracket");
    check_help(r#"{"a":1}{"b":2}"#, "write each packet on a line of its own, and nothing after it");
    check_help("{\"a\":\"\t\"}", "escape it: write `\\t`");
    check_help("{\"a\":\"\u{1}\"}", "escape it: write `\\u0001`");
    check_help(r#"{'a':1}"#, "put field names in double quotes; in Python, write packets with `json.dumps`");
    check_help(r#"{"a":'b'}"#, "write strings in double quotes; in Python, write packets with `json.dumps`");
    check_help("{a:1}", "put field names in double quotes");
    check_help("```json", "remove this line: it is the fence of a Markdown code block");
    check_help("{}\0\0", "remove them: the input is binary, or was only partly written when the system stopped");
    check_help(r#"{"a":None}"#, "write `null`, or leave the field out; in Python, write packets with `json.dumps`");
    check_help(r#"{"a":True}"#, "write `true`, in lower case; in Python, write packets with `json.dumps`");
    check_help(r#"{"a":NaN}"#, "JSON has no such number: leave the field out, or write a finite one");
    check_help(
        r#"{"a":-1e999}"#,
        "write a number between -1.7976931348623157e308 and 1.7976931348623157e308, or a string",
    );
    check_help(r#"{"a":"\ud800"}"#, "write the character itself, or both halves of the pair, such as `\\ud83d\\ude00`");
    check_help(r#"{"a":"\x"}"#, "write a backslash as `\\\\`");
    check_help(
        r#"{"a":"#,
        "the line ends before the packet does: write one packet per line, as a JSON object, and check whether it was cut off",
    );
}

/// Checks the error at one position of a packet, after an edit.
#[track_caller]
fn check_one(packet: impl Into<Packet>, edit: (&str, &str), expected: &str) {
    let rejected = refused(&edited(&line(packet), &[edit]));
    assert_eq!(rejected.errors.iter().map(in_words).collect::<Vec<_>>(), [expected]);
}

#[test]
fn a_number_in_quotes_is_not_taken_for_a_name() {
    check_one(
        packets::observation(),
        (r#""layer_source":5"#, r#""layer_source":"4""#),
        "/header/layer_source: expected an integer from 1 to 6 or `Integrity` for `layer_source`, found the string `\"4\"`; \
         help: write `4` without the quotes",
    );
    check_one(
        packets::observation(),
        (r#""layer_source":5"#, r#""layer_source":"integrity""#),
        "/header/layer_source: invalid value `integrity` for `layer_source`; expected an integer from 1 to 6 or `Integrity`; \
         help: did you mean `Integrity`?",
    );
}

/// A list with one element is written as that element. Any other list says nothing about what was meant.
#[test]
fn a_value_in_brackets_is_written_without_them() {
    for (state, help) in [
        (r#"["tools_down"]"#, "write `\"tools_down\"` without the brackets"),
        (r#"["tools_lost"]"#, "write a value such as `\"tools_ok\"`"),
        (r#"["tools_ok","tools_down"]"#, "write a value such as `\"tools_ok\"`"),
        ("[]", "write a value such as `\"tools_ok\"`"),
    ] {
        let edit = (r#""tools_state":"tools_ok""#, &*format!("\"tools_state\":{state}"));
        check_help(&edited(&line(packets::observation()), &[edit]), help);
    }
}

/// Programs write seconds or milliseconds.
#[test]
fn a_number_for_a_time_is_written_as_one() {
    for (number, help) in [
        ("1772359200", "write `\"2026-03-01T10:00:00Z\"`, if this is in seconds since 1970"),
        ("1772359200.25", "write `\"2026-03-01T10:00:00Z\"`, if this is in seconds since 1970"),
        ("1772359200250", "write `\"2026-03-01T10:00:00Z\"`, if this is in milliseconds since 1970"),
        ("17723592", "write a value such as `\"2026-03-01T10:00:00Z\"`"),
        ("-177235920", "write a value such as `\"2026-03-01T10:00:00Z\"`"),
    ] {
        let edit = (r#""created_at":"2026-03-01T10:00:00Z""#, &*format!("\"created_at\":{number}"));
        check_help(&edited(&line(packets::observation()), &[edit]), help);
    }
    // A number in place of any other text is not a time.
    let edit = (r#""summary":"Resize the pool""#, r#""summary":1772359200"#);
    check_help(&edited(&line(packets::observation()), &[edit]), "write `\"1772359200\"`, in quotes");
}

#[test]
fn null_for_a_required_field_is_not_left_out() {
    check_one(
        packets::observation(),
        (r#""tools_state":"tools_ok""#, r#""tools_state":null"#),
        "/mcp/routing/tools_state: expected one of `tools_ok`, `tools_partial`, `tools_down` for `tools_state`, found null; \
         help: `tools_state` is required; write a value such as `\"tools_ok\"`",
    );
}

#[test]
fn a_field_in_the_wrong_object_is_sent_to_its_own() {
    check_one(
        packets::alert(),
        (r#""severity""#, r#""tools_state":"tools_ok","severity""#),
        "/payload/tools_state: unknown field `tools_state` in IntegrityAlertPayload; \
         help: move it to `/mcp/routing`, or remove it if it is there already",
    );
    check_one(
        packets::alert(),
        (r#""severity""#, r#""severty":"INFO","severity""#),
        "/payload/severty: unknown field `severty` in IntegrityAlertPayload; help: remove it; `severity` is there already",
    );
    check_one(
        packets::alert(),
        (r#""severity""#, r#""_note":1,"severity""#),
        "/payload/_note: unknown field `_note` in IntegrityAlertPayload; \
         help: move `_note` to the top level of the packet, where metadata is allowed, or remove it",
    );
}

#[test]
fn what_is_no_object_is_reported() {
    for (text, found) in [("null", "null"), ("[]", "an array"), ("1", "a number"), (r#""x""#, "a string")] {
        let rejected = refused(text);
        assert_eq!(rejected.errors.len(), 1);
        assert_eq!(rejected.errors[0].message, format!("expected an object (a packet), found {found}"));
        assert_eq!(rejected.errors[0].span, Some(0..text.len()));
    }
}

#[test]
fn an_error_knows_its_line_and_column() {
    let text = "{\n  \"header\": {},\n  \"ü\": 1, \"mpc\": 2}";
    let rejected = text.parse::<omen_types::Packet>().expect_err("no packet");
    let place = |pointer: &str| {
        let error = rejected.errors.iter().find(|error| error.pointer.as_deref() == Some(pointer));
        error.and_then(|error| error.position(text))
    };
    assert_eq!(place("/ü"), Some((3, 3)));
    assert_eq!(place("/mpc"), Some((3, 11)), "columns are characters");
}
