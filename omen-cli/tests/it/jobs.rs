//! The output does not depend on the number of threads.

use super::*;

/// Returns all examples in one log, each with distinct episodes, and lines between them that are not packets.
fn long_log() -> Vec<u8> {
    let mut log = Vec::new();
    for (at, (_, text)) in examples().enumerate() {
        let id = format!("\"correlation_id\":\"corr_{at}_");
        log.extend_from_slice(text.replace("\"correlation_id\":\"corr_", &id).as_bytes());
        log.extend_from_slice([&b"\n"[..], b"?\r\n", b"{}\n", b"\xff\n"][at % 4]);
    }
    assert!(log.len() > 1024 * 1024, "{} bytes", log.len());
    log
}

fn examples() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"))
}

fn printed(run: Run) -> (i32, String, String) {
    (run.code, run.stdout, run.stderr)
}

#[test]
fn a_long_log_is_printed_as_by_one_thread() {
    let log = long_log();
    let folder = folder(&[("log.jsonl", &log)]);
    for format in ["human", "json"] {
        let args = |jobs| ["check", "--format", format, "--jobs", jobs, "log.jsonl"];
        let expected = printed(run(omen(args("1")).current_dir(&folder)));
        assert!(expected.0 == 1 && expected.1.lines().count() > 300, "{}", expected.2);
        for jobs in ["2", "5"] {
            assert!(printed(run(omen(args(jobs)).current_dir(&folder))) == expected, "{format}, {jobs} threads");
        }
    }
    let stdin = |jobs| printed(run(omen(["check", "--format", "json", "-j", jobs]).write_stdin(log.clone())));
    assert!(stdin("1") == stdin("3"));
}

#[test]
fn several_files_are_printed_in_their_order() {
    let folder = TempDir::new().unwrap();
    let mut names = Vec::new();
    for (at, (_, text)) in examples().enumerate() {
        names.push(format!("{at}.jsonl"));
        write(folder.path(), &names[at], text.as_bytes());
    }
    // A file that is not checked ahead is reported at its turn, too.
    write(folder.path(), "much.jsonl", &b"{}\n".repeat(1200));
    write(folder.path(), "empty.jsonl", b"\n");
    names.splice(20..20, ["much.jsonl", "missing.jsonl", "none", "empty.jsonl", "-"].map(str::to_owned));
    let check = |format, jobs| {
        let args = ["check", "--format", format, "-j", jobs].into_iter().chain(names.iter().map(String::as_str));
        printed(run(omen(args).current_dir(&folder).write_stdin("?\n")))
    };
    for format in ["human", "json"] {
        let expected = check(format, "1");
        assert!(expected.0 == 3 && expected.2.lines().count() == 3, "{}", expected.2);
        for jobs in ["2", "7"] {
            assert!(check(format, jobs) == expected, "{format}, {jobs} threads");
        }
    }
}
