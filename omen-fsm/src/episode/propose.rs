//! The dynamic entrance: packets that a model proposes as JSON.

use std::fmt;
use std::sync::Arc;

use omen_invariants::rules::inv_012_stakes_consistent::understated;
use omen_types::serde_json::{self, value::RawValue};
use omen_types::{Code, Diagnostic, Packet, PacketId, PacketType};
use serde::Deserialize;

use super::core::Core;
use super::refused::Refusal;
use super::{AnyEpisode, Pending};
use crate::table::{Event, Word, layer_name};

/// A move that was made.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub struct Moved {
    /// The episode after it.
    pub episode: AnyEpisode,
    /// The packet that was written.
    pub packet_id: PacketId,
    /// The task, if the packet was a directive: carry it out and settle it.
    pub task: Option<Pending>,
}

/// A move that was refused: the episode as it was, and a reason that whoever proposed it can read.
#[must_use = "it holds the episode"]
pub struct NotMoved {
    /// The episode as it was.
    pub episode: AnyEpisode,
    /// Why.
    pub why: Arc<Refusal>,
}

impl fmt::Debug for NotMoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotMoved").field("episode", &self.episode).field("why", &self.why).finish()
    }
}

impl fmt::Display for NotMoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for NotMoved {}

impl From<NotMoved> for super::Halt {
    fn from(refused: NotMoved) -> Self {
        Self { why: refused.why, episode: Box::new(refused.episode) }
    }
}

/// What a model writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal<'t> {
    packet_type: PacketType,
    #[serde(borrow)]
    payload: &'t RawValue,
    #[serde(borrow, default)]
    mcp: Option<&'t RawValue>,
}

/// What a model may propose beyond the moves of an agent, which [`AnyEpisode::propose`] takes: observations,
/// beliefs, decisions, plans, directives and escalations.
///
/// The rest is the word of somebody else, and becomes the model's only if the program says so:
///
/// ```
/// use omen_fsm::episode::Allow;
///
/// // This model may issue tokens, and say how tasks have ended.
/// const OPERATOR: Allow = Allow::moves().tokens().results();
/// # let _ = OPERATOR;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it is given to `.propose_with(..)`"]
pub struct Allow {
    tokens: bool,
    user_input: bool,
    results: bool,
    alerts: bool,
    understated: bool,
}

impl Allow {
    /// The moves of an agent alone.
    pub const fn moves() -> Self {
        Self { tokens: false, user_input: false, results: false, alerts: false, understated: false }
    }

    /// All that the protocol allows those that a program may let a model speak for. Layer 1 is not among them.
    pub const fn everything() -> Self {
        Self { tokens: true, user_input: true, results: true, alerts: true, understated: true }
    }

    /// And tokens, whose issuer is the layer that the episode sends tokens from. Without this, the program issues them:
    /// [`Episode::authorize`](super::Episode).
    pub const fn tokens(self) -> Self {
        Self { tokens: true, ..self }
    }

    /// And observations of type `user_input`, which stand for what a human has said, and in an escalation for their
    /// answer (D8). Without this, the program takes them in.
    pub const fn user_input(self) -> Self {
        Self { user_input: true, ..self }
    }

    /// And results of tasks. Without this, whoever has carried a task out settles it.
    pub const fn results(self) -> Self {
        Self { results: true, ..self }
    }

    /// And alerts, which may halt the episode and revoke tokens (D14, D25).
    pub const fn alerts(self) -> Self {
        Self { alerts: true, ..self }
    }

    /// And envelopes that state a level of stakes below what their own axes justify, which is a warning of INV-012.
    pub const fn understated_stakes(self) -> Self {
        Self { understated: true, ..self }
    }

    /// Whether a proposal may make an event happen, as far as it goes by whose word that is.
    pub(super) fn lists(self, event: Event) -> bool {
        // The close is no packet.
        event.packet_type().is_some() && Word::of(event).is_none_or(|word| self.has(word))
    }

    fn has(self, word: Word) -> bool {
        match word {
            Word::Issuer => self.tokens,
            Word::Human => self.user_input,
            Word::Executor => self.results,
            Word::Guard => self.alerts,
            // The end of safe mode is an order of layer 1, which no program hands to a model.
            Word::Authority => false,
        }
    }

