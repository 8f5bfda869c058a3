//! Every kind of configuration error, with its message.

use omen_gate::config::MAX_ERRORS;
use omen_gate::{Blocked, Config, GateCode};

/// Asserts the errors of a text, each as `line:column path: message; help`.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let errors = Config::parse(text).unwrap_err();
    let got: Vec<_> =
        errors.0.iter().map(|e| format!("{}:{} {}: {}; {}", e.line, e.column, e.path, e.message, e.help)).collect();
    assert_eq!(got, expect, "\n{text}");
}

/// Valid text, so that only the tested mistake makes it invalid.
const BASE: &str = r#"
[servers.files]
[[allow]]
server = "files"
tool = "read"
permissions = ["READ", "WRITE"]
"#;

#[test]
fn the_base_is_right() {
    assert!(Config::parse(BASE).is_ok());
}

#[test]
fn unknown_keys() {
    check("[limit]\nplan_bytes = 1\n", &["1:2 limit: unknown key `limit`; did you mean `limits`?"]);
    check(
        "[breaker]\nfailures = 2\n  cooldown = 7\n",
        &["3:3 breaker.cooldown: unknown key `breaker.cooldown`; \
           expected one of `cooldown_seconds`, `failures`"],
    );
    check(
        &format!("{BASE}permisions = []\n"),
        &["7:1 allow[0].permisions: unknown key `allow[0].permisions`; did you mean `permissions`?"],
    );
    check(
        "[servers.\"my files\"]\ncomand = 'x'\n",
        &["2:1 servers.\"my files\".comand: unknown key `servers.\"my files\".comand`; \
           did you mean `command`?"],
    );
    check(
        "servers = { a = { 'b/~c' = 1 } }\n",
        &["1:19 servers.a.\"b/~c\": unknown key `servers.a.\"b/~c\"`; \
         expected one of `args`, `ca_file`, `command`, `env`, `errors`, `headers`, `pass_env`, `plain_http`, `url`"],
    );
}

#[test]
fn all_of_a_kind_at_once_in_the_order_of_the_text() {
    let text = "[confirm]\ntimeout = 3\n[limits]\nplan_bytes = 0\nanswer_byte = 5\n[budget]\nfailures = '3'\n";
    let errors = Config::parse(text).unwrap_err();
    let lines: Vec<_> = errors.0.iter().map(|error| error.line).collect();
    assert_eq!(lines, [2, 4, 5, 7]);
    assert_eq!(errors.to_string().lines().count(), 4);
    let blocked = Blocked::from(errors);
    assert_eq!(blocked.code, GateCode::C1);
    assert_eq!(blocked.message, "invalid configuration: line 2, column 1: unknown key `confirm.timeout` (and 3 more)");
}

#[test]
fn not_more_than_can_be_read_at_once() {
    let unknown: String = (0..1000).map(|index| format!("k{index} = 1\n")).collect();
    let grants = "[[grants]]\nserver = 'a'\ntool = 'b'\npermissions = ['READ']\n".repeat(1000);
    let syntax = "[\n".repeat(1000);
    for text in [unknown, grants, syntax] {
        assert_eq!(Config::parse(&text).unwrap_err().0.len(), MAX_ERRORS);
    }
}

#[test]
fn missing_keys() {
    check(
        "[[allow]]\ntool = 'x'\n",
        &[
            "1:1 allow[0]: missing key `server` in `allow[0]`; add it: The name of a server of this file.",
            "1:1 allow[0]: missing key `permissions` in `allow[0]`; \
             add it: What the tool can do. Its server's annotations do not count (D47).",
        ],
    );
    check(
        "[audit]\nkey_env = 'K'\n",
        &["1:2 audit: missing key `log` in `audit`; add it: The log file, relative to the folder of this \
        file. It is created if it does not exist."],
    );
}

