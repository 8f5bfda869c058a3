//! Findings for people.

use super::*;

/// Compares with a file in `snapshots`. To accept the current output: `OMEN_BLESS=1 cargo test`.
#[track_caller]
pub(super) fn check_snapshot(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots").join(name);
    if std::env::var_os("OMEN_BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expect = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expect, "{name} differs; found:\n{found}\nexpected:\n{expect}");
}

#[test]
fn a_finding_in_a_packet() {
    let folder = folder(&[("log.jsonl", log(BAD).as_bytes())]);
    check_snapshot("packet.txt", &run(omen(["check", "log.jsonl"]).current_dir(&folder)).stdout);
}

#[test]
fn a_finding_at_the_end_of_the_stream() {
    let log = log("invalid/e6-end-with-directive-open.jsonl");
    check_snapshot("end.txt", &run(omen(["check"]).write_stdin(log)).stdout);
}

/// The caret is below the wrong byte, also after wide characters.
#[test]
fn the_caret_stands_below_the_place() {
    let stdout = run(omen(["check"]).write_stdin("{\"\u{e9}\u{e8}\": ?}\n")).stdout;
    let lines: Vec<&str> = stdout.lines().collect();
    let column = |c: char| lines.iter().find_map(|line| line.chars().position(|there| there == c)).unwrap();
    assert_eq!(column('?'), column('^'), "{stdout}");
}

#[test]
fn a_log_cannot_write_to_the_terminal() {
    let input =
        "{\"header\":{\"packet_id\":\"\u{1b}]0;title\u{7}\",\"\u{1b}[31m\u{202e}\u{9b}2J\":\"\u{7f}\"}}\n\u{1b}[2J\n";
    let mut bytes = input.as_bytes().to_vec();
    bytes.extend_from_slice(b"{\"\x9b\xff\x1b[31m\"}\n");
    for command in ["check", "trace"] {
        let run = run(omen([command, "-"]).write_stdin(bytes.clone()));
        let bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!run.stdout.contains(bad), "{:?}", run.stdout);
        assert_eq!(run.code, 1);
    }
}

#[test]
fn colours_are_for_terminals() {
    let coloured = |args: &[&str], no_color: bool| {
        let mut command = omen(args.iter().copied());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        run(command.write_stdin(log(BAD))).stdout.contains('\u{1b}')
    };
    assert!(!coloured(&["check"], false));
    assert!(!coloured(&["check", "--color", "never"], false));
    assert!(coloured(&["check", "--color", "always"], false));
    assert!(!coloured(&["check"], true));
    assert!(!coloured(&["check", "--color", "always", "--format", "json"], false));
}

/// Where people read, `--color` decides; where programs read, there are no colours.
#[test]
fn every_command_obeys_color() {
    let folder = folder(&[("log", log(BAD).as_bytes())]);
    for args in [
        &["check", "log"][..],
        &["check", "--format", "concise", "log"],
        &["trace", "log"],
        &["explain", "E4"],
        &["rules"],
        &["--help"],
        &["check", "--help"],
        &["chekc"],
    ] {
        for (color, expect) in [("always", true), ("never", false), ("auto", false)] {
            let run = run(omen(["--color", color].iter().chain(args).copied()).current_dir(&folder));
            assert_eq!((run.stdout + &run.stderr).contains('\u{1b}'), expect, "{args:?} {color}");
        }
    }
    for format in ["json", "sarif", "junit", "github", "gitlab"] {
        let args = ["check", "--format", format, "log", "--color=always"];
        assert!(!run(omen(args).current_dir(&folder)).stdout.contains('\u{1b}'), "{format}");
    }
    for args in
        [&["trace", "--format", "json", "log"][..], &["schema", "TokenId"], &["graph"], &["rules", "--format", "json"]]
    {
        let run = run(omen(args.iter().chain(&["--color=always"]).copied()).current_dir(&folder));
        assert!(!run.stdout.contains('\u{1b}'), "{args:?}");
    }
}

/// As programs for Node.js and CI read it.
#[test]
fn colours_can_be_forced_by_the_environment() {
    for args in [&["check"][..], &["--help"], &["chekc"]] {
        for (variables, expect) in [
            (&[("FORCE_COLOR", "1")][..], true),
            (&[("FORCE_COLOR", "3")], true),
            (&[("FORCE_COLOR", "")], false),
            (&[("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "1")], false),
            (&[("FORCE_COLOR", "false")], false),
            (&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], false),
        ] {
            let run = run(omen(args.iter().copied()).envs(variables.iter().copied()).write_stdin(log(BAD)));
            assert_eq!((run.stdout + &run.stderr).contains('\u{1b}'), expect, "{args:?} {variables:?}");
        }
    }
    let never = run(omen(["check", "--color=never"]).env("FORCE_COLOR", "1").write_stdin(log(BAD)));
    assert!(!never.stdout.contains('\u{1b}'));
    let json = run(omen(["check", "--format=json"]).env("FORCE_COLOR", "1").write_stdin(log(BAD)));
    assert!(!json.stdout.contains('\u{1b}'));
}

/// Packets are long; excerpts are not.
#[test]
fn source_lines_are_windows() {
    let text = format!("{}\n", "x".repeat(1_000_000));
    for line in run(omen(["check"]).write_stdin(text)).stdout.lines() {
        assert!(line.chars().count() < 140, "{line}");
    }
}
