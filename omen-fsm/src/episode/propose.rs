//! Packets that a model proposes as JSON.

use std::fmt;
use std::sync::Arc;

use omen_invariants::rules::inv_012_stakes_consistent::understated;
use omen_types::serde_json::{self, value::RawValue};
use omen_types::{Code, Diagnostic, Packet, PacketId, PacketType};
use serde::Deserialize;

use super::Pending;
use super::any::{AnyEpisode, Halt};
use super::core::Core;
use super::errors::Refusal;
use crate::table::{Event, Word, layer_name};

/// Accepted proposal.
#[must_use = "it holds the episode"]
#[derive(Debug)]
pub struct Moved {
    /// Episode after the move.
    pub episode: AnyEpisode,
    /// Packet that was written.
    pub packet_id: PacketId,
    /// Task, if the packet was a directive: carry it out and settle it.
    pub task: Option<Pending>,
}

/// Refused proposal: the unchanged episode, and a reason for the model to read.
#[must_use = "it holds the episode"]
pub struct NotMoved {
    /// Episode before the move.
    pub episode: AnyEpisode,
    /// Reason for the refusal.
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

impl From<NotMoved> for Halt {
    fn from(refused: NotMoved) -> Self {
        Self { why: refused.why, episode: Box::new(refused.episode) }
    }
}

/// Content of a model's proposal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposal<'t> {
    packet_type: PacketType,
    #[serde(borrow)]
    payload: &'t RawValue,
    #[serde(borrow, default)]
    mcp: Option<&'t RawValue>,
}

/// Packets that a model may propose beyond the moves of an agent that [`AnyEpisode::propose`] accepts: observations,
/// beliefs, decisions, plans, directives and escalations.
///
/// All other packets speak for another party. The model may send them only if the program allows it:
///
/// ```
/// use omen_fsm::episode::Allow;
///
/// // This model may issue tokens and report the results of tasks.
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
    /// Allows only the moves of an agent.
    pub const fn moves() -> Self {
        Self { tokens: false, user_input: false, results: false, alerts: false, understated: false }
    }

    /// Allows everything except orders of layer 1, which no program may grant to a model.
    pub const fn everything() -> Self {
        Self { tokens: true, user_input: true, results: true, alerts: true, understated: true }
    }

    /// Also allows tokens, whose issuer must be the layer that sends them. Without this permission, the program issues
    /// tokens: [`Episode::authorize`](super::Episode).
    pub const fn tokens(self) -> Self {
        Self { tokens: true, ..self }
    }

    /// Also allows observations of type `user_input`, which report a human's words, and the human's answer to an
    /// escalation (D8). Without this permission, the program records them.
    pub const fn user_input(self) -> Self {
        Self { user_input: true, ..self }
    }

    /// Also allows task results. Without this permission, the program that carries out a task settles it.
    pub const fn results(self) -> Self {
        Self { results: true, ..self }
    }

    /// Also allows alerts, which may halt the episode and revoke tokens (D14, D25).
    pub const fn alerts(self) -> Self {
        Self { alerts: true, ..self }
    }

    /// Also allows envelopes whose stakes level is below what their axes justify, which is a warning of INV-012.
    pub const fn understated_stakes(self) -> Self {
        Self { understated: true, ..self }
    }

    /// Returns whether the model may cause an event by a proposal.
    pub(super) fn lists(self, event: Event) -> bool {
        // The close is not a packet.
        event.packet_type().is_some() && Word::of_event(event).is_none_or(|word| self.has(word))
    }

    fn has(self, word: Word) -> bool {
        match word {
            Word::Issuer => self.tokens,
            Word::Human => self.user_input,
            Word::Executor => self.results,
            Word::Guard => self.alerts,
            // Only an order of layer 1 ends safe mode, and no program may grant that to a model.
            Word::Authority => false,
        }
    }

    /// Checks whether the model may send a packet.
    fn check(self, packet: &Packet, event: Event) -> Result<(), Refusal> {
        let says = |code, problem, pointer: &str, help: &str| {
            Err(Refusal::rule(Diagnostic::error(code, problem).at(pointer).help(help)))
        };
        match Word::of_event(event).filter(|word| !self.has(*word)) {
            Some(Word::Issuer) => {
                let problem = "a model cannot issue a token";
                return says(Code::E4, problem, "/header/packet_type", "request a token from the program");
            }
            Some(Word::Human) => {
                let problem = "a model cannot send user input";
                let help = "wait for the human, or use another `observation_type`, such as `tool_output`";
                return says(Code::Fsm, problem, "/payload/observation_type", help);
            }
            Some(Word::Executor) => {
                let problem = "a model cannot report the result of a task";
                let help = "wait for the result: the program that carries out the task settles it";
                return says(Code::E6, problem, "/header/packet_type", help);
            }
            Some(Word::Guard) => {
                let problem = "a model cannot send an alert";
                return says(Code::E7, problem, "/header/packet_type", "decide to escalate or to cancel");
            }
            Some(Word::Authority) => {
                let problem = "a model cannot end safe mode";
                let help = "wait for layer 1 or Integrity to clear it";
                return says(Code::E7, problem, "/payload/severity", help);
            }
            None => {}
        }
        if let Packet::ToolAuthorizationToken(token) = packet
            && token.payload.issuer_layer != token.header().layer_source
        {
            let own = layer_name(token.header().layer_source);
            let problem = format!("a model can issue tokens for layer `{own}` only");
            let help = format!("set `issuer_layer` to the layer of the packet: `{own}`");
            return Err(Refusal::rule(Diagnostic::error(Code::E4, problem).at("/payload/issuer_layer").help(help)));
        }
        match understated(&packet.mcp().stakes) {
            Some(finding) if !self.understated => Err(Refusal::rule(finding)),
            _ => Ok(()),
        }
    }
}

