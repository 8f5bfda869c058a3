//! Rotated logs: `--join`.

use super::*;

fn check(folder: &TempDir, args: &[&str]) -> Run {
    run(omen(["check", "--format", "json"].iter().chain(args).copied()).current_dir(folder))
}

/// Splits the log into files of `lines` lines, named like logrotate's; the first is compressed, and the last line has no end.
fn rotated(log: &str, lines: usize) -> TempDir {
    let all: Vec<&str> = log.lines().collect();
    let parts: Vec<String> = all.chunks(lines).map(|part| part.join("\n")).collect();
    let folder = folder(&[]);
    for (at, part) in parts.iter().rev().enumerate() {
        match at {
            0 => write(folder.path(), "a.jsonl", part.as_bytes()),
            at if at + 1 == parts.len() => {
                write(folder.path(), &format!("a.jsonl.{at}.gz"), &compressed::gzip(part.as_bytes()));
            }
            at => write(folder.path(), &format!("a.jsonl.{at}"), part.as_bytes()),
        }
    }
    folder
}

/// Every example in files of three lines has the same findings as in one file, each in its file.
#[test]
fn joined_files_are_one_log() {
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let count = log.lines().count();
        let whole = run(omen(["check", "--format", "json", "--input", "lines"]).write_stdin(*log));
        let folder = rotated(log, 3);
        let joined = check(&folder, &["--join", "a.jsonl*"]);
        let (expected, _) = json(&whole);
        let (found, summary) = json(&joined);
        assert_eq!((joined.code, found.len()), (whole.code, expected.len()), "{path}: {}", joined.stdout);
        assert_eq!(summary["files"].as_u64(), Some(count.div_ceil(3) as u64));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((&found["code"], &found["message"]), (&expected["code"], &expected["message"]), "{path}");
            let Some(line) = expected["line"].as_u64() else {
                assert_eq!(found["file"], "a.jsonl");
                continue;
            };
            let part = count.div_ceil(3) as u64 - 1 - (line - 1) / 3;
            let file = found["file"].as_str().unwrap();
            let number = file.trim_start_matches("a.jsonl").trim_end_matches(".gz").trim_start_matches('.');
            assert_eq!(number.parse().unwrap_or(0), part, "{path}: {file}");
            assert_eq!(found["line"].as_u64(), Some((line - 1) % 3 + 1), "{path}");
        }
    }
}

#[test]
fn a_cause_in_another_file_names_it() {
    let all = log(GOOD).replacen("\"update_type\"", "\"updates\"", 1);
    let folder = rotated(&all, 2);
    let (found, _) = json(&check(&folder, &["--join", "a.jsonl*"]));
    let follows: Vec<_> = found.iter().filter(|finding| finding["follows_from"].is_object()).collect();
    assert!(!follows.is_empty(), "{found:?}");
    for finding in follows {
        let note = finding["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
        let line = finding["follows_from"]["line"].as_u64().unwrap();
        assert_eq!(note, format!("line {line} is in a.jsonl.3.gz"), "{finding}");
    }
}

#[test]
fn every_format_takes_joined_files() {
    let folder = rotated(log(BAD), 4);
    for format in ["human", "concise", "sarif", "junit", "github", "gitlab"] {
        let run = run(omen(["check", "--join", "--format", format, "a.jsonl*"]).current_dir(&folder));
        assert_eq!(run.code, 1, "{format}: {}", run.stderr);
        assert!(run.stdout.contains("a.jsonl.1"), "{format}: {}", run.stdout);
    }
}

/// An episode that is open in one file and begins in the middle in the next.
#[test]
fn half_an_episode_hints_at_joining() {
    let folder = rotated(log(GOOD), 4);
    let hint = "`--join` checks the files of one log together";
    for args in [&["a.jsonl*"][..], &["a.jsonl", "a.jsonl.1.gz"], &["a.jsonl.1.gz", "a.jsonl"]] {
        let run = check(&folder, args);
        assert_eq!(run.code, 1);
        let says = run.stderr.contains("is open at the end of a.jsonl.1.gz and continues in a.jsonl; ");
        assert!(says && run.stderr.contains(hint), "{}", run.stderr);
    }
    for args in [&["--join", "a.jsonl*"][..], &["--quiet", "a.jsonl*"], &["a.jsonl"]] {
        assert_eq!(check(&folder, args).stderr, "", "{args:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_others() {
    let folder = rotated(log(BAD), 4);
    let run = check(&folder, &["--join", "a.jsonl.2.gz", "a.jsonl.1", "nosuch", "a.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.starts_with("omen: cannot read nosuch: "), "{}", run.stderr);
    assert_eq!(json(&run).1["files"], 3);
}

#[test]
fn what_cannot_be_joined_is_a_usage_error() {
    let baseline = &["--baseline", "known.json", "--write-baseline"];
    for args in [&["--prefix"][..], &["--field", "/log"], &["--input", "array"], &["--follow"], baseline] {
        let run = run(&mut omen(["check", "--join", "a.jsonl"].iter().chain(args).copied()));
        assert!(run.code == 2 && run.stderr.contains("--join"), "{}", run.stderr);
    }
}