#[test]
fn wrong_types() {
    check(
        "limits = 3\n",
        &["1:1 limits: expected a table for `limits`, found an integer; Limits on sizes and waiting times."],
    );
    check(
        "[limits]\nplan_depth = '3'\n",
        &["2:1 limits.plan_depth: expected an integer for `limits.plan_depth`, found a string; \
        a number from 2 to 100: Maximum nesting depth of arrays and objects in a plan (PG-1)."],
    );
    check(
        "[limits]\nplan_depth = 3.5\n",
        &[
            "2:1 limits.plan_depth: expected an integer for `limits.plan_depth`, found a float, or a number that is too large; \
        a number from 2 to 100: Maximum nesting depth of arrays and objects in a plan (PG-1).",
        ],
    );
    check(
        "[servers.a]\ncommand = 'x'\nargs = 'y'\n",
        &["3:1 servers.a.args: expected an array for `servers.a.args`, found a string; The program's arguments."],
    );
    check(
        "[allow]\nserver = 'a'\n",
        &["1:2 allow: expected an array for `allow`, found a table; write `[[allow]]` above each entry"],
    );
    check(
        "grants.server = 'a'\n",
        &["1:1 grants: expected an array for `grants`, found a table; write `[[grants]]` above each entry"],
    );
    check(
        &format!("{BASE}always_confirm = 1\n"),
        &[
            "7:1 allow[0].always_confirm: expected a boolean for `allow[0].always_confirm`, found an integer; Whether every call needs a confirmation, even if it is pre-granted or needs only `READ`.",
        ],
    );
    check(
        "[servers.a]\nenv = { A = 1 }\n",
        &["2:9 servers.a.env.A: expected a string for `servers.a.env.A`, found an integer; \
        see the schema of the configuration"],
    );
}

#[test]
fn out_of_range() {
    check(
        "[budget]\nfailures = 4\nin_a_row = 3\n",
        &[
            "2:1 budget.failures: `budget.failures` is out of range; \
         a number from 1 to 3: Maximum number of failures in a turn. The default can only be lowered.",
            "3:1 budget.in_a_row: `budget.in_a_row` is out of range; \
         a number from 1 to 2: Maximum number of failures in a row in a turn. The default can only be lowered.",
        ],
    );
    check(
        "[breaker]\nfailures = 0\n",
        &["2:1 breaker.failures: `breaker.failures` is out of range; \
        a number from 1 to 1000: Number of failures in a row after which the gate stops calling a tool."],
    );
    check(
        "[limits]\nplan_bytes = -1\n",
        &["2:1 limits.plan_bytes: `limits.plan_bytes` is out of range; \
        a number from 1 to 2097152: Maximum size of a plan, in bytes (PG-1)."],
    );
    check(
        "[limits]\nplan_bytes = 99999999999999999999\n",
        &["2:1 limits.plan_bytes: `limits.plan_bytes` is out of range; \
        a number from 1 to 2097152: Maximum size of a plan, in bytes (PG-1)."],
    );
}

#[test]
fn numbers_are_whole() {
    for number in ["3.0", "3e0", "nan", "-inf", "0xFFFFFFFFFFFFFFFFFFFF"] {
        check(
            &format!("[limits]\nplan_bytes = {number}\n"),
            &["2:1 limits.plan_bytes: expected an integer for `limits.plan_bytes`, \
            found a float, or a number that is too large; a number from 1 to 2097152: Maximum size of a plan, in bytes (PG-1)."],
        );
    }
    check(
        "[servers.a]\ncommand = 3.0\n",
        &[
            "2:1 servers.a.command: expected a string for `servers.a.command`, found a float, or a number that is too large; \
        The program to start: a path, relative to the folder of this file, or a name that is in `PATH`. It speaks the Model \
        Context Protocol on its standard streams, and runs in the folder of this file.",
        ],
    );
}

