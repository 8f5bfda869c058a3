//! `omen report`: the written file. A browser tests what a reader sees.

use std::num::NonZeroU64;

use omen_types::Code;
use sha2::{Digest as _, Sha256};

use super::*;

pub(crate) mod browser;
mod logs;

/// Writes a report on some logs, each in its own file, and returns the run and the page.
fn report(logs: &[(&str, &str)], more: &[&str]) -> (Run, String) {
    let files: Vec<_> = logs.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let folder = folder(&files);
    report_in(&folder, logs, more)
}

fn report_in(folder: &TempDir, logs: &[(&str, &str)], more: &[&str]) -> (Run, String) {
    let names = logs.iter().map(|(name, _)| *name);
    let args = ["report", "-o", "report.html"].into_iter().chain(more.iter().copied()).chain(names);
    let run = run(omen(args).current_dir(folder));
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap_or_default();
    (run, page)
}

/// Returns the text between two texts.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to}")).0
}

/// Returns the data of the page.
fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "<script type=\"application/json\" id=\":data\">", "</script>")).unwrap()
}

#[test]
fn the_exit_code_is_that_of_a_check_and_one_line_says_what_was_found() {
    let (good, _) = report(&[("good.jsonl", log(GOOD))], &[]);
    assert_eq!((good.code, good.stderr.as_str()), (0, ""));
    assert!(good.stdout.starts_with("report.html: no errors: "), "{}", good.stdout);
    let (bad, page) = report(&[("bad.jsonl", log(BAD)), ("good.jsonl", log(GOOD))], &[]);
    assert_eq!((bad.code, bad.stderr.as_str()), (1, ""));
    assert!(bad.stdout.starts_with("report.html: errors found: 1 of "), "{}", bad.stdout);
    assert!(bad.stdout.ends_with(" rejected, errors in 1 episode\n"), "{}", bad.stdout);
    assert!(page.contains("<h1>Errors found</h1>"));
    assert_eq!(run(&mut omen(["report", "x.jsonl"])).code, 2, "the file to write is named");
}

/// The hashes in the policy are those of the only script and the only style, so nothing else runs.
#[test]
fn the_policy_of_the_page_allows_its_own_script_and_style_only() {
    let (_, page) = report(&[("bad.jsonl", log(BAD))], &[]);
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"").replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    let parts = [("<script type=\"module\">", "</script>"), ("<style>", "</style>")];
    for (from, to) in parts {
        let hash = Sha256::digest(between(&page, from, to).as_bytes());
        let sixes: Vec<bool> = hash.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let six = |bits: &[bool]| (0..6).fold(0, |n, at| n << 1 | usize::from(bits.get(at) == Some(&true)));
        let base64: String = sixes.chunks(6).map(|bits| char::from(letters[six(bits)])).collect();
        assert!(policy.contains(&format!("'sha256-{base64}='")), "{from}: {base64} in {policy}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    // Outside the data there is no URL except the namespace of SVG.
    let (markup, rest) = page.split_once("<script type=\"application/json\"").unwrap();
    let (_, script) = rest.split_once("</script>").unwrap();
    assert!(![markup, script].concat().replace("http://www.w3.org/2000/svg", "").contains("://"));
}

#[test]
fn the_data_has_every_packet_whole_and_every_finding_at_its_place() {
    let text = log(BAD);
    let (_, page) = report(&[("bad.jsonl", text)], &[]);
    let data = data(&page);
    let pieces = data["pieces"].as_array().unwrap();
    let packets = data["packets"].as_array().unwrap();
    for (line, packet) in text.lines().zip(packets) {
        let numbers = packet[11].as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize);
        assert_eq!(numbers.map(|number| pieces[number].as_str().unwrap()).collect::<String>(), line);
    }
    assert_eq!(packets.len(), text.lines().count());
    let [finding] = data["findings"].as_array().unwrap().as_slice() else { panic!("one finding") };
    assert_eq!((&finding["code"], &finding["p"], &finding["line"]), (&"E4".into(), &5.into(), &6.into()));
    let span: Vec<_> = finding["span"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize).collect();
    let line: Vec<u16> = text.lines().nth(5).unwrap().encode_utf16().collect();
    assert_eq!(String::from_utf16(&line[span[0]..span[1]]).unwrap(), "\"token_trim_early\"");
}

