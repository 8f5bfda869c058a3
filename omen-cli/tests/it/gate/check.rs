//! `omen gate check`: checks a configuration by itself.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Writes a key to a file that only its owner can read.
fn with_key(folder: &TempDir) {
    write(folder.path(), "audit.key", "00112233445566778899aabbccddeeff".repeat(2).as_bytes());
    rights(folder, "audit.key", 0o600);
}

fn rights(folder: &TempDir, name: &str, mode: u32) {
    fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
}

const SOUND: &str = "[servers.files]\ncommand = 'sh'\n[audit]\nlog = 'audit.jsonl'\nkey_file = 'audit.key'\n";

fn check(text: &str) -> (TempDir, Run) {
    let folder = folder(&[("gate.toml", text.as_bytes())]);
    with_key(&folder);
    let run = gate(&folder, &["check", "--config", "gate.toml"]);
    assert_eq!(run.stderr, "");
    (folder, run)
}

/// Compares the printed findings, without the policy's hash.
#[track_caller]
fn finds(text: &str, code: i32, expect: &str) {
    let (_folder, run) = check(text);
    let shown: Vec<_> = run.stdout.lines().filter(|line| !line.starts_with("policy ")).collect();
    assert_eq!(shown.join("\n"), expect.trim_end());
    assert_eq!(run.code, code);
}

#[test]
fn a_gate_can_start_with_it() {
    let (folder, run) = check(SOUND);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let hash = omen_gate::Config::load(&folder.path().join("gate.toml")).unwrap().hash().to_string();
    assert_eq!(run.stdout, format!("gate.toml: 0 errors, 0 warnings\npolicy {hash}\n"));
    assert!(!folder.path().join("audit.jsonl").exists(), "nothing is written");
}

#[test]
fn all_errors_of_the_text_have_their_places() {
    finds(
        "[limits]\nplan_byte = 1\n\n[servers.a]\ncommand = 1\n",
        1,
        "\
gate.toml:2:1: error: unknown key `limits.plan_byte`
  = help: did you mean `plan_bytes`?
gate.toml:5:1: error: expected a string for `servers.a.command`, found an integer
  = help: The program to start: a path, relative to the folder of this file, or a name that is in `PATH`. It speaks the \
Model Context Protocol on its standard streams, and runs in the folder of this file.
gate.toml: 2 errors, 0 warnings",
    );
    finds(
        "[[allow",
        1,
        "\
gate.toml:1:8: error: invalid TOML: unclosed array table, expected `]]`
  = help: see https://toml.io for the syntax
gate.toml: 1 error, 0 warnings",
    );
}

#[test]
fn what_would_keep_a_gate_from_starting() {
    let (folder, run) = check(&SOUND.replace("'sh'", "'no-such-program-here'").replace("'audit.jsonl'", "'no/log'"));
    let missing = folder.path().join("no");
    let missing = missing.display();
    assert_eq!(run.code, 1);
    let expect = format!(
        "\
gate.toml:2:1: error: the program `no-such-program-here` is not in `PATH`
  = help: install it, or write its path; a path is relative to the folder of the configuration
gate.toml:4:1: error: the folder `{missing}` of the log does not exist
  = help: create it: `mkdir -p {missing}`
gate.toml: 2 errors, 0 warnings\n"
    );
    assert!(run.stdout.starts_with(&expect), "{}", run.stdout);

    // A program in the folder of the configuration, wherever the command is started.
    write(folder.path(), "gate.toml", SOUND.replace("'sh'", "'./server'").as_bytes());
    write(folder.path(), "server", b"#!/bin/sh\n");
    rights(&folder, "server", 0o600);
    let config = folder.path().join("gate.toml");
    let elsewhere = || run_in("/", &["check", "--config", config.to_str().unwrap()]);
    let refused = elsewhere();
    assert_eq!(refused.code, 1);
    assert!(refused.stdout.contains(":2:1: error: the program `./server` cannot be started: "), "{}", refused.stdout);
    assert!(refused.stdout.contains("it is not executable by this user"), "{}", refused.stdout);
    rights(&folder, "server", 0o700);
    assert_eq!(elsewhere().code, 0, "{}", elsewhere().stdout);

    // The key.
    rights(&folder, "audit.key", 0o644);
    let open = elsewhere();
    assert_eq!(open.code, 1);
    assert!(open.stdout.contains("is accessible to other users (mode 644)"), "{}", open.stdout);
    assert!(open.stdout.contains("  = help: run `chmod 600 "), "{}", open.stdout);
    fs::remove_file(folder.path().join("audit.key")).unwrap();
    assert!(elsewhere().stdout.contains(":5:1: error: key file `"), "{}", elsewhere().stdout);
}

