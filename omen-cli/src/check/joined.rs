//! `omen check --join`: checks several files as one log whose episodes continue from one file to the next.

use std::cmp::Reverse;
use std::io::{self, Read as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use omen::finding::Finding;
use omen::input::{AnyValidator, available_jobs};
use omen::validator::{Sink, Summary, ValidatorOptions};

use super::findings::{Findings, Total};
use crate::args::CheckArgs;
use crate::exit::complain;
use crate::input::{self, FileLines, Input, Reporter as _};

/// Sorts the files of a rotated log, oldest first, if all names differ only in an age suffix, as written by logrotate and
/// similar programs: numbers, highest first (`a.jsonl.2.gz`, `a.jsonl.1`, `a.jsonl`), or dates (`a.jsonl.2026-03-01`,
/// `a.jsonl-20260302.gz`, `a.jsonl`). Otherwise, the order stays unchanged.
pub(super) fn oldest_first(paths: &mut [PathBuf]) {
    let Some(rotated): Option<Vec<_>> = paths.iter().map(|path| rotated(path)).collect() else { return };
    let is_one = rotated.windows(2).all(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
    // A number and a date cannot be compared by age.
    let has = |is_kind: fn(&Age) -> bool| rotated.iter().any(|(_, age)| is_kind(age));
    let is_mixed = has(|age| matches!(age, Age::Date(_))) && has(|age| matches!(age, Age::Number(_)));
    let mut ages: Vec<_> = rotated.iter().map(|(_, age)| age).collect();
    ages.sort_unstable();
    let differ = ages.windows(2).all(|pair| matches!(pair, [one, other] if one != other));
    if is_one && differ && !is_mixed {
        paths.sort_by_key(|path| self::rotated(path).map(|(_, age)| age));
    }
}

/// Age of a rotated file; the oldest sorts first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Date(String),
    Number(Reverse<u64>),
    Current,
}

/// Splits a path into the name of the rotated log and the age of the file.
fn rotated(path: &Path) -> Option<(PathBuf, Age)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    let dated = name.char_indices().filter(|(_, c)| matches!(c, '.' | '-')).find_map(|(at, _)| {
        let (base, rest) = name.split_at_checked(at)?;
        Some((base, Age::Date(date(rest.get(1..)?)?)))
    });
    let numbered = || {
        let (base, number) = name.rsplit_once('.')?;
        Some((base, Age::Number(Reverse(number.parse().ok()?))))
    };
    let (base, age) = dated.or_else(numbered).unwrap_or((name, Age::Current));
    Some((path.with_file_name(base), age))
}

/// Returns the digits of a date with or without a time: `20260301`, `2026-03-01`, `2026-03-01T10-00`, `2026030110`.
fn date(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || "-_:TZ".contains(c)) && text.starts_with(['1', '2']);
    let within = |at, range: RangeInclusive<u8>| {
        digits.get(at..at + 2).and_then(|two| two.parse().ok()).is_some_and(|two| range.contains(&two))
    };
    (is_plain && digits.len() <= 14 && within(4, 1..=12) && within(6, 1..=31)).then_some(digits)
}

/// Checks files as one log. An unreadable file is skipped, which may cause findings in the next ones.
pub(super) fn check<'r>(
    args: &CheckArgs,
    paths: &'r [PathBuf],
    options: &ValidatorOptions,
    mut findings: Findings<'r, '_, '_>,
) -> io::Result<Total> {
    let mut validator = AnyValidator::new(options.clone(), args.jobs.unwrap_or_else(available_jobs));
    let mut lines = FileLines::default();
    let mut total = Total { is_complete: true, ..Total::default() };
    for (at, path) in paths.iter().enumerate() {
        if at > 0 {
            if lines.is_inside {
                feed(b"\n", &mut lines, &mut validator, paths, &mut findings)?;
            }
            lines.next_file();
            let bytes = validator.summary().bytes - total.summary.bytes;
            findings.reports.file_end(findings.path, &Summary { bytes, ..Summary::default() })?;
            total.summary = validator.summary();
        }
        findings.path = path;
        findings.reports.file(path)?;
        match read(path, &mut lines, &mut validator, paths, &mut findings)? {
            Ok(()) => total.files += 1,
            Err(error) => {
                complain(format_args!("cannot read {}: {error}", input::name(path)));
                findings.unreadable(&error.to_string())?;
                total.is_complete = false;
            }
        }
    }
    if paths.is_empty() {
        return Ok(total);
    }
    let before = total.summary.bytes;
    total.summary = validator.finish(&mut JoinedSink { lines: &lines, paths, findings: &mut findings })?;
    findings.reports.file_end(findings.path, &Summary { bytes: total.summary.bytes - before, ..Summary::default() })?;
    Ok(total)
}