/// A consequence of a rejected packet names its line, where the page folds it.
#[test]
fn consequences_name_the_line_that_they_follow_from() {
    let (_, page) = report(&[("cascade.jsonl", &logs::cascade())], &[]);
    let data = data(&page);
    let (roots, consequences): (Vec<_>, Vec<_>) =
        data["findings"].as_array().unwrap().iter().partition(|finding| finding["from"].is_null());
    assert_eq!(roots.len(), 1, "{roots:?}");
    assert!(!consequences.is_empty() && consequences.iter().all(|finding| finding["from"] == roots[0]["line"]));
    let shown = format!("<dt>consequences</dt><dd>{}</dd>", consequences.len());
    assert!(page.contains(&shown), "{shown}");
}

/// Packets in an array or indented are judged as a check judges them, and keep their lines.
#[test]
fn packets_need_not_be_one_on_each_line() {
    let packets: Vec<Value> = log(BAD).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let array = serde_json::to_string_pretty(&packets).unwrap();
    let begins: Vec<u64> =
        array.lines().zip(1..).filter(|(line, _)| line.starts_with("  {")).map(|(_, number)| number).collect();
    let (run, page) = report(&[("array.json", &array)], &[]);
    assert!(run.code == 1 && run.stdout.starts_with("report.html: errors found: 1 of "), "{}", run.stdout);
    let data = data(&page);
    let lines: Vec<_> = data["packets"].as_array().unwrap().iter().map(|row| row[1].as_u64().unwrap()).collect();
    assert_eq!(lines, begins);
    let [finding] = data["findings"].as_array().unwrap().as_slice() else { panic!("one finding") };
    assert_eq!((&finding["code"], &finding["line"]), (&"E4".into(), &begins[5].into()));
    assert_eq!(finding["col"], Value::Null);
    let consequences = logs::cascade();
    let packets: Vec<Value> = consequences.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (_, page) = report(&[("array.json", &serde_json::to_string_pretty(&packets).unwrap())], &[]);
    let findings = self::data(&page)["findings"].as_array().unwrap().clone();
    let (roots, consequences): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding["from"].is_null());
    assert!(!consequences.is_empty() && consequences.iter().all(|finding| finding["from"] == roots[0]["line"]));
    // What is not a log has one finding, and its bytes are hashed to the end.
    let other = "{\"level\":\"info\",\"msg\":\"started\"}\n".repeat(200_000);
    let (run, page) = report(&[("other.jsonl", &other)], &[]);
    assert_eq!(run.code, 1);
    assert_eq!(self::data(&page)["findings"].as_array().unwrap().len(), 1);
    let hash: String = Sha256::digest(other.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(page.contains(&hash));
}

#[test]
fn a_title_stands_above_the_verdict() {
    let (_, page) = report(&[("good.jsonl", log(GOOD))], &["--title", "Release <7>\u{202e}"]);
    assert!(
        page.contains("<title>Release &#60;7&#62;\\u{202e} · No errors · omen report</title>"),
        "{}",
        &page[..2000]
    );
    let (subject, heading) = (page.find("class=\"subject\"").unwrap(), page.find("<h1>").unwrap());
    assert!(subject < heading);
}

#[test]
fn the_same_logs_give_the_same_bytes() {
    let logs = [("a.jsonl", log(BAD)), ("b.jsonl", log(WARNED))];
    assert_eq!(report(&logs, &[]).1, report(&logs, &[]).1);
}

