//! Names of servers, tools, turns and steps: different names look different.

use omen_base::{ServerName, StepId, ToolName, TurnId};
use omen_types::scalar::invisible::is_invisible;
use regex::Regex;
use serde_json::json;

#[track_caller]
fn refused(name: &str, message: &str) {
    let expect = format!(
        "invalid tool name `{message}`: expected 1 to 128 characters, none of them blank, a control character or invisible"
    );
    assert_eq!(ToolName::new(name).unwrap_err().to_string(), expect);
    assert!(serde_json::from_value::<ToolName>(json!(name)).is_err());
    assert!(ServerName::new(name).is_err() && TurnId::new(name).is_err() && StepId::new(name).is_err());
}

#[test]
fn names_are_of_characters_that_are_seen() {
    for name in ["read_file", "écrire", "日本", "a.b/c", "😀", "a\u{301}", &"é".repeat(128)] {
        assert_eq!(ToolName::new(name).unwrap().as_str(), name);
    }
    refused("", "");
    refused("a b", "a b");
    refused("a\u{a0}b", "a\u{a0}b");
    refused(&"x".repeat(129), &"x".repeat(128));
    refused("a\n\u{1b}[2J", r"a\n\u{1b}[2J");
    // Displayed like `delete_all`, displayed as something else, or with text that only a model sees.
    refused("delete\u{200b}_all", r"delete\u{200b}_all");
    refused("a\u{202e}b", r"a\u{202e}b");
    refused("a\u{61c}\u{200e}\u{2066}\u{2069}", r"a\u{61c}\u{200e}\u{2066}\u{2069}");
    refused("a\u{e0041}\u{fe0f}\u{3164}", r"a\u{e0041}\u{fe0f}\u{3164}");
}

/// Entries without a request have this turn: a request under it could hide among them.
#[test]
fn the_turn_of_the_gates_start_is_the_gates_alone() {
    assert_eq!(omen_base::START, "gate.start");
    let error = TurnId::new(omen_base::START).unwrap_err();
    let expect = "invalid turn id `gate.start`: it is reserved for the entries of the gate's own start; use another id";
    assert_eq!(error.to_string(), expect);
    assert!("gate.start".parse::<TurnId>().is_err() && TurnId::try_from("gate.start".to_owned()).is_err());
    assert!(serde_json::from_value::<TurnId>(json!("gate.start")).is_err());
    assert!(TurnId::new("gate.started").is_ok() && ToolName::new("gate.start").is_ok());
}

/// Cross-check with the table of a library that is generated from Unicode's data.
#[test]
fn what_is_unseen_is_what_unicode_says() {
    let class = r"^[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}[\p{Cf}--\p{Prepended_Concatenation_Mark}]]$";
    let class = Regex::new(class).unwrap();
    let wrong: Vec<char> =
        ('\0'..=char::MAX).filter(|c| class.is_match(c.encode_utf8(&mut [0; 4])) != is_invisible(*c)).collect();
    assert_eq!(wrong, [char::MIN; 0]);
}
