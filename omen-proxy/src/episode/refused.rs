//! Why an episode does not let something happen.

use std::sync::Arc;

use omen_fsm::Event;
use omen_fsm::episode::Refusal;
use omen_types::packet::PacketType;
use omen_types::{Code, Diagnostic};

use super::catalog::OwnTool;
use super::{moves, schema};

/// A refusal, as a model reads it.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(super) findings: Vec<Diagnostic>,
    /// Whether nothing that is done next can help: the log has failed.
    pub(super) is_final: bool,
    /// Whether the reason may quote what the model has written.
    quotes: bool,
}

impl Refused {
    pub(super) fn finding(finding: Diagnostic) -> Self {
        Self::rules(vec![finding])
    }

    pub(super) fn rules(findings: Vec<Diagnostic>) -> Self {
        Self { findings, is_final: false, quotes: true }
    }

    /// A reason in the proxy's own words.
    pub(super) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { quotes: false, ..Self::finding(Diagnostic::error(code, message).help(help)) }
    }

    /// The log is not known to be on the disk, so nothing more is done.
    pub(super) fn not_synced(why: String) -> Self {
        let help = "end the session: nothing more is recorded in it, and so nothing more is called";
        Self { is_final: true, ..Self::new(Code::E6, why, help) }
    }

    /// The same refusal, and one more finding.
    pub(super) fn and(mut self, finding: Diagnostic) -> Self {
        self.findings.push(finding);
        self
    }

    /// The rule that is broken first.
    pub(crate) fn rule(&self) -> Code {
        self.findings.first().map_or(Code::Fsm, |finding| finding.code)
    }

    /// The rules that say the same.
    pub(crate) fn also(&self) -> &[Code] {
        self.findings.first().map_or(&[], |finding| &finding.also)
    }

    /// The code of the rule that is broken first.
    pub(crate) fn code(&self) -> &'static str {
        self.rule().as_str()
    }

    /// What is wrong, for an operator: without what the model has written. It reads the whole of it.
    pub(crate) fn unquoted(&self) -> String {
        if !self.quotes {
            return self.reason();
        }
        let mut titles: Vec<_> = self.findings.iter().map(|finding| finding.code.info().title).collect();
        titles.dedup();
        titles.join("; ")
    }

    /// What is wrong.
    pub(crate) fn reason(&self) -> String {
        self.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
    }
}

impl From<Arc<Refusal>> for Refused {
    fn from(why: Arc<Refusal>) -> Self {
        match why.findings() {
            [] => {
                let help = "end the session: nothing more is recorded in it, and so nothing more is called";
                let finding = Diagnostic::error(Code::E6, why.to_string()).help(help);
                Self { findings: vec![finding], is_final: true, quotes: false }
            }
            findings => Self::rules(findings.to_vec()),
        }
    }
}

/// A finding in the words of the tools.
pub(super) struct InTools {
    /// The place in the arguments, if it is one.
    pub(super) at: Option<String>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// What a finding of the rules says to a model, which has tools and does not send packets.
pub(super) fn in_tools(finding: &Diagnostic) -> InTools {
    let pointer = finding.pointer.as_deref().map(in_arguments);
    // What is about the packet as a whole is about the call as a whole.
    let at = pointer.filter(|pointer| !pointer.is_empty() && !pointer.starts_with("/header")).map(str::to_owned);
    if finding.code == Code::E4 && at.as_deref() == Some(NO_TOKEN) && finding.pointer.as_deref() != Some(NO_TOKEN) {
        // The token that was asked about is one that the proxy would have issued.
        let message = "no token can be issued here: each decision to act is good for one call of a tool that writes";
        let help = "call `omen_believe` with what came of it, then `omen_decide` with `ACT` for the next call";
        return InTools { at: None, message: message.to_owned(), help: Some(help.to_owned()) };
    }
    let help = match (finding.code, finding.pointer.as_deref()) {
        (Code::Inv005, Some(_)) => Some(OVER_BUDGET.to_owned()),
        (Code::E7, _) => Some(SAFE_MODE.to_owned()),
        (Code::Inv004, Some("/mcp/evidence/evidence_refs")) => Some(CITE.to_owned()),
        _ => finding.help.as_deref().map(words),
    };
    InTools { at, message: words(&finding.message), help }
}

/// A text of a rule in the words of the tools: packets and moves have the names of the tools, what the proxy does is left out,
/// and so are commands of the command line.
fn words(text: &str) -> String {
    let mut text = text.split_once("; from S").map_or(text, |(before, _)| before).to_owned();
    while let Some(start) = text.find(" (`omen new") {
        let Some(length) = text.get(start..).and_then(|rest| rest.find(')')) else { break };
        text.replace_range(start..=start + length, "");
    }
    // What a tool gives is recorded as an observation, with its result.
    let seen = [Event::Settle, Event::Observe].map(|event| format!(", then {}", event.description())).concat();
    text = text.replace(&seen, "");
    for event in Event::ALL {
        let (said, tool) = (event.description(), moves::tool(*event));
        match tool {
            Some(tool) => text = text.replace(said, &tool),
            // The proxy does that by itself.
            None => text = text.replace(&format!(", then {said}"), ""),
        }
    }
    for tool in OwnTool::ALL {
        if let Some(packet) = tool.packet_type() {
            for article in ["an ", "a ", "the ", ""] {
                text = text.replace(&format!("{article}{packet}"), &format!("`{}`", tool.name()));
            }
        }
    }
    let text = text.replace(PacketType::TaskDirectivePacket.as_str(), "directive");
    let text = text.replace(PacketType::TaskResultPacket.as_str(), "result");
    let text = text.replace("send a directive", "call a tool").replace("first send ", "first call ");
    schema::plain(&text.replace("send `omen_", "call `omen_"))
}

/// The place in the arguments of a tool, whose payload stands at the top.
fn in_arguments(pointer: &str) -> &str {
    pointer.strip_prefix("/payload").unwrap_or(pointer)
}

/// Where a directive of the proxy's names its token.
const NO_TOKEN: &str = "/authorization_token_id";

const OVER_BUDGET: &str = "decide `ESCALATE`, after `omen_believe` if that is not legal yet; then call `omen_escalate` with \
     `escalation_trigger` `budget_insufficient`, and the user is asked";
/// What can be done in safe mode.
pub(super) const SAFE_MODE: &str = "record what is known with `omen_believe`, and tell the user; `omen_escalate` asks the operator to end \
     safe mode, and another session begins another episode";
const CITE: &str = "name what it rests on in `evidence`: packets that `omen_state` lists; if there is none, call a tool that \
     reads; if nothing is claimed about the present, use `freshness_class` `STRATEGIC`";
