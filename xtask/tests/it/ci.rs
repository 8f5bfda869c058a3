//! CI does not hang, its tests have no network where the system permits that (T1), and it runs the README's commands and lints each
//! published package alone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::ci::{Ended, Offline, STEPS, Step, offline, run_limited, run_steps};
use xtask::package::published;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Whether a process runs; one that has ended and was not waited for (a zombie) does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

const SOON: Duration = Duration::from_millis(300);

#[test]
fn a_program_ends_by_itself_in_time() {
    let long = Duration::from_secs(60);
    assert_eq!(run_limited(shell("exit 0"), long).expect("sh"), Ended::Passed);
    assert_eq!(run_limited(shell("exit 3"), long).expect("sh"), Ended::Failed);
    assert!(run_limited(Command::new("./there-is-no-such-program"), long).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn what_hangs_is_killed_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, hangs) in
        ["sleep 600 & echo $! > PID; wait", "trap '' TERM; sleep 600 & echo $! > PID; wait; wait; sleep 600"]
            .into_iter()
            .enumerate()
    {
        let pid = folder.path().join(number.to_string());
        let script = hangs.replace("PID", &pid.display().to_string());
        let start = Instant::now();
        assert_eq!(run_limited(shell(&script), SOON).expect("sh"), Ended::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        let pid = std::fs::read_to_string(pid).expect("it has started another program");
        let waited = Instant::now();
        while runs(&pid) {
            assert!(waited.elapsed() < Duration::from_secs(10), "`{hangs}` has left {pid} behind");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn step<'s>(name: &'s str, arguments: &'s [&'s str], limit: Duration) -> Step<'s> {
    Step { name, arguments, env: &[], limit, offline: true }
}

fn report(steps: &[Step<'_>], total: Duration) -> (bool, String) {
    let (mut out, none) = (Vec::new(), Offline::NotPermitted("it is not tried".to_owned()));
    let passed = run_steps(OsStr::new("sh"), steps, total, &none, &mut out).expect("it runs");
    (passed, String::from_utf8(out).expect("text"))
}

#[test]
fn the_report_names_the_step_that_hung() {
    let minute = Duration::from_secs(60);
    let quick = step("quick", &["-c", "exit 0"], minute);
    let hangs = step("hangs", &["-c", "sleep 600"], SOON);
    let after = step("after", &["-c", "exit 0"], minute);
    let (passed, text) = report(&[quick, hangs, after], minute);
    assert!(!passed && text.contains("=== hangs exceeded its limit of 300ms and was killed"), "{text}");
    assert!(!text.contains("=== after"), "nothing comes after it: {text}");
    // Each step that ran stands at the end with its time, and so does the total.
    let times: Vec<_> = text.lines().rev().skip(1).take(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(times, ["total", "hangs", "quick"], "{text}");
    let (passed, text) = report(&[quick, after], minute);
    assert!(passed && text.contains("all steps passed"), "{text}");
    assert!(text.contains("=== quick runs with the network: it is not tried"), "{text}");
    let failing = step("failing", &["-c", "exit 1"], minute);
    let (passed, text) = report(&[failing, after], minute);
    assert!(!passed && text.contains("=== failing failed"), "{text}");
    // All steps together have a limit, too.
    let (passed, text) = report(&[step("long", &["-c", "sleep 600"], minute)], SOON);
    assert!(!passed && text.contains("=== long exceeded its limit of"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn where_it_is_permitted_a_program_has_no_network() {
    match offline() {
        Offline::Permitted(words) => {
            let (program, arguments) = words.split_first().expect("some words");
            let output =
                Command::new(program).args(arguments).args(["cat", "/proc/net/dev"]).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stdout);
            let devices: Vec<_> =
                text.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
            assert_eq!(devices, ["lo"], "{text}");
        }
        Offline::NotPermitted(why) => {
            assert_eq!(omen_testkit::offline(), Vec::<std::ffi::OsString>::new(), "{why}");
        }
    }
}

#[test]
fn every_published_package_is_linted_alone() {
    let alone = STEPS.iter().filter(|step| step.name == "alone");
    let named = alone.flat_map(|step| step.arguments.windows(2).filter(|pair| pair[0] == "-p").map(|pair| pair[1]));
    let named: BTreeSet<_> = named.map(str::to_owned).collect();
    let published = published().expect("the manifests").into_iter().collect();
    assert_eq!(named, published, "each published package has a step `alone` in xtask/src/ci.rs, and no other has");
}

#[test]
fn the_commands_of_the_readme_are_steps() {
    let readme = include_str!("../../../README.md");
    let (_, block) =
        readme.split_once("\n## Try it\n").and_then(|(_, rest)| rest.split_once("```sh\n")).expect("commands");
    let commands = block.lines().take_while(|line| *line != "```").map(|line| {
        let words: Vec<_> = line.split(" #").next().unwrap_or_default().split_whitespace().collect();
        assert_eq!(words.first(), Some(&"cargo"), "{line}");
        words.into_iter().skip(1).collect::<Vec<_>>()
    });
    let commands: Vec<_> = commands.collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        let same = |step: &&Step<'_>| step.arguments.iter().filter(|word| **word != "--locked").eq(&command);
        assert!(
            STEPS.iter().any(|step| same(&step)),
            "add `cargo {}` to `STEPS` in xtask/src/ci.rs",
            command.join(" ")
        );
    }
}
