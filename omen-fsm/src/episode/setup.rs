//! Setup of an episode.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use omen_invariants::facts::AnyEnvelope;
use omen_types::limits::MAX_ID_BYTES;
use omen_types::{CampaignId, CorrelationId};

use super::claim::{Claims, StartError};
use super::core::{Core, Origin};
use super::drop_policy::{Lost, OnDrop};
use super::ids::{IdSource, Numbered};
use super::log::{Log, MemoryLog};
use super::loop_notes::LoopNotes;
use super::stamps::TimeSource;
use super::tag::Tag;
use super::tool_classes::ToolClasses;
use super::values::PacketHeaderExtras;
use super::{Closed, Episode, Idle};
use crate::machine::Machine;

/// Setup of an episode: correlation id, envelope, clock, ids and log.
///
/// ```
/// use omen_fsm::episode::{Episode, Idle, Setup};
/// use omen_invariants::facts::DynEnvelope;
/// use omen_types::{Instant, Packet};
///
/// // The envelope of a packet that another agent has sent.
/// let log = omen_schema::example("valid/read-only.jsonl").unwrap_or_default();
/// let packet: Packet = log.lines().next().unwrap_or_default().parse()?;
/// let envelope = DynEnvelope::new(packet.mcp().clone()).map_err(|errors| format!("{errors:?}"))?;
///
/// let start: Instant = "2026-03-01T10:00:00Z".parse()?;
/// let episode: Episode<Idle> = Setup::new("corr_orders".parse()?, &envelope, move || start).start()?;
/// assert_eq!(episode.packets(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "call `start()` to begin the episode"]
pub struct Setup {
    pub(super) core: Core,
}

impl Setup {
    /// Creates a setup from the correlation id, the envelope of the first packets, and a clock. By default, the episode
    /// writes to a [`MemoryLog`] and numbers its ids. Each packet is sent from a layer that may send it (LAYER, D63).
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
                tools: ToolClasses::default(),
                tokens: Vec::new(),
                tag: Tag::default(),
                trouble: None,
                leases: Arc::default(),
                user_inputs: Arc::default(),
                claims: Claims::process(),
                on_drop: OnDrop::default(),
                on_lost: None,
                is_over: true,
            },
        }
    }

    /// Sets the log.
    pub fn log(mut self, log: impl Log) -> Self {
        self.core.log = Box::new(log);
        self
    }

    /// Sets the id source.
    pub fn ids(mut self, ids: impl IdSource) -> Self {
        self.core.ids = Box::new(ids);
        self
    }

    /// Sets the campaign of the episode. In a resumed episode, the first campaign in its log takes precedence (CHAIN, D65).
    pub fn campaign(mut self, campaign_id: CampaignId) -> Self {
        self.core.origin.campaign_id = Some(campaign_id);
        self
    }

    /// Sets the policy for an episode that is dropped before it has closed, for instance by `?` or a panic.
    pub fn on_drop(mut self, policy: OnDrop) -> Self {
        self.core.on_drop = policy;
        self
    }

    /// Sets a callback for a dropped episode whose last packets cannot be written because the log failed.
    pub fn on_lost(mut self, hook: impl FnOnce(&Lost) + Send + Sync + 'static) -> Self {
        self.core.on_lost = Some(Box::new(hook));
        self
    }

    /// Claims the correlation id in `claims` instead of in this process; for an episode that runs on a copy of its log,
    /// as in a test.
    pub fn claims(mut self, claims: &Claims) -> Self {
        self.core.claims = claims.clone();
        self
    }

    /// Runs an agent from the first packet to the close. The agent must return the proof that this episode has closed.
    ///
    /// # Errors
    /// The error of the agent, an episode that cannot start (see [`Setup::start`]), or an agent that closed another episode.
    pub fn run<E: From<AnotherEpisode> + From<StartError>>(
        self,
        agent: impl FnOnce(Episode<Idle>) -> Result<Closed, E>,
    ) -> Result<Closed, E> {
        let episode = self.start()?;
        let tag = episode.core.tag.clone();
        let closed = agent(episode)?;
        if closed.core.tag == tag {
            Ok(closed)
        } else {
            Err(AnotherEpisode(closed.core.origin.correlation_id.clone()).into())
        }
    }

    /// Returns the correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.core.origin.correlation_id
    }

    pub(crate) fn into_core(self) -> Core {
        self.core
    }

    /// Starts the episode, before its first packet.
    ///
    /// # Errors
    /// A correlation id that is already in use in this process (see [`Claims`]), or whose packets are already in the
    /// log: resume that episode with [`AnyEpisode::resume`](super::AnyEpisode::resume). Or an id that is too long.
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

/// Error of an agent that has closed an episode other than its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnotherEpisode(CorrelationId);

impl fmt::Display for AnotherEpisode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the agent closed another episode, `{}`", self.0)
    }
}

impl std::error::Error for AnotherEpisode {}
