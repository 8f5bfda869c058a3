//! `omen check --fix` and `--diff`.

use omen_testkit::proofs::Proofs;
use omen_types::shape::CLAIMS;

use super::formats::hostile::Random;
use super::helps::mistakes;
use super::*;

mod mutants;

fn check(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["check"].iter().chain(args).copied()).current_dir(folder))
}

/// Writes logs to files of a folder, and returns their names and contents.
fn logs(all: impl IntoIterator<Item = Vec<u8>>) -> (TempDir, Vec<(String, Vec<u8>)>) {
    let named: Vec<_> = all.into_iter().enumerate().map(|(at, log)| (format!("{at:05}.jsonl"), log)).collect();
    let folder = folder(&[]);
    named.iter().for_each(|(name, log)| write(folder.path(), name, log));
    (folder, named)
}

/// Collects all values of a packet that no fix may change, with their paths.
fn claims(value: &Value, path: &str, is_claim: bool, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_claim = is_claim || CLAIMS.iter().any(|(claim, _)| claim == name);
                claims(value, &format!("{path}/{name}"), is_claim, found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| claims(item, &format!("{path}/{at}"), is_claim, found));
        }
        value if is_claim => found.push(format!("{path}: {value}")),
        _ => {}
    }
}

/// Checks that after `--fix`, the findings are those of the fixed logs, nothing more can be fixed, and everything else is
/// unchanged.
fn check_fixes(all: impl IntoIterator<Item = Vec<u8>>) -> usize {
    let (folder, before) = logs(all);
    let shown = check(&folder, &["--diff", "."]);
    let fixed = check(&folder, &["--fix", "--format", "json", "."]);
    let after = check(&folder, &["--format", "json", "."]);
    assert_eq!((fixed.code, &fixed.stdout), (after.code, &after.stdout));
    let again = check(&folder, &["--diff", "."]);
    assert_eq!((again.code, again.stdout.as_str(), again.stderr.as_str()), (0, "", ""));

    let mut changed = 0;
    for (name, before) in &before {
        let after = fs::read(folder.path().join(name)).unwrap();
        let is_changed = after != *before;
        changed += usize::from(is_changed);
        assert_eq!(fixed.stderr.contains(&format!("in {name}\n")), is_changed, "{name}: {}", fixed.stderr);
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        let (old, new) = (lines(before), lines(&after));
        let mut new = new.iter().peekable();
        for old in &old {
            let text = String::from_utf8_lossy(old);
            if text.trim_start_matches('\u{feff}').starts_with("```") {
                continue;
            }
            let new = new.next().unwrap_or_else(|| panic!("{name}: a line is lost: {text}"));
            let end = |line: &[u8]| {
                line.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).copied().collect::<Vec<_>>()
            };
            assert_eq!(end(old), end(new), "{name}");
            let [old, new] = [old, new].map(|line| serde_json::from_slice::<Value>(line).ok());
            let (Some(old), Some(new)) = (old, new) else { continue };
            let [old, new] = [old, new].map(|packet| {
                let mut found = Vec::new();
                claims(&packet, "", false, &mut found);
                // A misspelt name in the path may have been fixed.
                found.iter_mut().for_each(|claim| *claim = claim.rsplit('/').next().unwrap().to_owned());
                found.sort();
                found
            });
            assert_eq!(old, new, "{name}");
        }
        assert_eq!(new.next(), None, "{name}");
    }
    assert_eq!(shown.stdout.lines().filter(|line| line.starts_with("+++ ")).count(), changed);
    assert_eq!(shown.code, i32::from(changed > 0));
    changed
}

#[test]
fn the_findings_that_remain_are_those_of_the_fixed_log() {
    let examples = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    let examples = examples.map(|(_, log)| log.as_bytes().to_vec());
    let mistakes = mistakes::all().into_iter().map(|(_, log)| log.into_bytes());
    assert!(check_fixes(examples.chain(mistakes)) >= 5);
    let mut random = Random(5);
    let count = Proofs::wanted().choose(500, 2000);
    let mutants: Vec<_> = (0..count).map(|_| mutants::mutant(&mut random)).collect();
    let changed = check_fixes(mutants);
    assert!(changed * 20 >= count * 3, "{changed} of {count} mutated logs were changed");
}

