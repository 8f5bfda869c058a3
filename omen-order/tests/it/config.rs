//! Mistakes in rules: each has its place and says what is wrong.

use crate::worked::policy;

/// Mistakes in rules of `s/a`, beside which `s/b` and `t/c` are allowed.
fn mistakes(keys: &str) -> Vec<String> {
    let text = format!(
        "[[allow]]\nserver = \"s\"\ntool = \"a\"\n{keys}\n[[allow]]\nserver = \"s\"\ntool = \"b\"\n[[allow]]\nserver = \
         \"t\"\ntool = \"c\"\n"
    );
    policy(&text).err().unwrap_or_default()
}

#[test]
fn each_mistake_is_reported_at_its_place() {
    for (keys, wrong) in [
        (r#"after = ["nobody"]"#, "/after/0: the tool `nobody` is not allowed"),
        (r#"after = ["c"]"#, "/after/0: the tool `c` is not allowed"),
        (r#"after = [{ was = "ok" }]"#, "/after/0: missing key `tool`"),
        (r#"after = [{ tool = "b", until = ["nobody"] }]"#, "/after/0/until/0: the tool `nobody` is not allowed"),
        (r#"after = [{ tool = "b", only = ["nobody"] }]"#, "/after/0/only: the tool `nobody` is not allowed"),
        (
            r#"after = [{ tool = "b", only = [], until = ["b"] }]"#,
            "/after/0/only: `only` and `until` cannot be combined",
        ),
        (r#"after = [{ tool = "b", any = ["b"] }]"#, "/after/0/any: `any` and `tool` cannot be combined"),
        (r#"after = [{ tool = "b", per = "all" }]"#, "/after/0: a rule over all sessions needs `within`"),
        (r#"after = [{ tool = "b", within = "40day" }]"#, "/after/0/within: invalid duration `40day`"),
        (r#"after = [{ tool = "b", within = "5ms" }]"#, "/after/0/within: invalid duration `5ms`"),
        (r#"after = [{ tool = "b", ok = true, was = "ok" }]"#, "/after/0/ok: `ok` and `was` cannot be combined"),
        (
            r#"after = [{ tool = "b", same = ["k"] }]"#,
            "/after/0/same/0: invalid JSON pointer `k`: expected a `/` at its start",
        ),
        (r#"after = [{ tool = "b", same = ["/k/*"] }]"#, "/after/0/same/0: `/k/*` leads to several members"),
        (
            r#"after = [{ tool = "b", same = [{ arg = "/k" }] }]"#,
            "/after/0/same/0: expected either `earlier` or `answer` beside `arg`",
        ),
        (
            r#"never_after = [{ tool = "b", answer = { "/k" = { equals = 1 } } }]"#,
            "/never_after/0/answer: `answer` needs calls that have succeeded",
        ),
        (
            r#"never_after = [{ tool = "b", same = [{ arg = "/k", answer = "/k" }] }]"#,
            "/never_after/0/same/0: `same` with `answer` needs calls that have succeeded",
        ),
        (r#"max = { within = "1h" }"#, "/max: missing key `calls` or `sum`"),
        (r#"max = { calls = 1 }"#, "/max: a rule over all sessions needs `within`"),
        (r#"max = { calls = 0, within = "1h" }"#, "/max/calls: `calls = 0` allows no call at all"),
        (
            r#"max = [{ calls = 1, within = "1h", was = "ok" }]"#,
            "/max/0/was: a limit counts calls before they have ended",
        ),
        (
            r#"max = { sum = { "/n" = 0 }, within = "1h" }"#,
            "/max/sum: `sum` allows 0 of `/n`, but `where` allows no call with less than 1",
        ),
        (r#"before_end = ["nobody"]"#, "/before_end/0: the tool `nobody` is not allowed"),
    ] {
        assert_eq!(mistakes(keys), [wrong], "{keys}");
    }
}

#[test]
fn short_forms_mean_what_they_stand_for() {
    let rules = |keys: &str| {
        let text =
            format!("[[allow]]\nserver = \"s\"\ntool = \"a\"\n{keys}\n[[allow]]\nserver = \"s\"\ntool = \"b\"\n");
        format!("{:?}", policy(&text).unwrap().tools)
    };
    for (short, long) in [
        (r#"after = ["b"]"#, r#"after = [{ tool = ["s/b"], was = "ok", times = 1, per = "session" }]"#),
        (r#"never_after = ["b"]"#, r#"never_after = [{ tool = "b", was = "made" }]"#),
        (r#"after = [{ tool = "b", ok = false }]"#, r#"after = [{ tool = "b", was = "failed" }]"#),
        (
            r#"max = { calls = 2, within = "1min" }"#,
            r#"max = { tool = "a", calls = 2, within = "60s", per = "all", was = "made" }"#,
        ),
        (
            r#"after = [{ tool = "b", until = ["b"] }]"#,
            r#"after = [{ tool = "b", until = [{ tool = "b", was = "made" }] }]"#,
        ),
        (
            r#"never_after = [{ tool = "b", until = ["b"] }]"#,
            r#"never_after = [{ tool = "b", until = [{ tool = "b", was = "ok" }] }]"#,
        ),
        (
            r#"before_end = [{ tool = "b", same = ["/k"] }]"#,
            r#"before_end = [{ tool = "b", same = [{ arg = "/k", earlier = "/k" }] }]"#,
        ),
    ] {
        assert_eq!(rules(short), rules(long), "{short}");
    }
}
