//! `omen gate dry-run`: judges plans, and calls no tool.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use omen::lines::{Line, Lines};
use omen::render::human::clean;
use omen_gate::catalog::Catalog;
use omen_gate::dry_run::{DryRun, PlanVerdict};
use omen_gate::{SystemClock, regular};
use serde::Serialize;

use crate::args::DryRunArgs;
use crate::input::{Input, name};
use crate::output::Output;
use crate::{Failure, Outcome, complain};

pub(crate) fn dry_run(args: &DryRunArgs, out: &mut Output) -> Result<Outcome, Failure> {
    // Both are looked at, so that the mistakes of both are told.
    let (config, catalog) = (super::config(&args.config), read(&args.catalog));
    let (Some(config), Some(catalog)) = (config, catalog) else { return Ok(Outcome::Unread) };
    let judge = match DryRun::new(&config, catalog, Arc::new(SystemClock::default())) {
        Ok(judge) => judge,
        Err(blocked) => {
            unusable(&args.catalog, &format!("{}; {}", blocked.message, blocked.help));
            return Ok(Outcome::Unread);
        }
    };
    if config.audit.is_none() {
        complain(
            "note: the configuration has no `[audit]` table: unless its program brings an audit log, no gate starts",
        );
    }
    let path = args.plans.as_deref().unwrap_or(Path::new("-"));
    let mut input = match Input::open_regular(path) {
        Ok(input) => input,
        Err(error) => return Ok(unread(path, &error)),
    };
    out.behind(input.bar.clone());
    let at_once = input.live || out.is_terminal();
    let mut lines = Lines::new(judge.longest_line());
    let mut verdicts = Verdicts { judge, out, plans: 0, is_blocked: false, failed: None };
    let failed = loop {
        match input.piece() {
            Ok([]) => break None,
            Ok(piece) => {
                lines.feed(piece, |line| verdicts.line(line));
                verdicts.settle(at_once)?;
            }
            Err(error) => break Some(error),
        }
    };
    input.bar.finish_and_clear();
    if failed.is_none() {
        lines.finish(|line| verdicts.line(line));
    }
    verdicts.settle(true)?;
    if let Some(error) = failed {
        return Ok(unread(path, &error));
    }
    if verdicts.plans == 0 {
        complain(format_args!("note: {} holds no plan", name(path)));
    }
    Ok(if verdicts.is_blocked { Outcome::ErrorsFound } else { Outcome::Clean })
}

/// Prints a line a plan.
struct Verdicts<'o> {
    judge: DryRun,
    out: &'o mut Output,
    plans: u64,
    is_blocked: bool,
    failed: Option<io::Error>,
}

#[derive(Serialize)]
struct Judged<'v> {
    index: u64,
    #[serde(flatten)]
    verdict: &'v PlanVerdict,
}

impl Verdicts<'_> {
    fn line(&mut self, line: Line<'_>) {
        // Whoever splits the piece into lines cannot be stopped in the midst of it.
        if self.failed.is_some() {
            return;
        }
        let verdict = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => return,
            Line::Whole(bytes) => self.judge.judge_line(bytes),
            Line::TooLong => self.judge.too_long(),
        };
        self.is_blocked |= matches!(verdict, PlanVerdict::Block(_));
        self.failed = self.print(&verdict).err();
        self.plans += 1;
    }

    /// Writes a verdict in one piece: a progress bar must find the cursor at the start of a line.
    fn print(&mut self, verdict: &PlanVerdict) -> io::Result<()> {
        let mut text = serde_json::to_vec(&Judged { index: self.plans, verdict })?;
        text.push(b'\n');
        self.out.write_all(&text)
    }

    /// Gives the error that has stopped the writing, if one has.
    fn settle(&mut self, at_once: bool) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None if at_once => self.out.flush(),
            None => Ok(()),
        }
    }
}

/// A catalogue file. What is wrong with it is complained of here.
fn read(path: &Path) -> Option<Catalog> {
    let catalog = match regular::read(path, MAX_CATALOG).map(String::from_utf8) {
        Ok(Ok(text)) => Catalog::parse(&text).map_err(|error| error.to_string()),
        Ok(Err(error)) => Err(format!("it cannot be read: {error}")),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(error.to_string()),
        Err(error) => Err(format!("it cannot be read: {error}")),
    };
    catalog.map_err(|why| unusable(path, &why)).ok()
}

fn unusable(path: &Path, why: &str) {
    complain(format_args!("cannot use the catalogue {}: {}", path.display(), clean(why)));
}

fn unread(path: &Path, error: &io::Error) -> Outcome {
    complain(format_args!("cannot read {}: {error}", name(path)));
    Outcome::Unread
}

/// The longest catalogue file that is read, in bytes.
const MAX_CATALOG: u64 = 256 << 20;