#[test]
fn each_kind_of_slip_is_fixed() {
    let good = log(GOOD);
    let line = |at: usize| good.lines().nth(at).unwrap();
    let replaced = |from: &str, to: &str| {
        let broken = good.replacen(from, to, 1);
        assert!(broken != good, "{from}");
        broken
    };
    for (kind, broken, fixed) in [
        ("case", replaced("\"ACT\"", "\"act\""), good.to_owned()),
        ("packet type", replaced("\"BeliefUpdatePacket\"", "\"beliefupdatepacket\""), good.to_owned()),
        ("quotes", replaced("\"token_budget\":60000", "\"token_budget\":\"60000\""), good.to_owned()),
        ("zone", replaced("2026-03-02T09:14:13Z", "2026-03-02T09:14:13"), good.to_owned()),
        ("space", replaced("2026-03-02T09:14:13Z", "2026-03-02 09:14:13Z"), good.to_owned()),
        ("name", replaced("\"packet_type\"", "\"packetType\""), good.to_owned()),
        (
            "id",
            replaced("\"directive_packet_id\":\"pkt_directive_1\"", "\"directive_packet_id\":\"pkt_directve_1\""),
            good.to_owned(),
        ),
        ("mark", replaced("\n", "\n\u{feff}"), good.to_owned()),
        ("fences", format!("```json\n{good}```\n"), good.to_owned()),
        ("line ends", replaced("\"ACT\"", "\"act\"").replace('\n', "\r\n"), good.replace('\n', "\r\n")),
        ("no end", replaced("\"ACT\"", "\"act\"").trim_end().to_owned(), good.trim_end().to_owned()),
        (
            "a mark that stays",
            format!("\u{feff}{}", replaced("\"ObservationPacket\"", "\"observationPacket\"")),
            format!("\u{feff}{good}"),
        ),
        (
            "two in a packet",
            format!("{}\n", line(0)).replace("\"header\"", "\"heder\"").replace("\"mcp\"", "\"MCP\""),
            format!("{}\n", line(0)),
        ),
    ] {
        let folder = folder(&[("a.jsonl", broken.as_bytes())]);
        let run = check(&folder, &["--fix", "a.jsonl"]);
        assert_eq!(
            fs::read_to_string(folder.path().join("a.jsonl")).unwrap(),
            fixed,
            "{kind}: {}{}",
            run.stdout,
            run.stderr
        );
        assert!(run.stderr.starts_with("omen: fixed "), "{kind}: {}", run.stderr);
    }
}

