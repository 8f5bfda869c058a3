//! Rules that cannot hold are configuration errors, with position and fix.

use omen_gate::Config;
use serde_json::json;

use super::{config_of, tool_of};

/// Asserts the errors of one rule for `/a`, as `column: message; help`.
#[track_caller]
fn says(rules: &str, expect: &[&str]) {
    let text = format!("[servers.s]\n[[allow]]\nserver = 's'\ntool = 't'\npermissions = ['READ']\nwhere = {rules}\n");
    let errors = Config::parse(&text).map(drop).unwrap_err();
    let got: Vec<_> = errors.0.iter().map(|e| format!("{}:{}: {}; {}", e.line, e.path, e.message, e.help)).collect();
    assert_eq!(got, expect, "{rules}");
}

const KEYS: &str = "say what the value has to be: `under`, `in`, `equals`, `min`, `max`, `matches`, `length`, `host`, `command`, or `absent`";

#[test]
fn pointers() {
    let at = "6:allow[0].where";
    says(
        "{ a = { max = 1 } }",
        &[&format!("{at}.a: invalid JSON pointer `a`: expected a `/` at its start; write `/a`")],
    );
    says(
        "{ '/a~x' = { max = 1 } }",
        &[&format!(
            "{at}.\"/a~x\": invalid JSON pointer `/a~x`: a `~` has to be written `~0`; write `~0` for `~`, and `~1` for `/`"
        )],
    );
    says(
        "{ '/*' = { max = 1 } }",
        &[&format!(
            "{at}.\"/*\": invalid JSON pointer `/*`: the arguments are an object, not an array; name a member before the `*`: `/paths/*`"
        )],
    );
}

#[test]
fn rules_that_can_never_hold() {
    let at = |key: &str| format!("6:allow[0].where.\"/a\"{key}: ");
    let never = "the rule for `/a` can never hold: ";
    for (rule, key, message, help) in [
        ("min = 2, max = 1", ".min", "`min` is larger than `max`", "write what a call may pass"),
        ("length = { min = 2, max = 1 }", ".length", "`min` is larger than `max`", "write what a call may pass"),
        (
            "absent = true, max = 3",
            ".absent",
            "a member that is absent has no value",
            "keep `absent` alone, or remove it",
        ),
        (
            "absent = true, optional = true",
            ".absent",
            "a member that is absent has no value",
            "keep `absent` alone, or remove it",
        ),
        (
            "under = 'data', max = 3",
            "",
            "no value has all the types that `under` and `max` require",
            "keep the tests for one type: a path, a URL, a number, a text or an array",
        ),
        ("in = [5, 6], max = 3", ".in", "none of the listed values passes its other tests", "list a value that does"),
        (
            "equals = 'x', in = ['y', 'z']",
            ".in",
            "none of the listed values passes its other tests",
            "list a value that does",
        ),
        (
            "equals = 'http://a.b/', host = ['a.b']",
            ".equals",
            "none of the listed values passes its other tests",
            "list a value that does",
        ),
    ] {
        says(&format!("{{ '/a' = {{ {rule} }} }}"), &[&format!("{}{never}{message}; {help}", at(key))]);
    }
    for rule in ["", "optional = true", "absent = false"] {
        says(
            &format!("{{ '/a' = {{ {rule} }} }}"),
            &[&format!("{}the rule for `/a` requires nothing; {KEYS}", at(""))],
        );
    }
}

#[test]
fn rules_that_cannot_hold_together() {
    let help = "remove one of the two rules, or make the member `optional`";
    says(
        "{ '/a' = { max = 3 }, '/a/b' = { max = 3 } }",
        &[&format!("6:allow[0].where.\"/a/b\": the rule for `/a/b` can never hold: `/a` has to be a number; {help}")],
    );
    says(
        "{ '/a' = { absent = true }, '/a/*' = { max = 3 } }",
        &[&format!("6:allow[0].where.\"/a/*\": the rule for `/a/*` can never hold: `/a` has to be absent; {help}")],
    );
    for fine in [
        "{ '/a' = { length = { max = 3 } }, '/a/*' = { max = 3 } }",
        "{ '/a' = { absent = true }, '/a/b' = { max = 3, optional = true } }",
        "{ '/a' = { max = 3 }, '/ab' = { max = 3 } }",
        "{ '/a' = { in = [1, 'x', true], min = 0, optional = true } }",
    ] {
        let text =
            format!("[servers.s]\n[[allow]]\nserver = 's'\ntool = 't'\npermissions = ['READ']\nwhere = {fine}\n");
        assert!(Config::parse(&text).is_ok(), "{fine}");
    }
}

