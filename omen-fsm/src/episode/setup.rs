//! What an episode is given from outside: time, ids, and a log to write to.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

use omen_invariants::facts::AnyEnvelope;
use omen_types::limits::MAX_ID_BYTES;
use omen_types::{CampaignId, CorrelationId, Diagnostic, Instant, PacketId};

use super::claim::{Claims, StartError};
use super::core::{Core, LoopNotes, Mark, Origin};
use super::ending::{Lost, OnDrop};
use super::values::PacketHeaderExtras;
use super::{Closed, Episode, Idle};
use crate::machine::Machine;

/// Tells the time. No rule reads a clock by itself; packets carry what this says.
pub trait TimeSource: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant + Send + Sync + 'static> TimeSource for F {
    fn now(&self) -> Instant {
        self()
    }
}

/// The clock of the machine.
///
/// ```
/// use omen_fsm::episode::{SystemClock, TimeSource};
///
/// let before = std::time::SystemTime::now();
/// assert!(SystemClock::default().now() >= before.into());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock(());

impl TimeSource for SystemClock {
    fn now(&self) -> Instant {
        SystemTime::now().into()
    }
}

/// Makes ids. An id must not repeat within an episode (D21); a repeat is refused.
pub trait IdSource: Send + Sync + 'static {
    /// A packet id, such as `pkt_42`.
    fn packet_id(&mut self) -> String;
    /// A task id, such as `task_42`.
    fn task_id(&mut self) -> String;
    /// A token id, such as `token_42`.
    fn token_id(&mut self) -> String;
}

/// Ids that are numbered, with a stem that tells episodes apart: `pkt_orders_1`.
#[derive(Clone, Debug)]
pub struct Numbered {
    stem: String,
    next: u64,
}

impl Numbered {
    /// Counts from 1.
    #[must_use]
    pub fn new(stem: impl Into<String>) -> Self {
        Self::from(stem, 1)
    }

    /// Counts from a number, as when an episode is taken up again.
    #[must_use]
    pub fn from(stem: impl Into<String>, next: u64) -> Self {
        Self { stem: stem.into(), next }
    }

    fn id(&mut self, kind: &str) -> String {
        let id = format!("{kind}_{}_{}", self.stem, self.next);
        self.next = self.next.saturating_add(1);
        id
    }
}

impl IdSource for Numbered {
    fn packet_id(&mut self) -> String {
        self.id("pkt")
    }

    fn task_id(&mut self) -> String {
        self.id("task")
    }

    fn token_id(&mut self) -> String {
        self.id("token")
    }
}

/// A packet as it goes into a log.
#[derive(Clone, Copy, Debug)]
pub struct Line<'l> {
    /// Its id.
    pub packet_id: &'l PacketId,
    /// The episode that it is of.
    pub correlation_id: &'l CorrelationId,
    /// The packet as JSON, without a line break.
    pub text: &'l str,
}

/// Where packets are written.
pub trait Log: Send + Sync + 'static {
    /// Writes the packets of one step, in order: all, or an error. The step counts as taken only
    /// when this returns.
    ///
    /// # Errors
    /// If the packets are not safely written. The episode never calls it again then, for what follows might stand
    /// behind half a line.
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()>;

    /// Hears of a warning about a packet that was just written.
    fn warn(&mut self, warning: &Diagnostic) {
        let _ = warning;
    }

    /// Whether it holds packets of an episode already, as far as it knows.
    fn holds(&self, episode: &CorrelationId) -> bool {
        let _ = episode;
        false
    }

    /// The lines, if the log keeps them.
    fn lines(&self) -> &[String] {
        &[]
    }
}

/// A log in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    lines: Vec<String>,
}

impl Log for MemoryLog {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.lines.extend(lines.iter().map(|line| line.text.to_owned()));
        Ok(())
    }

    fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// A log in JSON Lines. What it writes is flushed after each step. After an error of the writer nothing more is
/// written; it may hold the step in whole, in part, or not at all.
#[derive(Debug)]
pub struct JsonLines<W>(pub W);

impl<W: Write + Send + Sync + 'static> Log for JsonLines<W> {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        // One write for the step, so that a reader sees it whole where the medium can do that.
        let mut text = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
        for line in lines {
            text.push_str(line.text);
            text.push('\n');
        }
        self.0.write_all(text.as_bytes())?;
        self.0.flush()
    }
}

/// What an episode starts with.
///
/// ```
/// use omen_fsm::episode::{Episode, Idle, Setup};
/// use omen_invariants::facts::DynEnvelope;
/// use omen_types::{Instant, Packet};
///
/// // The envelope of a packet that somebody else has sent.
/// let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
/// let packet: Packet = log.lines().next().unwrap_or_default().parse()?;
/// let envelope = DynEnvelope::new(packet.mcp().clone()).map_err(|errors| format!("{errors:?}"))?;
///
/// let start: Instant = "2026-03-01T10:00:00Z".parse()?;
/// let episode: Episode<Idle> = Setup::new("corr_orders".parse()?, &envelope, move || start).start()?;
/// assert_eq!(episode.packets(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an episode begins with `start()`"]
pub struct Setup {
    pub(super) core: Core,
}

