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
    let folder = folder(&[("old.toml", policy(old).as_bytes()), ("new.toml", policy(new).as_bytes())]);
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
        ("where = { '/path' = { in = ['a'] } }", "where = { '/path' = { in = ['a', 'b'] } }", 1),
        ("where = { '/size' = { max = 5 } }", "where = { '/size' = { max = 6 } }", 1),
        ("where = { '/path' = { length = { max = 3 } } }", "where = { '/path' = { length = { max = 4 } } }", 1),
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
fn what_is_outside_is_named() {
    let run = proved("where = { '/path' = { matches = 'a+' } }", "where = { '/path' = { matches = 'a*' } }", &[]);
    assert_eq!(
        run.stdout,
        "not decided: `files/write_file`: `matches` of `/path` is not compared yet\n\
         1 tool compared: 0 differences, 1 not decided\n"
    );
    assert_eq!(run.code, 3);
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
fn a_call_that_may_never_be_made_is_shown() {
    let folder = folder(&[("new.toml", policy(AFTER).as_bytes())]);
    let never = |more: &[&str]| gate(&folder, &[&["prove", "--new", "new.toml", "--never"], more].concat());
    let run = never(&["tool=write_file /path=/etc", "--unless-after", "read_file"]);
    assert_eq!((run.stdout.as_str(), run.code), ("1 tool compared: 0 differences, 0 not decided\n", 0));
    let run = never(&["tool=write_file /path=/etc", "--unless-after", "move_file"]);
    assert_eq!(
        run.stdout,
        "`files/write_file` can be called against `--never 'tool=write_file /path=/etc'`:\n  \
         1. files/read_file {\"path\":\"/etc\"}: ok\n  2. files/write_file {\"path\":\"/etc\"}: allowed\n\
         1 tool compared: 1 difference, 0 not decided\n"
    );
    assert_eq!(run.code, 1);
    let run = never(&["tool=write_fil"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("the tool `write_fil` is not allowed"), "{}", run.stderr);
    assert_eq!(never(&["/path=/etc"]).code, 2);
}
