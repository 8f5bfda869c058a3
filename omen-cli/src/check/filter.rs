//! Findings that are not reported, because they are known or ignored.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use omen::finding::Finding;

use super::baseline::Baseline;
use super::ignores::Ignores;
use crate::args::CheckArgs;
use crate::exit::{Failure, complain};
use crate::formats::LeftOut;

/// Decides which findings are reported.
#[derive(Debug)]
pub(super) struct Filter<'c> {
    ignores: Ignores<'c>,
    baseline: Option<Baseline>,
    causes: HashMap<PathBuf, Causes>,
    left_out: LeftOut,
}

/// Why a finding is left out.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Baseline,
    Ignored,
}

/// The lines whose findings were all left out. What follows from them is left out, too: it would not be there without them, and
/// goes on as a log grows.
#[derive(Debug, Default)]
struct Causes {
    lines: HashMap<u64, Reason>,
    /// The latest line with a finding that is reported.
    reported: Option<u64>,
}

impl<'c> Filter<'c> {
    /// Reads the baseline, and takes the ignores of the configuration.
    pub(super) fn open(args: &'c CheckArgs) -> Result<Self, Failure> {
        let is_written = args.baseline.write_baseline;
        let baseline = args.baseline.baseline.as_deref().map(|path| Baseline::open(path, is_written)).transpose()?;
        if baseline.is_none() && is_written {
            let message =
                "`--write-baseline` needs the file to write; add `--baseline FILE`, or `baseline` in omen.toml";
            return Err(Failure::Usage(message.to_owned()));
        }
        let ignores = Ignores::new(&args.config.found, args.clock.now);
        Ok(Self { ignores, baseline, causes: HashMap::new(), left_out: LeftOut::default() })
    }

    /// Whether it can leave out findings.
    pub(super) fn is_active(&self) -> bool {
        self.baseline.is_some() || !self.ignores.is_empty()
    }

    /// The findings that were left out; `None` if none could be.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        self.is_active().then_some(self.left_out)
    }

    /// Whether a path is that of the baseline, which is not a log.
    pub(super) fn is_baseline(&self, path: &Path) -> bool {
        self.baseline.as_ref().is_some_and(|baseline| baseline.is_at(path))
    }

    /// Takes a finding, and returns whether to report it.
    pub(super) fn reports(&mut self, path: &Path, finding: &Finding, line: Option<&str>) -> bool {
        if !self.is_active() {
            return true;
        }
        let ignored = self.ignores.has(path, finding, line).then_some(Reason::Ignored);
        let reason = ignored.or_else(|| self.causes.get(path)?.reason(finding));
        // A finding that is left out for another reason is not listed. One that is listed is found all the same.
        let is_asked = reason.is_none() || self.baseline.as_ref().is_some_and(|baseline| !baseline.is_written());
        let baseline = self.baseline.as_mut().filter(|_| is_asked);
        let is_known = baseline.is_some_and(|baseline| baseline.knows(path, finding, line));
        let reason = reason.or(is_known.then_some(Reason::Baseline));
        match self.causes.get_mut(path) {
            Some(causes) => causes.add(finding.line, reason),
            None => self.causes.entry(path.to_owned()).or_default().add(finding.line, reason),
        }
        match reason {
            Some(Reason::Baseline) => self.left_out.baseline.add(finding),
            Some(Reason::Ignored) => self.left_out.ignored.add(finding),
            None => {}
        }
        reason.is_none()
    }

    /// Takes the beginning of a log.
    pub(super) fn begin(&mut self, path: &Path) {
        self.causes.clear();
        self.ignores.begin(path);
    }

    /// Takes the end of a log that was read.
    pub(super) fn end(&mut self, path: &Path) {
        if let Some(baseline) = &mut self.baseline {
            baseline.end(path);
        }
    }

    /// Takes the end of all logs: writes the baseline if that is asked for, and says what is out of date.
    pub(super) fn finish(self, is_complete: bool, quiet: bool) -> Result<(), Failure> {
        for note in self.ignores.notes().filter(|_| !quiet) {
            complain(note);
        }
        match self.baseline {
            Some(baseline) if baseline.is_written() && !is_complete => {
                complain(format_args!("{baseline} was not written, because an input could not be read"));
            }
            Some(baseline) if baseline.is_written() => {
                let name = baseline.to_string();
                let known = baseline.write()?;
                if !quiet {
                    complain(format_args!(
                        "note: wrote {name} with {known} finding{}",
                        if known == 1 { "" } else { "s" }
                    ));
                }
            }
            Some(baseline) if baseline.gone() > 0 && !quiet => {
                let gone = baseline.gone();
                let (noun, verb) = if gone == 1 { ("finding", "occurs") } else { ("findings", "occur") };
                complain(format_args!(
                    "note: {gone} {noun} of the baseline no longer {verb}; renew it with `--write-baseline`"
                ));
            }
            Some(_) | None => {}
        }
        Ok(())
    }
}

impl Causes {
    /// Why a finding is left out that follows from another.
    fn reason(&self, finding: &Finding) -> Option<Reason> {
        self.lines.get(&finding.follows_from.as_ref()?.line).copied()
    }

    /// Takes a finding on a line, and why it is left out. All findings of a line come one after the other.
    fn add(&mut self, line: Option<u64>, reason: Option<Reason>) {
        let Some(line) = line else { return };
        match reason {
            Some(reason) if self.reported != Some(line) => drop(self.lines.entry(line).or_insert(reason)),
            Some(_) => {}
            None => {
                self.lines.remove(&line);
                self.reported = Some(line);
            }
        }
    }
}
