//! Findings for people.

use textwrap::core::display_width;

use super::helps::mistakes;
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

/// In output for people, `--color` decides; output for programs has no colours.
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

/// As programs for Node.js and CI interpret it.
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

/// Returns the tests' logs with mistakes, and one whose characters have two columns or none.
fn logs_with_mistakes() -> TempDir {
    let folder = folder(&[]);
    let examples = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl"));
    for (path, log) in examples {
        write(folder.path(), &path.replace('/', "-"), log.as_bytes());
    }
    for (at, (_, log)) in mistakes::all().iter().enumerate() {
        write(folder.path(), &format!("mistake-{at}.jsonl"), log.as_bytes());
    }
    let wide = format!("{{\"{}\": ?, \"{}\": 1}}\n", "日本".repeat(100), "e\u{301}".repeat(300));
    write(folder.path(), "wide-日本.jsonl", wide.as_bytes());
    folder
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = logs_with_mistakes();
    let widest = run(omen(["check", "."]).current_dir(&folder).env("COLUMNS", usize::MAX.to_string()));
    assert_eq!(widest.code, 1, "{}", widest.stderr);
    for width in [40, 80, 200] {
        let mut command = omen(["check", "--all", "--max-findings", "100000", "."]);
        let run = run(command.current_dir(&folder).env("COLUMNS", width.to_string()));
        let mut carets = 0;
        let mut above = "";
        for line in run.stdout.lines() {
            assert!(display_width(line) <= width, "{width}: {line}");
            // A caret is below a character.
            if line.contains(" | ") && line.trim_start_matches([' ', '|']).starts_with('^') {
                assert!(
                    display_width(above) + 1 >= display_width(line.trim_end_matches(|c| c != '^')),
                    "{above}\n{line}"
                );
                carets += 1;
            }
            above = line;
        }
        assert!(carets > 300, "{carets} carets at {width} columns");
        assert!(run.stdout.contains("日本"));
    }
}

/// The width of the terminal takes precedence over `COLUMNS`.
#[cfg(target_os = "linux")]
#[test]
fn the_width_is_that_of_the_terminal() {
    use std::io::Read as _;

    use rustix::termios::{Winsize, tcsetwinsize};

    let (mut screen, open) = gate::confirm::terminal();
    tcsetwinsize(&screen, Winsize { ws_row: 20, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let folder = folder(&[("log.jsonl", log(BAD).as_bytes())]);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_omen"));
    child.args(["check", "--color", "never", "log.jsonl"]).env("COLUMNS", "200").current_dir(&folder);
    let mut child = child.stdout(open()).spawn().unwrap();
    child.wait().unwrap();
    let mut text = vec![0; 64 * 1024];
    let count = screen.read(&mut text).unwrap();
    let text = String::from_utf8_lossy(&text[..count]).into_owned();
    let widest = text.lines().map(|line| display_width(line.trim_end())).max();
    assert!((55..=60).contains(&widest.unwrap()), "{text}");
}

/// A label that does not fit after the caret is a note.
#[test]
fn no_label_is_lost_on_a_narrow_terminal() {
    let at = |width: &str| run(omen(["check"]).write_stdin(log(BAD)).env("COLUMNS", width)).stdout;
    assert!(at("200").contains("^^ expired at 2026-03-16T05:00:00Z, 3 s before this packet\n"));
    let narrow = at("40");
    let words: Vec<&str> = narrow.split_whitespace().collect();
    assert!(words.join(" ").contains("= note: expired at 2026-03-16T05:00:00Z, 3 s before this packet"), "{narrow}");
    // An invalid width is ignored.
    assert_eq!([at(""), at("0"), at("wide")], [(); 3].map(|()| run(omen(["check"]).write_stdin(log(BAD))).stdout));
}

/// Packets are long; excerpts are not.
#[test]
fn source_lines_are_windows() {
    let text = format!("{}\n", "x".repeat(1_000_000));
    for line in run(omen(["check"]).write_stdin(text)).stdout.lines() {
        assert!(line.chars().count() < 140, "{line}");
    }
}

/// A long packet is shown by the objects around the position, a whole one on request.
#[test]
fn long_packets_are_indented() {
    let folder = folder(&[("log.jsonl", log(BAD).as_bytes())]);
    let check = |args: &[&str], width: &str| {
        run(omen(["check", "log.jsonl"].iter().chain(args).copied()).current_dir(&folder).env("COLUMNS", width))
    };
    let excerpt = check(&[], "80").stdout;
    let text = "\n | \"payload\": {\n |   …\n |   \"tool_safety_class\": \"WRITE\",\n";
    assert!(excerpt.contains(text), "{excerpt}");
    let finding = run(omen(["check", "--format", "json"]).write_stdin(log(BAD)));
    let line = json(&finding).0[0]["line"].to_string();
    for width in [40, 80, 200] {
        let whole = check(&["--pretty", &line], &width.to_string());
        let packet: Value =
            serde_json::from_str(log(BAD).lines().nth(line.parse::<usize>().unwrap() - 1).unwrap()).unwrap();
        let rows = serde_json::to_string_pretty(&packet).unwrap().lines().count();
        let shown = whole.stdout.lines().filter(|line| line.trim_start().starts_with("| ")).count();
        // The line of the caret is not one of the packet.
        assert!((rows + 1..=rows + 2).contains(&shown), "{rows} {shown}: {}", whole.stdout);
        assert!(whole.stdout.lines().all(|line| display_width(line) <= width), "{}", whole.stdout);
        assert_eq!((whole.code, whole.stdout.matches("= help:").count()), (1, 1));
    }
    let other = check(&["--pretty", "1"], "80").stdout;
    assert!(other.starts_with("note: there is no finding in line 1\n") && other.contains("1 error"), "{other}");
    for (args, why) in
        [(&["--pretty", "0"][..], "invalid value"), (&["--pretty", "1", "--format", "json"], "to people")]
    {
        let refused = check(args, "80");
        assert!(refused.code == 2 && refused.stderr.contains(why), "{}", refused.stderr);
    }
}