fn run_in(folder: &str, args: &[&str]) -> Run {
    run(omen(["gate"].into_iter().chain(args.iter().copied())).current_dir(folder))
}

#[test]
fn tools_that_cannot_be_called_are_warned_of() {
    let pin = format!("v1:{}", "0".repeat(64));
    let text = format!(
        "[servers.files]\ncommand = 'sh'\n\
         [[allow]]\nserver = 'files'\ntool = 'read'\npermissions = ['READ']\n\
         [[allow]]\nserver = 'files'\ntool = 'write'\npermissions = ['READ', 'WRITE']\npin = '{pin}'\n\
         [[grants]]\nserver = 'files'\ntool = 'read'\npermissions = ['READ']\nexpires = 2020-01-01T00:00:00Z\n\
         [[grants]]\nserver = 'files'\ntool = 'write'\npermissions = ['READ']\n"
    );
    finds(
        &text,
        0,
        "\
gate.toml: warning: there is no `[audit]` table, so a gate starts only if the program provides an audit log
  = help: add an `[audit]` table with `log` and `key_file`
gate.toml:3:1: warning: `files/read` has no pin, so no form of it is approved and it cannot be called
  = help: add the `pin` that `omen gate catalog --pins` prints
gate.toml:7:1: warning: `files/write` has no grant of `WRITE`, so it cannot be called
  = help: add it to `[[grants]]`: `permissions = [\"WRITE\"]`
gate.toml:16:1: warning: the grant for `files/read` has expired
  = help: set a later time, or remove the grant
gate.toml: 0 errors, 4 warnings",
    );
}

#[test]
fn a_program_reads_one_object() {
    let folder = folder(&[("gate.toml", SOUND.replace("'sh'", "'no-such-program-here'").as_bytes())]);
    with_key(&folder);
    let run = gate(&folder, &["check", "--config", "gate.toml", "--format", "json"]);
    assert_eq!((run.code, run.stdout.lines().count()), (1, 1));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["file"], &report["errors"], &report["warnings"]), (&json!("gate.toml"), &json!(1), &json!(0)));
    assert_eq!(report["policy"].as_str().unwrap().len(), 64);
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["severity"], &finding["line"], &finding["column"], &finding["path"]),
        (&json!("error"), &json!(2), &json!(1), &json!("servers.files.command"))
    );
    assert_eq!(finding["message"], "the program `no-such-program-here` is not in `PATH`");
}

