//! Evasions of rules, each of which is refused; and arguments that each rule must accept.

use std::collections::BTreeMap;
use std::path::Path;

use omen_gate::GateCode::{self, Pg1, Pg2, Pg3};
use serde_json::json;

use super::{Guarded, guarded};

const UNDER: &str = r#"{ "/path" = { under = "./data", relative_to = "." } }"#;
const EACH: &str = r#"{ "/paths/*" = { under = "./data", relative_to = "." } }"#;
const NESTED: &str =
    r#"{ "/items/*/path" = { under = "./data", relative_to = "." }, "/items/*/force" = { absent = true } }"#;
const HOST: &str = r#"{ "/url" = { host = ["api.example.com", "*.cdn.example.com", "10.0.0.7"] } }"#;
const PORT: &str = r#"{ "/url" = { host = ["api.example.com"], scheme = ["http", "https"], port = [8080, 443] } }"#;
const MODE: &str = r#"{ "/mode" = { in = ["r", "rb"] } }"#;
const AMOUNT: &str = r#"{ "/amount" = { min = 1, max = 100 } }"#;
const EQUALS: &str = r#"{ "/amount" = { equals = 3 } }"#;
const FLAG: &str = r#"{ "/opts/force" = { equals = false } }"#;
const MATCHES: &str = r#"{ "/text" = { matches = '[a-z]+|[0-9]{1,3}' } }"#;
const LENGTH: &str =
    r#"{ "/text" = { length = { min = 2, max = 4 } }, "/items" = { length = { max = 2 }, optional = true } }"#;
const ABSENT: &str = r#"{ "/opts/force" = { absent = true } }"#;
const OPTIONAL: &str = r#"{ "/mode" = { in = ["r"], optional = true } }"#;

