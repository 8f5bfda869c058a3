//! Replies about an episode for a model, as text and as data for programs.

use omen_fsm::{Node, NodeSet};
use omen_gate::{Ran, TurnId};
use omen_types::Diagnostic;
use omen_types::packet::PacketId;
use serde_json::{Value, json};

use super::episode_state::EpisodeState;
use super::moves::{self, Move};
use super::step_refusal::{InTools, StepRefusal, in_tools};
use omen_mcp::handshake::Era;

/// Context of a reply: the call that it answers.
#[derive(Clone, Debug)]
pub(crate) struct ReplyContext<'p> {
    /// Request id as written.
    pub(crate) id: &'p str,
    pub(crate) turn: &'p TurnId,
    pub(crate) era: Era,
    /// Whether the tool promises structured answers.
    pub(crate) promises: bool,
    /// Whether the tool belongs to the episode and not to the server.
    pub(crate) own: bool,
    /// Debts of the session under the order rules, for a refusal.
    pub(crate) owed: String,
}

/// Current state of an episode.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    state: String,
    moves: Vec<Move>,
}

impl Standing {
    pub(super) fn new(state: &EpisodeState) -> Self {
        let nodes = state.recorder.nodes();
        let in_loop = nodes == NodeSet::of(Node::Verify);
        Self { state: nodes.to_string(), moves: moves::next(&state.recorder.offers(), in_loop) }
    }

    fn text(&self) -> String {
        let mut text = format!("State: {}. Legal next:", self.state);
        if self.moves.is_empty() {
            text.push_str(" nothing that you can do; the operator has to end this session.");
        }
        for one in &self.moves {
            text.push('\n');
            text.push_str(&one.line());
        }
        text
    }

    fn next(&self) -> Value {
        moves::json(&self.moves)
    }
}

/// Refusal, with the current state of the episode.
#[derive(Clone, Debug)]
pub(crate) struct NotNow {
    pub(crate) why: StepRefusal,
    pub(super) standing: Standing,
    pub(crate) ran: Ran,
}

impl NotNow {
    /// Returns the refusal as a result of `tools/call`. A refusal does not contain what the tool promises, so if the tool
    /// promises something, the decision is only in `_meta`.
    pub(crate) fn result(&self, at: &ReplyContext<'_>) -> Vec<u8> {
        let (code, ran) = (self.why.code(), ran(self.ran, at.own));
        let mut text = format!("Refused by the episode ({code}). {ran}");
        let findings: Vec<_> = self.why.findings.iter().map(|finding| (finding, in_tools(finding))).collect();
        for (_, InTools { at, message, help }) in &findings {
            text.push_str("\n- ");
            if let Some(place) = at {
                text.push_str(&format!("at `{place}`: "));
            }
            text.push_str(message);
            if let Some(help) = help {
                text.push_str("; what to do: ");
                text.push_str(help);
            }
        }
        if !self.why.is_final {
            text.push('\n');
            text.push_str(&self.standing.text());
        }
        if !at.owed.is_empty() {
            text.push('\n');
            text.push_str(&at.owed);
        }
        let findings: Vec<_> = findings.iter().map(|(finding, said)| json(finding, said)).collect();
        let decision = json!({
            "accepted": false, "code": code, "findings": findings, "next": self.standing.next(), "ran": self.ran,
            "state": self.standing.state, "turn": at.turn,
        });
        whole(at, &text, decision, true)
    }
}

/// Completed action of a model, with the current state of the episode.
#[derive(Clone, Debug)]
pub(super) struct CompletedAction {
    pub(super) text: String,
    pub(super) members: Value,
    pub(super) standing: Standing,
}

impl CompletedAction {
    /// Returns the id of the packet that was sent.
    pub(super) fn packet_id(&self) -> Option<PacketId> {
        self.members.get("packet_id")?.as_str()?.parse().ok()
    }

    pub(super) fn result(self, at: &ReplyContext<'_>) -> Vec<u8> {
        let text = format!("{}\n{}", self.text, self.standing.text());
        let mut decision = self.members;
        if let Value::Object(members) = &mut decision {
            members.insert("accepted".to_owned(), true.into());
            members.insert("state".to_owned(), self.standing.state.clone().into());
            members.insert("next".to_owned(), self.standing.next());
        }
        whole(at, &text, decision, false)
    }
}

pub(super) fn json(finding: &Diagnostic, InTools { at, message, help }: &InTools) -> Value {
    let also: Vec<_> = finding.also.iter().map(|code| code.as_str()).collect();
    json!({ "code": finding.code.as_str(), "also": also, "at": at, "reason": message, "help": help })
}

fn whole(at: &ReplyContext<'_>, text: &str, decision: Value, is_error: bool) -> Vec<u8> {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": is_error });
    if let Value::Object(members) = &mut result {
        if at.promises {
            members.insert("_meta".to_owned(), json!({ EPISODE: decision }));
        } else {
            members.insert("structuredContent".to_owned(), decision);
        }
        if at.era == Era::Stateless {
            members.insert("resultType".to_owned(), "complete".into());
        }
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", at.id).into_bytes()
}

/// Returns a sentence that says whether a tool of the server was called.
fn ran(ran: Ran, own: bool) -> &'static str {
    match ran {
        Ran::No if own => "Nothing was recorded.",
        Ran::No => "The tool was not called.",
        Ran::Unknown => "The tool may have run.",
        Ran::Yes => "The tool ran; its answer is withheld.",
    }
}

/// Member of `_meta` with the decision.
const EPISODE: &str = "omen/episode";
