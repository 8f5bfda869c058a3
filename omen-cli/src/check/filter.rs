//! Omission of findings that are known or ignored.

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
    /// Whether all checks run, so that a finding that does not occur has really disappeared.
    is_whole: bool,
}

/// Reason for omitting a finding.
#[derive(Clone, Copy, Debug)]
enum Reason {
    Baseline,
    Ignored,
}

/// Packets whose findings were all omitted. The consequences of these findings are omitted as well: they would not exist without
/// them, and their number increases as a log grows.
#[derive(Debug, Default)]
struct Causes {
    packets: HashMap<PacketIdentity, Reason>,
    /// Line and id of the latest packet with a reported finding.
    reported: Vec<PacketIdentity>,
}

/// Identity of a packet: its line, or its id if a finding's line is inside a packet that spans several lines.
#[derive(Debug, PartialEq, Eq, Hash)]
enum PacketIdentity {
    Line(u64),
    Id(String),
}

impl<'c> Filter<'c> {
    /// Combines a baseline with the ignores of the configuration.
    pub(super) fn new(args: &'c CheckArgs, baseline: Option<Baseline>) -> Self {
        let ignores = Ignores::new(&args.config.found, args.clock.now, args.inputs.format().wrapping);
        Self {
            ignores,
            baseline,
            causes: HashMap::new(),
            left_out: LeftOut::default(),
            is_whole: args.stage == Stage::default(),
        }
    }

    /// Returns the baseline with its counts reset, for another run.
    pub(super) fn into_baseline(self) -> Option<Baseline> {
        self.baseline.map(Baseline::restarted)
    }

    /// Returns whether any finding can be omitted.
    pub(super) fn is_active(&self) -> bool {
        self.baseline.is_some() || !self.ignores.is_empty()
    }

    /// Returns the counts of omitted findings; `None` if there is no baseline and no ignore.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        self.is_active().then_some(self.left_out)
    }

    /// Returns whether a path is that of the baseline, which must not be checked as a log.
    pub(super) fn is_baseline(&self, path: &Path) -> bool {
        self.baseline.as_ref().is_some_and(|baseline| baseline.is_at(path))
    }

    /// Processes a finding, and returns whether to report it.
    pub(super) fn reports(&mut self, path: &Path, finding: &Finding, line: Option<&str>) -> bool {
        // A NUL byte ends the check and leaves the rest unknown, so this finding is always reported.
        let ends_the_check = finding.diagnostic.code == Code::Json && line.is_some_and(|line| line.contains('\0'));
        if !self.is_active() || ends_the_check {
            return true;
        }
        let ignored = self.ignores.has(path, finding, line).then_some(Reason::Ignored);
        let reason = ignored.or_else(|| self.causes.get(path)?.reason(finding));
        // A finding omitted for another reason is not added to a new baseline, but counts as found in an existing one.
        let is_asked = reason.is_none() || self.baseline.as_ref().is_some_and(|baseline| !baseline.is_written);
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

    /// Starts a new log.
    pub(super) fn begin(&mut self) {
        self.causes.clear();
    }

    /// Records that a log was read to its end.
    pub(super) fn end(&mut self, path: &Path) {
        self.ignores.end(path);
        if let Some(baseline) = &mut self.baseline {
            baseline.end(path);
        }
    }

    /// Finishes the run: writes the baseline if requested, and reports outdated entries.
    pub(super) fn finish(self, is_complete: bool, quiet: bool) -> Result<(), Failure> {
        for note in self.ignores.notes(self.is_whole).filter(|_| !quiet) {
            complain(note);
        }
        match self.baseline {
            Some(baseline) if baseline.is_written && !is_complete => {
                complain(format_args!("{baseline} was not written, because an input could not be read"));
            }
            Some(baseline) if baseline.is_written => {
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
    /// Returns the reason for omitting a finding whose cause was omitted.
    fn reason(&self, finding: &Finding) -> Option<Reason> {
        let cause = finding.follows_from.as_ref()?;
        let by_id = || self.packets.get(&PacketIdentity::Id(cause.packet_id.clone()?));
        self.packets.get(&PacketIdentity::Line(cause.line)).or_else(by_id).copied()
    }

    /// Records a finding, and why it is omitted, if it is. All findings of one packet come in sequence.
    fn add(&mut self, finding: &Finding, reason: Option<Reason>) {
        let Some(line) = finding.line else { return };
        let diagnostic = &finding.diagnostic;
        let id = finding.packet_id.clone().map(PacketIdentity::Id);
        let names = [Some(PacketIdentity::Line(line)), id].into_iter().flatten();
        match reason {
            // On an accepted packet, only a wrong time can cause other findings.
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
