//! Complete log, and its episodes.

use std::collections::HashMap;
use std::io::{self, Cursor, Read as _};
use std::sync::Arc;

use super::super::archive::Source;
use super::super::layout::{Layout, MARK};
use super::super::packets::{PacketLines, PacketSplitter};
use super::episode::EpisodeLog;
use super::log_packet::LogPacket;
use crate::finding::Finding;
use crate::validator::ValidatorOptions;

/// Beginning of a stream that was read.
pub(super) enum Beginning {
    /// The stream has ended.
    Whole(LogBytes),
    /// There is more, or the reader has failed: the stream from its beginning.
    Longer(Source),
}

/// Bytes of a whole log.
pub(super) struct LogBytes(Arc<[u8]>);

impl Beginning {
    /// Reads up to `most` bytes.
    pub(super) fn read(mut reader: Source, most: usize) -> Self {
        let mut bytes = Vec::new();
        let read = reader.by_ref().take(most as u64 + 1).read_to_end(&mut bytes);
        match read {
            Ok(_) if bytes.len() <= most => Self::Whole(LogBytes(bytes.into())),
            Ok(_) => Self::Longer(Box::new(Cursor::new(bytes).chain(reader))),
            Err(error) => Self::Longer(Box::new(Cursor::new(bytes).chain(FailedReader(Some(error))))),
        }
    }
}

impl LogBytes {
    pub(super) fn reader(&self) -> Source {
        Box::new(Cursor::new(Arc::clone(&self.0)))
    }
}

/// Reader that fails once.
struct FailedReader(Option<io::Error>);

impl io::Read for FailedReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A log that is known to its end.
pub(super) struct WholeLog {
    packets: Vec<LogPacket>,
    options: ValidatorOptions,
    /// Number of packets that may still be judged: the work is bounded.
    left: usize,
    episodes: HashMap<String, EpisodeLog>,
}

impl WholeLog {
    pub(super) fn new(log: &LogBytes, layout: Layout, options: ValidatorOptions) -> Self {
        let bytes = &*log.0;
        let packets = if layout.of(log.reader()).layout == Layout::Array {
            let (mut splitter, mut lines) = (PacketSplitter::default(), PacketLines::default());
            splitter.feed(bytes, &mut lines);
            splitter.finish(&mut lines);
            let packets = lines.bytes.split(|byte| *byte == b'\n').zip(&lines.places);
            packets.filter_map(|(text, place)| LogPacket::new(place.line, text)).collect()
        } else {
            let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
            let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
            lines.filter_map(|(text, line)| LogPacket::new(line, text)).collect()
        };
        Self { packets, options, left: MOST_JUDGED, episodes: HashMap::new() }
    }

    /// Replaces the help for a finding if a change of the log is known to be legal.
    pub(super) fn look_ahead(&mut self, finding: &mut Finding) {
        let Some(index) = finding.packet_index.and_then(|index| usize::try_from(index).ok()) else { return };
        let Some(id) = finding.correlation_id.as_deref() else { return };
        let Self { packets, options, left, episodes } = self;
        let episode = episodes.entry(id.to_owned()).or_insert_with(|| {
            let of_episode = packets.iter().enumerate().filter(|(_, packet)| packet.episode.as_deref() == Some(id));
            EpisodeLog::new(of_episode.map(|(index, _)| index).collect(), packets, options)
        });
        if let Some(help) = episode.help(index, finding, packets, options, left) {
            finding.diagnostic.help = Some(help);
        }
    }
}

/// Maximum number of packets that are judged again to find the helps for one log: a few tenths of a second.
const MOST_JUDGED: usize = 20_000;
