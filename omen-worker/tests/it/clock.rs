//! A worker whose clock is wrong finds the same, because it does not read it.

use std::fs;
use std::path::Path;

/// Everything in the standard library, and in the crates that a worker uses, that returns the time of day.
const TIMES_OF_DAY: [&str; 5] = ["SystemTime", "UNIX_EPOCH", "now_utc", "now_local", "clock_gettime"];

/// What was measured with such a clock cannot be off: how long ago something was in this process.
#[test]
fn no_worker_reads_the_time_of_day() {
    let (mut files, mut monotonic) = (0, 0);
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for name in TIMES_OF_DAY {
            assert!(!text.contains(name), "{} uses `{name}`: findings may depend on a clock", path.display());
        }
        files += 1;
        monotonic += text.matches("Instant::now").count();
    }
    assert!(files > 20 && monotonic > 3, "{files} files, {monotonic} times");
}
