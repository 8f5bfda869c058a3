//! Random arguments, compared with an independent implementation: calls that it refuses never reach the server.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use omen_testkit::proofs::Proofs;
use serde_json::{Value, json};

use super::{evasions, guarded};
use crate::random::Random;

const RULES: &str = r#"{
    "/path" = { under = "data", relative_to = "." },
    "/paths/*" = { under = "data", relative_to = ".", optional = true },
    "/mode" = { in = ["r", "w", 1, true] },
    "/amount" = { min = -2, max = 7, optional = true },
    "/text" = { matches = '(ab)*', length = { max = 6 } },
    "/opts/force" = { absent = true },
    "/items/*/n" = { equals = 3, optional = true },
}"#;

fn pick<T: Clone>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())].clone()
}

fn path(random: &mut Random) -> Value {
    let names = ["data", "data", "data", "..", ".", "", "sub", "a.txt", "in", "out", "deep", "new", "secret.txt"];
    let count = 1 + random.below(5);
    let parts: Vec<_> = (0..count).map(|_| pick(random, &names)).collect();
    let text = parts.join("/");
    json!(if random.below(3) > 0 { format!("data/{text}") } else { text })
}

fn odd(random: &mut Random) -> Value {
    pick(random, &[json!(null), json!(7), json!("x"), json!([]), json!({}), json!(true), json!(1.5), json!(-3)])
}

fn arguments(random: &mut Random) -> Value {
    let mut args = json!({});
    let mut put = |random: &mut Random, key: &str, value: Value| match random.below(60) {
        0 => {}
        1 => args[key] = odd(random),
        _ => args[key] = value,
    };
    let value = path(random);
    put(random, "path", value);
    if random.below(2) == 0 {
        let value = (0..random.below(3)).map(|_| path(random)).collect();
        put(random, "paths", value);
    } else {
        put(random, "paths", json!([]));
    }
    let value = pick(random, &[json!("r"), json!("w"), json!(1), json!(true), json!("R")]);
    put(random, "mode", value);
    let value = json!(i64::try_from(random.below(12)).unwrap() - 3);
    put(random, "amount", value);
    let value = pick(random, &[json!("ab"), json!(""), json!("abab"), json!("aba"), json!("abababab")]);
    put(random, "text", value);
    let value = pick(random, &[json!({}), json!({ "other": 1 }), json!({ "force": false }), json!({ "x": null })]);
    put(random, "opts", value);
    let value =
        (0..random.below(3)).map(|_| pick(random, &[json!({ "n": 3 }), json!({}), json!({ "n": 4 })])).collect();
    put(random, "items", value);
    args
}

/// Resolves a path by the system's own means, as a whole where it exists.
fn resolved(path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.components().collect();
    for existing in (0..=parts.len()).rev() {
        let before: PathBuf = parts[..existing].iter().collect();
        // On the system, a path below a file is an error, not a missing file.
        match before.canonicalize() {
            Ok(mut found) => {
                for part in &parts[existing..] {
                    match part.as_os_str().to_str().unwrap() {
                        ".." => drop(found.pop()),
                        name => found.push(name),
                    }
                }
                // After a missing component, a `..` may lead back to an existing one.
                let again = found.canonicalize().ok();
                return Some(again.unwrap_or(found));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    None
}

fn cut(path: &Path) -> PathBuf {
    let mut stack: Vec<&std::ffi::OsStr> = Vec::new();
    for part in path.iter() {
        match part.to_str().unwrap() {
            "." => {}
            ".." if stack.len() > 1 => drop(stack.pop()),
            ".." => {}
            _ => stack.push(part),
        }
    }
    stack.iter().collect()
}

fn is_under(root: &Path, value: &Value) -> Option<bool> {
    let text = value.as_str()?;
    if text.is_empty() || text.starts_with("//") {
        return Some(false);
    }
    let data = root.join("data").canonicalize().unwrap();
    let whole = root.join(text);
    let both = [resolved(&whole), resolved(&cut(&whole))];
    Some(both.iter().all(|path| path.as_ref().is_some_and(|path| path.starts_with(&data))))
}

/// Independent implementation of the rules.
fn may_pass(root: &Path, args: &Value) -> bool {
    let under = |value: &Value| is_under(root, value).unwrap_or(false);
    let path = args.get("path").is_some_and(under);
    let paths = args.get("paths").is_none_or(|paths| paths.as_array().is_some_and(|paths| paths.iter().all(under)));
    let mode = args.get("mode").is_some_and(|mode| [json!("r"), json!("w"), json!(1), json!(true)].contains(mode));
    let amount = args.get("amount").is_none_or(|n| n.as_i64().is_some_and(|n| (-2..=7).contains(&n)));
    let text = args.get("text").is_some_and(|text| ["", "ab", "abab", "ababab"].iter().any(|known| text == known));
    let opts = args.get("opts").is_none_or(|opts| opts.as_object().is_some_and(|opts| !opts.contains_key("force")));
    let items = args.get("items").is_none_or(|items| {
        let n = |item: &Value| item.as_object().is_some_and(|item| item.get("n").is_none_or(|n| *n == json!(3)));
        items.as_array().is_some_and(|items| items.iter().all(n))
    });
    path && paths && mode && amount && text && opts && items
}

#[tokio::test]
async fn what_is_refused_never_reaches_the_server_and_what_may_pass_does() {
    let folder = evasions::folder();
    let gate = guarded(folder.path(), &RULES.replace('\n', " "));
    let mut random = Random(16);
    let (mut passed, mut refused) = (0, 0);
    let tried = Proofs::wanted().choose(800, 6000);
    for _ in 0..tried {
        let args = arguments(&mut random);
        let expect = may_pass(folder.path(), &args);
        let called = gate.call(&args.to_string()).await;
        assert_eq!(called.is_ok(), expect, "{args}: {called:?}");
        let taken = gate.taken();
        if expect {
            passed += 1;
            assert_eq!(taken, [args.as_object().unwrap().clone()]);
        } else {
            refused += 1;
            assert!(taken.is_empty(), "{args}");
        }
    }
    println!("{passed} passed, {refused} refused");
    assert!(passed > tried / 15 && refused > tried / 15, "both happen: {passed} passed, {refused} refused");
}
