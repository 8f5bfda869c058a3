//! Passing results to the sink in stream order, and counting them.

use std::num::NonZeroU64;

use omen_fsm::NodeSet;
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::{Diagnostic, Instant, PacketType, Severity};

use super::episodes::{EpisodeMachine, Late};
use super::judged::{JudgedLine, names};
use super::options::ValidatorOptions;
use super::options::at_end;
use super::root_cause::RootCauses;
use super::sink::{JudgedPacket, Sink};
use super::summary::Summary;
use crate::finding::{Cause, Finding, Stage};

/// Counts of lines and packets so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Number of the current line, starting at 1.
    pub(super) line: u64,
    /// Counts, except bytes and episodes.
    pub(super) summary: Summary,
}

impl Tally {
    /// Writes the state to a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let Self { line, summary } = self;
        // Bytes and episodes are counted elsewhere.
        let Summary { bytes: _, episodes: _, packets, accepted, rejected, errors, warnings, consequences } = summary;
        for count in [line, packets, accepted, rejected, errors, warnings, consequences] {
            writer.number(*count);
        }
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let [line, packets, accepted, rejected, errors, warnings, consequences] = [(); 7].map(|()| reader.number());
        let summary = Summary { packets, accepted, rejected, errors, warnings, consequences, ..Summary::default() };
        Self { line, summary }
    }

    /// Counts accepted packets without findings.
    pub(super) fn clean(&mut self, packets: u64) {
        self.summary.packets += packets;
        self.summary.accepted += packets;
    }

    /// Reports a packet on the current line.
    pub(super) fn packet<S: Sink + ?Sized>(&mut self, judged: JudgedLine<'_>, sink: &mut S) -> Result<(), S::Error> {
        let packet_index = self.summary.packets;
        self.summary.packets += 1;
        if judged.accepted {
            self.summary.accepted += 1;
        } else {
            self.summary.rejected += 1;
        }
        for mut finding in judged.findings {
            self.count(&finding.diagnostic, finding.follows_from.is_some());
            // A finding that already has a line concerns an earlier packet.
            let is_earlier = finding.line.is_some() || finding.packet_id.as_deref() != judged.packet_id.as_deref();
            if !is_earlier {
                finding.line = Some(self.line);
                finding.packet_index = Some(packet_index);
            }
            sink.finding(finding, judged.text.as_deref().filter(|_| !is_earlier))?;
        }
        if !sink.wants_packets() {
            return Ok(());
        }
        sink.packet(&JudgedPacket {
            line: self.line,
            packet_index,
            packet_id: judged.packet_id.as_deref(),
            correlation_id: judged.correlation_id.as_deref(),
            packet_type: judged.packet_type,
            before: judged.before,
            after: judged.after,
            event: judged.event,
            accepted: judged.accepted,
        })
    }

    /// Reports a stream that is not JSON Lines, by its first bytes.
    pub(super) fn other<S: Sink + ?Sized>(
        &mut self,
        finding: Diagnostic,
        begin: &[u8],
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let is_blank = |line: &&[u8]| line.trim_ascii().is_empty();
        let mut lines = begin.split(|byte| *byte == b'\n');
        let blank = lines.clone().take_while(is_blank).count();
        let first = String::from_utf8_lossy(lines.find(|line| !is_blank(line)).unwrap_or_default().trim_ascii_end());
        self.line += blank as u64 + 1;
        self.packet(JudgedLine::other(first, finding), sink)
    }

    /// Reports what is still open in an episode at the end of the stream.
    pub(super) fn end<S: Sink + ?Sized>(
        &mut self,
        (id, machine): (&str, EpisodeMachine<'_>),
        root_causes: &mut RootCauses,
        options: &ValidatorOptions,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let found = at_end(&machine, options);
        if found.is_empty() {
            return Ok(());
        }
        let ends = root_causes.at_end(self.line, id, &found, options);
        for (at, (packet_id, diagnostic)) in found.into_iter().enumerate() {
            let cause = ends.cause(at, &diagnostic);
            self.count(&diagnostic, cause.is_some());
            let open = packet_id.and_then(|packet_id| machine.ledger().open().get(packet_id));
            let packet_id = packet_id.map(str::to_owned);
            let finding = Finding {
                directive_line: open.and_then(|open| open.line).map(NonZeroU64::get),
                ..unplaced(id, machine.nodes(), packet_id, Stage::End, diagnostic, cause)
            };
            sink.finding(finding, None)?;
        }
        Ok(())
    }

    /// Reports the late directives of an episode.
    pub(super) fn late<S: Sink + ?Sized>(
        &mut self,
        late: Option<Late<'_>>,
        now: Instant,
        root_causes: &mut RootCauses,
        options: &ValidatorOptions,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let Some(Late { correlation_id, nodes, mut directives }) = late else { return Ok(()) };
        let causes = root_causes.tick(correlation_id, now, options);
        options.levels.apply_to(&mut directives, |(_, diagnostic)| diagnostic);
        for (packet_id, diagnostic) in directives {
            let cause = causes.as_ref().filter(|(_, open)| !open.iter().any(|open| **open == *packet_id));
            let cause = cause.map(|(cause, _)| cause.clone());
            self.count(&diagnostic, cause.is_some());
            let stage = Stage::Invariant;
            sink.finding(unplaced(correlation_id, nodes, Some(packet_id), stage, diagnostic, cause), None)?;
        }
        Ok(())
    }

    fn count(&mut self, diagnostic: &Diagnostic, is_consequence: bool) {
        self.summary.consequences += u64::from(is_consequence);
        match diagnostic.severity {
            Severity::Error => self.summary.errors += 1,
            Severity::Warning => self.summary.warnings += 1,
        }
    }
}

/// Creates a finding without a line, which concerns an episode or one of its directives.
fn unplaced(
    id: &str,
    nodes: NodeSet,
    packet_id: Option<String>,
    stage: Stage,
    diagnostic: Diagnostic,
    follows_from: Option<Cause>,
) -> Finding {
    Finding {
        line: None,
        column: None,
        packet_index: None,
        // Directives are the only packets that are reported without a line.
        packet_type: packet_id.as_ref().map(|_| PacketType::TaskDirectivePacket),
        packet_id,
        correlation_id: Some(id.to_owned()),
        state: Some(names(nodes)),
        stage,
        diagnostic,
        directive_line: None,
        follows_from,
    }
}