/// Checks one file. The inner error is a failure to read the file.
fn read<'r>(
    path: &Path,
    lines: &mut FileLines,
    validator: &mut AnyValidator,
    paths: &'r [PathBuf],
    findings: &mut Findings<'r, '_, '_>,
) -> io::Result<io::Result<()>> {
    let mut input = match Input::open_decoded(path, findings.is_quiet()) {
        Ok(input) => input,
        Err(error) => return Ok(Err(error)),
    };
    findings.out().follow(&input.bar, input.is_live);
    let mut buffer = vec![0; READ_BYTES];
    let read = loop {
        match input.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(count) => {
                feed(buffer.get(..count).unwrap_or_default(), lines, validator, paths, findings)?;
                findings.caught_up()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    input.bar.finish_and_clear();
    Ok(read)
}

fn feed<'r>(
    bytes: &[u8],
    lines: &mut FileLines,
    validator: &mut AnyValidator,
    paths: &'r [PathBuf],
    findings: &mut Findings<'r, '_, '_>,
) -> io::Result<()> {
    validator.feed(bytes, &mut JoinedSink { lines, paths, findings })?;
    lines.take(bytes);
    Ok(())
}

/// Reports each finding in the file that contains its line, or else in the current file.
struct JoinedSink<'s, 'r, 'o, 'c> {
    lines: &'s FileLines,
    paths: &'r [PathBuf],
    findings: &'s mut Findings<'r, 'o, 'c>,
}

impl Sink for JoinedSink<'_, '_, '_, '_> {
    type Error = io::Error;

    fn finding(&mut self, mut finding: Finding, line: Option<&str>) -> io::Result<()> {
        let current = self.findings.path;
        let path = |file: usize| self.paths.get(file).map_or(current, PathBuf::as_path);
        let file = finding.line.map_or(current, |number| {
            let (file, number) = self.lines.place(number);
            finding.line = Some(number);
            path(file)
        });
        if let Some(cause) = &mut finding.follows_from {
            let (earlier, number) = self.lines.place(cause.line);
            cause.line = number;
            if path(earlier) != file {
                finding.diagnostic.notes.push(format!("line {number} is in {}", input::name(path(earlier))));
            }
        }
        // A line number without a file would refer to this file.
        finding.directive_line = finding.directive_line.and_then(|number| {
            let (opened, number) = self.lines.place(number);
            (path(opened) == file).then_some(number)
        });
        if file == current {
            return self.findings.finding(finding, line);
        }
        self.findings.path = file;
        self.findings.reports.file(file)?;
        self.findings.finding(finding, line)?;
        self.findings.path = current;
        self.findings.reports.file(current)
    }

    fn wants_packets(&self) -> bool {
        false
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.findings.caught_up()
    }
}

const READ_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &[&str], expect: &[&str]) {
        let mut paths: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        oldest_first(&mut paths);
        assert_eq!(paths, expect.iter().map(PathBuf::from).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_of_rotated_files_count_down() {
        check(
            &["l/a.jsonl", "l/a.jsonl.1", "l/a.jsonl.10.gz", "l/a.jsonl.2.gz"],
            &["l/a.jsonl.10.gz", "l/a.jsonl.2.gz", "l/a.jsonl.1", "l/a.jsonl"],
        );
    }

    #[test]
    fn dates_of_rotated_files_count_up() {
        for expect in [
            ["l/a.jsonl.20251231", "l/a.jsonl.20260301.gz", "l/a.jsonl"],
            ["l/a.jsonl.2025-12-31", "l/a.jsonl.2026-03-01", "l/a.jsonl"],
            ["l/a.jsonl-20251231.zst", "l/a.jsonl-20260301", "l/a.jsonl"],
            ["l/a.jsonl.2026-03-01T09-59", "l/a.jsonl.2026-03-01T10-00", "l/a.jsonl"],
            ["l/a-b.jsonl.2026030109", "l/a-b.jsonl.2026030110", "l/a-b.jsonl"],
        ] {
            let [first, second, current] = expect;
            check(&[current, second, first], &expect);
        }
        // Digits that are not an existing date count as a number.
        check(&["a.jsonl.20261301", "a.jsonl.20261302"], &["a.jsonl.20261302", "a.jsonl.20261301"]);
    }

    #[test]
    fn other_names_stay_as_they_were_given() {
        for given in [
            &["b.jsonl", "a.jsonl"][..],
            &["a.jsonl.1", "b.jsonl.2"],
            &["l/a.jsonl", "m/a.jsonl.1"],
            &["a.jsonl.20260302", "a.jsonl.20260301", "a.jsonl.1"],
            &["a.jsonl.2026-03-01", "a.jsonl-20260301"],
            &["a-2026-03-01.jsonl", "a-2026-03-02.jsonl"],
            &["-", "a.jsonl"],
            &[],
        ] {
            check(given, given);
        }
    }
}
