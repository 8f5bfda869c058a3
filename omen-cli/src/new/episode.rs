//! State of the episode that a new packet continues.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroU64;
use std::path::Path;

use omen_fsm::{Event, Machine, Node};
use omen_types::{PacketFacts, PayloadFacts, suggest};

/// An episode so far: the machine's state, and the ids that a packet may refer to.
#[derive(Default)]
pub(super) struct Episode {
    pub(super) machine: Machine,
    pub(super) correlation_id: Option<String>,
    /// Last accepted packet.
    pub(super) last: Option<String>,
    /// Id of the last packet, if it names its predecessor.
    pub(super) chained: Option<String>,
    /// Id of the latest decision.
    pub(super) decision: Option<String>,
    /// Latest evidence of the verification loop.
    pub(super) evidence: Option<String>,
    /// Id of the latest token, and the first tool and operation in its scope.
    pub(super) token: Option<[String; 3]>,
    /// Number of packets, including rejected ones.
    pub(super) packets: u64,
}

/// Reason why no episode can be continued.
pub(super) enum Unread {
    Input(io::Error),
    NoEpisode(String),
}

impl Episode {
    /// Reads a log, or its first lines, and returns one of its episodes, by default the one of the last packet.
    pub(super) fn read(path: &Path, lines: Option<NonZeroU64>, id: Option<&str>) -> Result<Self, Unread> {
        let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(File::open(path).map_err(Unread::Input)?))
        };
        let mut episodes: HashMap<String, Self> = HashMap::new();
        let mut latest = None;
        let limit = lines.map_or(usize::MAX, |lines| usize::try_from(lines.get()).unwrap_or(usize::MAX));
        for line in reader.split(b'\n').take(limit) {
            let line = String::from_utf8(line.map_err(Unread::Input)?).unwrap_or_default();
            // Rejected packets change nothing, and `omen check` reports them.
            let Ok(facts) = PacketFacts::parse(&line) else { continue };
            let correlation_id = facts.header.correlation_id.to_string();
            let episode = episodes.entry(correlation_id.clone()).or_default();
            episode.correlation_id = Some(correlation_id.clone());
            episode.take(&line, &facts);
            latest = Some(correlation_id);
        }
        let wanted = id.map(str::to_owned).or(latest);
        if let Some(episode) = wanted.as_ref().and_then(|id| episodes.remove(id)) {
            return Ok(episode);
        }
        let near = wanted.as_deref().and_then(|id| suggest::nearest(id, episodes.keys().map(String::as_str)));
        Err(Unread::NoEpisode(match (&wanted, near) {
            (None, _) => "the log has no valid packet to continue".to_owned(),
            (Some(id), Some(near)) => format!("the log has no episode `{id}`; did you mean `{near}`?"),
            (Some(id), None) => format!("the log has no episode `{id}`"),
        }))
    }

    /// Returns whether a packet reuses an id.
    pub(super) fn repeats(&self, facts: &PacketFacts<'_>) -> bool {
        let is_known_token = match &facts.payload {
            PayloadFacts::ToolAuthorizationToken(token) => {
                self.machine.ledger().tokens().get(&token.token_id).is_some()
            }
            _ => false,
        };
        is_known_token || !self.machine.judge(facts, None).ids.is_empty()
    }

    /// Returns whether the episode would reject a packet.
    pub(super) fn refuses(&self, facts: &PacketFacts<'_>) -> bool {
        self.machine.judge(facts, None).errors().next().is_some()
    }

    /// Accepts a packet if it is legal; otherwise returns the reason for its rejection.
    pub(super) fn take(&mut self, line: &str, facts: &PacketFacts<'_>) -> Option<String> {
        self.packets += 1;
        let verdict = self.machine.judge(facts, None);
        if let Some(error) = verdict.errors().next() {
            return Some(format!("{}: {}", error.code, error.message));
        }
        self.machine.accept(facts, &verdict);
        let id = facts.header.packet_id.to_string();
        self.last = Some(line.to_owned());
        self.chained = facts.header.previous_packet_id.is_some().then(|| id.clone());
        match (&facts.payload, verdict.event) {
            (PayloadFacts::Decision(_), _) => {
                self.decision = Some(id);
                self.evidence = None;
            }
            (_, Event::Settle | Event::Observe | Event::ObserveUser) if self.machine.nodes().contains(Node::Verify) => {
                self.evidence = Some(id);
            }
            (PayloadFacts::ToolAuthorizationToken(token), _) => {
                let scope = &token.authorized_scope;
                let tool = scope.tool_ids.first().map_or_else(String::new, ToString::to_string);
                let operation = scope.operation_types.first().map_or("", |operation| operation.as_str());
                self.token = Some([token.token_id.to_string(), tool, operation.to_owned()]);
            }
            _ => {}
        }
        None
    }
}
