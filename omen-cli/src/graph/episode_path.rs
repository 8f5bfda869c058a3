//! Path of an episode through the transition table.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use omen::finding::{Code, Finding};
use omen::render::human::clean;
use omen::validator::{JudgedPacket, Sink, ValidatorOptions};
use omen_fsm::{Event, Node, NodeSet};

use crate::args::GraphArgs;
use crate::exit::Failure;
use crate::input::{self, Reporter};
use crate::output::Output;
use crate::trace::no_such_episode;

pub(super) struct EpisodePath {
    episode: String,
    log: String,
    /// Lines of the log at which an edge was taken, by source, target and event.
    edges: BTreeMap<(&'static str, &'static str, &'static str), Vec<u64>>,
    passed: BTreeSet<Node>,
    end: NodeSet,
    /// Lines of rejected packets, each with the code of its first finding, by node.
    rejected: BTreeMap<Node, Vec<(u64, Option<Code>)>>,
}

impl EpisodePath {
    pub(super) fn read(log: &Path, args: &GraphArgs, out: &mut Output) -> Result<Self, Failure> {
        let options = ValidatorOptions { now: args.clock.now, ..ValidatorOptions::default() };
        let mut steps =
            Steps { out, wanted: args.episode.as_deref(), episodes: Vec::new(), steps: Vec::new(), code: None };
        if !input::check(log, options, NonZeroUsize::MIN, &mut steps)?.is_complete {
            return Err(Failure::Unreadable);
        }
        let Steps { episodes, steps, .. } = steps;
        let episode = match (&args.episode, episodes.as_slice()) {
            (Some(id), _) if steps.is_empty() => return Err(no_such_episode(id)),
            (Some(id), _) => id,
            (None, [id]) => id,
            (None, []) => return Err(Failure::Usage("the log contains no packets of an episode".to_owned())),
            (None, [first, ..]) => {
                let first = clean(first);
                return Err(Failure::Usage(format!(
                    "the log contains several episodes; choose one, for example with `--episode {first}`"
                )));
            }
        };
        Ok(Self::from_steps(episode.clone(), input::name(log), &steps))
    }

    /// Reconstructs the path. The table is nondeterministic (D11), so the state of an episode is known only from its later steps:
    /// the steps are followed backwards, keeping only the nodes from which the next step was possible.
    fn from_steps(episode: String, log: String, steps: &[Step]) -> Self {
        let end = steps.last().map_or(NodeSet::of(Node::INITIAL), |step| step.after);
        let mut path =
            Self { episode, log, edges: BTreeMap::new(), passed: end.iter().collect(), end, rejected: BTreeMap::new() };
        let mut kept = end;
        for step in steps.iter().rev() {
            let Some(event) = step.event.filter(|_| step.accepted) else {
                for node in kept.iter() {
                    path.rejected.entry(node).or_default().push((step.line, step.code));
                }
                continue;
            };
            let mut before = Vec::new();
            for from in step.before.iter() {
                for to in NodeSet::of(from).after(event).iter().filter(|to| kept.contains(*to)) {
                    path.edges.entry((from.as_str(), to.as_str(), event.as_str())).or_default().push(step.line);
                    before.push(from);
                }
            }
            kept = before.into_iter().collect();
            path.passed.extend(kept.iter());
        }
        path
    }

    /// Returns `episode ID in LOG`.
    pub(super) fn title(&self) -> String {
        format!("episode {} in {}", clean(&self.episode), clean(&self.log))
    }

    /// Returns the lines at which an edge of the diagram was taken on an event; `None` if it was not. An edge from any state
    /// represents the edges from all states.
    pub(super) fn lines(&self, (from, to): (&str, &str), event: &str) -> Option<String> {
        let is_it = |taken: &(&str, &str, &str)| {
            let is_from = from == ANY || from == taken.0;
            let is_to = if to == ANY { taken.0 == taken.1 } else { to == taken.1 };
            is_from && is_to && event == taken.2
        };
        let mut lines: Vec<u64> =
            self.edges.iter().filter(|(edge, _)| is_it(edge)).flat_map(|(_, lines)| lines.iter().copied()).collect();
        lines.sort_unstable();
        lines.dedup();
        (!lines.is_empty()).then(|| list(lines.iter().map(u64::to_string)))
    }

    /// Returns the nodes on the path except the final ones.
    pub(super) fn passed(&self) -> Vec<Node> {
        self.passed.iter().copied().filter(|node| !self.end.contains(*node)).collect()
    }

    /// Returns the possible final nodes.
    pub(super) fn end(&self) -> Vec<Node> {
        self.end.iter().collect()
    }

    /// Returns the nodes in which packets were rejected, with their lines and codes.
    pub(super) fn rejected(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.rejected.iter().map(|(node, lines)| {
            // The lines were collected in reverse order.
            let shown = lines.iter().rev().map(|(line, code)| match code {
                Some(code) => format!("{line} {code}"),
                None => line.to_string(),
            });
            (node.as_str(), list(shown))
        })
    }
}

/// Returns `line 1, 2, 3 and 4 more`.
fn list(lines: impl ExactSizeIterator<Item = String>) -> String {
    let more = lines.len().saturating_sub(MOST_LINES);
    let shown = lines.take(MOST_LINES).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("line {shown} and {more} more") } else { format!("line {shown}") }
}

/// A packet and its effect on the state.
struct Step {
    line: u64,
    before: NodeSet,
    after: NodeSet,
    event: Option<Event>,
    accepted: bool,
    /// Code of the packet's first finding.
    code: Option<Code>,
}

/// Sink that collects the steps of one episode.
struct Steps<'a> {
    out: &'a mut Output,
    wanted: Option<&'a str>,
    /// The first two episodes in the log: if there are two, the user must select one.
    episodes: Vec<String>,
    steps: Vec<Step>,
    /// Code of the first finding about the next packet.
    code: Option<Code>,
}

impl Sink for Steps<'_> {
    type Error = io::Error;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> io::Result<()> {
        self.code.get_or_insert(finding.diagnostic.code);
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> io::Result<()> {
        let code = self.code.take();
        let (Some(id), Some(before)) = (packet.correlation_id, packet.before) else { return Ok(()) };
        if self.episodes.len() < 2 && !self.episodes.iter().any(|known| known == id) {
            self.episodes.push(id.to_owned());
        }
        let is_wanted = match self.wanted {
            Some(wanted) => id == wanted,
            None => self.episodes.len() == 1,
        };
        if is_wanted {
            let after = packet.after.unwrap_or(before);
            self.steps.push(Step {
                line: packet.line,
                before,
                after,
                event: packet.event,
                accepted: packet.accepted,
                code,
            });
        }
        Ok(())
    }
}

impl Reporter for Steps<'_> {
    fn out(&mut self) -> &mut Output {
        self.out
    }
}

/// Maximum number of lines listed for an edge.
const MOST_LINES: usize = 8;

/// Node that represents any state.
pub(super) const ANY: &str = "ANY";
