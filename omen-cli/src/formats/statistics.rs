//! Counts of findings by code and packet type, for `omen check --statistics` and the end of long output.

use std::collections::BTreeMap;
use std::io::{self, Write};

use omen::finding::{Finding, Severity};
use serde::Serialize;

use super::shown::{AnyFinding, ShownCode};
use crate::output::Output;

/// Counts of findings.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    by_code: BTreeMap<ShownCode, FindingCounts>,
    /// Counts by packet type; the empty name stands for an unknown type.
    by_packet_type: BTreeMap<&'static str, FindingCounts>,
}

/// Counts of findings of one kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct FindingCounts {
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
    /// Number of findings that follow from an earlier one.
    pub(crate) consequences: u64,
}

impl FindingCounts {
    pub(crate) fn add<'f>(&mut self, finding: impl Into<AnyFinding<'f>>) {
        let finding = finding.into();
        match finding.severity() {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        self.consequences += u64::from(finding.follows_from().is_some());
    }

    pub(crate) fn roots(self) -> u64 {
        self.errors + self.warnings - self.consequences
    }

    fn row(self, out: &mut impl Write, name: &str) -> io::Result<()> {
        writeln!(out, "{:>7} {:>8} {:>9}  {name}", self.roots(), self.errors, self.warnings)
    }
}

impl Statistics {
    /// Counts a finding about an entry of an audit log.
    pub(crate) fn add_entry(&mut self, finding: AnyFinding<'_>) {
        self.by_code.entry(finding.code()).or_default().add(finding);
    }

    pub(crate) fn add(&mut self, finding: &Finding) {
        self.add_entry(finding.into());
        let packet_type = finding.packet_type.map_or("", |packet_type| packet_type.as_str());
        self.by_packet_type.entry(packet_type).or_default().add(finding);
    }

    /// Prints both tables for people; nothing if there are no findings.
    pub(crate) fn table(&self, out: &mut impl Write) -> io::Result<()> {
        if self.by_code.is_empty() {
            return Ok(());
        }
        self.by_code(out)?;
        if self.by_packet_type.is_empty() {
            return writeln!(out);
        }
        writeln!(out, "\n{:>7} {:>8} {:>9}  PACKET TYPE", "ROOTS", "ERRORS", "WARNINGS")?;
        for (packet_type, counts) in &self.by_packet_type {
            counts.row(out, if packet_type.is_empty() { "(unknown)" } else { packet_type })?;
        }
        writeln!(out)
    }

    /// Prints the table by code.
    pub(crate) fn by_code(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{:>7} {:>8} {:>9}  CODE", "ROOTS", "ERRORS", "WARNINGS")?;
        self.codes().try_for_each(|(code, counts)| counts.row(out, &format!("{:<8} {}", code.as_str(), code.title())))
    }

    pub(crate) fn codes(&self) -> impl Iterator<Item = (ShownCode, FindingCounts)> {
        self.by_code.iter().map(|(code, counts)| (*code, *counts))
    }

    /// Prints the statistics as one line of JSON.
    pub(crate) fn json(&self, out: &mut Output) -> io::Result<()> {
        #[derive(Serialize)]
        struct Line {
            statistics: Lists,
        }
        #[derive(Serialize)]
        struct Lists {
            by_code: Vec<ByCode>,
            by_packet_type: Vec<ByType>,
        }
        #[derive(Serialize)]
        struct ByCode {
            code: &'static str,
            #[serde(flatten)]
            counts: FindingCounts,
        }
        #[derive(Serialize)]
        struct ByType {
            packet_type: Option<&'static str>,
            #[serde(flatten)]
            counts: FindingCounts,
        }
        let by_code = self.by_code.iter().map(|(code, counts)| ByCode { code: code.as_str(), counts: *counts });
        let known = |name: &'static str| (!name.is_empty()).then_some(name);
        let by_type = self.by_packet_type.iter();
        let by_type = by_type.map(|(name, counts)| ByType { packet_type: known(name), counts: *counts });
        let lists = Lists { by_code: by_code.collect(), by_packet_type: by_type.collect() };
        out.json(&Line { statistics: lists })
    }
}
