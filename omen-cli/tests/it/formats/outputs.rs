//! `--output FORMAT=FILE`.

use super::*;

#[test]
fn a_file_has_what_standard_output_would_have() {
    let folder = set();
    for format in FORMATS {
        let expect = check(&folder, format, SET);
        let output = format!("{format}=report");
        let args = ["check", "--output", &output].into_iter().chain(SET);
        let run = run(omen(args).current_dir(&folder));
        assert_eq!((run.code, &run.stderr), (expect.code, &expect.stderr));
        assert_eq!(fs::read_to_string(folder.path().join("report")).unwrap(), expect.stdout, "{format}");
        // Standard output is the same as without the option.
        assert_eq!(run.stdout, check(&folder, "human", SET).stdout);
    }
}

#[test]
fn several_reports_come_from_one_run() {
    let folder = set();
    let outputs = ["--output", "sarif=a.sarif", "--output", "json=-", "--output", "junit=b.xml"];
    let run = run(omen(["check"].into_iter().chain(outputs).chain(SET)).current_dir(&folder));
    assert_eq!(run.stdout, check(&folder, "json", SET).stdout);
    let report = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(report("a.sarif"), check(&folder, "sarif", SET).stdout);
    assert_eq!(report("b.xml"), check(&folder, "junit", SET).stdout);
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    #[track_caller]
    fn check(args: &[&str], expect: &str) {
        let folder = folder(&[("log.jsonl", log(GOOD).as_bytes())]);
        let run = run(omen(["check", "log.jsonl"].iter().chain(args).copied()).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains(expect), "{}", run.stderr);
        assert_eq!(fs::read_to_string(folder.path().join("log.jsonl")).unwrap(), log(GOOD));
    }
    check(&["--output", "sarif"], "expected FORMAT=FILE");
    check(&["--output", "sarif="], "expected a file after `sarif=`");
    check(&["--output", "yaml=x"], "invalid format `yaml`; expected one of human, concise, json, sarif");
    check(&["--output", "json=-", "--output", "sarif=-"], "standard output takes one report");
    check(&["--output", "json=-", "--format", "human"], "standard output takes one report");
    check(&["--output", "json=a", "--output", "sarif=./a"], "./a is also another output");
    check(&["--output", "json=./log.jsonl"], "./log.jsonl is also an input");
}

#[test]
fn a_report_that_cannot_be_written_exits_3() {
    let folder = folder(&[("log.jsonl", log(BAD).as_bytes())]);
    for (path, name) in [("no/such/folder/x", "no/such/folder/x"), (".", ".")] {
        let run = run(omen(["check", "log.jsonl", "--output", &format!("json={path}")]).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (3, ""));
        assert!(run.stderr.starts_with(&format!("omen: cannot write {name}: ")), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1);
        // The error does not mention the temporary file.
        assert!(!run.stderr.contains(".omen-") && !run.stderr.contains("path"), "{}", run.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_of_a_report_exits_3() {
    for format in FORMATS {
        let run = run(omen(["check", "--output", &format!("{format}=/dev/full")]).write_stdin("?\n"));
        assert_eq!(run.code, 3, "{format}");
        assert!(run.stderr.starts_with("omen: cannot write /dev/full: "), "{format}: {}", run.stderr);
    }
}

/// A report replaces the old one when it is complete; a failed run leaves the old one, and nothing else.
#[test]
#[cfg(target_os = "linux")]
fn reports_are_written_as_a_whole() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = folder(&[("log.jsonl", log(BAD).as_bytes()), ("real.json", b"old"), ("mode.json", b"old")]);
    symlink("real.json", folder.path().join("link.json")).unwrap();
    fs::set_permissions(folder.path().join("mode.json"), fs::Permissions::from_mode(0o640)).unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let check =
        |outputs: &[&str]| run(omen(["check", "log.jsonl"].iter().chain(outputs).copied()).current_dir(&folder)).code;
    assert_eq!(check(&["--output=json=link.json", "--output=json=/dev/full"]), 3);
    assert_eq!(read("real.json"), "old");
    assert_eq!(check(&["--output=json=link.json", "--output=json=mode.json", "--output=json=new.json"]), 1);
    for name in ["real.json", "mode.json", "new.json"] {
        assert!(read(name).contains("\"code\":\"E4\""));
    }
    assert!(fs::symlink_metadata(folder.path().join("link.json")).unwrap().is_symlink());
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("mode.json"), 0o640);
    // The permissions are those of any new file of this process.
    assert_eq!(mode("new.json"), mode("log.jsonl"));
    let names: BTreeSet<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["link.json", "log.jsonl", "mode.json", "new.json", "real.json"].map(String::from).into());
}

#[test]
fn colours_in_a_file_are_asked_for() {
    let folder = folder(&[("log.jsonl", log(BAD).as_bytes())]);
    for format in ["human", "concise", "json"] {
        for (color, expect) in [("auto", false), ("never", false), ("always", format != "json")] {
            let output = format!("{format}=report");
            let args = ["check", "log.jsonl", "--color", color, "--output", &output];
            run(omen(args).env("CLICOLOR_FORCE", "1").current_dir(&folder));
            let report = fs::read_to_string(folder.path().join("report")).unwrap();
            assert_eq!(report.contains('\u{1b}'), expect, "{format} {color}");
        }
    }
}
