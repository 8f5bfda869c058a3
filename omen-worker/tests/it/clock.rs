//! A worker with a wrong clock reports the same findings, because it does not read the clock.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omen_testkit::Need;

use crate::process::Worker;
use crate::same::{many, same};
use crate::server::Nats;
use crate::stream::{expected, found, judged, publish};

/// Names in the standard library, and in the crates that a worker uses, that return the time of day.
const TIMES_OF_DAY: [&str; 5] = ["SystemTime", "UNIX_EPOCH", "now_utc", "now_local", "clock_gettime"];

/// Measured intervals cannot be wrong with such a clock: they are read from the monotonic one.
#[test]
fn no_worker_reads_the_time_of_day() {
    let (mut files, mut monotonic) = (0, 0);
    let mut paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for name in TIMES_OF_DAY {
            assert!(!text.contains(name), "{} uses `{name}`: findings may depend on a clock", path.display());
        }
        files += 1;
        monotonic += text.matches("Instant::now").count();
    }
    assert!(files > 15 && monotonic > 3, "{files} files, {monotonic} times");
}

/// Variable with the expected time of day in a worker's process, in seconds since 1970.
const EXPECTED: &str = "OMEN_TEST_CLOCK";

/// Checks in a worker's process that its clock is shifted as the test requires; otherwise the test would show nothing.
pub(crate) fn is_as_it_should_be() {
    let Ok(expected) = std::env::var(EXPECTED) else { return };
    let expected: u64 = expected.parse().unwrap();
    let found = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    assert!(found.abs_diff(expected) < HOUR.as_secs(), "the clock shows {found}, not {expected}");
}

/// Returns the path of the library that shifts the clock, where it is installed.
fn shifter() -> Option<PathBuf> {
    Need::Faketime.path().map(|folder| folder.join("libfaketime/vendor/libfaketime/src/libfaketime.so.1"))
}

/// Starts a worker whose time of day is off by a number of days. Time passes at its normal rate.
fn shifted(server: &Nats, library: &Path, days: i64) -> Worker {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let expected = now.checked_add_signed(days * 24 * 3600).unwrap();
    let variables = [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME", format!("{days:+}d")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        (EXPECTED, expected.to_string()),
    ];
    Worker::with(&server.address().url, &variables)
}

#[test]
fn workers_whose_clocks_differ_by_years_find_the_same() {
    let (Some(server), Some(library)) = (Nats::start(), shifter()) else { return };
    assert!(library.is_file(), "{}", library.display());
    let logs: Vec<String> =
        (0..4).map(|part| many(40_000 + 100 * part, 20).replace("\"corr_", &format!("\"corr_p{part}_"))).collect();
    let log = logs.concat();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let context = server.context().await;
        let mut workers = vec![shifted(&server, &library, -3650), shifted(&server, &library, 3650)];
        // Partitions move between clocks, forward and back: those of a stopped worker go to the other one, with their
        // checkpoints.
        let mut published = String::new();
        for (log, days) in logs.iter().zip([0, -400, 400, 1]) {
            published.push_str(log);
            crate::damage::published(&context, &published).await;
            judged(&context).await;
            workers.remove(0).stop();
            workers.push(shifted(&server, &library, days));
        }
        publish(&context, "log", &log).await;
        judged(&context).await;
        let expected = expected(&context, &log).await;
        same(&found(&context).await, &expected);
        // No worker was left out because of its clock: each one is judging.
        workers.into_iter().for_each(Worker::stop);
        same(&found(&context).await, &expected);
        assert!(expected.len() > 100, "{}", expected.len());
    });
}

const HOUR: Duration = Duration::from_secs(3600);