/// A text that only looks like a slip is unchanged.
#[test]
fn what_may_mean_something_else_is_not_fixed() {
    let read = log("valid/read-only.jsonl");
    let write = log("valid/verify-then-write.jsonl");
    let replaced = |text: &str, from: &str, to: &str| {
        let broken = text.replacen(from, to, 1);
        assert!(broken != text, "{from}");
        broken
    };
    for (kind, broken) in [
        ("a number that JSON has not", replaced(write, "\"timeout_seconds\":30", "\"timeout_seconds\":\"030\"")),
        ("another field", replaced(read, "\"new_value\"", "\"old_value\"")),
        ("assumptions", replaced(write, "\"load_bearing_assumptions\"", "\"load_bearing_asumptions\"")),
        ("a kind of approval", replaced(write, "\"ToolAuthorizationToken\"", "\"toolauthorizationtoken\"")),
        ("text behind a fence", format!("{read}```json approved by Bob\n")),
    ] {
        let folder = folder(&[("a.jsonl", broken.as_bytes())]);
        let run = check(&folder, &["--fix", "a.jsonl"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.jsonl")).unwrap(), broken, "{kind}");
        assert_eq!(run.code, 1, "{kind}: {}", run.stdout);
    }
    // A fix of another field does not give an approval effect, either.
    let token = write.lines().position(|line| line.contains("\"ToolAuthorizationToken\"")).unwrap();
    let lines = |name: &str, to: &str| {
        let lines = write
            .lines()
            .enumerate()
            .map(|(at, line)| if at == token { replaced(line, name, to) + "\n" } else { line.to_owned() + "\n" });
        lines.collect::<String>()
    };
    for (name, to) in [
        ("\"payload\"", "\"payloads\""),
        ("\"correlation_id\"", "\"corelation_id\""),
        ("\"correlation_id\"", "\"_was\""),
    ] {
        let broken = lines(name, to);
        let folder = folder(&[("a.jsonl", broken.as_bytes())]);
        check(&folder, &["--fix", "--unsafe-fixes", "a.jsonl"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.jsonl")).unwrap(), broken, "{to}");
    }
    // Fixes are applied to a line one at a time.
    let broken = replaced(read, "\"correlation_id\"", "\"corelation_id\"");
    let folder = folder(&[("a.jsonl", broken.as_bytes())]);
    assert_eq!(check(&folder, &["--fix", "--unsafe-fixes", "a.jsonl"]).code, 0);
    assert_eq!(fs::read_to_string(folder.path().join("a.jsonl")).unwrap(), read);
}

/// A result of another directive remains one.
#[test]
fn a_result_is_not_given_to_another_directive() {
    let good = log("valid/several-directives-open.jsonl");
    let results: Vec<&str> = good.lines().filter(|line| line.contains("\"TaskResultPacket\"")).collect();
    let id = |line: &str, name: &str| -> String {
        serde_json::from_str::<Value>(line).unwrap()["payload"][name].as_str().unwrap().to_owned()
    };
    let [first, second, ..] = results[..] else { panic!("two results") };
    let named = |text: &str| {
        let text = text
            .replace(&id(first, "directive_packet_id"), "pkt_read_shard")
            .replace(&id(first, "task_id"), "task_shard");
        text.replace(&id(second, "directive_packet_id"), "pkt_read_share").replace(&id(second, "task_id"), "task_share")
    };
    // The first result is repeated in place of the second.
    let broken = named(&good.replace(second, &first.replace("\"pkt_result_", "\"pkt_result_9")));
    let folder = folder(&[("a.jsonl", broken.as_bytes())]);
    let run = check(&folder, &["--fix", "--unsafe-fixes", "a.jsonl"]);
    assert_eq!(fs::read_to_string(folder.path().join("a.jsonl")).unwrap(), broken);
    assert_eq!(run.code, 1);
}

#[test]
fn a_log_that_cannot_be_fixed_keeps_no_other_from_it() {
    let broken = log(GOOD).replacen("\"ACT\"", "\"act\"", 1);
    let folder = folder(&[("b.jsonl", broken.as_bytes())]);
    let diff = check(&folder, &["--diff", "nosuch.jsonl"]);
    assert_eq!(diff.code, 3, "{}", diff.stderr);
    assert!(diff.stderr.contains("cannot fix nosuch.jsonl: "), "{}", diff.stderr);
    assert_eq!(check(&folder, &["--diff", "--fail-on-empty", "nosuch*.jsonl"]).code, 3);
    // An open file is not replaced, and must not be appended to.
    #[cfg(target_os = "linux")]
    {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_omen"))
            .args(["check", "--fix", "/dev/stdin"])
            .stdin(fs::File::open(folder.path().join("b.jsonl")).unwrap())
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains("is not fixed: "), "{output:?}");
        assert_eq!(fs::read_to_string(folder.path().join("b.jsonl")).unwrap(), broken);
    }
}

/// Each field that no fix may change is broken in every way that is fixed elsewhere.
#[test]
fn no_claim_is_fixed() {
    let mut tried = std::collections::BTreeSet::new();
    let mut broken = Vec::new();
    for (_, log) in
        omen_schema::EXAMPLES.iter().filter(|(path, _)| path.starts_with("valid/") && path.ends_with(".jsonl"))
    {
        for line in log.lines() {
            let Ok(packet) = serde_json::from_str::<Value>(line) else { continue };
            for (claim, broken_line) in mutants::broken_claims(&packet) {
                if tried.insert((claim, broken_line.len() % 7)) {
                    broken.push(broken_line.into_bytes());
                }
            }
        }
    }
    for (claim, why) in CLAIMS {
        assert!(tried.iter().any(|(tried, _)| tried == claim), "`{claim}` ({why}) was not tried: is it in the schema?");
    }
    let (folder, before) = logs(broken);
    let run = check(&folder, &["--fix", "--unsafe-fixes", "."]);
    assert_eq!(run.code, 1);
    for (name, before) in before {
        let after = fs::read(folder.path().join(&name)).unwrap();
        assert!(after == before, "{}\nbecame\n{}", String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
    }
}

#[test]
fn the_only_episode_of_a_log_is_named_with_consent() {
    let broken = log(GOOD).replacen(",\"correlation_id\":\"corr_support_invoice_4471\"", "", 1);
    assert_ne!(broken, log(GOOD));
    let folder = folder(&[("a.jsonl", broken.as_bytes())]);
    assert_eq!(check(&folder, &["--diff", "a.jsonl"]).stdout, "");
    let run = check(&folder, &["--fix", "--unsafe-fixes", "a.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    // With another episode in the log, the intended one is unknown.
    let other = log("valid/cancel.jsonl");
    write(folder.path(), "a.jsonl", format!("{broken}{other}").as_bytes());
    assert_eq!(check(&folder, &["--diff", "--unsafe-fixes", "a.jsonl"]).stdout, "");
}

/// Applies a unified diff to logs, and checks the position of each line.
fn patched(diff: &[u8], logs: &mut [(String, Vec<u8>)]) {
    let lines: Vec<&[u8]> = diff.split_inclusive(|byte| *byte == b'\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let name = String::from_utf8_lossy(lines[at].strip_prefix(b"--- a/").unwrap()).trim_end().to_owned();
        assert!(lines[at + 1].starts_with(b"+++ "));
        at += 2;
        let (_, log) = logs.iter_mut().find(|(known, _)| *known == name).unwrap();
        let old: Vec<Vec<u8>> = log.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let (mut new, mut next): (Vec<Vec<u8>>, usize) = (Vec::new(), 0);
        while at < lines.len() && lines[at].starts_with(b"@@ ") {
            let head = String::from_utf8_lossy(lines[at]).into_owned();
            let numbers: Vec<usize> =
                head.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
            let [start, count, new_start, new_count] = numbers[..] else { panic!("{head}") };
            at += 1;
            let begin = if count == 0 { start } else { start - 1 };
            new.extend_from_slice(&old[next..begin]);
            assert_eq!(new.len(), if new_count == 0 { new_start } else { new_start - 1 }, "{name}: {head}");
            let (before, end) = (new.len(), begin + count);
            next = begin;
            while at < lines.len() && b" +-".contains(&lines[at][0]) && !lines[at].starts_with(b"--- ") {
                let mut line = lines[at][1..].to_vec();
                let (mark, is_last) = (lines[at][0], lines.get(at + 1).is_some_and(|next| next.starts_with(b"\\ ")));
                if is_last {
                    line.pop();
                }
                at += if is_last { 2 } else { 1 };
                if mark != b'+' {
                    assert_eq!(old[next], line, "{name}: {head}");
                    next += 1;
                }
                if mark != b'-' {
                    new.push(line);
                }
            }
            assert_eq!((next, new.len() - before), (end, new_count), "{name}: {head}");
        }
        new.extend_from_slice(&old[next..]);
        *log = new.concat();
    }
}

/// Names are written as git writes them: `git apply` and `patch` take them, whatever they contain.
#[cfg(unix)]
#[test]
fn programs_apply_the_diff_whatever_the_names_are() {
    use std::os::unix::ffi::OsStrExt as _;

    let broken = log(GOOD).replace("\"ACT\"", "\"act\"");
    let names =
        [&b"a.jsonl"[..], b"with spaces.jsonl", b"q\"uote\\.jsonl", b"tab\t\xc3\xa9.jsonl", b"below/here.jsonl"];
    let mut programs = 0;
    for (program, args) in [("git", &["apply", "-"][..]), ("patch", &["-p1", "-s"])] {
        let is_there = std::process::Command::new(program).arg("--version").output().is_ok();
        if !is_there {
            continue;
        }
        programs += 1;
        let (folder, elsewhere) = (folder(&[]), TempDir::new().unwrap());
        fs::create_dir(folder.path().join("below")).unwrap();
        let paths: Vec<_> = names.iter().map(|name| folder.path().join(std::ffi::OsStr::from_bytes(name))).collect();
        let write = || paths.iter().for_each(|path| fs::write(path, &broken).unwrap());
        // Relative names from the folder, and absolute ones from the root.
        for (from, to) in [(folder.path(), folder.path()), (elsewhere.path(), Path::new("/"))] {
            write();
            let mut command = omen(["check", "--diff"]);
            if from == folder.path() {
                command.arg(".");
            } else {
                command.args(&paths);
            }
            let diff = command.current_dir(from).output().unwrap().stdout;
            let mut command = Command::new(program);
            let applied = run(command.args(args).current_dir(to).write_stdin(diff));
            assert_eq!(applied.code, 0, "{program}: {}{}", applied.stdout, applied.stderr);
            for path in &paths {
                assert_eq!(fs::read_to_string(path).unwrap(), log(GOOD), "{program}: {}", path.display());
            }
        }
    }
    assert!(programs > 0, "neither git nor patch was found");
}

/// A log that the user who fixes it does not own keeps its owner, or is left as it is.
#[cfg(target_os = "linux")]
#[test]
fn a_log_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    let broken = log(GOOD).replace("\"ACT\"", "\"act\"");
    let folder = folder(&[("a.jsonl", broken.as_bytes())]);
    let path = folder.path().join("a.jsonl");
    // Only the superuser may give files away.
    if chown(&path, Some(12_345), Some(23_456)).is_err() {
        return;
    }
    let owner = || fs::metadata(&path).map(|metadata| (metadata.uid(), metadata.gid())).unwrap();
    assert_eq!(check(&folder, &["--fix", "a.jsonl"]).code, 0);
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), owner()), (log(GOOD), (12_345, 23_456)));
    // Another user, who may write into the folder and the log.
    fs::write(&path, &broken).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    let output = command.args(["check", "--fix", "a.jsonl"]).current_dir(&folder).uid(54_321).gid(54_321).output();
    let Ok(output) = output else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("cannot write a.jsonl: its owner cannot be preserved; run this as the user 12345"),
        "{stderr}"
    );
    assert_eq!((output.status.code(), fs::read_to_string(&path).unwrap()), (Some(3), broken));
    assert_eq!(owner(), (12_345, 23_456));
}

/// Applying the diff gives the logs that `--fix` writes.
#[test]
fn the_diff_can_be_applied() {
    let mut random = Random(11);
    let fences = format!("```json\n{}```\n", log(GOOD));
    let mut all: Vec<_> = (0..60).map(|_| mutants::mutant(&mut random)).collect();
    all.extend([
        fences.clone().into_bytes(),
        format!("{}\n{fences}", log(GOOD).repeat(3)).into_bytes(),
        b"```".to_vec(),
        [log(GOOD).as_bytes(), b"\xff\x1b[31m\n", fences.as_bytes()].concat(),
    ]);
    let (folder, mut logs) = logs(all);
    let diff = omen(["check", "--diff", "."]).current_dir(&folder).output().unwrap().stdout;
    check(&folder, &["--fix", "."]);
    patched(&diff, &mut logs);
    for (name, log) in logs {
        assert!(fs::read(folder.path().join(&name)).unwrap() == log, "{name}");
    }
}

#[test]
fn what_is_not_a_file_of_lines_is_left_alone() {
    let broken = log(GOOD).replace("\"ACT\"", "\"act\"");
    let array = format!("[\n{}\n]\n", broken.trim_end().replace('\n', ",\n"));
    let archive = compressed::gzip(broken.as_bytes());
    let folder = folder(&[("a.jsonl.gz", &archive), ("b.json", array.as_bytes())]);
    let run = check(&folder, &["--fix", "."]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("note: a.jsonl.gz is not fixed: it is compressed\n"), "{}", run.stderr);
    assert!(run.stderr.contains("note: b.json is not fixed: its packets are not one per line"), "{}", run.stderr);
    assert_eq!(fs::read(folder.path().join("a.jsonl.gz")).unwrap(), archive);
    assert_eq!(fs::read(folder.path().join("b.json")).unwrap(), array.as_bytes());
    for (args, why) in [
        (&["--fix"][..], "change files"),
        (&["--diff", "-"], "change files"),
        (&["--fix", "--diff", "a"], "cannot be used with"),
        (&["--unsafe-fixes", "a"], "add `--fix` or `--diff`"),
        (&["--fix", "--prefix", "a"], "one packet per line"),
        (&["--fix", "--input", "array", "a"], "one packet per line"),
        (&["--fix", "--follow", "a"], "require complete logs"),
    ] {
        let run = check(&folder, args);
        assert!(run.code == 2 && run.stderr.contains(why), "{args:?}: {}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_log_keeps_its_permissions_and_a_protected_one_its_content() {
    use std::os::unix::fs::PermissionsExt as _;

    let broken = log(GOOD).replace("\"ACT\"", "\"act\"");
    let folder = folder(&[("a.jsonl", broken.as_bytes())]);
    let path = folder.path().join("a.jsonl");
    std::os::unix::fs::symlink("a.jsonl", folder.path().join("link.jsonl")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(check(&folder, &["--fix", "link.jsonl"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), log(GOOD));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.path().join("link.jsonl")).unwrap().is_symlink());
}
