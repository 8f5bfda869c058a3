//! Reports in a real browser: headless Chromium, driven by `tests/browser/browser.mjs`.
//!
//! Neither is in this repository: `.ci/install browser` creates a folder with `chromium` and a `node_modules` with puppeteer-core
//! and axe-core.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use super::logs::{self, TRIM};
use super::*;

/// One browser at a time: each has several processes.
static TURN: Mutex<()> = Mutex::new(());

/// Writes a report on each of some logs, and runs a test of `tests/browser/tests.mjs` with them.
#[track_caller]
fn browse(test: &str, logs: &[&str]) {
    let folder = folder(&[]);
    let mut reports = Vec::new();
    for (number, text) in logs.iter().enumerate() {
        write(folder.path(), "log.jsonl", text.as_bytes());
        let name = format!("report-{number}.html");
        let run = run(omen(["report", "-o", &name, "log.jsonl"]).current_dir(&folder));
        assert!(run.code < 2, "{}", run.stderr);
        reports.push(folder.path().join(name));
    }
    visit(test, &reports);
}

#[track_caller]
pub(crate) fn visit(test: &str, reports: &[PathBuf]) {
    let Some(browser) = Need::Browser.path() else { return };
    for part in ["chromium", "node_modules/puppeteer-core", "node_modules/axe-core"] {
        assert!(browser.join(part).exists(), "there is no {}", browser.join(part).display());
    }
    let home = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/browser.mjs");
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new("node")
        .arg(script)
        .arg(browser)
        .arg(test)
        .args(reports)
        // The browser leaves its files there.
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env("XDG_CONFIG_HOME", home.path())
        .env("XDG_CACHE_HOME", home.path())
        .output()
        .expect("node starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn reports_open_without_errors_or_requests() {
    browse("reports_open_without_errors_or_requests", &[log(GOOD), log(BAD), log(WARNED)]);
}

#[test]
fn the_verdict_comes_first() {
    browse("the_verdict_comes_first", &[log(GOOD), log(BAD)]);
}

#[test]
fn a_deep_link_selects_the_packet() {
    assert!(log(BAD).contains(TRIM));
    browse("a_deep_link_selects_the_packet", &[log(BAD)]);
}

/// Returns three episodes, two of which have findings.
fn mixed() -> String {
    [log(BAD), log("valid/verify-then-write.jsonl"), log("invalid/e6-end-with-two-directives-open.jsonl"), log(WARNED)]
        .concat()
}

#[test]
fn the_keyboard_goes_everywhere() {
    browse("the_keyboard_goes_everywhere", &[&mixed()]);
}

#[test]
fn search_and_filter_narrow_the_list() {
    browse("search_and_filter_narrow_the_list", &[&mixed()]);
}

#[test]
fn one_episode_opens_on_itself() {
    let folder = logs::audited();
    let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key"];
    for (name, text, more) in [("one", log(GOOD), &[][..]), ("several", &mixed(), &[]), ("audited", "", &audit)] {
        let name = format!("{name}.html");
        let text = if text.is_empty() {
            "episode.jsonl"
        } else {
            write(folder.path(), "log.jsonl", text.as_bytes());
            "log.jsonl"
        };
        let run = run(omen(["report", "-o", &name, text]).args(more).current_dir(&folder));
        assert!(run.code < 2, "{}", run.stderr);
    }
    let reports = ["one.html", "several.html", "audited.html"].map(|name| folder.path().join(name));
    visit("one_episode_opens_on_itself", &reports);
}

#[test]
fn every_write_has_its_token_decision_and_result() {
    let logs = [log("valid/verify-then-write.jsonl"), log("invalid/e4-token-id-misspelt.jsonl")];
    browse("every_write_has_its_token_decision_and_result", &logs);
}

#[test]
fn episodes_are_filtered_by_code_tool_and_log() {
    let good = [log(GOOD), log("valid/verify-then-write.jsonl"), log(WARNED)].concat();
    let logs = [("bad.jsonl", log(BAD)), ("good.jsonl", good.as_str())];
    let folder = folder(&logs.map(|(name, text)| (name, text.as_bytes())));
    let (run, _) = report_in(&folder, &logs, &[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    visit("episodes_are_filtered_by_code_tool_and_log", &[folder.path().join("report.html")]);
}

#[test]
fn a_touch_and_a_tab_go_where_keys_go() {
    browse("a_touch_and_a_tab_go_where_keys_go", &[&mixed()]);
}

#[test]
fn ten_thousand_episodes_are_a_small_page() {
    browse("ten_thousand_episodes_are_a_small_page", &[&logs::many()]);
}

#[test]
fn a_long_episode_is_shown_in_part() {
    browse("a_long_episode_is_shown_in_part", &[&logs::long_episode()]);
}

#[test]
fn hostile_texts_are_text() {
    browse("hostile_texts_are_text", &[&logs::hostile()]);
}

#[test]
fn a_long_text_is_cut_and_can_be_seen_whole() {
    browse("a_long_text_is_cut_and_can_be_seen_whole", &[&logs::long_text()]);
}

#[test]
fn dark_mode_and_print_have_colours_of_their_own() {
    browse("dark_mode_and_print_have_colours_of_their_own", &[log(BAD)]);
}

#[test]
fn it_fits_a_narrow_screen() {
    browse("it_fits_a_narrow_screen", &[log(BAD)]);
}

#[test]
fn axe_finds_nothing_serious() {
    let folder = logs::audited();
    let audit = ["--audit", "audit.jsonl", "--key-file", "audit.key"];
    write(folder.path(), "mixed.jsonl", mixed().as_bytes());
    let (run, _) = report_in(&folder, &[("episode.jsonl", ""), ("mixed.jsonl", "")], &audit);
    assert_eq!(run.code, 1, "{}", run.stderr);
    visit("axe_finds_nothing_serious", &[folder.path().join("report.html")]);
}

#[test]
fn an_audit_log_shows_calls_and_confirmations() {
    let folder = logs::audited();
    let (run, _) = report_in(&folder, &[("episode.jsonl", "")], &["--audit", "audit.jsonl", "--key-file", "audit.key"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    visit("an_audit_log_shows_calls_and_confirmations", &[folder.path().join("report.html")]);
}

#[test]
fn refused_calls_and_calls_in_doubt_come_first() {
    let folder = logs::audited_in_doubt();
    let (run, _) = report_in(&folder, &[("episode.jsonl", "")], &["--audit", "audit.jsonl", "--key-file", "audit.key"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    visit("refused_calls_and_calls_in_doubt_come_first", &[folder.path().join("report.html")]);
}

#[test]
fn a_consequence_names_its_cause_and_each_finding_its_log() {
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("a")).unwrap();
    write(folder.path(), "a/good.jsonl", log(GOOD).as_bytes());
    write(folder.path(), "a/cascade.jsonl", logs::cascade().as_bytes());
    let (run, _) = report_in(&folder, &[("a/good.jsonl", ""), ("a/cascade.jsonl", "")], &[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    visit("a_consequence_names_its_cause_and_each_finding_its_log", &[folder.path().join("report.html")]);
}

#[test]
fn consequences_stand_under_their_root() {
    browse("consequences_stand_under_their_root", &[&logs::cascade()]);
}
