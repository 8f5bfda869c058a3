//! Texts that the readers refuse and a lenient JSON reader would accept.

use omen_types::Packet;
use serde_json::Value;

use crate::packets::{self, accepted, edited, line, refused};

/// Collects the JSON pointer of every value in a packet.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            into.push(format!("{at}/{name}"));
            pointers(value, &format!("{at}/{name}"), into);
        }),
        Value::Array(elements) => elements.iter().enumerate().for_each(|(index, value)| {
            into.push(format!("{at}/{index}"));
            pointers(value, &format!("{at}/{index}"), into);
        }),
        _ => {}
    }
}

/// Calls `change` for each value of each packet.
fn each_value(mut change: impl FnMut(&Packet, &str, Value)) {
    for packet in packets::all() {
        let value = serde_json::to_value(&packet).unwrap();
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        for pointer in all {
            change(&packet, &pointer, value.clone());
        }
    }
}

/// Returns whether any value may be at a pointer.
fn is_free(pointer: &str) -> bool {
    [
        "/payload/data/",
        "/payload/result_data",
        "/payload/belief_changes/0/new_value",
        "/payload/belief_changes/0/prior_value",
    ]
    .iter()
    .any(|free| pointer.starts_with(free))
}

#[test]
fn null_stands_for_nothing() {
    each_value(|_, pointer, mut value| {
        *value.pointer_mut(pointer).unwrap() = Value::Null;
        if is_free(pointer) {
            accepted(&value.to_string());
            return;
        }
        let rejected = refused(&value.to_string());
        assert!(rejected.errors.iter().any(|error| error.pointer.as_deref() == Some(pointer)), "{pointer}: {rejected}");
    });
    let reason =
        edited(&line(packets::alert()), &[(r#""evidence":{"#, r#""evidence":{"evidence_absent_reason":null,"#)]);
    accepted(&reason);
}

#[test]
fn an_array_is_no_object() {
    each_value(|_, pointer, mut value| {
        let target = value.pointer_mut(pointer).unwrap();
        let Value::Object(members) = target else { return };
        *target = Value::Array(members.values().cloned().collect());
        if is_free(pointer) {
            accepted(&value.to_string());
        } else {
            refused(&value.to_string());
        }
    });
    let members: Vec<_> =
        serde_json::to_value(packets::alert()).unwrap().as_object().unwrap().values().cloned().collect();
    refused(&Value::Array(members).to_string());
}

#[test]
fn unknown_members_are_refused_in_every_object() {
    each_value(|_, pointer, mut value| {
        let Some(Value::Object(members)) = value.pointer_mut(pointer) else { return };
        members.insert("_extra".to_owned(), Value::Null);
        if is_free(&format!("{pointer}/")) || is_free(pointer) {
            accepted(&value.to_string());
            return;
        }
        let rejected = refused(&value.to_string());
        assert_eq!(rejected.errors.len(), 1, "{rejected}");
        assert_eq!(rejected.errors[0].pointer, Some(format!("{pointer}/_extra")));
    });
}

#[test]
fn a_repeated_key_is_refused_at_every_level() {
    each_value(|packet, pointer, value| {
        let (_, name) = pointer.rsplit_once('/').unwrap();
        if name.parse::<usize>().is_ok() {
            return;
        }
        let text = line(packet.clone());
        let member = format!("\"{name}\":{}", serde_json::to_string(value.pointer(pointer).unwrap()).unwrap());
        // Repeats the member just before the original; even the same value is refused.
        let place = omen_types::parse::locate(&text, pointer).unwrap().start - name.len() - 3;
        let twice = format!("{}{member},{}", &text[..place], &text[place..]);
        let rejected = refused(&twice);
        assert!(
            rejected.errors.iter().any(|error| error.message == format!("duplicate field `{name}`")
                && error.pointer.as_deref() == Some(pointer)),
            "{pointer}: {rejected}"
        );
    });
}

#[test]
fn a_key_that_is_repeated_by_an_escape_is_repeated() {
    let text = edited(&line(packets::observation()), &[(r#""pool_size":4"#, r#""pool_size":4,"pool\u005fsize":4"#)]);
    refused(&text);
    let text = edited(&line(packets::observation()), &[(r#""payload":{"#, r#""payload":{"d\u0061ta":{"x":1},"#)]);
    refused(&text);
    let escaped =
        edited(&line(packets::observation()), &[(r#""data""#, r#""d\u0061ta""#), (r#""pkt_1""#, r#""pkt\u005f1""#)]);
    assert_eq!(accepted(&escaped), packets::observation().into());
}

#[test]
fn a_repeated_key_among_many_is_found() {
    let mut members: Vec<_> = (0..100).map(|index| format!("\"key{index}\":{index}")).collect();
    let with = |members: &[String]| edited(&line(packets::observation()), &[(r#""pool_size":4"#, &members.join(","))]);
    accepted(&with(&members));
    for index in [0, 7, 8, 31, 32, 33, 99] {
        members.push(format!("\"key{index}\":0"));
        refused(&with(&members));
        members.pop();
    }
}

#[test]
fn conditionals_hold_each_way() {
    let directive = line(packets::directive());
    let class = r#""tool_safety_class":"WRITE""#;
    let token = r#","authorization_token_id":"token_1""#;
    refused(&edited(&directive, &[(token, "")]));
    refused(&edited(&directive, &[(token, ""), (class, r#""tool_safety_class":"MIXED""#)]));
    accepted(&edited(&directive, &[(token, ""), (class, r#""tool_safety_class":"READ""#)]));
    accepted(&edited(&directive, &[(token, ""), (class, r#""timeout_seconds":1"#)]));
    accepted(&edited(&directive, &[(class, r#""tool_safety_class":"READ""#)]));

    let tool = r#""method":"tool","tool_id":"pool.resize""#;
    refused(&edited(&directive, &[(tool, r#""method":"tool""#)]));
    refused(&edited(&directive, &[(tool, r#""method":"code","tool_id":"pool.resize""#)]));
    accepted(&edited(&directive, &[(tool, r#""method":"code","code_ref":"main.rs""#)]));
    accepted(&edited(&directive, &[(tool, r#""method":"llm_call""#)]));
    accepted(&edited(&directive, &[(tool, r#""tool_id":"pool.resize","method":"tool""#)]));

    let result = line(packets::result());
    refused(&edited(&result, &[("SUCCESS", "FAILURE")]));
    accepted(&edited(&result, &[(r#""SUCCESS""#, r#""FAILURE","error_details":{}"#)]));
    accepted(&edited(&result, &[(r#""SUCCESS""#, r#""SUCCESS","error_details":{}"#)]));
    accepted(&edited(&result, &[("SUCCESS", "CANCELLED")]));

    let belief = line(packets::belief_update());
    refused(&edited(&belief, &[("new_belief", "contradiction_resolved")]));
    accepted(&edited(&belief, &[(r#""new_belief""#, r#""contradiction_resolved","contradiction_details":{}"#)]));

    let alert = line(packets::alert());
    let evidence =
        r#""evidence_refs":[{"ref_type":"tool_output","ref_id":"tool_1","timestamp":"2026-03-01T09:59:30Z"}]"#;
    refused(&edited(&alert, &[(evidence, r#""evidence_refs":[]"#)]));
    refused(&edited(&alert, &[(evidence, r#""evidence_refs":[],"evidence_absent_reason":null"#)]));
    refused(&edited(&alert, &[(evidence, r#""evidence_absent_reason":"","evidence_refs":[]"#)]));
    accepted(&edited(&alert, &[(evidence, r#""evidence_absent_reason":" ","evidence_refs":[]"#)]));
    accepted(&edited(&alert, &[(evidence, &format!(r#"{evidence},"evidence_absent_reason":"""#))]));
}

#[test]
fn numbers_are_what_json_schema_says() {
    let alert = line(packets::alert());
    let with = |number: &str| edited(&alert, &[(r#""token_budget":5000"#, &format!(r#""token_budget":{number}"#))]);
    for (number, value) in
        [("1.0", 1), ("1e3", 1000), ("-0", 0), ("-0.0", 0), ("9007199254740991", 9_007_199_254_740_991)]
    {
        assert_eq!(accepted(&with(number)).mcp().budgets.token_budget.get(), value, "{number}");
    }
    for number in ["-1", "0.5", "9007199254740992", "9007199254740993.0", "1e300", "\"1\"", "true", "[1]"] {
        refused(&with(number));
    }
    let with = |number: &str| edited(&alert, &[(r#""confidence":0.9"#, &format!(r#""confidence":{number}"#))]);
    for number in ["0", "1", "1.0", "0.30000000000000004", "5e-324", "-0.0"] {
        let text = with(number);
        let packet = accepted(&text);
        assert_eq!(
            packet.mcp().epistemics.confidence.get().to_bits(),
            number.parse::<f64>().unwrap().to_bits(),
            "{number}"
        );
        assert_eq!(line(packet), text);
    }
    for number in ["-5e-324", "1.0000000000000002", "2"] {
        refused(&with(number));
    }
}

/// Deserialization accepts nothing that the parser refuses.
#[test]
fn a_packet_is_deserialized_as_strictly_as_it_is_parsed() {
    let read = |text: &str| serde_json::from_str::<Packet>(text).map_err(|error| error.to_string());
    for packet in packets::all() {
        let text = line(packet.clone());
        assert_eq!(read(&text), Ok(packet.clone()));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::from_value::<Packet>(value.clone()).unwrap(), packet);
        // serde's derived code would accept an array in place of an object.
        let mut array = value;
        let stakes = array["mcp"]["stakes"].as_object().unwrap().values().cloned().collect();
        array["mcp"]["stakes"] = Value::Array(stakes);
        refused(&array.to_string());
        serde_json::from_value::<Packet>(array).unwrap_err();
        let twice = text.replacen("\"mcp\":{", "\"mcp\":{\"routing\":0,", 1);
        assert!(read(&twice).unwrap_err().contains("repeated"));
    }
    let text = line(packets::observation());
    let deep = |levels: usize| {
        text.replacen("\"pool_size\":4", &format!("\"pool_size\":{}4{}", "[".repeat(levels), "]".repeat(levels)), 1)
    };
    assert!(read(&deep(61)).is_ok());
    assert!(read(&deep(62)).is_err());
    refused(&deep(62));
    assert!(
        read(&text.replacen("\"pool_size\":4", "\"pool_size\":{\"a\":1,\"a\":2}", 1)).unwrap_err().contains("repeated")
    );
}
