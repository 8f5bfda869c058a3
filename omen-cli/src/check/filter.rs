//! Findings that are not reported, because they are known or ignored.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use omen::finding::{Code, Finding, Severity};

use super::baseline::Baseline;
use super::ignores::Ignores;
use crate::args::{CheckArgs, Stage};
use crate::exit::{Failure, complain};
use crate::formats::LeftOut;

/// Decides which findings are reported.
#[derive(Debug)]
pub(super) struct Filter<'c> {
    ignores: Ignores<'c>,
    baseline: Option<Baseline>,
    causes: HashMap<PathBuf, Causes>,
    left_out: LeftOut,
    /// Whether logs are checked as far as they can be, so that what is not found is gone.
    is_whole: bool,
}

/// Why a finding is left out.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Baseline,
    Ignored,
}

/// The packets whose findings were all left out. What follows from them is left out, too: it would not be there without them, and
/// goes on as a log grows.
#[derive(Debug, Default)]
struct Causes {
    packets: HashMap<Packet, Reason>,
    /// The latest one with a finding that is reported.
    reported: Vec<Packet>,
}

/// What a cause is recognized by: its line, or its id, where the line of a finding is within a packet of several lines.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Packet {
    Line(u64),
    Id(String),
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
        Ok(Self {
            ignores,
            baseline,
            causes: HashMap::new(),
            left_out: LeftOut::default(),
            is_whole: args.stage == Stage::default(),
        })
    }

    /// Whether it can leave out findings.
    pub(super) fn is_active(&self) -> bool {
        self.baseline.is_some() || !self.ignores.is_empty()
    }

    /// The findings that were left out; `None` if there are no lists of such findings.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        self.is_active().then_some(self.left_out)
    }

    /// Whether a path is that of the baseline, which is not a log.
    pub(super) fn is_baseline(&self, path: &Path) -> bool {
        self.baseline.as_ref().is_some_and(|baseline| baseline.is_at(path))
    }

    /// Takes a finding, and returns whether to report it.
    pub(super) fn reports(&mut self, path: &Path, finding: &Finding, line: Option<&str>) -> bool {
        // With a NUL byte the check ends, and what comes after it is not known.
        let ends_the_check = finding.diagnostic.code == Code::Json && line.is_some_and(|line| line.contains('\0'));
        if !self.is_active() || ends_the_check {
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
            Some(causes) => causes.add(finding, reason),
            None => self.causes.entry(path.to_owned()).or_default().add(finding, reason),
        }
        match reason {
            Some(Reason::Baseline) => self.left_out.baseline.add(finding),
            Some(Reason::Ignored) => self.left_out.ignored.add(finding),
            None => {}
        }
        reason.is_none()
    }

    /// Takes the beginning of a log.
    pub(super) fn begin(&mut self) {
        self.causes.clear();
    }

    /// Takes the end of a log that was read.
    pub(super) fn end(&mut self, path: &Path) {
        self.ignores.end(path);
        if let Some(baseline) = &mut self.baseline {
            baseline.end(path);
        }
    }

    /// Takes the end of all logs: writes the baseline if that is asked for, and says what is out of date.
    pub(super) fn finish(self, is_complete: bool, quiet: bool) -> Result<(), Failure> {
        for note in self.ignores.notes(self.is_whole).filter(|_| !quiet) {
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
            Some(baseline) if self.is_whole && baseline.gone() > 0 && !quiet => {
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
        let cause = finding.follows_from.as_ref()?;
        let by_id = || self.packets.get(&Packet::Id(cause.packet_id.clone()?));
        self.packets.get(&Packet::Line(cause.line)).or_else(by_id).copied()
    }

    /// Takes a finding, and why it is left out. All findings of a packet come one after the other.
    fn add(&mut self, finding: &Finding, reason: Option<Reason>) {
        let Some(line) = finding.line else { return };
        let diagnostic = &finding.diagnostic;
        let id = finding.packet_id.clone().map(Packet::Id);
        let names = [Some(Packet::Line(line)), id].into_iter().flatten();
        match reason {
            // Of an accepted packet, only its time can make others wrong.
            Some(_) if diagnostic.severity == Severity::Warning && diagnostic.code != Code::Time => {}
            Some(reason) => {
                for name in names.filter(|name| !self.reported.contains(name)) {
                    self.packets.entry(name).or_insert(reason);
                }
            }
            None => {
                self.reported = names.collect();
                for name in &self.reported {
                    self.packets.remove(name);
                }
            }
        }
    }
}