#[test]
fn values_that_cannot_be() {
    let at = "6:allow[0].where.\"/a\"";
    says(
        "{ '/a' = { under = 3 } }",
        &[&format!(
            "{at}.under: expected a string or an array for `allow[0].where.\"/a\".under`, found an integer; One or \
             more folders: the argument must be the absolute path of one of them, or of something below it. Relative paths here \
             are resolved against the folder of this file."
        )],
    );
    says(
        "{ '/a' = { matches = 'a)|(b' } }",
        &[&format!(
            "{at}.matches: invalid regular expression: unopened group; see the documentation of the crate `regex` for the \
             syntax"
        )],
    );
    let host = "write a host such as `api.example.com` or `*.example.com`";
    for (text, why) in [
        ("https://a.b", "expected a host name or an address, without scheme, port and path"),
        ("a.b:80", "expected a host name or an address, without scheme, port and path"),
        ("*.10.0.0.7", "an IP address has no subdomains"),
        ("010.0.0.7", "an IP address must be written in its canonical form"),
        ("a.b.", "a host name must not end with a dot"),
        ("*.*.b", "a host name consists of letters, digits, `-` and `_`, and `*.` is allowed only at its start"),
        ("a*.b", "a host name consists of letters, digits, `-` and `_`, and `*.` is allowed only at its start"),
        ("*.a..b", "a host name consists of letters, digits, `-` and `_`, and `*.` is allowed only at its start"),
    ] {
        says(
            &format!("{{ '/a' = {{ host = ['{text}'] }} }}"),
            &[&format!("{at}.host[0]: invalid host `{text}`: {why}; {host}")],
        );
    }
    says(
        "{ '/a' = { host = ['a.b'], scheme = ['HTTPS:'] } }",
        &[&format!("{at}.scheme[0]: invalid scheme `HTTPS:`; write it in lower case without `:`, such as `https`")],
    );
    says(
        "{ '/a' = { matches = 'x', port = [80] } }",
        &[&format!(
            "{at}.port: `port` needs `host`; add the hosts that the URL may have: `host = [\"api.example.com\"]`"
        )],
    );
    says(
        "{ '/a' = { equals = 9007199254740993 } }",
        &[&format!(
            "{at}.equals: the number `9007199254740993` is outside ±9007199254740991; write it as a string, if the tool \
             takes one"
        )],
    );
    says(
        "{ '/a' = { inn = [1] } }",
        &[&format!("{at}.inn: unknown key `allow[0].where.\"/a\".inn`; did you mean `in`?")],
    );
}

/// A pattern is anchored as a whole, regardless of its content.
#[test]
fn patterns_match_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (pattern, pass, refuse) in [
        ("a|b", "b", "ab"),
        ("(?m)^a$", "a", "a\nb"),
        ("(?x) a b # a comment", "ab", "a b"),
        ("(?i)x", "X", "xy"),
        (r"a\z|b", "b", "ba"),
    ] {
        let config = config_of(
            folder.path(),
            &tool_of(super::any_values()),
            &format!("{{ '/text' = {{ matches = '{pattern}' }} }}"),
        );
        let rules = &config.allow.iter().next().unwrap().arguments;
        let judge =
            |text: &str| rules.judge(&crate::support::tool("s/t"), json!({ "text": text }).as_object().unwrap());
        assert!(judge(pass).is_ok() && judge(refuse).is_err(), "{pattern}");
    }
}

/// Comparison of rules with the schema of the tool.
#[test]
fn a_rule_has_to_fit_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = json!({
        "type": "object",
        "$defs": { "edit": { "type": "object", "properties": { "file": { "type": "string" }, "n": { "type": "integer" } } } },
        "properties": {
            "path": { "type": "string" },
            "mode": { "enum": ["r", "w"] },
            "edits": { "type": "array", "items": { "$ref": "#/$defs/edit" } },
            "free": { "type": "object" },
            "either": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/edit" }] },
            "foreign": { "$ref": "#anchor" },
            "closed": { "type": "object", "properties": {}, "additionalProperties": false },
        },
    });
    let said = |rules: &str| {
        let config = config_of(folder.path(), &tool_of(schema.clone()), rules);
        let misfits = config.allow.iter().next().unwrap().arguments.misfits(schema.as_object().unwrap());
        misfits.into_iter().map(|misfit| format!("{}; {}", misfit.message, misfit.help)).collect::<Vec<_>>()
    };
    let lacks = |pointer: &str, name: &str, help: &str| {
        format!("the rule for `{pointer}` names `{name}`, which the tool's `inputSchema` does not have; {help}")
    };
    for (rules, expect) in [
        ("{ '/pth' = { under = 'd' } }", lacks("/pth", "pth", "did you mean `path`?")),
        ("{ '/edits/*/fle' = { under = 'd' } }", lacks("/edits/*/fle", "fle", "did you mean `file`?")),
        ("{ '/either/xyz' = { max = 1 } }", lacks("/either/xyz", "xyz", "its members are `file`, `n`")),
        ("{ '/closed/x' = { max = 1 } }", lacks("/closed/x", "x", "remove the rule: there are no members")),
        (
            "{ '/path/*' = { max = 1 } }",
            "the rule for `/path/*` has a `*` where the tool's `inputSchema` has no array; remove the `/*`".to_owned(),
        ),
        (
            "{ '/path' = { max = 1 } }",
            "the rule for `/path` can never hold: it requires a number, and the tool's `inputSchema` has a string; write a \
             rule for that type"
                .to_owned(),
        ),
        (
            "{ '/mode' = { in = ['a'] } }",
            "the rule for `/mode` can never hold: the tool's `inputSchema` allows none of its values; its values are `\"r\"`, \
             `\"w\"`"
                .to_owned(),
        ),
    ] {
        assert_eq!(said(rules), [expect], "{rules}");
    }
    for fine in [
        "{ '/path' = { under = 'd' } }",
        "{ '/mode' = { in = ['r', 'x'] } }",
        "{ '/edits/*/n' = { max = 1 }, '/edits/0/file' = { under = 'd' } }",
        "{ '/free/anything' = { max = 1 } }",
        "{ '/either/n' = { max = 1 } }",
        "{ '/foreign/x' = { max = 1 } }",
        "{ '/path' = { absent = true } }",
    ] {
        assert_eq!(said(fine), [""; 0], "{fine}");
    }
}