impl AnyEpisode {
    /// Returns the events that [`AnyEpisode::propose_with`] accepts next, as far as the table, the sequence rules and
    /// `allow` determine that; list them in a model's prompt. Neither the close of the episode, which is not a packet,
    /// nor the end of safe mode, which is up to layer 1, is listed.
    ///
    /// ```
    /// use omen_fsm::episode::{Allow, AnyEpisode};
    ///
    /// fn prompt(episode: &AnyEpisode) -> String {
    ///     let moves = episode.moves_for(Allow::moves());
    ///     moves.iter().map(|event| format!("- {}\n", event.as_str())).collect()
    /// }
    /// ```
    #[must_use]
    pub fn moves_for(&self, allow: Allow) -> Vec<Event> {
        self.moves().into_iter().filter(|event| allow.lists(*event)).collect()
    }

    /// Makes the move that a JSON text proposes: `{"packet_type": …, "payload": {…}}`. If it has an envelope (`mcp`),
    /// that envelope stays in force; otherwise, the packet carries the episode's. The episode writes the header, so a
    /// model cannot claim another layer or another time.
    ///
    /// A model cannot speak for others: it cannot issue tokens, answer for the human, settle tasks, send alerts, or
    /// state lower stakes than the axes of its envelope justify. [`AnyEpisode::propose_with`] can allow these.
    /// Everything else in its envelope, including the axes, is accepted as the model states it.
    ///
    /// # Errors
    /// Violations that a validator would report for the packet, or a packet that the model may not send; nothing is
    /// then written. An assumption that is stated as verified is judged as in any log (D62, D86): only the typed API
    /// requires the proof of a verification loop, a proposal does not.
    pub fn propose(self, proposal: &str) -> Result<Moved, NotMoved> {
        self.propose_with(Allow::moves(), proposal)
    }

    /// Makes the move that a JSON text proposes; `allow` lists what the model may send beyond the moves of an agent.
    ///
    /// ```
    /// use omen_fsm::episode::{Allow, AnyEpisode, Moved, NotMoved};
    ///
    /// fn hears(episode: AnyEpisode, chat: &str) -> Result<Moved, NotMoved> {
    ///     // The text of the chat window is user input.
    ///     episode.propose_with(Allow::moves().user_input(), chat)
    /// }
    /// ```
    ///
    /// # Errors
    /// Same as [`AnyEpisode::propose`]. The issuer of a token must always be the layer that sends it.
    pub fn propose_with(self, allow: Allow, proposal: &str) -> Result<Moved, NotMoved> {
        let mut core = self.into_core();
        match core.step(|core| proposed(core, allow, proposal)) {
            Ok(packet_id) => {
                let task = core.tasks.get(packet_id.as_str()).map(|task| core.pending(task));
                Ok(Moved { episode: Self::from_core(core), packet_id, task })
            }
            Err(why) => Err(NotMoved { episode: Self::from_core(core), why }),
        }
    }
}

fn proposed(core: &mut Core, allow: Allow, text: &str) -> Result<PacketId, Refusal> {
    let Proposal { packet_type, payload, mcp } =
        serde_json::from_str(text).map_err(|error| {
            Refusal::rule(Diagnostic::error(Code::Json, format!("invalid proposal: {error}")).help(
                "write one JSON object: {\"packet_type\": …, \"payload\": {…}}, and `mcp` if the envelope changes",
            ))
        })?;
    let packet = core.compose(packet_type, payload.get(), mcp.map(RawValue::get))?;
    let send = |core: &mut Core| core.send_packet(&packet, |_, event| allow.check(&packet, event));
    let id = match &packet {
        Packet::TaskResult(result) => {
            let payload = &result.payload;
            core.settling(vec![(payload.directive_packet_id.clone(), payload.result_status)], send)?
        }
        _ => send(core)?,
    };
    // As in a resumed episode, the envelope stays in force until another packet replaces it.
    core.adopt(&packet);
    Ok(id)
}
