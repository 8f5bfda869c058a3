//! `omen check --order`: judges the calls in audit logs by the order rules of a configuration.

mod log;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use omen::finding::Severity;
use omen::validator::Summary;
use omen_gate::Config;
use omen_gate::audit::Key;
use omen_gate::audit::store::log_of;
use omen_gate::order::{LogEntry, OrderFinding, OrderLog, PATIENCE};
use omen_types::parse;

use self::log::{EntryReader, ReadFault};
use crate::args::CheckArgs;
use crate::exit::{Exit, Failure, complain};
use crate::formats::{AnyFinding, EntryFinding, EntryPlace, Reports, Statistics, TOOL, Totals};
use crate::output::{Color, Output};
use crate::{audit, gate, input};

pub(super) fn run(args: &CheckArgs, path: &Path, color: Color, out: &mut Output) -> Result<Exit, Failure> {
    let InputOptions { quiet, is_silent } = InputOptions::from_args(args)?;
    let config = gate::load_config(path)?;
    let key = match (&args.inputs.order.key_file, &args.inputs.order.key_env) {
        (None, None) => None,
        (file, variable) => Some(audit::key_at(file.as_deref(), variable.as_deref())?),
    };
    let logs: Vec<PathBuf> = args.inputs.files.iter().map(log_of).collect();
    let mut reports = Reports::open(&args.formats, color, &logs, out, |report, out| report.begin_calls(out))?;
    let mut statistics = Statistics::default();
    let mut total = OrderTotal::default();
    for log in &logs {
        let sink = Sink { reports: &mut reports, statistics: &mut statistics, is_silent };
        LogCheck::new(args, &config, key.as_ref(), log, sink).run(&mut total)?;
    }
    if is_silent {
        match args.formats.stdout().is_for_people {
            true => statistics.table(reports.stdout())?,
            false => statistics.json(reports.stdout())?,
        }
    }
    let totals = Totals {
        files: total.files,
        summary: total.summary,
        is_about_calls: true,
        left_out: None,
        statistics: &statistics,
    };
    match reports.finish(&totals, quiet && args.formats.stdout().is_for_people).map_err(Failure::from) {
        Ok(()) | Err(Failure::Closed) => {}
        Err(failure) => return Err(failure),
    }
    if !quiet {
        total.notes(key.is_some());
    }
    let is_empty = args.inputs.fail_on_empty && total.summary.packets == 0;
    if is_empty {
        complain("no calls were found; pass audit logs, or omit `--fail-on-empty`");
    }
    Ok(match total.is_unreadable || is_empty {
        true => Exit::Unreadable,
        false if total.summary.errors > 0 && !args.inputs.exit_zero => Exit::ErrorsFound,
        false => Exit::Clean,
    })
}

/// Options for the amount of output.
struct InputOptions {
    quiet: bool,
    is_silent: bool,
}

impl InputOptions {
    fn from_args(args: &CheckArgs) -> Result<Self, Failure> {
        args.formats.refuse_unsupported(args.inputs.statistics)?;
        if !args.levels.is_empty() {
            let message = "`-A`, `-W` and `-D` apply to codes of packets; with `--order`, use `--strict`";
            return Err(Failure::Usage(message.to_owned()));
        }
        match args.inputs.files.iter().any(|path| input::is_stdin(path)) || args.inputs.files.is_empty() {
            true => Err(Failure::Usage("`--order` reads audit logs from files; pass one".to_owned())),
            false => Ok(Self { quiet: args.inputs.quiet, is_silent: args.inputs.statistics }),
        }
    }
}

/// Totals over all logs.
#[derive(Debug, Default)]
struct OrderTotal {
    files: u64,
    summary: Summary,
    is_unreadable: bool,
    /// Number of sessions that have not ended and still owe a call.
    owing: usize,
    undecided: u64,
}

impl OrderTotal {
    fn notes(&self, has_key: bool) {
        if self.owing > 0 {
            let s = if self.owing == 1 { " has" } else { "s have" };
            complain(format_args!(
                "note: {} session{s} not ended, with open obligations; `--ended` reports them",
                self.owing
            ));
        }
        if !has_key {
            let more = if self.undecided > 0 { ", and more can be decided with the key" } else { "" };
            complain(format_args!("note: the logs were not verified{more}: add `--key-file` or `--key-env`"));
        }
    }
}

/// Destination of findings.
struct Sink<'s, 'o> {
    reports: &'s mut Reports<'o>,
    statistics: &'s mut Statistics,
    is_silent: bool,
}

struct LogCheck<'c, 'o> {
    path: &'c Path,
    key: Option<&'c Key>,
    order: OrderLog,
    is_strict: bool,
    is_ended: bool,
    /// Files so far, each with the number of its first entry.
    files: Vec<(u64, PathBuf)>,
    /// Counts of the current file; `before` sums up the earlier files.
    file: Summary,
    before: Summary,
    undecided: u64,
    /// Latest entries with their lines, kept because a verdict may depend on later entries.
    lines: VecDeque<(u64, String)>,
    sink: Sink<'c, 'o>,
}