/// Each rule has a row with its counts, and rules that do not apply to the log are listed.
#[test]
fn what_was_not_checked_is_stated_rule_by_rule() {
    let (_, page) = report(&[("bad.jsonl", log(BAD))], &[]);
    let row = |code: &str| {
        let row = between(&page, &format!("<tr id=\":rule-{code}\""), "</tr>");
        let cells =
            row.split("<td class=\"n\">").skip(1).map(|cell| cell.split_once('<').unwrap().0.parse::<u64>().unwrap());
        cells.collect::<Vec<_>>()
    };
    for code in Code::ALL {
        assert_eq!(row(code.as_str()).len(), 5, "{code}");
    }
    // Errors, warnings, also, checked, not checked: of three directives, the one that E4 rejected was not checked for INV-007.
    let directives = log(BAD).matches("\"packet_type\":\"TaskDirectivePacket\"").count() as u64;
    let tokens = log(BAD).matches("\"packet_type\":\"ToolAuthorizationToken\"").count() as u64;
    assert_eq!(row("E4"), [1, 0, 0, directives, 0]);
    assert_eq!(row("INV-007"), [0, 0, 1, directives + tokens - 1, 1]);
    let idle = between(&page, "Rules that concern no packet of these logs: ", "</li>");
    assert!(idle.contains("#:rule-INV-009") && !idle.contains("#:rule-E4"), "{idle}");
    let clock = "The passage of time: all packets were checked as of";
    assert!(!page.contains(clock));
    assert!(report(&[("good.jsonl", log(GOOD))], &["--now", "2026-03-01T10:00:00Z"]).1.contains(clock));
}

/// The hashes are those that `sha256sum` prints.
#[test]
fn logs_and_schema_files_are_named_by_their_hashes() {
    let (_, page) = report(&[("good.jsonl", log(GOOD))], &[]);
    let hex = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(page.contains(&hex(log(GOOD).as_bytes())));
    for (path, text) in omen_schema::FILES {
        assert!(page.contains(&format!("{path}</th><td><code class=\"hash\">{}", hex(text.as_bytes()))), "{path}");
    }
}

