//! Trace for programs, as JSON Lines: an object for each packet, one for each episode at the end of its log, and a summary at the
//! end. Findings are the same objects as in `omen check --format json`, so that one parser can read both.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use omen::Summary;
use omen::finding::Finding;
use omen::render::json;
use omen::validator::JudgedPacket;
use omen_fsm::{NodeSet, State};
use serde::Serialize;

use super::printer::{States, TracePrinter};
use crate::output::Output;

pub(super) struct JsonTrace;

impl TracePrinter for JsonTrace {
    fn file(&mut self, _: &mut Output, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn packet(
        &mut self,
        out: &mut Output,
        path: &Path,
        packet: &JudgedPacket<'_>,
        found: &[Finding],
    ) -> io::Result<()> {
        let file = &path.to_string_lossy();
        out.json(&PacketLine {
            file,
            line: packet.line,
            packet_index: packet.packet_index,
            packet_id: packet.packet_id,
            correlation_id: packet.correlation_id,
            packet_type: packet.packet_type.map(|packet_type| packet_type.as_str()),
            event: packet.event.map(|event| event.as_str()),
            accepted: packet.accepted,
            before: packet.before.map(names),
            after: packet.after.map(names),
            findings: found.iter().map(|finding| json::row(file, finding)).collect(),
        })
    }

    fn end(&mut self, out: &mut Output, path: &Path, states: &States, findings: &[Finding]) -> io::Result<()> {
        let file = &path.to_string_lossy();
        let mut of_episode: HashMap<&str, Vec<_>> = HashMap::new();
        for finding in findings {
            let of_episode = of_episode.entry(finding.correlation_id.as_deref().unwrap_or_default());
            of_episode.or_default().push(json::row(file, finding));
        }
        for (episode, state) in &states.all {
            let findings = of_episode.remove(episode.as_str()).unwrap_or_default();
            let end = End { file, correlation_id: episode, state: names(*state), findings };
            out.json(&EndLine { end })?;
        }
        Ok(())
    }

    fn totals(&mut self, out: &mut Output, files: u64, total: &Summary) -> io::Result<()> {
        json::summary(out, files, total)
    }
}

fn names(nodes: NodeSet) -> Vec<&'static str> {
    nodes.states().into_iter().map(State::as_str).collect()
}

#[derive(Serialize)]
struct PacketLine<'a, F> {
    file: &'a str,
    line: u64,
    packet_index: u64,
    packet_id: Option<&'a str>,
    correlation_id: Option<&'a str>,
    packet_type: Option<&'a str>,
    event: Option<&'a str>,
    accepted: bool,
    before: Option<Vec<&'a str>>,
    after: Option<Vec<&'a str>>,
    findings: Vec<F>,
}

#[derive(Serialize)]
struct EndLine<'a, F> {
    end: End<'a, F>,
}

#[derive(Serialize)]
struct End<'a, F> {
    file: &'a str,
    correlation_id: &'a str,
    state: Vec<&'a str>,
    findings: Vec<F>,
}