#[test]
fn what_cannot_be_read_exits_3() {
    let folder = folder(&[]);
    let run = gate(&folder, &["check", "--config", "gate.toml"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
    assert!(run.stderr.starts_with("omen: the configuration `gate.toml` cannot be read: "), "{}", run.stderr);
}

/// With the tools of the servers, rules on arguments are checked against their schemas.
#[test]
fn rules_on_arguments_fit_the_tools() {
    let rules = |rules: &str| {
        format!(
            "{SOUND}[[allow]]\nserver = 'files'\ntool = 'read_file'\npermissions = ['READ']\npin = '{}'\n[allow.where]\n\
             {rules}\n[[grants]]\nserver = 'files'\ntool = 'read_file'\npermissions = ['READ']\n",
            pin_of("read_file")
        )
    };
    let check = |text: &str, more: &[&str]| {
        let catalog = json!({"files": tools()}).to_string();
        let folder = folder(&[("gate.toml", text.as_bytes()), ("catalog.json", catalog.as_bytes())]);
        with_key(&folder);
        let run = gate(&folder, &[&["check", "--config", "gate.toml"], more].concat());
        assert_eq!(run.stderr, "");
        let shown: Vec<_> = run.stdout.lines().filter(|line| !line.starts_with("policy ")).map(str::to_owned).collect();
        (run.code, shown.join("\n"))
    };
    let with = ["--catalog", "catalog.json"];
    let misspelled = rules("'/pth' = { matches = '.*' }");
    assert_eq!(check(&misspelled, &[]), (0, "gate.toml: 0 errors, 0 warnings".to_owned()));
    let expect = "\
gate.toml:12:1: error: the rule for `/pth` names `pth`, which the tool's `inputSchema` does not have
  = help: did you mean `path`?
gate.toml: 1 error, 0 warnings";
    assert_eq!(check(&misspelled, &with), (1, expect.to_owned()));
    // An entry for a tool with a different or outdated definition.
    let other = fits_nothing(&rules("'/path' = { matches = '.*' }"));
    assert_eq!(check(&other, &[]).0, 0);
    let (code, shown) = check(&other, &with);
    assert_eq!(code, 0);
    for expect in [
        "warning: `files/read_fil` is not in the catalogue, so this entry allows nothing\n  = help: did you mean `read_file`?",
        "warning: `files/write_file` has changed since it was approved, so it cannot be called\n  = help: review its new form, and copy its `pin` from `omen gate catalog --pins`",
    ] {
        assert!(shown.contains(expect), "{shown}");
    }
    let fits = rules("'/path' = { under = './data' }");
    let expect = "\
gate.toml:12:13: warning: the folder `./data` does not exist, so `files/read_file` cannot be called
  = help: create it: `mkdir -p ./data`
gate.toml: 0 errors, 1 warning";
    assert_eq!(check(&fits, &with), (0, expect.to_owned()));
    let folder = folder(&[("gate.toml", fits.as_bytes())]);
    with_key(&folder);
    let missing = gate(&folder, &["check", "--config", "gate.toml", "--catalog", "no.json"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""));
    assert!(missing.stderr.starts_with("omen: cannot use the catalogue no.json: "), "{}", missing.stderr);
}

/// With the tools of the servers, the members that order rules name are looked up in the schemas of the tools whose
/// calls have them.
#[test]
fn order_rules_name_members_of_the_tools() {
    let entry = |tool: &str, keys: &str| {
        format!(
            "[[allow]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['READ']\npin = '{}'\n{keys}\n\
             [[grants]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['READ']\n",
            pin_of(tool)
        )
    };
    // `read_file` has `path`, `move_file` has `from` and `to`, and `write_file` has `path` and `text`.
    let check = |keys: &str| {
        let entries = [entry("read_file", ""), entry("move_file", ""), entry("write_file", keys)].concat();
        let catalog = json!({"files": tools()}).to_string();
        let text = format!("{SOUND}{entries}");
        let folder = folder(&[("gate.toml", text.as_bytes()), ("catalog.json", catalog.as_bytes())]);
        with_key(&folder);
        let run = gate(&folder, &["check", "--config", "gate.toml", "--catalog", "catalog.json", "--format", "json"]);
        assert_eq!(run.stderr, "");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let shown = findings.filter(|found| found["severity"] == "error").map(|error| {
            let message = error["message"].as_str().unwrap();
            let named = message.strip_suffix(", which the tool's `inputSchema` does not have");
            format!("{}: {}", error["path"].as_str().unwrap(), named.unwrap_or(message))
        });
        (run.code, shown.collect::<Vec<_>>())
    };
    for (keys, path, message) in [
        (
            "after = [{ tool = 'read_file', if = { '/to' = { equals = 'a' } } }]",
            "after[0].if",
            "the rule for `/to` names `to`",
        ),
        (
            "after = [{ tool = 'read_file', where = { '/to' = { equals = 'a' } } }]",
            "after[0].where",
            "the rule for `/to` names `to`",
        ),
        (
            "after = [{ any = ['move_file', { tool = 'read_file', where = { '/to' = { equals = 'a' } } }] }]",
            "after[0].any[1].where",
            "the rule for `/to` names `to`",
        ),
        // `arg` is of the later call, and `earlier` of the premise …
        (
            "after = [{ tool = 'read_file', same = [{ arg = '/to', earlier = '/path' }] }]",
            "after[0].same",
            "the rule for `/to` names `to`",
        ),
        (
            "after = [{ tool = 'move_file', same = [{ arg = '/path', earlier = '/text' }] }]",
            "after[0].same",
            "the rule for `/text` names `text`",
        ),
        // … the one that settles a debt is the later one.
        (
            "before_end = [{ tool = 'move_file', same = [{ arg = '/path', earlier = '/path' }] }]",
            "before_end[0].same",
            "the rule for `/path` names `path`",
        ),
        (
            "before_end = [{ tool = 'move_file', same = [{ arg = '/to', earlier = '/to' }] }]",
            "before_end[0].same",
            "the rule for `/to` names `to`",
        ),
        // Of a canceller, `arg` is its own, and `earlier` of the premise.
        (
            "after = [{ tool = 'read_file', until = ['write_file', { tool = 'move_file', where = { '/path' = { equals = 'a' } } }] }]",
            "after[0].until[1].where",
            "the rule for `/path` names `path`",
        ),
        (
            "after = [{ tool = 'read_file', until = [{ tool = 'move_file', same = [{ arg = '/path', earlier = '/path' }] }] }]",
            "after[0].until[0].same",
            "the rule for `/path` names `path`",
        ),
        (
            "never_after = [{ tool = 'read_file', until = [{ tool = 'move_file', same = [{ arg = '/to', earlier = '/to' }] }] }]",
            "never_after[0].until[0].same",
            "the rule for `/to` names `to`",
        ),
        ("max = { sum = { '/amount' = 5 }, per = 'session' }", "max.sum", "the rule for `/amount` names `amount`"),
        (
            "max = { sum = { '/text' = 5 }, per = 'session' }",
            "max.sum",
            "the rule for `/text` can never hold: it requires a number, and the tool's `inputSchema` has a string",
        ),
        (
            "max = { tool = 'read_file', sum = { '/text' = 5 }, per = 'session' }",
            "max.sum",
            "the rule for `/text` names `text`",
        ),
    ] {
        assert_eq!(check(keys), (1, vec![format!("allow[2].{path}: {message}")]), "{keys}");
    }
    for keys in [
        "after = [{ tool = 'read_file', same = ['/path'], if = { '/text' = { equals = 'a' } } }]",
        "after = [{ tool = 'read_file', until = [{ tool = 'move_file', same = [{ arg = '/to', earlier = '/path' }] }] }]",
        "after = [{ tool = 'read_file', only = ['move_file'] }]",
        "before_end = [{ tool = 'move_file', same = [{ arg = '/from', earlier = '/path' }] }]",
    ] {
        assert_eq!(check(keys), (0, Vec::new()), "{keys}");
    }
}

/// Returns a configuration with a tool that no server lists, and another one in a form that was not approved.
fn fits_nothing(text: &str) -> String {
    let zeros = "0".repeat(64);
    let entry = |tool: &str| {
        format!("[[allow]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['READ']\npin = 'v1:{zeros}'\n")
    };
    format!("{text}\n{}{}", entry("read_fil"), entry("write_file"))
}

/// A gate that must find its anchor in the log does not start without the anchor.
#[test]
fn the_anchor_must_be_one_of_this_key() {
    let with_anchor = format!("{SOUND}require_anchor = 'last.anchor'\n");
    let (folder, run) = check(&with_anchor);
    let anchor = folder.path().join("last.anchor");
    let help = "specify the file with the latest anchor of this log, as printed by `omen audit export-anchor`";
    let expect = |why: &str| format!("gate.toml:6:1: error: {why}\n  = help: {help}\ngate.toml: 1 error, 0 warnings\n");
    let missing = format!("the anchor `{}` cannot be read: No such file or directory (os error 2)", anchor.display());
    assert!(run.stdout.starts_with(&expect(&missing)), "{}", run.stdout);
    assert_eq!(run.code, 1);

    write(folder.path(), "last.anchor", b"{}");
    let run = gate(&folder, &["check", "--config", "gate.toml"]);
    let expect = expect("invalid anchor: missing field `count` at line 1 column 2");
    assert!(run.stdout.starts_with(&expect), "{}", run.stdout);
}

#[test]
fn order_rules_that_cannot_have_been_meant() {
    let entry = |tool: &str, rules: &str| {
        format!("\n[[allow]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['READ']\n{rules}\n")
    };
    let circle = |rules: &str| {
        let text =
            format!("[servers.files]\n{}{}", entry("read_file", rules), entry("write_file", "after = ['read_file']"));
        check(&text).1
    };
    let run = circle("after = ['write_file']");
    let error = "gate.toml:7:10: error: `files/read_file` can never be called: `files/read_file` after `files/write_file` \
                 after `files/read_file`\n  = help: remove one of these rules, or name another tool in it\n";
    assert!(run.stdout.contains(error), "{}", run.stdout);
    assert_eq!(run.code, 1);
    let run = circle("");
    assert!(!run.stdout.contains("can never be called: "), "{}", run.stdout);
    assert_eq!(run.code, 0);
}

#[test]
fn rules_that_refuse_nothing_are_warned_of() {
    let pin = "a".repeat(64);
    let entry = |tool: &str, rules: &str| {
        format!(
            "\n[[allow]]\nserver = 'files'\ntool = '{tool}'\npin = 'v1:{pin}'\npermissions = ['READ']\n{rules}\n\
             [[grants]]\nserver = 'files'\ntool = '{tool}'\npermissions = ['READ']\npre_granted = true\n"
        )
    };
    let warned = |first: &str, second: &str| {
        let text = format!("{SOUND}{}{}", entry("read_file", first), entry("write_file", second));
        let (_folder, run) = check(&text);
        assert!(run.stdout.contains("0 errors, "), "{}", run.stdout);
        let warnings = run.stdout.lines().filter(|line| line.contains("warning: this rule refuses nothing"));
        warnings.map(|line| line.split(':').nth(1).unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let after = "after = ['read_file']";
    for (first, second, expect) in [
        // Each refuses something by itself.
        ("", after, ""),
        ("max = '2/day'", after, ""),
        (
            "",
            "where = { '/env' = { in = ['dev', 'prod'] } }\nafter = [{ tool = 'read_file', if = { '/env' = { in = ['prod'] } } }]",
            "",
        ),
        (
            "",
            "after = [{ tool = 'read_file', within = '1min' }]\nnever_after = [{ tool = 'read_file', was = 'failed' }]",
            "",
        ),
        // The stricter rule of two, a condition that `where` excludes, and a limit that a smaller one hides.
        ("", "after = ['read_file', { tool = 'read_file', was = 'done' }]", "24"),
        (
            "",
            "where = { '/env' = { in = ['dev'] } }\nafter = [{ tool = 'read_file', if = { '/env' = { in = ['prod'] } } }]",
            "25",
        ),
        ("", "max = [{ calls = 2, within = '1day' }, { calls = 3, within = '1day' }]", "24"),
    ] {
        assert_eq!(warned(first, second), expect, "{first:?} {second:?}");
    }
}

/// Paths and messages of the warnings about the rules of a policy with tools that write and one that reads.
fn weak_rules(keys: &str, more: &str, has_catalog: bool) -> Vec<(String, String)> {
    let member = |kind: &str| json!({ "type": kind });
    let tool = |name: &str, members: Value, required: Value| json!({ "name": name, "inputSchema": { "type": "object", "properties": members, "required": required } });
    let listed = json!([
        tool(
            "pay",
            json!({ "to": member("string"), "cents": member("integer"), "env": member("string") }),
            json!(["to"])
        ),
        tool("transfer", json!({ "to": member("string") }), json!(["to"])),
        tool("look", json!({ "to": member("string") }), json!(["to"])),
        tool("approve", json!({ "id": member("string") }), json!([])),
    ]);
    let tools: Vec<omen_gate::tool::Tool> = serde_json::from_value(listed.clone()).unwrap();
    let entry = |name: &str, permission: &str, keys: &str| {
        let pin = pin(tools.iter().find(|tool| tool.name.as_str() == name).unwrap()).unwrap();
        format!(
            "\n[[allow]]\nserver = 'bank'\ntool = '{name}'\npermissions = ['{permission}']\npin = '{pin}'\n{keys}\n\
             [[grants]]\nserver = 'bank'\ntool = '{name}'\npermissions = ['{permission}']\npre_granted = true\n"
        )
    };
    let entries = [
        entry("pay", "WRITE", keys),
        entry("transfer", "WRITE", ""),
        entry("look", "READ", ""),
        entry("approve", "NETWORK", ""),
    ];
    let text = format!("{}{more}{}", SOUND.replace("files", "bank"), entries.concat());
    let catalog = json!({ "bank": listed }).to_string();
    let folder = folder(&[("gate.toml", text.as_bytes()), ("catalog.json", catalog.as_bytes())]);
    with_key(&folder);
    let catalog: &[&str] = if has_catalog { &["--catalog", "catalog.json"] } else { &[] };
    let run = gate(&folder, &[&["check", "--config", "gate.toml", "--format", "json"], catalog].concat());
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    assert_eq!((run.code, &report["errors"]), (0, &json!(0)), "{keys}: {report}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|found| (text(&found["path"]), text(&found["message"]))).collect()
}

#[test]
fn order_rules_that_a_call_can_evade_are_warned_of() {
    let spelled = "where = { '/to' = { matches = '[a-z]+' }, '/env' = { in = ['dev', 'prod'] } }\n";
    let if_prod = "after = [{ tool = 'approve', if = { '/env' = { equals = 'prod' } } }]";
    let paid = "never_after = [{ tool = 'pay', was = 'failed', same = ['/to'] }]";
    let per_payee = "max = { calls = 3, within = '1h', same = ['/to'] }";
    let both = "max = { calls = 3, within = '1h', tool = ['pay', 'transfer'] }";
    let short = "[limits]\ncall_timeout_seconds = 60\n";
    let other_spelling =
        "`same` compares `/to` as it is written, but `where` of `bank/pay` allows several spellings of one value";
    let replaced = "`bank/transfer` requires the same members as `bank/pay` and has no limit, so it may replace it";
    let another =
        "`bank/pay` and `bank/look` both require `/to`, and an earlier call with another `/to` counts as well";
    let slow = |tool: &str, within: &str| {
        format!("a call of `bank/{tool}` may take 1 min (`call_timeout_seconds`), longer than `within` ({within})")
    };
    let reads = "`until` names `bank/look`, which only reads (`permissions = [\"READ\"]`), so it changes nothing that was established before";
    for (keys, more, has_catalog, expect) in [
        (
            if_prod.to_owned(),
            "",
            false,
            Some(("allow[0].after[0].if", "`if` lists texts for `/env`; the rule does not apply to other spellings, which `where` of `bank/pay` allows".to_owned())),
        ),
        (format!("{spelled}{if_prod}"), "", false, None),
        ("after = [{ tool = 'approve', if = { '/cents' = { min = 500 } } }]".to_owned(), "", false, None),
        (paid.to_owned(), "", false, Some(("allow[0].never_after[0].same", other_spelling.to_owned()))),
        (format!("{spelled}{paid}"), "", false, None),
        (per_payee.to_owned(), "", false, Some(("allow[0].max.same", other_spelling.to_owned()))),
        (format!("{spelled}{per_payee}"), "", false, None),
        ("max = { calls = 3, within = '1h', same = ['/cents'] }".to_owned(), "", false, Some(("allow[0].max.same", other_spelling.replace("/to", "/cents")))),
        (per_payee.replace("'/to'", "'/cents'"), "", true, Some(("allow[0].max", replaced.to_owned()))),
        ("max = '3/h'".to_owned(), "", true, Some(("allow[0].max", replaced.to_owned()))),
        ("max = '3/h'".to_owned(), "", false, None),
        (both.to_owned(), "", true, None),
        ("after = ['look']".to_owned(), "", true, Some(("allow[0].after[0]", another.to_owned()))),
        ("after = ['look']".to_owned(), "", false, None),
        ("after = [{ tool = 'look', same = ['/to'] }]".to_owned(), "", true, None),
        ("after = ['approve']".to_owned(), "", true, None),
        (
            "after = [{ tool = 'approve', within = '10s', was = 'made' }]".to_owned(),
            short,
            false,
            Some(("allow[0].after[0].within", slow("approve", "10 s"))),
        ),
        ("after = [{ tool = 'approve', within = '10s' }]".to_owned(), short, false, None),
        ("after = [{ tool = 'approve', within = '60s', was = 'made' }]".to_owned(), short, false, None),
        (
            "after = [{ tool = 'approve', within = '10s', only = ['look'] }]".to_owned(),
            short,
            false,
            Some(("allow[0].after[0].within", slow("look", "10 s"))),
        ),
        (
            "before_end = [{ tool = 'approve', within = '30s' }]".to_owned(),
            short,
            false,
            Some(("allow[0].before_end[0].within", slow("approve", "30 s"))),
        ),
        ("before_end = [{ tool = 'approve', within = '5min' }]".to_owned(), short, false, None),
        (
            "after = [{ tool = 'approve', until = ['transfer', 'look'] }]".to_owned(),
            "",
            false,
            Some(("allow[0].after[0].until[1]", reads.to_owned())),
        ),
        ("after = [{ tool = 'approve', until = ['transfer'] }]".to_owned(), "", false, None),
        ("never_after = [{ tool = 'transfer', until = ['look'] }]".to_owned(), "", false, None),
    ] {
        let expect: Vec<_> = expect.map(|(path, message)| (path.to_owned(), message)).into_iter().collect();
        assert_eq!(weak_rules(&keys, more, has_catalog), expect, "{keys}");
    }
    let run = check(omen_gate::config::SAMPLE).1;
    assert!(run.stdout.contains("cancel_order") && !run.stdout.contains("spelling"), "{}", run.stdout);
}

#[test]
fn sarif_has_each_finding_with_its_place() {
    let folder = folder(&[("gate.toml", b"[servers.files]\n")]);
    write(folder.path(), "wrong.toml", b"[limits]\nplan_byte = 1\n");
    let run = gate(&folder, &["check", "--config", "wrong.toml", "--format", "sarif"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let run_of = &report["runs"][0];
    let result = &run_of["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("gate/error"), &json!("error")));
    let text = "unknown key `limits.plan_byte`\nhelp: did you mean `plan_bytes`?";
    assert_eq!(result["message"]["text"], text);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "wrong.toml");
    assert_eq!(place["region"], json!({ "startLine": 2, "startColumn": 1 }));
    assert!(run_of["tool"]["driver"]["rules"].as_array().unwrap().iter().any(|rule| rule["id"] == "gate/error"));
    assert_eq!(run.code, 1);
    // A finding about the file as a whole has no region.
    let run = gate(&folder, &["check", "--config", "gate.toml", "--format", "sarif"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let result = &report["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"].get("region"), None, "{report}");
}
