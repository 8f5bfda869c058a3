//! The dynamic entrance: packets that a model proposes as JSON.

use std::fmt;
use std::sync::Arc;

use omen_types::serde_json::{self, value::RawValue};
use omen_types::{Code, Diagnostic, Packet, PacketId, PacketType};
use serde::Deserialize;

use super::core::Core;
use super::refused::Refusal;
use super::{AnyEpisode, Pending};

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

impl AnyEpisode {
    /// Makes the move that a text proposes: `{"packet_type": …, "payload": {…}}`, with an envelope `mcp`
    /// or, without one, in that of the episode. The header is the episode's own affair: a model can claim
    /// neither another layer nor another time.
    ///
    /// # Errors
    /// What a validator would say of the packet; nothing is written then. An assumption that is said to
    /// be verified has to name evidence of the episode's latest verification loop (INV-003).
    pub fn propose(self, proposal: &str) -> Result<Moved, NotMoved> {
        let mut core = self.into_core();
        match proposed(&mut core, proposal) {
            Ok(packet_id) => {
                let task = core.tasks.get(packet_id.as_str()).map(|task| core.pending(task));
                Ok(Moved { episode: Self::of(core), packet_id, task })
            }
            Err(why) => Err(NotMoved { episode: Self::of(core), why: Arc::new(why) }),
        }
    }
}

fn proposed(core: &mut Core, text: &str) -> Result<PacketId, Refusal> {
    let Proposal { packet_type, payload, mcp } =
        serde_json::from_str(text).map_err(|error| {
            Refusal::rule(Diagnostic::error(Code::Json, format!("this is no proposal: {error}")).help(
                "write one JSON object: {\"packet_type\": …, \"payload\": {…}}, and `mcp` if the envelope changes",
            ))
        })?;
    let packet = core.compose(packet_type, payload.get(), mcp.map(RawValue::get))?;
    if let Packet::Decision(decision) = &packet {
        let assumptions = decision.payload.load_bearing_assumptions.iter().flatten().enumerate();
        for (at, assumption) in assumptions.filter(|(_, assumption)| assumption.verified) {
            let evidence = assumption.verification_packet_id.as_deref();
            if !evidence.is_some_and(|id| core.machine.ledger().is_loop_evidence(id)) {
                let problem = "an assumption is said to be verified, and names no evidence of the verification loop";
                return Err(Refusal::rule(
                    Diagnostic::error(Code::Inv003, problem)
                        .at(format!("/payload/load_bearing_assumptions/{at}/verification_packet_id"))
                        .help("decide VERIFY_FIRST and complete the loop, or say `\"verified\": false`"),
                ));
            }
        }
    }
    let decides = packet_type == PacketType::DecisionPacket;
    let mcp = decides.then(|| Arc::new(packet.mcp().clone()));
    let id = core.send_packet(packet)?;
    if let Some(mcp) = mcp {
        core.mcp = mcp;
    }
    Ok(id)
}
