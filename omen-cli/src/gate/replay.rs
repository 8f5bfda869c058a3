//! `omen gate replay`: compares the verdicts of two policies on the same calls.

mod change;
mod groups;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omen::lines::{LineSplitter, RawLine, ReadError};
use omen::render::human::clean;
use omen_gate::Config;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Logged, read_log};
use omen_gate::config::PolicyHash;
use omen_gate::order::UnreadableOrder;
use omen_gate::replay::{Replay, ReplayVerdict, ReplayedCall};
use serde::Serialize;
use serde_json::{Map, Value};

use self::change::{CallDetails, ChangeKind, PolicyVerdict, VerdictChange};
use self::groups::Groups;
use super::{catalog, config};
use crate::args::{FailOn, Format, GateReplayArgs};
use crate::audit;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::input::{Input, name};
use crate::output::Output;

pub(crate) fn replay(args: &GateReplayArgs, out: &mut Output) -> Result<Exit, Failure> {
    let catalog = args.catalog.as_deref().map(catalog::read).transpose();
    let (old, new) = (config::load(&args.old), config::load(&args.new));
    let (old, new, catalog) = (old?, new?, catalog?);
    let has_key = args.key_file.is_some() || args.key_env.is_some();
    if !has_key && (args.since.is_some() || args.until.is_some()) {
        let why = "plans have no time; `--since` and `--until` require an audit log, with its key";
        return Err(Failure::Usage(why.to_owned()));
    }
    note_folders(&old, &new);
    let now = SystemTime::now();
    let mut report = ReplayReport {
        args,
        replay: Replay::new(&old, &new, catalog, now),
        since: args.since.as_ref().map(|when| when.text(now)),
        until: args.until.as_ref().map(|when| when.text(now)),
        counts: CallCounts::default(),
        groups: Groups::default(),
        failed: None,
        is_different: false,
        listed: 0,
        out,
    };
    report.begin()?;
    let exit = match if has_key { report.log() } else { report.plans() } {
        Err(Failure::Unreadable) => Exit::Unreadable,
        exit => exit?,
    };
    report.end()?;
    let ReplayReport { counts, .. } = report;
    out.flush()?;
    let is_found = args.fail_on.iter().any(|what| match what {
        FailOn::DenyToAllow => counts.deny_to_allow > 0,
        FailOn::AllowToDeny => counts.allow_to_deny > 0,
        FailOn::Unconfirmed => counts.unconfirmed > 0,
        FailOn::Undecidable => counts.undecidable > 0,
        FailOn::Never => false,
    });
    Ok(if exit == Exit::Clean && is_found { Exit::ErrorsFound } else { exit })
}

/// Notes that the configurations are in different folders, from which their relative paths start: their policies differ by that.
fn note_folders(old: &Config, new: &Config) {
    let folder = |config: &Config| {
        let folder = config.folder.clone().unwrap_or_else(|| PathBuf::from("."));
        folder.canonicalize().unwrap_or(folder)
    };
    let (old, new) = (folder(old), folder(new));
    if old != new {
        let (old, new) = (old.display().to_string(), new.display().to_string());
        complain(format_args!(
            "note: the configurations are in different folders, `{}` and `{}`: relative paths in their rules start \
             there, so they are judged differently",
            clean(&old),
            clean(&new)
        ));
    }
}

/// Number of calls of each kind.
#[derive(Debug, Default, Serialize)]
struct CallCounts {
    calls: u64,
    deny_to_allow: u64,
    allow_to_deny: u64,
    /// Calls made under both policies, but with a confirmation only under the old one.
    unconfirmed: u64,
    /// Calls made under both policies, but with a confirmation only under the new one.
    confirmed: u64,
    unchanged: u64,
    undecidable: u64,
    /// Calls after the first one that only one policy allows. Order rules judge them by the calls actually made before.
    later: u64,
}

/// Printer of differences: as they are found, for programs, or at the end, for people.
struct ReplayReport<'r> {
    args: &'r GateReplayArgs,
    replay: Replay,
    since: Option<String>,
    until: Option<String>,
    counts: CallCounts,
    groups: Groups,
    failed: Option<ReplayFailure>,
    /// Whether some call so far is allowed by only one policy.
    is_different: bool,
    /// Number of changes printed or grouped.
    listed: u64,
    out: &'r mut Output,
}