#[test]
fn permissions() {
    let with = |list: &str| BASE.replace(r#"["READ", "WRITE"]"#, list);
    check(
        &with("['READ', 'WRIET']"),
        &["6:24 allow[0].permissions[1]: invalid value `WRIET` for `allow[0].permissions[1]`; did you mean `WRITE`?"],
    );
    check(
        &with("['read']"),
        &["6:16 allow[0].permissions[0]: invalid value `read` for `allow[0].permissions[0]`; did you mean `READ`?"],
    );
    check(
        &with("['everything']"),
        &["6:16 allow[0].permissions[0]: invalid value `everything` for \
        `allow[0].permissions[0]`; expected one of `READ`, `WRITE`, `EXECUTE`, `NETWORK`"],
    );
    check(
        &with("[1]"),
        &[
            "6:16 allow[0].permissions[0]: expected a string for `allow[0].permissions[0]`, found an integer; \
             see the schema of the configuration",
            "6:16 allow[0].permissions[0]: invalid value `1` for `allow[0].permissions[0]`; \
             expected one of `READ`, `WRITE`, `EXECUTE`, `NETWORK`",
        ],
    );
    check(
        &with("[]"),
        &["6:1 allow[0].permissions: `allow[0].permissions` is empty; \
        What the tool can do. Its server's annotations do not count (D47)."],
    );
    check(
        &with("['READ', 'READ']"),
        &["6:1 allow[0].permissions: `allow[0].permissions` contains a duplicate item; write each item once"],
    );
}

#[test]
fn pins() {
    let digits = "0123456789abcdef".repeat(4);
    let pin = format!("v1:{digits}");
    assert!(Config::parse(&format!("{BASE}pin = '{pin}'\n")).is_ok());
    for wrong in
        ["", "v1:", &digits, &format!("v2:{digits}"), &format!("{pin}0"), &format!("{pin}\\n"), &pin.to_uppercase()]
    {
        let errors = Config::parse(&format!("{BASE}pin = \"{wrong}\"\n")).unwrap_err();
        assert_eq!(errors.0[0].to_string(), "line 7, column 1: invalid value of `allow[0].pin`");
        assert!(errors.0[0].help.starts_with("The pin of the approved form of the tool: `v1:`"));
    }
}

#[test]
fn names_and_references() {
    let bad = "expected 1 to 128 characters, none of them blank, a control character or invisible";
    check(
        &BASE.replace("\"read\"", "'read me'"),
        &[&format!(
            "5:1 allow[0].tool: invalid tool name `read me`: {bad}; write the tool's name as its server lists it"
        )],
    );
    check(
        &BASE.replace("\"files\"", "'file'"),
        &["4:1 allow[0].server: there is no server `file`; did you mean `files`?"],
    );
    check(
        &BASE.replace("[servers.files]", ""),
        &["4:1 allow[0].server: there is no server `files`; add a table `[servers.files]`; it may be empty"],
    );
    check(
        "[servers.'a b']\n",
        &["1:10 servers.\"a b\": invalid server name `a b`: expected 1 to 128 characters, \
        none of them blank, a control character or invisible; give the server another name"],
    );
    let twice = format!("{BASE}[[allow]]\nserver = 'files'\ntool = 'read'\npermissions = ['READ']\n");
    check(&twice, &["7:1 allow[1]: duplicate entry for `files/read`; write one entry per tool"]);
}

#[test]
fn servers() {
    check(
        "[servers.a]\nargs = ['x']\n",
        &["1:10 servers.a: missing key `command` for the server `a`, which has other keys; \
             add the `command`, or empty the table"],
    );
    check(
        "[servers.a]\ncommand = ''\n",
        &["2:1 servers.a.command: `servers.a.command` is empty; \
        The program to start: a path, relative to the folder of this file, or a name that is in `PATH`. It speaks the Model \
        Context Protocol on its standard streams, and runs in the folder of this file."],
    );
    check(
        "[servers.a]\ncommand = 'x'\nenv = { 'A=B' = '' }\npass_env = ['P', '']\n",
        &[
            "3:9 servers.a.env.\"A=B\": invalid name of an environment variable: `A=B`; write a name without `=`",
            "4:18 servers.a.pass_env[1]: invalid name of an environment variable: ``; write a name without `=`",
        ],
    );
}

/// Commands that the operating system cannot start are refused before an attempt.
#[test]
fn what_no_server_can_be_started_with() {
    let nul = |what: &str| format!("{what} contains a NUL character; remove the NUL character");
    let command = "[servers.a]\ncommand = 'x'\n";
    check(&command.replace("'x'", r#""x\u0000y""#), &[&format!("2:1 servers.a.command: {}", nul("the command"))]);
    check(
        &format!("{command}args = ['a', \"b\\u0000\"]\n"),
        &[&format!("3:14 servers.a.args[1]: {}", nul("the argument"))],
    );
    let errors = Config::parse(&format!("{command}env = {{ A = \"hush\\u0000\" }}\n")).unwrap_err();
    assert_eq!(errors.to_string(), format!("line 3, column 9: {}", nul("the value of the variable")));
    for name in ["env = { \"A\\u0000B\" = '' }", "pass_env = [\"A\\u0000B\"]"] {
        let errors = Config::parse(&format!("{command}{name}\n")).unwrap_err();
        assert!(errors.0[0].message.starts_with("invalid name of an environment variable: "), "{errors}");
    }
    for blank in ["' '", r#""\t\n""#, r#""\u00a0""#, r#""\u200b""#] {
        check(
            &command.replace("'x'", blank),
            &["2:1 servers.a.command: the command is blank; specify the program to start"],
        );
    }
    for (key, value) in [("log", "\"l\\u0000\"\nkey_env = 'K'"), ("key_file", "\"k\\u0000\"\nlog = 'l'")] {
        let errors = Config::parse(&format!("[audit]\n{key} = {value}\n")).unwrap_err();
        assert_eq!((errors.0.len(), errors.0[0].path.as_str()), (1, &*format!("audit.{key}")), "{errors}");
        assert_eq!(errors.0[0].message, "the path contains a NUL character");
    }
}

#[test]
fn grants() {
    let with = |rest: &str| format!("{BASE}[[grants]]\nserver = 'files'\n{rest}\n");
    check(
        &with("tool = 'raed'\npermissions = ['READ']"),
        &["9:1 grants[0].tool: `files/raed` has a grant but is not allowed; did you mean `files/read`?"],
    );
    check(
        &with("tool = 'delete_everything'\npermissions = ['READ']"),
        &["9:1 grants[0].tool: `files/delete_everything` \
        has a grant but is not allowed; add an entry to `allow`; a grant alone allows nothing"],
    );
    check(
        &with("tool = 'read'\npermissions = ['READ', 'NETWORK']"),
        &["10:1 grants[0].permissions: `files/read` does \
        not need `NETWORK`; the tool's entry in `allow` lists only `READ, WRITE`"],
    );
    check(
        &with("tool = 'read'\npermissions = ['READ']\nuses = 0"),
        &["11:1 grants[0].uses: `grants[0].uses` is out of \
        range; a number from 1 to 1000000000: Number of calls that the grant allows, counted from the start of the gate. Without it, there is no limit."],
    );
    for time in ["2027-01-01", "'2027-01-01T00:00:00'", "2027-01-01T00:00:00", "'soon'", "1969-12-31T23:59:59Z"] {
        let shown = time.trim_matches('\'');
        check(
            &with(&format!("tool = 'read'\npermissions = ['READ']\nexpires = {time}")),
            &[&format!(
                "11:1 grants[0].expires: invalid timestamp `{shown}`; \
             write RFC 3339, e.g. `2027-01-01T00:00:00Z`"
            )],
        );
    }
}

#[test]
fn times_may_be_written_both_ways_and_in_any_offset() {
    let expires = |text: &str| {
        let text = format!("{BASE}[[grants]]\nserver='files'\ntool='read'\npermissions=['READ']\nexpires={text}\n");
        Config::parse(&text).unwrap().grants[0].expires.unwrap()
    };
    let expect = expires("2027-01-01T00:00:00Z");
    for text in ["'2027-01-01T00:00:00Z'", "2027-01-01T02:00:00+02:00", "2027-01-01 00:00:00.999Z"] {
        assert_eq!(expires(text), expect, "{text}");
    }
}

#[test]
fn patterns() {
    let with = |pattern: &str| format!("[[policy.patterns]]\npattern = '{pattern}'\nreason = 'r'\n");
    check(
        &with("a(b"),
        &["2:1 policy.patterns[0].pattern: invalid regular expression: unclosed group; \
        see the documentation of the crate `regex` for the syntax"],
    );
    check(
        &with("(?=x)"),
        &["2:1 policy.patterns[0].pattern: invalid regular expression: look-around, \
        including look-ahead and look-behind, is not supported; see the documentation of the crate `regex` for the syntax"],
    );
    check(
        &with(""),
        &["2:1 policy.patterns[0].pattern: `policy.patterns[0].pattern` is empty; \
        A regular expression in the syntax of the Rust crate `regex`, without look-around. `(?i)` at its start makes \
        it ignore case."],
    );
    check(
        &with(r"(\w{100}){1000}"),
        &["2:1 policy.patterns[0].pattern: the compiled pattern is too large; make it simpler"],
    );
    check(&with(".*"), &["2:1 policy.patterns[0].pattern: the pattern matches every request; make it narrower"]);
    check(
        "[[policy.patterns]]\npattern = 'a'\nreason = ' '\n",
        &["3:1 policy.patterns[0].reason: the reason is blank; say why such a request is halted"],
    );
    // All errors are reported, of any kind.
    check(
        &[with("a("), with(".*"), with(r"(\w{100}){1000}")].concat(),
        &[
            "2:1 policy.patterns[0].pattern: invalid regular expression: unclosed group; \
            see the documentation of the crate `regex` for the syntax",
            "5:1 policy.patterns[1].pattern: the pattern matches every request; make it narrower",
            "8:1 policy.patterns[2].pattern: the compiled pattern is too large; make it simpler",
        ],
    );
    // Each is small enough by itself.
    let many: String = (0..24).map(|index| with(&format!(r"\w{{20}}{index}"))).collect();
    check(&many, &["1:10 policy.patterns: the patterns are too large in total; use fewer or simpler patterns"]);
}

#[test]
fn the_audit_log_has_one_key() {
    check("[audit]\nlog = 'l'\n", &["1:2 audit: the audit log has no key; write either `key_file` or `key_env`"]);
    check(
        "[audit]\nlog = 'l'\nkey_file = 'f'\nkey_env = 'K'\n",
        &["1:2 audit: the audit log has two keys; write either `key_file` or `key_env`"],
    );
    check(
        "[audit]\nlog = 'l'\nkey_env = 'A=B'\n",
        &["3:1 audit.key_env: invalid name of an environment variable: `A=B`; \
        write a name without `=`"],
    );
}

/// A3: a server with the key could rewrite the log.
#[test]
fn the_key_of_the_log_is_handed_to_no_server() {
    let help = "do not pass the key to a server: with the key, it could rewrite the log";
    let env = "[audit]\nlog = 'l'\nkey_env = 'OMEN_KEY'\n[servers.a]\ncommand = 'x'\n";
    assert!(Config::parse(&format!("{env}pass_env = ['OMEN_KEY_ID']\nenv = {{ MY_OMEN_KEY = 'x' }}\n")).is_ok());
    check(
        &format!("{env}pass_env = ['HOME', 'OMEN_KEY']\n"),
        &[&format!(
            "6:21 servers.a.pass_env[1]: `servers.a.pass_env[1]` gives the server `OMEN_KEY`, which holds the key of the \
             log (`audit.key_env`); {help}"
        )],
    );
    check(
        &format!(
            "{env}env = {{ OMEN_KEY = '{}' }}\n[servers.b]\ncommand = 'y'\npass_env = ['OMEN_KEY']\n",
            "0f".repeat(32)
        ),
        &[
            &format!(
                "6:9 servers.a.env.OMEN_KEY: `servers.a.env.OMEN_KEY` gives the server `OMEN_KEY`, which holds the key of \
                 the log (`audit.key_env`); {help}"
            ),
            &format!(
                "9:13 servers.b.pass_env[0]: `servers.b.pass_env[0]` gives the server `OMEN_KEY`, which holds the key of \
                 the log (`audit.key_env`); {help}"
            ),
        ],
    );
    check(
        "[audit]\nlog = 'l'\nkey_env = 'PATH'\n",
        &[&format!("3:1 audit.key_env: every server inherits `PATH`, so it cannot hold the key of the log; {help}")],
    );

    let file = "[audit]\nlog = 'l'\nkey_file = 'keys/audit.key'\n[servers.a]\ncommand = 'x'\n";
    assert!(Config::parse(&format!("{file}args = ['keys', 'keys/audit.key.pub']\n")).is_ok());
    for (path, line) in [
        ("args[1]", "args = ['--key', './keys//audit.key']"),
        ("args[0]", "args = ['--key=keys/x/../audit.key']"),
        ("args[0]", "args = ['--mount=type=bind,source=keys/audit.key,target=/key']"),
        ("args[0]", "args = ['-kkeys/audit.key']"),
        ("args[1]", "args = ['--form', 'key=@keys/audit.key']"),
        ("args[1]", "args = ['-c', 'cat keys/audit.key']"),
        ("env.KEY", "env = { KEY = 'file:keys/%61udit.key?mode=ro' }"),
        ("env.KEY", "env = { KEY = 'keys/audit.key' }"),
    ] {
        let errors = Config::parse(&format!("{file}{line}\n")).unwrap_err();
        let message = format!("`servers.a.{path}` passes the key file of the log to the server (`audit.key_file`)");
        assert_eq!((errors.0.len(), &errors.0[0].message), (1, &message));
        assert_eq!((&errors.0[0].path, errors.0[0].help.as_str()), (&format!("servers.a.{path}"), help));
    }
}

/// The log would overwrite the key, or the key would be taken for a part of the log.
#[test]
fn log_and_key_are_two_files() {
    let with = |log: &str, key: &str| Config::parse(&format!("[audit]\nlog = '{log}'\nkey_file = '{key}'\n"));
    check(
        "[audit]\nlog = 'a/log'\nkey_file = './a/log'\n",
        &["3:1 audit.key_file: the key file `./a/log` is the log `a/log`, or a file that belongs to the log; \
           keep the key in a separate file that neither the agent nor its tools can read"],
    );
    for (log, key) in [
        ("log", "log"),
        ("log", "./log"),
        ("./log", "log"),
        ("a/../log", "log"),
        ("/a/log", "//a/./log"),
        ("log", "x/../log"),
        ("log", "log.head"),
        ("log", "log.head.new"),
        ("log", "log.new"),
        ("log", "./log.torn-17"),
        ("log", "log.torn-17.2"),
    ] {
        let errors = with(log, key).unwrap_err();
        assert_eq!((errors.0.len(), errors.0[0].path.as_str()), (1, "audit.key_file"), "{log} {key}: {errors}");
    }
    for (log, key) in [
        ("log", "key"),
        ("log", "/log"),
        ("log", "a/log"),
        ("log", "log.key"),
        ("log", "../log"),
        ("a/log", "b/log.head"),
    ] {
        assert!(with(log, key).is_ok(), "{log} {key}");
    }
}

/// Depends on the file system, when a file is loaded: links, and folders that are the same.
#[test]
#[cfg(unix)]
fn log_and_key_are_two_files_whatever_they_are_called() {
    use std::fs;
    use std::os::unix::fs::symlink;

    let folder = tempfile::TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("real")).unwrap();
    symlink(at("real"), at("other")).unwrap();
    for name in ["log", "log.head", "key"] {
        fs::write(at("real").join(name), name).unwrap();
    }
    symlink(at("real/log"), at("symbolic")).unwrap();
    fs::hard_link(at("real/log"), at("hard")).unwrap();
    fs::hard_link(at("real/log.head"), at("head")).unwrap();
    symlink(at("real/key"), at("key")).unwrap();
    let load = |log: &str, key: &str, more: &str| {
        let (log, key) = (at(log), at(key));
        let text = format!("[audit]\nlog = '{}'\nkey_file = '{}'\n{more}", log.display(), key.display());
        fs::write(at("gate.toml"), text).unwrap();
        Config::load(&at("gate.toml"))
    };
    // The files of the last pair do not exist yet.
    for (log, key) in [
        ("real/log", "symbolic"),
        ("hard", "real/log"),
        ("real/log", "other/log"),
        ("real/log", "head"),
        ("real/new", "other/new"),
    ] {
        let errors = load(log, key, "").unwrap_err();
        assert_eq!(
            (errors.0.len(), errors.0[0].path.as_str(), errors.0[0].line),
            (1, "audit.key_file", 3),
            "{log} {key}: {errors}"
        );
    }
    assert!(load("real/log", "key", "").is_ok() && load("real/new", "other/key", "").is_ok());
    let server = format!("[servers.a]\ncommand = 'x'\nargs = ['{}']\n", at("key").display());
    let errors = load("real/log", "real/key", &server).unwrap_err();
    assert!(
        errors.0[0].message.starts_with("`servers.a.args[0]` passes the key file of the log to the server"),
        "{errors}"
    );
}

/// A variable of the test process stands for the one with the key.
#[test]
fn the_configuration_does_not_hold_the_key_under_another_name() {
    let folder = tempfile::TempDir::new().unwrap();
    let value = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let path = folder.path().join("gate.toml");
    let load = |more: &str| {
        let text = format!("[audit]\nlog = 'l'\nkey_env = 'CARGO_MANIFEST_DIR'\n[servers.a]\ncommand = 'x'\n{more}\n");
        std::fs::write(&path, text).unwrap();
        Config::load(&path)
    };
    assert!(load("args = ['y']").is_ok());
    for (place, line) in
        [("args[0]", format!("args = ['--key={value}']")), ("env.OTHER", format!("env = {{ OTHER = '{value}' }}"))]
    {
        let errors = load(&line).unwrap_err();
        assert_eq!(errors.0[0].message, format!("`servers.a.{place}` holds the key of the log (`audit.key_env`)"));
        assert!(!errors.to_string().contains(&value), "{errors}");
    }
}

#[test]
fn no_toml() {
    let errors = Config::parse("[limits\nplan_bytes = 1\n\nx = = 2\n").unwrap_err();
    assert!(errors.0.len() > 1, "{errors}");
    assert!(errors.0.iter().all(|error| error.message.starts_with("invalid TOML: ") && error.line > 0), "{errors}");
    let errors = Config::parse("[limits]\nplan_bytes = 1\nplan_bytes = 2\n").unwrap_err();
    assert_eq!((errors.0[0].line, errors.0[0].column), (3, 1), "{errors}");
    assert!(errors.0[0].message.contains("duplicate key"), "{errors}");
}

#[test]
fn secrets_are_not_repeated() {
    // The value of a variable has a wrong type, in a list of wrong values.
    let text = "[servers.a]\ncommand = 1\nenv = { TOKEN = ['hush'] }\nkey = 'hush'\n";
    let errors = Config::parse(text).unwrap_err();
    assert_eq!(errors.0.len(), 3);
    assert!(!errors.to_string().contains("hush"), "{errors}");
}

#[test]
fn columns_are_counted_in_characters() {
    check(
        "servers = { 'é日' = { x = 1 } }\n",
        &["1:22 servers.\"é日\".x: unknown key \
        `servers.\"é日\".x`; expected one of `args`, `ca_file`, `command`, `env`, `errors`, `headers`, `pass_env`, `plain_http`, `url`"],
    );
}

#[test]
fn any_text_gives_an_answer() {
    // The truncated sample gives errors or a configuration, and never one that allows more than the whole.
    let sample = super::sample::SAMPLE;
    let whole = Config::parse(sample).unwrap();
    let ends = sample.char_indices().map(|(at, _)| at).step_by(61);
    for end in ends {
        if let Ok(config) = Config::parse(&sample[..end]) {
            assert!(config.allow.iter().all(|allowed| whole.allow.get(&allowed.demand.tool).is_some()));
            assert!(config.grants.len() <= whole.grants.len());
        }
    }
}

#[test]
fn servers_over_http() {
    let table = |text: &str| format!("[servers.s]\n{text}\n");
    check(
        &table("url = 'https://example.com'\ncommand = 'x'"),
        &[
            "2:1 servers.s.url: the server `s` has both a `command` and a `url`; keep one of them: a different address is a different server",
        ],
    );
    check(
        &table("headers.a = 'x'\nca_file = 'f'\nplain_http = true"),
        &[
            "2:1 servers.s.headers: the server `s` has `headers`, but no `url`; add the `url`, or remove `headers`",
            "3:1 servers.s.ca_file: the server `s` has `ca_file`, but no `url`; add the `url`, or remove `ca_file`",
            "4:1 servers.s.plain_http: the server `s` has `plain_http`, but no `url`; add the `url`, or remove `plain_http`",
        ],
    );
    check(
        &table("url = 'https://example.com'\npass_env = ['X']"),
        &["3:1 servers.s.pass_env: `pass_env` is for a server that is started; `s` has a `url`; remove `pass_env`"],
    );
    check(
        &table("url = 'http://example.com/'"),
        &[
            "2:1 servers.s.url: `http` to another machine (`example.com`) is not encrypted; use `https`, or allow it with \
           `plain_http = true` in the configuration or `--allow-plain-http`",
        ],
    );
    check(
        &table("url = 'https://example.com/'\nheaders.Authorization = 'Bearer x'\nheaders.Host = 'y'"),
        &[
            "3:9 servers.s.headers.Authorization: the value of the header `authorization` is a secret stored in the configuration; take it from a variable: `Authorization = { env = \"TOKEN\", prefix = \"Bearer \" }`",
            "4:9 servers.s.headers.Host: the header `host` is set by the proxy itself; remove it",
        ],
    );
    check(
        &table("url = 'https://example.com/'\nheaders.X = { env = 'KEY' }\n[audit]\nlog = 'l'\nkey_env = 'KEY'"),
        &[
            "3:1 servers.s.headers: the header `x` sends `KEY`, which holds the key of the log (`audit.key_env`); do not pass the key to a server: with the key, it could rewrite the log",
        ],
    );
    assert!(Config::parse(&table("url = 'https://example.com/'\nheaders.X = 7")).is_err());
    assert!(Config::parse(&table("url = 'https://example.com/'\nheaders.X = { prefix = 'x' }")).is_err());
    assert!(Config::parse(&table("url = 'https://example.com/'\nheaders.X = { env = 'x', more = 'y' }")).is_err());
}