impl Setup {
    /// An episode with its correlation id, the envelope of its first packets, and a clock. It writes to
    /// [`MemoryLog`] with ids that are numbered. Each packet comes from a layer that sends such packets (LAYER, D63).
    pub fn new(correlation_id: CorrelationId, envelope: &impl AnyEnvelope, clock: impl TimeSource) -> Self {
        let mcp = Arc::new(envelope.mcp().clone());
        let stem = correlation_id.as_str().trim_start_matches("corr_").to_owned();
        Self {
            core: Core {
                machine: Machine::default(),
                mcp: Arc::clone(&mcp),
                grounded: mcp,
                origin: Origin { correlation_id, campaign_id: None, header: PacketHeaderExtras::default() },
                clock: Arc::new(clock),
                ids: Box::new(Numbered::new(stem)),
                log: Box::new(MemoryLog::default()),
                last: None,
                sent: 0,
                decision: None,
                looped: LoopNotes::default(),
                tasks: BTreeMap::new(),
                tokens: Vec::new(),
                mark: Mark::default(),
                trouble: None,
                leases: Arc::default(),
                asked: Arc::default(),
                claims: Claims::process(),
                on_drop: OnDrop::default(),
                on_lost: None,
                is_over: true,
            },
        }
    }

    /// Writes to another log.
    pub fn log(mut self, log: impl Log) -> Self {
        self.core.log = Box::new(log);
        self
    }

    /// Takes ids from another source.
    pub fn ids(mut self, ids: impl IdSource) -> Self {
        self.core.ids = Box::new(ids);
        self
    }

    /// The campaign that the episode belongs to. If it is resumed, the campaign that its log states first takes precedence
    /// (CHAIN, D65).
    pub fn campaign(mut self, campaign_id: CampaignId) -> Self {
        self.core.origin.campaign_id = Some(campaign_id);
        self
    }

    /// What becomes of the episode if it is dropped before it has closed, as by `?` or a panic.
    pub fn on_drop(mut self, policy: OnDrop) -> Self {
        self.core.on_drop = policy;
        self
    }

    /// Called if the episode is dropped and its end cannot be written, for the log has failed.
    pub fn on_lost(mut self, hook: impl FnOnce(&Lost) + Send + Sync + 'static) -> Self {
        self.core.on_lost = Some(Box::new(hook));
        self
    }

    /// Claims the correlation id elsewhere than in this process at large: for an episode that is played on a copy of
    /// its log, as in a test.
    pub fn claims(mut self, claims: &Claims) -> Self {
        self.core.claims = claims.clone();
        self
    }

    /// Runs an agent from the first packet to the close. The proof that it ended has to be of this episode, not
    /// of another run.
    ///
    /// # Errors
    /// The agent's own; if the episode cannot start (see [`Setup::start`]); or if the agent closed another episode.
    pub fn run<E: From<AnotherEpisode> + From<StartError>>(
        self,
        agent: impl FnOnce(Episode<Idle>) -> Result<Closed, E>,
    ) -> Result<Closed, E> {
        let episode = self.start()?;
        let mark = episode.core.mark.clone();
        let closed = agent(episode)?;
        if closed.core.mark == mark {
            Ok(closed)
        } else {
            Err(AnotherEpisode(closed.core.origin.correlation_id.clone()).into())
        }
    }

    /// The episode's correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    pub(crate) fn into_core(self) -> Core {
        self.core
    }

    /// The episode, before its first packet.
    ///
    /// # Errors
    /// If an episode with this correlation id has begun in this process (see [`Claims`]), or the log holds packets of
    /// one. Such an episode is taken up with [`AnyEpisode::resume`](super::AnyEpisode::resume). If an id is too long.
    pub fn start(mut self) -> Result<Episode<Idle>, StartError> {
        let core = &mut self.core;
        let id = &core.origin.correlation_id;
        let campaign = core.origin.campaign_id.iter().map(|id| id.as_str().len());
        let bytes = campaign.fold(id.as_str().len(), usize::max);
        if bytes > MAX_ID_BYTES {
            return Err(StartError::LongId { bytes, limit: MAX_ID_BYTES });
        }
        if core.log.holds(id) {
            return Err(StartError::InLog(id.clone()));
        }
        core.claims.begin(id, &core.leases)?;
        core.is_over = false;
        Ok(Episode::from_core(Box::new(self.core)))
    }
}

/// An agent has closed another episode than the one that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnotherEpisode(CorrelationId);

impl fmt::Display for AnotherEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the agent closed `{}`, which is not the episode that it was given", self.0)
    }
}

impl std::error::Error for AnotherEpisode {}