/// Arguments that each rule accepts.
const PASSES: &[(&str, &[&str])] = &[
    (
        UNDER,
        &[
            r#"{"path": "data/a.txt"}"#,
            r#"{"path": "./data/./sub//b.txt"}"#,
            r#"{"path": "data/sub/../a.txt"}"#,
            r#"{"path": "data"}"#,
            r#"{"path": "data/new/file.txt"}"#,
            r#"{"path": "data/in/b.txt"}"#,
            r#"{"path": "data/レポート(最終).txt"}"#,
            r#"{"path": "d\u0061ta/a.txt"}"#,
            r#"{"path": "data/.hidden/..x"}"#,
        ],
    ),
    (EACH, &[r#"{"paths": ["data/a.txt", "data/sub"]}"#, r#"{"paths": []}"#]),
    (NESTED, &[r#"{"items": [{"path": "data/a.txt"}, {"path": "data/sub", "other": 1}]}"#]),
    (
        HOST,
        &[
            r#"{"url": "https://api.example.com/v1?x=https://evil.example"}"#,
            r#"{"url": "HTTPS://API.example.COM"}"#,
            r#"{"url": "https://api.example.com:443/@x"}"#,
            r#"{"url": "https://a.cdn.example.com#x"}"#,
            r#"{"url": "https://a.b.cdn.example.com/"}"#,
            r#"{"url": "https://10.0.0.7/"}"#,
        ],
    ),
    (PORT, &[r#"{"url": "http://api.example.com:8080/"}"#, r#"{"url": "https://api.example.com/"}"#]),
    (MODE, &[r#"{"mode": "r"}"#, r#"{"mode": "\u0072b"}"#]),
    (AMOUNT, &[r#"{"amount": 1}"#, r#"{"amount": 100}"#]),
    (EQUALS, &[r#"{"amount": 3}"#]),
    (FLAG, &[r#"{"opts": {"force": false, "x": 1}}"#]),
    (MATCHES, &[r#"{"text": "abc"}"#, r#"{"text": "123"}"#]),
    (LENGTH, &[r#"{"text": "ab"}"#, r#"{"text": "äöüß", "items": [1, 2]}"#]),
    (ABSENT, &[r#"{}"#, r#"{"opts": {}}"#, r#"{"opts": {"forced": true}}"#]),
    (OPTIONAL, &[r#"{}"#, r#"{"mode": "r"}"#]),
];

/// Evasions: the rule, the arguments, the code, and a part of the reason.
const TRIES: &[(&str, &str, GateCode, &str)] = &[
    // Out of the folder.
    (UNDER, r#"{"path": "/etc/passwd"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "../secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/../secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/sub/../../secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "./data/./.././secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data//..//secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/new/../../secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/../../../../../../../../../../etc/passwd"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "."}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "/"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data2/a.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "database"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "DATA/a.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "Data/a.txt"}"#, Pg3, "leads out"),
    // Links.
    (UNDER, r#"{"path": "data/out/secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/out/new.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/absolute/passwd"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/dangling"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/chain"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/in/../../secret.txt"}"#, Pg3, "leads out"),
    // For the operating system, `deep` is `sub/deeper`, whose parent is `sub`; for a program that only processes the
    // text, the parent is `data`.
    (UNDER, r#"{"path": "data/deep/../../../secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/out/../data/a.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/loop"}"#, Pg3, "too many links"),
    (UNDER, r#"{"path": "data/self/root/etc/passwd"}"#, Pg3, "cannot be resolved"),
    (UNDER, r#"{"path": "data/a.txt/x"}"#, Pg3, "cannot be resolved"),
    // Encodings.
    (UNDER, r#"{"path": "data/%2e%2e/secret.txt"}"#, Pg3, "percent sign"),
    (UNDER, r#"{"path": "data%2f..%2fsecret.txt"}"#, Pg3, "percent sign"),
    (UNDER, r#"{"path": "data/%252e%252e/secret.txt"}"#, Pg3, "percent sign"),
    (UNDER, r#"{"path": "data/%c0%ae%c0%ae/secret.txt"}"#, Pg3, "percent sign"),
    (UNDER, r#"{"path": "data/%u002e%u002e/x"}"#, Pg3, "percent sign"),
    (UNDER, r#"{"path": "data/\u002e\u002e/secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data\u002f..\u002fsecret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/a.txt\u0000.png"}"#, Pg3, "control character"),
    (UNDER, r#"{"path": "data/a.txt\n"}"#, Pg3, "control character"),
    (UNDER, r#"{"path": "data\\..\\secret.txt"}"#, Pg3, "backslash"),
    (UNDER, r#"{"path": "data/..\\..\\secret.txt"}"#, Pg3, "backslash"),
    (UNDER, r#"{"path": "\\\\host\\share"}"#, Pg3, "backslash"),
    (UNDER, r#"{"path": "//host/share"}"#, Pg3, "two slashes"),
    (UNDER, r#"{"path": "C:/Windows"}"#, Pg3, "before its first slash"),
    (UNDER, r#"{"path": "file:///etc/passwd"}"#, Pg3, "before its first slash"),
    (UNDER, r#"{"path": "~/.ssh/id_ed25519"}"#, Pg3, "home folder"),
    (UNDER, r#"{"path": "~root/x"}"#, Pg3, "home folder"),
    (UNDER, r#"{"path": "data/$HOME/x"}"#, Pg3, "dollar sign"),
    (UNDER, r#"{"path": "data/${IFS}x"}"#, Pg3, "dollar sign"),
    (UNDER, r#"{"path": "data/*/passwd"}"#, Pg3, "pattern"),
    (UNDER, r#"{"path": "data/{x,../../secret}"}"#, Pg3, "pattern"),
    (UNDER, r#"{"path": "data/.. /secret.txt"}"#, Pg3, "whitespace"),
    (UNDER, r#"{"path": " data/a.txt"}"#, Pg3, "whitespace"),
    (UNDER, r#"{"path": "data/.../secret.txt"}"#, Pg3, "ends with a dot"),
    (UNDER, r#"{"path": "data/a.txt."}"#, Pg3, "ends with a dot"),
    // Unicode normalization forms.
    (UNDER, r#"{"path": "data/．．/secret.txt"}"#, Pg3, "convert to a dot"),
    (UNDER, r#"{"path": "data/‥/secret.txt"}"#, Pg3, "convert to a dot"),
    (UNDER, r#"{"path": "data/․․/secret.txt"}"#, Pg3, "convert to a dot"),
    (UNDER, r#"{"path": "data／..／secret.txt"}"#, Pg3, "convert to a dot"),
    (UNDER, r#"{"path": "data/＼..＼secret.txt"}"#, Pg3, "convert to a dot"),
    (UNDER, r#"{"path": "data/.\u200b./secret.txt"}"#, Pg3, "invisible"),
    (UNDER, r#"{"path": "da\u00adta/a.txt"}"#, Pg3, "invisible"),
    (UNDER, r#"{"path": "data/\u202etxt.a"}"#, Pg3, "invisible"),
    (UNDER, r#"{"path": "data/ｏｕｔ/secret.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "ｄａｔａ/a.txt"}"#, Pg3, "leads out"),
    (UNDER, r#"{"path": "data/re\u0301sume\u0301/secret.txt"}"#, Pg3, "leads out"),
    // Missing members, and members of another type.
    (UNDER, r#"{}"#, Pg3, "is missing"),
    (UNDER, r#"{"path": ""}"#, Pg3, "is empty"),
    (UNDER, r#"{"path": null}"#, Pg3, "found null"),
    (UNDER, r#"{"path": 7}"#, Pg3, "found a number"),
    (UNDER, r#"{"path": ["data/a.txt"]}"#, Pg3, "found an array"),
    (UNDER, r#"{"path": {"path": "data/a.txt"}}"#, Pg3, "found an object"),
    (UNDER, r#"{"path": "data/a.txt", "path": "/etc/passwd"}"#, Pg1, "duplicate field"),
    (UNDER, r#"{"path": "data/a.txt", "p\u0061th": "/etc/passwd"}"#, Pg1, "duplicate field"),
    (UNDER, r#"{"path": "data/a.txt", "Path": "/etc/passwd"}"#, Pg2, "Path"),
    (UNDER, r#"{"path": "data/\ud800"}"#, Pg1, "not valid JSON"),
    // Elements of arrays.
    (EACH, r#"{"paths": ["data/a.txt", "secret.txt"]}"#, Pg3, "`/paths/1`"),
    (EACH, r#"{"paths": [["secret.txt"]]}"#, Pg3, "found an array"),
    (EACH, r#"{"paths": [["data/a.txt"]]}"#, Pg3, "found an array"),
    (EACH, r#"{"paths": ["data/a.txt", null]}"#, Pg3, "found null"),
    (EACH, r#"{"paths": "data/a.txt"}"#, Pg3, "expected an array"),
    (EACH, r#"{"paths": {"0": "secret.txt"}}"#, Pg3, "expected an array"),
    (EACH, r#"{}"#, Pg3, "is missing"),
    (NESTED, r#"{"items": [{"path": "data/a.txt"}, {}]}"#, Pg3, "`/items/1/path`"),
    (NESTED, r#"{"items": [{"path": "data/a.txt"}, {"path": "/etc/passwd"}]}"#, Pg3, "leads out"),
    (NESTED, r#"{"items": [[{"path": "/etc/passwd"}]]}"#, Pg3, "expected an object"),
    (NESTED, r#"{"items": ["/etc/passwd"]}"#, Pg3, "expected an object"),
    (NESTED, r#"{"items": [{"path": "data/a.txt", "force": null}]}"#, Pg3, "the member is there"),
    // Hosts.
    (HOST, r#"{"url": "https://evil.example/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://api.example.com.evil.example/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://evilapi.example.com/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://cdn.example.com/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://evilcdn.example.com/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://.cdn.example.com/"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://..cdn.example.com/"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://a..cdn.example.com/"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://.a.cdn.example.com/"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://*.cdn.example.com/"}"#, Pg3, "host names cannot contain"),
    (HOST, r#"{"url": "https://a*.cdn.example.com/"}"#, Pg3, "host names cannot contain"),
    (HOST, r#"{"url": "https://a.*.cdn.example.com/"}"#, Pg3, "host names cannot contain"),
    (HOST, r#"{"url": "https://a'(!$&;,=+~)b.cdn.example.com/"}"#, Pg3, "host names cannot contain"),
    (HOST, r#"{"url": "https://api.example.com./"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://api.example.com@evil.example/"}"#, Pg3, "user name"),
    (HOST, r#"{"url": "https://api.example.com:x@evil.example/"}"#, Pg3, "user name"),
    (HOST, r#"{"url": "https://user@api.example.com/"}"#, Pg3, "user name"),
    (HOST, r#"{"url": "https://evil.example\\@api.example.com/"}"#, Pg3, "backslash"),
    (HOST, r#"{"url": "https:\\\\api.example.com/"}"#, Pg3, "backslash"),
    (HOST, r#"{"url": "https://evil.example#@api.example.com/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://evil.example?@api.example.com/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://%61pi.example.com/"}"#, Pg3, "encoded"),
    (HOST, r#"{"url": "https://evil.example%2f.api.example.com/"}"#, Pg3, "encoded"),
    (HOST, r#"{"url": "https://api.example。com/"}"#, Pg3, "non-ASCII"),
    (HOST, r#"{"url": "https://ａpi.example.com/"}"#, Pg3, "non-ASCII"),
    (HOST, r#"{"url": "https://аpi.example.com/"}"#, Pg3, "non-ASCII"),
    (HOST, r#"{"url": "https://xn--pi-7kc.example.com/"}"#, Pg3, "host"),
    (HOST, r#"{"url": "https://api.example.com\t.evil.example/"}"#, Pg3, "whitespace"),
    (HOST, r#"{"url": "https://ap\ni.example.com/"}"#, Pg3, "whitespace"),
    (HOST, r#"{"url": " https://api.example.com/"}"#, Pg3, "whitespace"),
    (HOST, r#"{"url": "//api.example.com/"}"#, Pg3, "does not begin with a scheme"),
    (HOST, r#"{"url": "https:/api.example.com/"}"#, Pg3, "does not begin with a scheme"),
    (HOST, r#"{"url": "https:///api.example.com/"}"#, Pg3, "no host"),
    (HOST, r#"{"url": "api.example.com"}"#, Pg3, "does not begin with a scheme"),
    (HOST, r#"{"url": "http://api.example.com/"}"#, Pg3, "scheme is not allowed"),
    (HOST, r#"{"url": "file://api.example.com/etc/passwd"}"#, Pg3, "scheme is not allowed"),
    (HOST, r#"{"url": "javascript://api.example.com/%0aalert(1)"}"#, Pg3, "scheme is not allowed"),
    (HOST, r#"{"url": "https://api.example.com:8443/"}"#, Pg3, "port is not allowed"),
    (HOST, r#"{"url": "https://api.example.com:/"}"#, Pg3, "plain number"),
    (HOST, r#"{"url": "https://api.example.com:0443/"}"#, Pg3, "plain number"),
    (HOST, r#"{"url": "https://api.example.com:+443/"}"#, Pg3, "plain number"),
    (HOST, r#"{"url": "https://api.example.com:443:80/"}"#, Pg3, "plain number"),
    (HOST, r#"{"url": "https://api.example.com:65979/"}"#, Pg3, "plain number"),
    (HOST, r#"{"url": "https://167772167/"}"#, Pg3, "read as a different host"),
    (HOST, r#"{"url": "https://0xa000007/"}"#, Pg3, "read as a different host"),
    (HOST, r#"{"url": "https://012.0.0.7/"}"#, Pg3, "read as a different host"),
    (HOST, r#"{"url": "https://10.7/"}"#, Pg3, "read as a different host"),
    (HOST, r#"{"url": "https://10.0.0.7./"}"#, Pg3, "empty part"),
    (HOST, r#"{"url": "https://[::ffff:10.0.0.7]/"}"#, Pg3, "read as a different host"),
    (HOST, r#"{"url": "https://[::ffff:a00:7]/"}"#, Pg3, "host is not allowed"),
    (HOST, r#"{"url": "https://[api.example.com]/"}"#, Pg3, "valid URL"),
    (HOST, r#"{"url": ["https://api.example.com/"]}"#, Pg3, "found an array"),
    (HOST, r#"{}"#, Pg3, "is missing"),
    (PORT, r#"{"url": "http://api.example.com/"}"#, Pg3, "port is not allowed"),
    (PORT, r#"{"url": "ftp://api.example.com:8080/"}"#, Pg3, "scheme is not allowed"),
    // Values of a list.
    (MODE, r#"{"mode": "w"}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": "R"}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": "ｒ"}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": "r\u0000w"}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": "r "}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": ["r"]}"#, Pg3, "not an allowed value"),
    (MODE, r#"{"mode": true}"#, Pg3, "not an allowed value"),
    (MODE, r#"{}"#, Pg3, "is missing"),
    (OPTIONAL, r#"{"mode": null}"#, Pg3, "a different value"),
    // Numbers.
    (AMOUNT, r#"{"amount": 101}"#, Pg3, "is larger"),
    (AMOUNT, r#"{"amount": 0}"#, Pg3, "is smaller"),
    (AMOUNT, r#"{"amount": -5}"#, Pg3, "is smaller"),
    (AMOUNT, r#"{"amount": "50"}"#, Pg3, "found a string"),
    (AMOUNT, r#"{"amount": [50]}"#, Pg3, "found an array"),
    (AMOUNT, r#"{"amount": true}"#, Pg3, "found a boolean"),
    (AMOUNT, r#"{"amount": 50.5}"#, Pg3, "not written as an integer"),
    (AMOUNT, r#"{"amount": 50.0}"#, Pg3, "not written as an integer"),
    (AMOUNT, r#"{"amount": 5e1}"#, Pg3, "not written as an integer"),
    (AMOUNT, r#"{"amount": 99.99999999999999999999}"#, Pg1, "more digits"),
    (AMOUNT, r#"{"amount": 1e400}"#, Pg1, "the number"),
    (AMOUNT, r#"{"amount": 1e-400}"#, Pg1, "the number"),
    (AMOUNT, r#"{"amount": 9007199254740993}"#, Pg1, "is outside"),
    (AMOUNT, r#"{"amount": 18446744073709551617}"#, Pg1, "is outside"),
    (AMOUNT, r#"{"amount": -0}"#, Pg1, "negative zero"),
    (AMOUNT, r#"{"amount": NaN}"#, Pg1, "not valid JSON"),
    (AMOUNT, r#"{"amount": 0x10}"#, Pg1, "not valid JSON"),
    (AMOUNT, r#"{"amount": 010}"#, Pg1, "not valid JSON"),
    (AMOUNT, r#"{"amount": 50, "amount": 5000}"#, Pg1, "duplicate field"),
    (EQUALS, r#"{"amount": 3.0}"#, Pg3, "a different value"),
    (EQUALS, r#"{"amount": "3"}"#, Pg3, "a different value"),
    (FLAG, r#"{"opts": {"force": "false"}}"#, Pg3, "a different value"),
    (FLAG, r#"{"opts": {"force": 0}}"#, Pg3, "a different value"),
    (FLAG, r#"{"opts": {"force": null}}"#, Pg3, "a different value"),
    (FLAG, r#"{"opts": {}}"#, Pg3, "is missing"),
    (FLAG, r#"{"opts": [false]}"#, Pg3, "expected an object"),
    (FLAG, r#"{"opts": "{\"force\": false}"}"#, Pg3, "expected an object"),
    // Texts.
    (MATCHES, r#"{"text": "abc1"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": "1abc"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": "abc\n"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": "\nabc"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": "abc; rm -rf /"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": ""}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": "١٢"}"#, Pg3, "in full"),
    (MATCHES, r#"{"text": 123}"#, Pg3, "found a number"),
    (LENGTH, r#"{"text": "a"}"#, Pg3, "has 1 character"),
    (LENGTH, r#"{"text": "abcde"}"#, Pg3, "has 5 characters"),
    (LENGTH, r#"{"text": 12}"#, Pg3, "found a number"),
    (LENGTH, r#"{"text": "ab", "items": [1, 2, 3]}"#, Pg3, "has 3 members"),
    (LENGTH, r#"{"text": "ab", "items": {"length": 1}}"#, Pg3, "found an object"),
    (ABSENT, r#"{"opts": {"force": false}}"#, Pg3, "the member is there"),
    (ABSENT, r#"{"opts": {"force": null}}"#, Pg3, "the member is there"),
    (ABSENT, r#"{"opts": null}"#, Pg3, "expected an object"),
];

/// Creates the folder of the configuration, with a folder `data` that calls may use, and links in it.
#[cfg(unix)]
pub(super) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("data/sub/deeper")).unwrap();
    for file in ["secret.txt", "data/a.txt", "data/sub/b.txt"] {
        std::fs::write(root.join(file), "x").unwrap();
    }
    for (link, target) in [
        ("in", "sub"),
        ("out", ".."),
        ("absolute", "/etc"),
        ("dangling", "../not-there/yet"),
        ("chain", "in/../out"),
        ("deep", "sub/deeper"),
        ("loop", "loop"),
        ("self", "/proc/self"),
        ("résumé", ".."),
    ] {
        std::os::unix::fs::symlink(target, root.join("data").join(link)).unwrap();
    }
    folder
}

#[cfg(unix)]
fn gates(folder: &Path) -> BTreeMap<&'static str, Guarded> {
    PASSES.iter().map(|(rules, _)| (*rules, guarded(folder, rules))).collect()
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_rule_is_for_passes() {
    let folder = folder();
    let gates = gates(folder.path());
    for (rules, passes) in PASSES {
        for args in *passes {
            let called = gates[rules].call(args).await;
            assert_eq!(called, Ok(()), "{rules}: {args}");
            assert_eq!(gates[rules].taken(), [serde_json::from_str::<serde_json::Map<_, _>>(args).unwrap()]);
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn every_evasion_is_refused_and_reaches_no_server() {
    let folder = folder();
    let gates = gates(folder.path());
    for (rules, args, code, why) in TRIES {
        let blocked = gates[rules].call(args).await.expect_err(args);
        assert_eq!(blocked.code, *code, "{rules}: {args}: {blocked}");
        assert!(blocked.message.contains(why), "{rules}: {args}: {blocked}");
        assert!(!blocked.help.is_empty() && gates[rules].taken().is_empty(), "{rules}: {args}");
    }
    assert!(TRIES.len() >= 80, "{}", TRIES.len());
    // Each refusal is in the log.
    let denied: usize = gates.values().map(|gate| crate::support::logged_of_turns(&gate.memory).len()).sum();
    assert_eq!(denied, TRIES.len());
}

/// The server decides where a relative path starts, so only the operator can say that it is below a folder.
#[cfg(unix)]
#[tokio::test]
async fn a_relative_path_is_refused_unless_the_operator_knows_where_it_starts() {
    let folder = folder();
    let root = folder.path().canonicalize().unwrap();
    let alone = guarded(&root, r#"{ "/path" = { under = "./data" } }"#);
    let call = |path: &str| json!({ "path": path }).to_string();
    for path in ["data/a.txt", "a.txt", "./data/a.txt", ".", "data"] {
        let blocked = alone.call(&call(path)).await.expect_err(path);
        assert_eq!(blocked.code, Pg3);
        assert!(
            blocked.message.contains("it is a relative path, and the server decides what it is relative to"),
            "{blocked}"
        );
        let way_out = format!("pass the absolute path of a file in `{}`", root.join("data").display());
        assert_eq!(blocked.help, way_out);
        assert!(alone.taken().is_empty());
    }
    let absolute = call(root.join("data/a.txt").to_str().unwrap());
    assert_eq!(alone.call(&absolute).await, Ok(()));
    let outside = call(root.join("secret.txt").to_str().unwrap());
    assert_eq!(alone.call(&outside).await.unwrap_err().code, Pg3);
    // The server was started in the folder, or resolves paths against it.
    let inside = guarded(&root, r#"{ "/path" = { under = "./data", relative_to = "./data" } }"#);
    assert_eq!(inside.call(&call("a.txt")).await, Ok(()));
    assert_eq!(inside.call(&call("../secret.txt")).await.unwrap_err().code, Pg3);
    assert_eq!(inside.call(&call("data/../../secret.txt")).await.unwrap_err().code, Pg3);
}

/// A refusal is actionable for a model: it shows the member, the rule and a fix. It shows neither the value nor the
/// targets of links.
#[cfg(unix)]
#[tokio::test]
async fn a_refusal_says_what_to_do_and_keeps_secrets() {
    let folder = folder();
    let gate = guarded(
        folder.path(),
        r#"{ "/path" = { under = ["./data", "./tmp"], relative_to = "." }, "/password" = { equals = "swordfish" } }"#,
    );
    let args = json!({ "path": "data/absolute/hunter2", "password": "swordfish" }).to_string();
    let blocked = gate.call(&args).await.unwrap_err();
    assert_eq!(
        blocked.message,
        r#"`/path` of `s/t` breaks the operator's rule `under = ["./data","./tmp"]`: it leads out of the folder"#
    );
    assert_eq!(
        blocked.help,
        "pass the plain path of a file in `./data` or `./tmp`, without `..`, links that lead elsewhere, or encoded characters"
    );
    let args = json!({ "path": "data/a.txt", "password": "hunter2" }).to_string();
    let blocked = gate.call(&args).await.unwrap_err();
    assert_eq!(
        blocked.message,
        "`/password` of `s/t` breaks the operator's rule `equals = …`: it is a different value"
    );
    let log = String::from_utf8(gate.memory.bytes()).unwrap();
    for secret in ["hunter2", "swordfish", "/etc"] {
        assert!(!format!("{blocked:?}{log}").contains(secret), "{secret}");
    }
}

/// The number of values that query the file system is bounded.
#[cfg(unix)]
#[tokio::test]
async fn more_paths_than_can_be_followed_are_refused() {
    let folder = folder();
    let gate = guarded(folder.path(), EACH);
    let paths = |count: usize| json!({ "paths": vec!["data/a.txt"; count] }).to_string();
    assert_eq!(gate.call(&paths(1024)).await, Ok(()));
    let blocked = gate.call(&paths(1025)).await.unwrap_err();
    assert!(blocked.message.contains("more than 1024 values"), "{blocked}");
}