/// A report accepts the inputs of a check: directories, compressed logs, and the configuration.
#[test]
fn directories_and_the_configuration_are_those_of_a_check() {
    let toml = "[check]\ninputs = [\"logs\"]\nexclude = [\"old/\"]\ndeny = [\"warnings\"]\nallow = [\"INV-011\"]\n\
                now = 2026-03-01T10:00:00Z\nformat = \"json\"\noutput = [\"sarif=x.sarif\"]\n";
    let folder = folder(&[("omen.toml", toml.as_bytes())]);
    fs::create_dir_all(folder.path().join("logs/old")).unwrap();
    write(folder.path(), "logs/warned.jsonl.gz", &compressed::gzip(log(WARNED).as_bytes()));
    write(folder.path(), "logs/good.jsonl", log(GOOD).as_bytes());
    write(folder.path(), "logs/old/bad.jsonl", log(BAD).as_bytes());
    let report = |args: &[&str]| {
        let args = ["report", "-o", "report.html"].iter().chain(args);
        let run = run(omen(args.copied()).current_dir(&folder));
        let page = fs::read_to_string(folder.path().join("report.html")).unwrap_or_default();
        (run.code, run.stderr, page)
    };
    let (code, stderr, page) = report(&[]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    let logs = |page: &str| data(page)["logs"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>();
    assert_eq!(logs(&page), ["\"logs/good.jsonl\"", "\"logs/warned.jsonl.gz\""]);
    assert!(page.contains("these were set, in this order: -D warnings, -A INV-011."));
    assert!(page.contains("checked as of 2026-03-01T10:00:00Z."));
    // The hash is that of the decoded content.
    let hash: String = Sha256::digest(log(WARNED).as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(page.contains(&hash) && !folder.path().join("x.sarif").exists());

    let (code, _, page) = report(&["--no-config", "logs", "--exclude", "good.jsonl"]);
    assert_eq!(
        (code, logs(&page)),
        (1, vec!["\"logs/old/bad.jsonl\"".to_owned(), "\"logs/warned.jsonl.gz\"".to_owned()])
    );
    assert!(!page.contains("these were set") && page.contains("The wall clock"));
    let (code, _, page) = report(&["--no-config", "logs/warned.jsonl.gz", "-A", "INV-012"]);
    assert_eq!((code, data(&page)["findings"].as_array().unwrap().len()), (0, 0));
    let (code, stderr, page) = report(&["logs/*.txt"]);
    assert_eq!((code, stderr.as_str()), (3, "omen: cannot read logs/*.txt: no file matches\n"));
    assert!(page.contains("<bdi>logs/*.txt</bdi>"));
    let (code, stderr, _) = report(&["--no-config"]);
    assert_eq!(code, 2);
    assert!(stderr.starts_with("omen: pass the logs to report on"), "{stderr}");
}

#[test]
fn what_cannot_be_read_is_in_the_report_and_exits_3() {
    let (run, page) = report(&[("good.jsonl", log(GOOD))], &["no.jsonl"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.starts_with("omen: cannot read no.jsonl: "), "{}", run.stderr);
    assert!(page.contains("<h1>Not read to the end</h1>") && page.contains("<bdi>no.jsonl</bdi>"));
    let nowhere = run_in(&["report", "-o", "no/folder/report.html", "-"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (3, ""));
    assert!(nowhere.stderr.contains("cannot write no/folder/report.html: "), "{}", nowhere.stderr);
}

fn run_in(args: &[&str]) -> Run {
    let folder = folder(&[]);
    run(omen(args.iter().copied()).current_dir(&folder).write_stdin(log(GOOD)))
}

#[test]
fn a_log_is_never_overwritten_and_nothing_is_left_beside_the_report() {
    let folder = folder(&[("good.jsonl", log(GOOD).as_bytes()), ("report.html", b"old")]);
    let refused = run(omen(["report", "-o", "good.jsonl", "./good.jsonl"]).current_dir(&folder));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`good.jsonl` is an input"), "{}", refused.stderr);
    assert_eq!(fs::read(folder.path().join("good.jsonl")).unwrap(), log(GOOD).as_bytes());
    let (_, page) = report_in(&folder, &[("good.jsonl", "")], &[]);
    assert!(page.starts_with("<!doctype html>"), "the old report is replaced");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

/// Texts of a log, and its name, can neither end the elements that contain them nor be markup.
#[test]
fn hostile_texts_are_escaped() {
    let text = logs::hostile();
    let (_, page) = report(&[("<script>hit=1<!--.jsonl", &text)], &[]);
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    assert_eq!((page.matches("<style").count(), page.matches("</style").count()), (1, 1));
    assert!(!page.contains("<!--") && !page.contains("<img"));
    // Without a script, characters that change the writing direction are spelled out.
    let markup = between(&page, "<body>", "<script");
    assert!(!markup.contains('\u{202e}') && markup.contains("\\u{202e}"));
    // With a script, the texts are restored.
    let data = data(&page);
    let pieces: Vec<_> = data["pieces"].as_array().unwrap().iter().map(|piece| piece.as_str().unwrap()).collect();
    let numbers = data["packets"].as_array().unwrap().iter().flat_map(|packet| packet[11].as_array().unwrap());
    let lines: String = numbers.map(|number| pieces[number.as_u64().unwrap() as usize]).collect();
    assert_eq!(lines, text.lines().collect::<String>());
}

#[test]
fn an_audit_log_is_verified_and_its_sound_entries_are_shown() {
    let folder = logs::audited();
    let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key"];
    let logs = [("episode.jsonl", "")];
    let (run, page) = report_in(&folder, &logs, &audit);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(page.contains("<span class=\"tag good\">sound</span>"));
    let kinds: Vec<_> = data(&page)["calls"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["opened", "decision", "confirmation", "intent", "outcome"]);

    // For a log that was changed, the entries before the change are shown.
    let path = folder.path().join("audit.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"kind\":\"intent\"", "\"kind\":\"outcome\"")).unwrap();
    let (run, page) = report_in(&folder, &logs, &audit);
    assert_eq!(run.code, 1);
    assert!(page.contains("<span class=\"tag bad\">tampered</span>"));
    assert_eq!(data(&page)["calls"].as_array().unwrap().len(), 3);

    // All files of a rotated log are shown, and a missing file is reported.
    let rotated = logs::audited_with(NonZeroU64::new(600));
    let (run, page) = report_in(&rotated, &logs, &audit);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let kinds: Vec<_> = data(&page)["calls"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()).collect();
    assert!(kinds.contains(&"continued".into()) && kinds.last() == Some(&"outcome".into()), "{kinds:?}");
    fs::remove_file(rotated.path().join("audit.000002.jsonl")).unwrap();
    let (run, page) = report_in(&rotated, &logs, &audit);
    assert_eq!(run.code, 1);
    assert!(page.contains("<span class=\"tag bad\">truncated</span> audit.000002.jsonl is missing"));

    let without = report_in(&folder, &logs, &["--audit", "audit.jsonl"]).0;
    assert_eq!(without.code, 2, "a key is required");
    let missing = report_in(&folder, &logs, &["--audit", "no.jsonl", "--key-file", "audit.key"]).0;
    assert_eq!(missing.code, 3);
}

/// An invalid audit log is the state of the page, wherever a reader looks first.
#[test]
fn the_worst_state_of_anything_on_the_page_is_the_state_of_the_page() {
    let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key"];
    let state = |folder: &TempDir, logs: &[(&str, &str)]| {
        let (run, page) = report_in(folder, logs, &audit);
        let colour = between(&page, "fill='%23", "'").to_owned();
        let tone = between(&page, "<header class=\"verdict ", "\"").to_owned();
        let (title, heading) = (between(&page, "<title>", " · omen report</title>"), between(&page, "<h1>", "</h1>"));
        assert_eq!(title, heading);
        let stdout = run.stdout.strip_prefix("report.html: ").unwrap();
        assert!(stdout.starts_with(&format!("{}: ", heading.to_lowercase())), "{stdout}");
        (run.code, tone, heading.to_owned(), colour, stdout.to_owned())
    };
    let sound = logs::audited();
    let (code, tone, heading, green, _) = state(&sound, &[("episode.jsonl", "")]);
    assert_eq!((code, tone.as_str(), heading.as_str()), (0, "good", "No errors"));

    write(sound.path(), "bad.jsonl", log(BAD).as_bytes());
    write(sound.path(), "warned.jsonl", log(WARNED).as_bytes());
    let path = sound.path().join("audit.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("retention.set", "retention.get")).unwrap();
    let (code, tone, heading, red, stdout) = state(&sound, &[("episode.jsonl", "")]);
    assert_eq!((code, tone.as_str(), heading.as_str()), (1, "bad", "Audit log tampered"));
    assert!(red != green && stdout.contains("audit log tampered: line 2"), "{red} {stdout}");
    let (code, _, heading, colour, _) = state(&sound, &[("warned.jsonl", "")]);
    assert_eq!((code, heading.as_str(), &colour), (1, "Audit log tampered", &red), "warnings do not hide it");
    let (code, _, heading, colour, _) = state(&sound, &[("bad.jsonl", "")]);
    assert_eq!((code, heading.as_str(), &colour), (1, "Errors found, audit log tampered", &red));
}

#[test]
fn refused_calls_confirmations_and_calls_in_doubt_are_in_the_summary() {
    let folder = logs::audited_in_doubt();
    let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key"];
    let (run, page) = report_in(&folder, &[("episode.jsonl", "")], &audit);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("; 1 refused call; 1 call in doubt\n"), "{}", run.stdout);
    assert!(run.stdout.starts_with("report.html: no errors, 1 refused call: "), "{}", run.stdout);
    let figure = |name: &str| between(&page, &format!("<dt>{name}</dt><dd>"), "</dd>").to_owned();
    let figures = ["audit log", "refused calls", "confirmed calls", "calls in doubt"].map(figure);
    assert_eq!(figures, ["sound", "1", "1", "1"]);
    assert_eq!(figure("Refused calls"), "1 by G1");
    assert!(page.contains("<header class=\"verdict warned\">"), "a call in doubt is looked into");
    let standings: Vec<_> =
        data(&page)["calls"].as_array().unwrap().iter().map(|entry| entry["standing"].clone()).collect();
    let null = Value::Null;
    assert_eq!(standings, [null.clone(), null, "confirmed".into(), "in_doubt".into(), "refused".into()]);
}

/// Also without a script.
#[test]
fn findings_name_their_log_and_consequences_their_cause() {
    let cascade = logs::cascade();
    let (_, page) = report(&[("monday.jsonl", log(BAD)), ("tuesday.jsonl", &cascade)], &[]);
    let table = between(&page, "<noscript>", "</noscript>");
    let rows: Vec<_> = table.split("<tr>").skip(2).collect();
    assert!(rows[0].contains("<bdi>monday.jsonl</bdi>") && rows[0].contains("E4"), "{}", rows[0]);
    let of_tuesday = rows.iter().filter(|row| row.contains("<bdi>tuesday.jsonl</bdi>"));
    let consequences = of_tuesday.filter(|row| row.contains("(follows from line 2)")).count();
    assert_eq!((rows.len(), consequences), (data(&page)["findings"].as_array().unwrap().len(), rows.len() - 2));
}