    /// What is against a packet that nobody but the model stands for.
    fn check(self, packet: &Packet, event: Event) -> Result<(), Refusal> {
        let says = |code, problem, pointer: &str, help: &str| {
            Err(Refusal::rule(Diagnostic::error(code, problem).at(pointer).help(help)))
        };
        match Word::of(event).filter(|word| !self.has(*word)) {
            Some(Word::Issuer) => {
                let problem = "a model issues itself no token";
                return says(Code::E4, problem, "/header/packet_type", "ask for one: the program issues tokens");
            }
            Some(Word::Human) => {
                let problem = "what a human says, a model does not say for them";
                let help = "wait for the human, or observe what was seen otherwise";
                return says(Code::Fsm, problem, "/payload/observation_type", help);
            }
            Some(Word::Executor) => {
                let problem = "how a task has ended, a model does not say";
                let help = "wait for the result: the program that carries the task out settles it";
                return says(Code::E6, problem, "/header/packet_type", help);
            }
            Some(Word::Guard) => {
                let problem = "a model sends no alerts";
                return says(Code::E7, problem, "/header/packet_type", "decide to escalate, or to cancel");
            }
            Some(Word::Authority) => {
                let problem = "a model does not end safe mode";
                let help = "wait for layer 1 or Integrity to clear it";
                return says(Code::E7, problem, "/payload/severity", help);
            }
            None => {}
        }
        if let Packet::ToolAuthorizationToken(token) = packet
            && token.payload.issuer_layer != token.header.layer_source
        {
            let own = layer_name(token.header.layer_source);
            let problem = format!("a model issues tokens in the name of layer `{own}` alone");
            let help = format!("name the layer of the packet as the issuer: `{own}`");
            return Err(Refusal::rule(Diagnostic::error(Code::E4, problem).at("/payload/issuer_layer").help(help)));
        }
        match understated(&packet.mcp().stakes) {
            Some(finding) if !self.understated => Err(Refusal::rule(finding)),
            _ => Ok(()),
        }
    }
}

impl AnyEpisode {
    /// Makes the move that a text proposes: `{"packet_type": …, "payload": {…}}`, with an envelope `mcp`
    /// that holds from then on or, without one, in that of the episode. The header is the episode's own affair: a model can claim
    /// neither another layer nor another time.
    ///
    /// Nor can it speak for others: it issues no tokens, does not answer for the human, settles no tasks, sends no alerts,
    /// and states no lower stakes than its envelope's own axes justify. [`AnyEpisode::propose_with`] allows more. What
    /// else an envelope of its own says, the axes among it, is the model's word.
    ///
    /// # Errors
    /// What a validator would say of the packet, or else that the model may not say it; nothing is written then. An
    /// assumption that is said to be verified has to name evidence of the episode's latest verification
    /// loop, which has closed with a check that has succeeded (INV-003).
    pub fn propose(self, proposal: &str) -> Result<Moved, NotMoved> {
        self.propose_with(Allow::moves(), proposal)
    }

    /// Makes the move that a text proposes, where the model may do more than an agent's moves.
    ///
    /// ```
    /// use omen_fsm::episode::{Allow, AnyEpisode, Moved, NotMoved};
    ///
    /// fn hears(episode: AnyEpisode, chat: &str) -> Result<Moved, NotMoved> {
    ///     // What comes from the chat window is a human's word.
    ///     episode.propose_with(Allow::moves().user_input(), chat)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`AnyEpisode::propose`]. The issuer of a token has to be the layer that sends it, whatever is allowed.
    pub fn propose_with(self, allow: Allow, proposal: &str) -> Result<Moved, NotMoved> {
        let mut core = self.into_core();
        match core.step(|core| proposed(core, allow, proposal)) {
            Ok(packet_id) => {
                let task = core.tasks.get(packet_id.as_str()).map(|task| core.pending(task));
                Ok(Moved { episode: Self::of(core), packet_id, task })
            }
            Err(why) => Err(NotMoved { episode: Self::of(core), why }),
        }
    }
}

fn proposed(core: &mut Core, allow: Allow, text: &str) -> Result<PacketId, Refusal> {
    let Proposal { packet_type, payload, mcp } =
        serde_json::from_str(text).map_err(|error| {
            Refusal::rule(Diagnostic::error(Code::Json, format!("this is no proposal: {error}")).help(
                "write one JSON object: {\"packet_type\": …, \"payload\": {…}}, and `mcp` if the envelope changes",
            ))
        })?;
    let packet = core.compose(packet_type, payload.get(), mcp.map(RawValue::get))?;
    let send = |core: &mut Core| core.send_packet(&packet, |event| allow.check(&packet, event));
    let id = match &packet {
        Packet::TaskResult(result) => {
            let payload = &result.payload;
            core.settling(vec![(payload.directive_packet_id.clone(), payload.result_status)], send)?
        }
        _ => send(core)?,
    };
    // As on the way back from a log: an envelope holds until another one does.
    core.adopt(&packet);
    Ok(id)
}
