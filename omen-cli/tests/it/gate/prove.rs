//! `omen gate prove`: what a configuration allows that another one refuses.

use super::*;

/// Returns a configuration in which `write_file` has these rules.
fn policy(rules: &str) -> String {
    let entry = |name: &str, rules: &str| {
        format!(
            "[[allow]]\nserver = 'files'\ntool = '{name}'\npermissions = ['READ']\npin = '{}'\n{rules}\n[[grants]]\n\
             server = 'files'\ntool = '{name}'\npermissions = ['READ']\npre_granted = true\n",
            pin_of(name)
        )
    };
    format!("[servers.files]\n{}{}{}", entry("read_file", ""), entry("move_file", ""), entry("write_file", rules))
}

fn proved(old: &str, new: &str, more: &[&str]) -> Run {
    proved_texts(&policy(old), &policy(new), more)
}

fn proved_texts(old: &str, new: &str, more: &[&str]) -> Run {
    let folder = folder(&[("old.toml", old.as_bytes()), ("new.toml", new.as_bytes())]);
    gate(&folder, &[&["prove", "--old", "old.toml", "--new", "new.toml"], more].concat())
}

const AFTER: &str = "after = [{ tool = 'read_file', same = ['/path'], within = '10min' }]";

#[test]
fn a_wider_rule_is_shown_by_the_shortest_sequence() {
    let run = proved(AFTER, &AFTER.replace("10min", "1h"), &[]);
    assert_eq!(
        run.stdout,
        "only the new configuration allows this call of `files/write_file`; in the old one, `allow[2].after[0]` refuses it:\n  \
         1. files/read_file {\"path\":\"\"}: ok\n  2. after 10 min: files/write_file {\"path\":\"\"}: allowed\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    assert_eq!(run.code, 1);
    let run = proved(&AFTER.replace("10min", "1h"), AFTER, &[]);
    assert_eq!((run.stdout.as_str(), run.code), ("1 tool compared: 0 differences, 0 not decided\n", 0));
}

#[test]
fn every_kind_of_change_is_run_through_a_gate() {
    for (old, new, calls) in [
        (AFTER, "", 1),
        ("after = [{ tool = 'read_file', until = ['move_file'] }]", "after = ['read_file']", 3),
        ("after = ['read_file']", "after = [{ tool = 'read_file', was = 'failed' }]", 2),
        ("after = ['read_file']", "after = [{ tool = 'read_file', was = 'made' }]", 2),
        ("never_after = ['move_file']", "never_after = [{ tool = 'move_file', until = ['read_file'] }]", 3),
        ("never_after = [{ tool = 'move_file', was = 'failed' }]", "", 2),
        ("max = { calls = 2, per = 'session' }", "max = { calls = 3, per = 'session' }", 3),
        ("max = '1/min'", "max = '2/min'", 2),
        // Longer than a session stays open without calls.
        ("after = [{ tool = 'read_file', within = '2day' }]", "after = [{ tool = 'read_file', within = '3day' }]", 2),
        (
            "never_after = [{ tool = 'move_file', within = '7day' }]",
            "never_after = [{ tool = 'move_file', within = '2day' }]",
            2,
        ),
        ("where = { '/path' = { in = ['a'] } }", "where = { '/path' = { in = ['a', 'b'] } }", 1),
        ("where = { '/size' = { max = 5 } }", "where = { '/size' = { max = 6 } }", 1),
        ("where = { '/path' = { length = { max = 3 } } }", "where = { '/path' = { length = { max = 4 } } }", 1),
        ("where = { '/path' = { matches = 'a{1,3}' } }", "where = { '/path' = { matches = 'a{1,4}' } }", 1),
        ("where = { '/url' = { host = ['a.test'] } }", "where = { '/url' = { host = ['a.test', '*.a.test'] } }", 1),
        (
            "where = { '/url' = { host = ['a.test'] } }",
            "where = { '/url' = { host = ['a.test'], port = [443, 8443] } }",
            1,
        ),
        (
            "where = { '/path' = { under = '/usr/lib' } }",
            "where = { '/path' = { under = ['/usr/lib', '/usr/bin'] } }",
            1,
        ),
        (
            "after = [{ tool = 'read_file', where = { '/path' = { matches = '[ab]', length = { max = 2 } } } }]",
            "after = [{ tool = 'read_file', where = { '/path' = { matches = '[abc]' } } }]",
            2,
        ),
        (
            "after = [{ tool = 'read_file', answer = { '/structuredContent/ok' = { equals = true } } }]",
            "after = ['read_file']",
            2,
        ),
    ] {
        let run = proved(old, new, &["--format", "json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let [difference] = report["differences"].as_array().unwrap().as_slice() else { panic!("{old}: {report}") };
        assert_eq!(difference["disagreement"], Value::Null, "{old} → {new}");
        assert_eq!(difference["steps"].as_array().unwrap().len(), calls, "{old} → {new}: {report}");
        assert_eq!(run.code, 1);
    }
}

#[test]
fn uses_of_grants_are_counted() {
    let grant = |more: &str| {
        let text = policy("");
        let (before, grant) = text.rsplit_once("pre_granted = true\n").unwrap();
        format!("{before}{grant}pre_granted = true\n{more}\n")
    };
    let run = proved_texts(&grant("uses = 2"), &grant("uses = 3"), &["--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let difference = &report["differences"][0];
    assert_eq!(difference["steps"].as_array().unwrap().len(), 3, "{report}");
    assert_eq!(
        (&difference["why"], &difference["disagreement"]),
        (&json!("the grants have no `uses` left"), &Value::Null)
    );
    assert_eq!(proved_texts(&grant("uses = 3"), &grant("uses = 2"), &[]).code, 0);
    let both =
        format!("{}[[grants]]\nserver = 'files'\ntool = 'write_file'\npermissions = ['READ']\n", grant("uses = 3"));
    for new in [grant("expires = 2030-01-01T00:00:00Z"), both, grant("uses = 65")] {
        let run = proved_texts(&grant("uses = 2"), &new, &[]);
        let begin = "only the new configuration allows this call of `files/write_file`; in the old one, the grants have no `uses` left:\n";
        assert!(run.stdout.starts_with(begin), "{}", run.stdout);
        assert!(run.stdout.ends_with("1 tool compared: 1 difference, 0 not decided\n"), "{}", run.stdout);
        assert_eq!(run.code, 1);
    }
    let run = proved_texts(&grant("uses = 65"), &grant("uses = 66"), &[]);
    let begin = "not decided: `files/write_file`: ";
    assert!(run.stdout.starts_with(begin), "{}", run.stdout);
    assert_eq!(run.code, 3);
}

#[test]
fn a_debt_that_only_the_old_configuration_reports_is_shown() {
    let owes = "before_end = ['move_file']";
    let either = "before_end = [{ tool = ['move_file', 'read_file'] }]";
    let run = proved(owes, either, &[]);
    assert_eq!(
        run.stdout,
        "only the old configuration reports a debt of `files/write_file` by the end of the session; `allow[2].before_end[0]` reports \
         it:\n  1. files/write_file {}: ok\n  2. files/read_file {}: ok\n  3. the session ends\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    assert_eq!(run.code, 1);
    let same = "before_end = [{ tool = 'move_file', same = [{ arg = '/from', earlier = '/path' }] }]";
    for (old, new, calls) in [(owes, "", 1), (same, owes, 2), (same, "", 1)] {
        let run = proved(old, new, &["--format", "json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let [difference] = report["differences"].as_array().unwrap().as_slice() else { panic!("{old}: {report}") };
        assert_eq!((&difference["disagreement"], &difference["ended_session"]), (&Value::Null, &json!(0)), "{report}");
        assert_eq!(difference["steps"].as_array().unwrap().len(), calls, "{old} → {new}: {report}");
        // The other way round, more is reported.
        let back = proved(new, old, &["--format", "json"]);
        assert_eq!(back.code, 0, "{old} → {new}: {}", back.stdout);
    }
    // A deadline that has passed is reported, whatever comes later.
    let within = |time: &str| format!("before_end = [{{ tool = 'move_file', within = '{time}' }}]");
    let run = proved(&within("1h"), &within("2h"), &[]);
    assert_eq!(
        run.stdout,
        "only the old configuration reports a debt of `files/write_file` by the end of the session; `allow[2].before_end[0]` reports \
         it:\n  1. files/write_file {}: ok\n  2. after 1 h: files/move_file {}: ok\n  3. the session ends\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    let turn = "before_end = [{ tool = 'move_file', per = 'turn' }]";
    for (old, new, calls) in [(within("1h").as_str(), "", 1), (within("1h").as_str(), owes, 2), (turn, owes, 2)] {
        let run = proved(old, new, &["--format", "json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let [difference] = report["differences"].as_array().unwrap().as_slice() else { panic!("{old}: {report}") };
        assert_eq!((&difference["disagreement"], &difference["ended_session"]), (&Value::Null, &json!(0)), "{report}");
        assert_eq!(difference["steps"].as_array().unwrap().len(), calls, "{old} → {new}: {report}");
        assert_eq!(proved(new, old, &[]).code, 0, "{new} → {old}");
    }
}

#[test]
fn grants_that_expire_later_are_shown_at_that_time() {
    let expires = |time: &str| {
        let grant = "tool = 'write_file'\npermissions = ['READ']\npre_granted = true\n";
        policy(AFTER).replacen(grant, &format!("{grant}expires = '{time}'\n"), 1)
    };
    let run = proved_texts(&expires("2026-12-01T10:00:00Z"), &expires("2026-12-02T10:00:00Z"), &[]);
    assert_eq!(
        run.stdout,
        "only the new configuration allows this call of `files/write_file`; in the old one, its grants have expired:\n  \
         1. at 2026-12-01T09:59:00.000Z: files/read_file {\"path\":\"\"}: ok\n  2. after 1 min: files/write_file {\"path\":\"\"}: allowed\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    assert_eq!(run.code, 1);
    let run = proved_texts(&expires("2026-12-02T10:00:00Z"), &expires("2026-12-01T10:00:00Z"), &["--format", "json"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let run = proved_texts(&expires("2026-12-02T10:00:00Z"), &policy(AFTER), &["--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["differences"][0]["disagreement"], Value::Null, "{report}");
    assert!(report["differences"][0]["start"].is_string(), "{report}");
}

#[test]
fn the_reason_of_a_refusal_without_an_order_rule_is_stated() {
    for (old, tool, why) in [
        ("max = '1/min'", "files/write_file", "the rate limit `max` is reached"),
        ("where = { '/path' = { equals = 'a' } }", "files/write_file", "the arguments break a rule of `where`"),
        (
            "never_after = [{ tool = 'read_file', same = ['/path'] }]",
            "files/read_file",
            "a member that a rule compares with later calls has a type that cannot be compared",
        ),
    ] {
        let run = proved(old, "", &["--format", "json"]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let differences = report["differences"].as_array().unwrap();
        let found = differences.iter().find(|difference| difference["tool"] == tool);
        let found = found.unwrap_or_else(|| panic!("{old}: {report}"));
        assert_eq!((&found["why"], &found["rule"], &found["disagreement"]), (&json!(why), &Value::Null, &Value::Null));
    }
}

#[test]
fn a_refused_call_is_not_confirmed() {
    let move_file = "tool = 'move_file'\npermissions = ['READ']\npin";
    let guarded = "tool = 'move_file'\nalways_confirm = true\nwhere = { '/from' = { equals = 'a' } }\npermissions = ['READ']\npin";
    let text = |rule: &str| policy(rule).replacen(move_file, guarded, 1);
    let (old, new) = (
        text("after = [{ tool = 'move_file', was = 'confirmed' }]"),
        text("after = [{ tool = 'move_file', was = 'refused' }]"),
    );
    let run = proved_texts(&old, &new, &["--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let steps = &report["differences"][0]["steps"];
    assert_eq!((&steps[0]["tool"], &steps[0]["outcome"]), (&json!("files/move_file"), &json!("refused")), "{report}");
    assert_eq!(steps[0]["confirmed"], false);
    // The other way round, the call is made.
    let run = proved_texts(&new, &old, &["--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let steps = &report["differences"][0]["steps"];
    assert_eq!((&steps[0]["outcome"], &steps[0]["confirmed"]), (&json!("ok"), &json!(true)), "{report}");
}

#[test]
fn shadow_mode_does_not_hide_what_rules_refuse() {
    let wide = AFTER.replace("10min", "1h");
    let shadow = |rules: &str| format!("{}[policy]\nshadow = true\n", policy(rules));
    // On both sides: the sequence is run with the rules enforced.
    let run = proved_texts(&shadow(AFTER), &shadow(&wide), &[]);
    let note = "note: `shadow` is on; the rules are compared as if they were enforced\n";
    assert!(run.stdout.ends_with(&format!("{note}1 tool compared: 1 difference, 0 not decided\n")), "{}", run.stdout);
    assert!(!run.stdout.contains("bug"), "{}", run.stdout);
    assert_eq!(run.code, 1);
    // Turned on: nothing is refused any more, even by rules that are equal.
    let run = proved_texts(&policy(AFTER), &shadow(AFTER), &[]);
    let outside =
        |tool: &str| format!("not decided: `files/{tool}`: `shadow` is turned on, so its rules refuse nothing\n");
    let expect = ["move_file", "read_file", "write_file"].map(outside).concat();
    assert_eq!(run.stdout, format!("{expect}3 tools compared: 0 differences, 3 not decided\n"));
    assert_eq!(run.code, 3);
    // Turned off.
    let run = proved_texts(&shadow(AFTER), &policy(AFTER), &[]);
    let note = "note: `shadow` is turned off; the rules are compared as if they had been enforced\n";
    assert_eq!(run.stdout, format!("{note}0 tools compared: 0 differences, 0 not decided\n"));
    assert_eq!(run.code, 0);
    let folder = folder(&[("new.toml", shadow(AFTER).as_bytes())]);
    let run =
        gate(&folder, &["prove", "--new", "new.toml", "--never", "tool=write_file", "--unless-after", "read_file"]);
    assert!(run.stdout.starts_with("note: `shadow` is on;"), "{}", run.stdout);
    assert_eq!(run.code, 0);
}

#[test]
fn settings_that_are_not_compared_are_noted_and_change_no_sequence() {
    let settings = |idle: &str, pattern: &str| {
        format!("[order]\nidle = '{idle}'\n[policy]\npatterns = [{{ pattern = '{pattern}', reason = 'no' }}]\n")
    };
    let old = format!("{}{}", policy(AFTER), settings("1h", "rehearsal"));
    let new = format!("{}{}", policy(&AFTER.replace("10min", "1h")), settings("2h", "e"));
    let run = proved_texts(&old, &new, &[]);
    let notes =
        "note: `order.idle` differs, but is not compared\nnote: `policy.patterns` differs, but is not compared\n";
    assert!(run.stdout.ends_with(&format!("{notes}1 tool compared: 1 difference, 0 not decided\n")), "{}", run.stdout);
    assert!(!run.stdout.contains("bug"), "{}", run.stdout);
    assert_eq!(run.code, 1);
}

#[test]
fn what_is_outside_is_named() {
    for (old, new, why) in [
        (
            "command = { program = ['ls'] }",
            "command = { program = ['ls', 'cat'] }, length = { max = 9 }",
            "`length` combined with `command` is not compared",
        ),
        (
            "matches = '(a|b)*a(a|b){14}'",
            "matches = '(a|b)*b(a|b){14}'",
            "the patterns of a member have more than 10000 states in total",
        ),
        (r"matches = '\bé'", "matches = 'é'", r"a pattern is too large, or has a word boundary beyond ASCII (`\b`)"),
        (
            "under = '/usr'",
            "under = '/no/such/folder'",
            "`under` judges `/no/such/folder` by more than its text: a folder does not exist, or is a link",
        ),
    ] {
        let rules = |test: &str| format!("where = {{ '/path' = {{ {test} }} }}");
        let run = proved(&rules(old), &rules(new), &[]);
        let outside = format!("not decided: `files/write_file`: {why}\n");
        assert!(run.stdout.starts_with(&outside), "{old} → {new}: {}", run.stdout);
        assert!(run.stdout.ends_with("1 tool compared: 0 differences, 1 not decided\n"), "{}", run.stdout);
        assert_eq!(run.code, 3);
    }
}

#[test]
fn paths_are_compared_as_texts_and_a_note_says_so() {
    let run = proved("where = { '/path' = { under = '/usr' } }", "where = { '/path' = { under = '/usr/lib' } }", &[]);
    assert_eq!(
        run.stdout,
        "note: paths are compared as texts: links are not followed\n1 tool compared: 0 differences, 0 not decided\n"
    );
    assert_eq!(run.code, 0);
}

#[test]
fn sarif_has_each_difference() {
    let run = proved(AFTER, "", &["--format", "sarif"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &report["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "prove/difference");
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(*uri, "new.toml");
}

#[test]
fn sarif_has_notes_and_bugs() {
    // A gate with this limit refuses every plan, which the search does not know.
    let new = format!("{}[limits]\nplan_bytes = 10\n", policy(""));
    let run = proved_texts(&policy(AFTER), &new, &["--format", "sarif"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let results = report["runs"][0]["results"].as_array().unwrap();
    let found: Vec<_> = results
        .iter()
        .map(|result| [&result["ruleId"], &result["level"]].map(|text| text.as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(found, [["prove/difference", "error"], ["prove/bug", "error"], ["prove/note", "note"]]);
    let texts: Vec<_> = results.iter().map(|result| result["message"]["text"].as_str().unwrap()).collect();
    let bug = "a gate disagrees with the search: under the new configuration, the gate refuses call 1, `files/write_file`: PG-1: ";
    assert!(texts[1].starts_with(bug), "{}", texts[1]);
    assert_eq!(texts[2], "`limits` differs, but is not compared");
    let rules = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in found.iter().map(|[rule, _]| rule) {
        assert!(rules.iter().any(|known| known["id"] == *rule), "{rule}");
    }
    assert_eq!(run.code, 3);
}

#[test]
fn a_call_that_may_never_be_made_is_shown() {
    let folder = folder(&[("new.toml", policy(AFTER).as_bytes())]);
    let never = |more: &[&str]| gate(&folder, &[&["prove", "--new", "new.toml", "--never"], more].concat());
    let run = never(&["tool=write_file /path=/etc", "--unless-after", "read_file"]);
    assert_eq!((run.stdout.as_str(), run.code), ("1 tool compared: 0 differences, 0 not decided\n", 0));
    let run = never(&["tool=write_file /path=/etc", "--unless-after", "move_file"]);
    assert_eq!(
        run.stdout,
        "`files/write_file` can be called despite `--never 'tool=write_file /path=/etc'`:\n  \
         1. files/read_file {\"path\":\"/etc\"}: ok\n  2. files/write_file {\"path\":\"/etc\"}: allowed\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    assert_eq!(run.code, 1);
    let run = never(&["tool=write_fil"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("the tool `write_fil` is not allowed"), "{}", run.stderr);
    assert_eq!(never(&["/path=/etc"]).code, 2);
    assert_eq!(never(&["tool=write_file /path=\"12.5\""]).code, 1);
    for (call, why) in [
        (
            "tool=write_file /path=12.5",
            "`/path`: expected an integer within ±9007199254740991, found `12.5`; write a text in quotes: `/path=\"12.5\"`",
        ),
        (
            "tool=write_file /path=9007199254740993",
            "`/path`: expected an integer within ±9007199254740991, found `9007199254740993`",
        ),
        ("tool=write_file /path=1e999", "`/path`: expected an integer within ±9007199254740991, found `1e999`"),
        ("tool=write_file /path=-0", "`/path`: expected an integer within ±9007199254740991, found `-0`"),
        ("tool=write_file tool=read_file", "`tool` is given twice; ask about one tool at a time"),
        ("tool=write_file /path=a /path=b", "`/path` is given twice; ask about one value at a time"),
    ] {
        let run = never(&[call]);
        assert_eq!(run.code, 2, "{call}: {}", run.stdout);
        assert!(run.stderr.contains(&format!("--never: {why}")), "{call}: {}", run.stderr);
    }
}