/// Reason why a log was not replayed to its end.
enum ReplayFailure {
    Output(io::Error),
    Log(UnreadableOrder),
}

#[derive(Serialize)]
struct ReplaySummary<'s> {
    old: PolicyHash,
    new: PolicyHash,
    /// Whether the patterns for queries differ; they are not replayed, since a log has no queries.
    patterns_differ: bool,
    #[serde(flatten)]
    counts: &'s CallCounts,
}

impl ReplayReport<'_> {
    fn log(&mut self) -> Result<Exit, Failure> {
        let key = audit::key_at(self.args.key_file.as_deref(), self.args.key_env.as_deref())?;
        self.replay.set_key(&key);
        let log = &self.args.input;
        let found = read_log(log_of(log), &key, None, &mut |entry| self.entry(entry))?;
        let rest = self.replay.end();
        self.calls(rest);
        match self.failed.take() {
            Some(ReplayFailure::Output(error)) => Err(error.into()),
            Some(ReplayFailure::Log(error)) => {
                Err(unreadable(format_args!("{error}; replay it with the version that wrote the log, or a newer one")))
            }
            None => Ok(audit::reported(log, &found)),
        }
    }

    fn entry(&mut self, entry: Logged<'_>) {
        if self.failed.is_some() {
            return;
        }
        match self.replay.add(entry) {
            Ok(calls) => self.calls(calls),
            Err(error) => self.failed = Some(ReplayFailure::Log(error)),
        }
    }

    fn calls(&mut self, calls: Vec<ReplayedCall>) {
        for ReplayedCall { entry, time, turn, call, verdicts, .. } in calls {
            // Calls outside the requested time are not reported, but earlier ones count for rates and order rules.
            let at = time.trim_end_matches('Z');
            let is_wanted = self.since.as_deref().is_none_or(|since| at >= since)
                && self.until.as_deref().is_none_or(|until| at < until);
            if !is_wanted || self.failed.is_some() {
                continue;
            }
            let place = CallDetails {
                number: entry,
                time: Some(&time),
                turn: turn.as_deref(),
                tool: Some(call.tool.to_string()),
                args: call.args.as_ref(),
            };
            self.failed = self.count(place, &verdicts).err().map(ReplayFailure::Output);
        }
    }

    fn plans(&mut self) -> Result<Exit, Failure> {
        let path: &Path = &self.args.input;
        let cannot_read = |error: io::Error| unreadable(format_args!("cannot read {}: {error}", name(path)));
        let mut input = Input::open_regular(path).map_err(cannot_read)?;
        let (mut lines, mut number) = (LineSplitter::new(MAX_PLAN), 0);
        let read = lines.read(&mut input, |line| line.map_or(Ok(()), |line| self.plan(line, &mut number)));
        input.bar.finish_and_clear();
        match read {
            Ok(()) => lines.finish(|line| self.plan(line, &mut number))?,
            Err(ReadError::Sink(error)) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(Failure::Usage(error.to_string()));
            }
            Err(ReadError::Sink(error)) => return Err(error.into()),
            Err(ReadError::Input(error)) => return Err(cannot_read(error)),
        }
        Ok(Exit::Clean)
    }

    fn plan(&mut self, line: RawLine<'_>, number: &mut u64) -> io::Result<()> {
        *number += 1;
        let RawLine::Whole(bytes) = line else {
            complain(format_args!(
                "{}:{number}: the plan is longer than {MAX_PLAN} bytes; skipped",
                name(&self.args.input)
            ));
            self.counts.calls += 1;
            self.counts.undecidable += 1;
            return Ok(());
        };
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(bytes);
        // A line is a plan, or a JSON string with the text of a plan.
        let text = serde_json::from_str::<String>(&text).unwrap_or_else(|_| text.into_owned());
        if is_entry(&text) {
            let what = "this is an audit log; pass its key with `--key-file` or `--key-env`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let Some(verdicts) = self.replay.judge_plan(&text) else { return Ok(()) };
        let (tool, args) = said_in(&text);
        self.count(CallDetails { number: *number, time: None, turn: None, tool, args: args.as_ref() }, &verdicts)
    }

    fn count(&mut self, place: CallDetails<'_>, (old, new): &(ReplayVerdict, ReplayVerdict)) -> io::Result<()> {
        use ReplayVerdict::{Allow, Confirm, Deny, Undecidable, UndecidableOrder};

        self.counts.calls += 1;
        self.counts.later += u64::from(self.is_different);
        let change = match (old, new) {
            (UndecidableOrder(_), _) | (_, UndecidableOrder(_)) => {
                self.counts.undecidable += 1;
                ChangeKind::Undecidable
            }
            (Undecidable(_), _) | (_, Undecidable(_)) => {
                self.counts.undecidable += 1;
                return Ok(());
            }
            (Deny(_), Allow | Confirm) => {
                self.counts.deny_to_allow += 1;
                ChangeKind::DenyToAllow
            }
            (Allow | Confirm, Deny(_)) => {
                self.counts.allow_to_deny += 1;
                ChangeKind::AllowToDeny
            }
            (Confirm, Allow) => {
                self.counts.unconfirmed += 1;
                ChangeKind::Unconfirmed
            }
            (Allow, Confirm) => {
                self.counts.confirmed += 1;
                ChangeKind::Confirmed
            }
            (Deny(_), Deny(_)) | (Allow, Allow) | (Confirm, Confirm) => {
                self.counts.unchanged += 1;
                return Ok(());
            }
        };
        self.is_different |= matches!(change, ChangeKind::DenyToAllow | ChangeKind::AllowToDeny);
        self.listed += 1;
        let found = self.listed;
        let change = VerdictChange {
            change,
            place,
            old: PolicyVerdict::from_verdict(old),
            new: PolicyVerdict::from_verdict(new),
        };
        match self.args.format {
            Format::Json => {
                let comma = if found > 1 { "," } else { "" };
                write!(self.out, "{comma}\n{}", serde_json::to_string(&change)?)
            }
            Format::Human => {
                self.groups.add(&change);
                Ok(())
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        match self.args.format {
            Format::Json => write!(self.out, "{{\"changes\":["),
            Format::Human => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let (old, new) = self.replay.hashes();
        let patterns_differ = self.replay.patterns_differ();
        if patterns_differ {
            complain("note: the patterns of queries differ (PG-0); they are not replayed, since a log has no queries");
        }
        let later = self.counts.later;
        if later > 0 && self.replay.has_order() {
            let (calls, are) = if later == 1 { ("call comes", "it is") } else { ("calls come", "they are") };
            complain(format_args!(
                "note: {later} {calls} after the first one that only one policy allows; under the order rules, \
                 {are} judged with the calls that were made before"
            ));
        }
        let summary = ReplaySummary { old, new, patterns_differ, counts: &self.counts };
        match self.args.format {
            Format::Json => {
                let text = serde_json::to_string(&summary)?;
                // The summary's fields follow the list of changes in the same object.
                writeln!(self.out, "],{}", text.strip_prefix('{').unwrap_or_default())
            }
            Format::Human => {
                self.groups.print(self.out)?;
                let CallCounts {
                    calls,
                    deny_to_allow,
                    allow_to_deny,
                    unconfirmed,
                    confirmed,
                    unchanged,
                    undecidable,
                    ..
                } = &self.counts;
                let s = if *calls == 1 { "" } else { "s" };
                writeln!(
                    self.out,
                    "{calls} call{s}: {deny_to_allow} DENY→ALLOW, {allow_to_deny} ALLOW→DENY, {unconfirmed} without a \
                     confirmation, {confirmed} with one, {unchanged} unchanged, {undecidable} undecidable"
                )?;
                writeln!(self.out, "old policy {old}\nnew policy {new}")
            }
        }
    }
}

/// Returns whether a line is an entry of an audit log.
fn is_entry(text: &str) -> bool {
    let value: Option<Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("mac").is_some() && value.get("sequence").is_some())
}

/// Returns the tool and the arguments that a plan names.
fn said_in(text: &str) -> (Option<String>, Option<Map<String, Value>>) {
    let Ok(plan) = serde_json::from_str::<Value>(text) else { return (None, None) };
    let word = |member: &str| plan.get(member).and_then(Value::as_str);
    let tool = word("server").zip(word("tool")).map(|(server, tool)| format!("{server}/{tool}"));
    (tool, plan.get("args").and_then(Value::as_object).cloned())
}

/// Maximum line length of a plan file in bytes, enough for any plan however it is escaped.
const MAX_PLAN: usize = 6 * (2 << 20) + 64;
