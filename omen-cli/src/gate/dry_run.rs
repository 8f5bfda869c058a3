//! `omen gate dry-run`: reports what the gate would do with plans, without calling any tool.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use omen::lines::{LineSplitter, RawLine, ReadError};
use omen_gate::SystemClock;
use omen_gate::dry_run::{DryRun, PlanVerdict};
use serde::Serialize;

use super::{catalog, config};
use crate::args::DryRunArgs;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::input::{Input, name};
use crate::output::Output;

pub(crate) fn dry_run(args: &DryRunArgs, out: &mut Output) -> Result<Exit, Failure> {
    // Reads both before failing, so that the errors of both are reported.
    let (config, catalog) = (config::load(&args.config), catalog::read(&args.catalog));
    let config = config?;
    let gate = DryRun::new(&config, catalog?, Arc::new(SystemClock::default()))
        .map_err(|blocked| catalog::unusable(&args.catalog, &format!("{}; {}", blocked.message, blocked.help)))?;
    if config.audit.is_none() {
        complain(
            "note: the configuration has no `[audit]` table; a gate starts only if the program provides an audit log",
        );
    }
    let path = args.plans.as_deref().unwrap_or(Path::new("-"));
    let cannot_read = |error: io::Error| unreadable(format_args!("cannot read {}: {error}", name(path)));
    let mut input = Input::open_regular(path).map_err(cannot_read)?;
    out.follow(&input.bar, input.is_live);
    let mut lines = LineSplitter::new(gate.longest_line());
    let mut verdicts = Verdicts { gate, out, plans: 0, is_blocked: false };
    let read = lines.read(&mut input, |line| match line {
        Some(line) => verdicts.line(line),
        None => verdicts.out.caught_up(),
    });
    input.bar.finish_and_clear();
    match read {
        Ok(()) => lines.finish(|line| verdicts.line(line))?,
        Err(ReadError::Sink(error)) => return Err(error.into()),
        Err(ReadError::Input(error)) => {
            verdicts.out.flush()?;
            return Err(cannot_read(error));
        }
    }
    verdicts.out.flush()?;
    if verdicts.plans == 0 {
        complain(format_args!("note: {} contains no plans", name(path)));
    }
    Ok(if verdicts.is_blocked { Exit::ErrorsFound } else { Exit::Clean })
}

/// Printer of one line per plan.
struct Verdicts<'o> {
    gate: DryRun,
    out: &'o mut Output,
    plans: u64,
    is_blocked: bool,
}

#[derive(Serialize)]
struct DryRunLine<'v> {
    index: u64,
    #[serde(flatten)]
    verdict: &'v PlanVerdict,
}

impl Verdicts<'_> {
    fn line(&mut self, line: RawLine<'_>) -> io::Result<()> {
        let verdict = match line {
            RawLine::Whole(bytes) if bytes.trim_ascii().is_empty() => return Ok(()),
            RawLine::Whole(bytes) => self.gate.judge_line(bytes),
            RawLine::TooLong => self.gate.too_long(),
        };
        self.is_blocked |= matches!(verdict, PlanVerdict::Block(_));
        self.out.json(&DryRunLine { index: self.plans, verdict: &verdict })?;
        self.plans += 1;
        Ok(())
    }
}
