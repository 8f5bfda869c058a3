//! `omen audit stats`: prints statistics of a log.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{LogVerification, Logged, read_log};
use serde::Serialize;

use super::calls::{OpenCalls, result};
use super::order::OrderCounts;
use super::tally::refused_by;
use super::waiting::Waiting;
use crate::args::{AuditStatsArgs, Format};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Statistics of a log.
#[derive(Debug, Default, Serialize)]
struct Stats {
    verdict: &'static str,
    files: usize,
    entries: u64,
    bytes: u64,
    first: Option<String>,
    last: Option<String>,
    /// Number of times a gate has opened the log.
    starts: u64,
    kinds: BTreeMap<String, u64>,
    tools: BTreeMap<String, ToolStatistics>,
    /// Refusals by code.
    refused: BTreeMap<String, u64>,
    /// Refusals that rules in shadow mode would have issued, by code.
    shadow: BTreeMap<String, u64>,
    /// Statistics of the order between calls.
    #[serde(skip_serializing_if = "OrderCounts::is_empty")]
    order: OrderCounts,
    /// Number of calls with an intent but no outcome.
    in_doubt: usize,
    /// Number of calls waiting for confirmation now, in a gate that has the log open.
    waiting: usize,
    /// Number of calls still waiting for confirmation when their gate was killed: neither made nor denied.
    unconfirmed: usize,
}

#[derive(Debug, Default, Serialize)]
struct ToolStatistics {
    calls: u64,
    answered: u64,
    /// Number of calls that a rule cancelled before or during execution.
    stopped: u64,
    /// Failed calls, by fault class.
    failed: BTreeMap<String, u64>,
    /// Refused calls, by code.
    refused: BTreeMap<String, u64>,
}

pub(crate) fn stats(args: &AuditStatsArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = super::key(&args.key)?;
    let (mut stats, mut calls, mut waiting) = (Stats::default(), OpenCalls::default(), Waiting::default());
    let mut add = |entry: Logged<'_>| {
        waiting.sees(entry);
        stats.add(entry, &mut calls);
    };
    let found = read_log(log_of(&args.log), &key, None, &mut add)?;
    stats.end(&found, &calls, &waiting);
    match args.format {
        Format::Human => stats.human(out)?,
        Format::Json => out.json(&stats)?,
    }
    out.flush()?;
    Ok(super::reported(&args.log, &found))
}

impl Stats {
    fn add(&mut self, entry: Logged<'_>, calls: &mut OpenCalls) {
        let kind = entry.kind();
        self.entries += 1;
        self.first.get_or_insert_with(|| entry.time().to_owned());
        self.last = Some(entry.time().to_owned());
        self.starts += u64::from(matches!(kind.as_str(), "opened" | "repaired"));
        self.order.add(entry);
        let tool = calls.tool(entry);
        if let Some(code) = refused_by(entry) {
            *self.refused.entry(code.to_owned()).or_default() += 1;
            if let Some(tool) = &tool {
                let tool = self.tools.entry(tool.clone()).or_default();
                *tool.refused.entry(code.to_owned()).or_default() += 1;
            }
        } else if let (Some(code), Some("shadow")) = (entry.data().get("code"), result(entry).as_deref()) {
            *self.shadow.entry(code.as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        if let Some(tool) = tool.filter(|_| matches!(kind.as_str(), "intent" | "outcome")) {
            let tool = self.tools.entry(tool).or_default();
            match (kind.as_str(), result(entry).as_deref()) {
                ("intent", _) => tool.calls += 1,
                (_, Some("answered")) => tool.answered += 1,
                (_, Some("stopped" | "settled") | None) => tool.stopped += 1,
                (_, Some(class)) => *tool.failed.entry(class.to_owned()).or_default() += 1,
            }
        }
        *self.kinds.entry(kind).or_default() += 1;
    }

    fn end(&mut self, found: &LogVerification, calls: &OpenCalls, waiting: &Waiting) {
        self.verdict = super::overall(found);
        self.files = found.files.len();
        self.bytes = found.files.iter().map(|file| file.found.bytes).sum();
        self.in_doubt = calls.len();
        let open = waiting.len();
        let (waits, ended) = if found.is_in_use { (open, 0) } else { (0, open) };
        self.waiting = waits;
        self.unconfirmed = waiting.abandoned + ended;
    }

    fn human(&self, out: &mut Output) -> io::Result<()> {
        let Self { verdict, files, entries, bytes, starts, in_doubt, waiting, unconfirmed, .. } = self;
        writeln!(out, "{verdict}: {entries} entries in {bytes} bytes, {files} {}", plural(*files, "file"))?;
        if let (Some(first), Some(last)) = (&self.first, &self.last) {
            let times = if *starts == 1 { "time" } else { "times" };
            writeln!(out, "from {first} to {last}, opened {starts} {times}")?;
        }
        writeln!(out, "\nkinds")?;
        self.kinds.iter().try_for_each(|(kind, count)| writeln!(out, "  {kind:<40}{count:>10}"))?;
        if !self.tools.is_empty() {
            writeln!(
                out,
                "\n{:<42}{:>10}{:>10}{:>10}{:>10}{:>10}",
                "tools", "calls", "answered", "failed", "stopped", "refused"
            )?;
        }
        for (name, ToolStatistics { calls, answered, stopped, failed, refused }) in &self.tools {
            let (all, not_made): (u64, u64) = (failed.values().sum(), refused.values().sum());
            writeln!(out, "  {:<40}{calls:>10}{answered:>10}{all:>10}{stopped:>10}{not_made:>10}", clean(name))?;
            for (class, count) in failed {
                writeln!(out, "    {class:<58}{count:>10}")?;
            }
            for (code, count) in refused {
                writeln!(out, "    {code:<78}{count:>10}")?;
            }
        }
        if !self.refused.is_empty() {
            writeln!(out, "\nrefused")?;
        }
        self.refused.iter().try_for_each(|(code, count)| writeln!(out, "  {code:<40}{count:>10}"))?;
        if !self.shadow.is_empty() {
            writeln!(out, "\nshadow: allowed because the rules that would refuse were only being tried")?;
        }
        self.shadow.iter().try_for_each(|(code, count)| writeln!(out, "  {code:<40}{count:>10}"))?;
        self.order.human(out)?;
        if *waiting > 0 {
            let calls = if *waiting == 1 { "call waits" } else { "calls wait" };
            writeln!(out, "\n{waiting} {calls} for confirmation: `omen gate confirm`")?;
        }
        if *unconfirmed > 0 {
            let calls = plural(*unconfirmed, "call");
            writeln!(
                out,
                "\n{unconfirmed} {calls} waited for confirmation when the gate was killed: `omen audit show --outcome waits`"
            )?;
        }
        if *in_doubt > 0 {
            writeln!(out, "\n{in_doubt} {} in doubt: `omen audit show --in-doubt`", plural(*in_doubt, "call"))?;
        }
        Ok(())
    }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}