impl<'c, 'o> LogCheck<'c, 'o> {
    fn new(args: &CheckArgs, config: &Config, key: Option<&'c Key>, path: &'c Path, sink: Sink<'c, 'o>) -> Self {
        Self {
            path,
            key,
            order: OrderLog::new(config, key),
            is_strict: args.inputs.order.strict,
            is_ended: args.inputs.order.ended,
            files: Vec::new(),
            file: Summary::default(),
            before: Summary::default(),
            undecided: 0,
            lines: VecDeque::new(),
            sink,
        }
    }

    fn run(mut self, total: &mut OrderTotal) -> io::Result<()> {
        let (path, key) = (self.path, self.key);
        let read = EntryReader { log: path, key }.read(&mut |file, entry, line| self.entry(file, entry, line));
        if self.files.is_empty() {
            self.sink.reports.file(path)?;
        }
        let current = self.current();
        match read {
            Ok(()) => {
                total.owing += self.order.end(self.is_ended);
                self.settle()?;
            }
            Err(ReadFault::Output(error)) => return Err(error),
            Err(ReadFault::Input(reason)) => {
                complain(format_args!("cannot read {}: {reason}", input::name(path)));
                self.sink.reports.unreadable(&current, &reason)?;
                total.is_unreadable = true;
            }
        }
        self.sink.reports.file_end(&current, &self.file)?;
        self.before += self.file;
        total.files += self.files.len() as u64;
        total.summary += self.before;
        total.undecided += self.undecided;
        Ok(())
    }

    fn current(&self) -> PathBuf {
        self.files.last().map_or_else(|| self.path.to_owned(), |(_, path)| path.clone())
    }

    fn entry(&mut self, file: &Path, entry: &LogEntry<'_>, line: &str) -> Result<(), ReadFault> {
        if self.files.last().is_none_or(|(_, path)| path != file) {
            if let Some((_, before)) = self.files.last() {
                self.sink.reports.file_end(before, &self.file)?;
                self.before += std::mem::take(&mut self.file);
            }
            self.files.push((entry.sequence, file.to_owned()));
            self.sink.reports.file(file)?;
        }
        self.file.bytes += line.len() as u64 + 1;
        if self.lines.len() > PATIENCE {
            self.lines.pop_front();
        }
        self.lines.push_back((entry.sequence, line.to_owned()));
        self.order.add(entry).map_err(|error| ReadFault::Input(error.to_string()))?;
        Ok(self.settle()?)
    }

    /// Reports the calls and debts that are decided by now.
    fn settle(&mut self) -> io::Result<()> {
        for judged in self.order.judged() {
            // A refused call cannot break a rule.
            if judged.is_refused {
                continue;
            }
            let finding = judged.finding();
            let is_broken = finding.as_ref().is_some_and(|finding| self.is_strict || !finding.is_undecided);
            self.file.packets += 1;
            *if is_broken { &mut self.file.rejected } else { &mut self.file.accepted } += 1;
            if let Some(finding) = finding {
                self.report(finding)?;
            }
        }
        self.order.debts().into_iter().try_for_each(|finding| self.report(finding))
    }

    /// Reports a finding, with the text of its line if the line is still kept.
    fn report(&mut self, finding: OrderFinding) -> io::Result<()> {
        let Some(place) = self.place(finding.entry) else { return Ok(()) };
        let line = self.lines.iter().find(|(entry, _)| *entry == finding.entry).map(|(_, line)| line.as_str());
        let span = line.and_then(|line| {
            let span = parse::locate(line, TOOL)?;
            Some((line.get(..span.start)?.chars().count() as u64 + 1, span))
        });
        let is_error = self.is_strict || !finding.is_undecided;
        self.undecided += u64::from(finding.is_undecided);
        let related = finding.related.iter().filter_map(|related| Some((self.place(related.entry)?, related.what)));
        let shown = EntryFinding {
            severity: if is_error { Severity::Error } else { Severity::Warning },
            line: place.line,
            span,
            related: related.collect(),
            follows_from: finding.follows_from.and_then(|entry| self.place(entry)),
            order: finding,
        };
        *if is_error { &mut self.file.errors } else { &mut self.file.warnings } += 1;
        self.file.consequences += u64::from(shown.follows_from.is_some());
        let shown = AnyFinding::Entry(&shown);
        self.sink.statistics.add_entry(shown);
        if self.sink.is_silent { Ok(()) } else { self.sink.reports.finding(&place.path, shown, line) }
    }

    /// Returns the file and line of an entry.
    fn place(&self, entry: u64) -> Option<EntryPlace> {
        let (first, path) = self.files.iter().rev().find(|(first, _)| *first <= entry)?;
        Some(EntryPlace { entry, path: path.clone(), line: entry - first + 1 })
    }
}
