//! Reasons why an episode refuses something.

use std::sync::Arc;

use omen_fsm::Event;
use omen_fsm::episode::Refusal;
use omen_types::packet::PacketType;
use omen_types::{Code, Diagnostic};

use super::catalog::OwnTool;
use super::{moves, schema};

/// Refusal of a step by an episode, as shown to a model.
#[derive(Clone, Debug)]
pub(crate) struct StepRefusal {
    pub(super) findings: Vec<Diagnostic>,
    /// Whether no further action can help, because the log has failed.
    pub(super) is_final: bool,
    /// Whether the reason may quote text from the model.
    quotes: bool,
}

impl StepRefusal {
    pub(super) fn finding(finding: Diagnostic) -> Self {
        Self::rules(vec![finding])
    }

    pub(super) fn rules(findings: Vec<Diagnostic>) -> Self {
        Self { findings, is_final: false, quotes: true }
    }

    /// Creates a refusal with a reason in the proxy's own words.
    pub(super) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { quotes: false, ..Self::finding(Diagnostic::error(code, message).help(help)) }
    }

    /// Creates the refusal for a log that may not be on disk, after which nothing more is done.
    pub(super) fn not_synced(why: String) -> Self {
        let help = "end the session: nothing more is recorded in it, and so nothing more is called";
        Self { is_final: true, ..Self::new(Code::E6, why, help) }
    }

    /// Returns the same refusal with an additional finding.
    pub(super) fn and(mut self, finding: Diagnostic) -> Self {
        self.findings.push(finding);
        self
    }

    /// Returns the first violated rule.
    pub(crate) fn rule(&self) -> Code {
        self.findings.first().map_or(Code::Fsm, |finding| finding.code)
    }

    /// Returns the further rules with the same finding.
    pub(crate) fn also(&self) -> &[Code] {
        self.findings.first().map_or(&[], |finding| &finding.also)
    }

    /// Returns the code of the first violated rule.
    pub(crate) fn code(&self) -> &'static str {
        self.rule().as_str()
    }

    /// Returns the reason for an operator, without text from the model.
    pub(crate) fn unquoted(&self) -> String {
        if !self.quotes {
            return self.reason();
        }
        let mut titles: Vec<_> = self.findings.iter().map(|finding| finding.code.info().title).collect();
        titles.dedup();
        titles.join("; ")
    }

    pub(crate) fn reason(&self) -> String {
        self.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
    }
}

impl From<Arc<Refusal>> for StepRefusal {
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

/// Finding in terms of the tools.
pub(super) struct InTools {
    /// Position in the arguments, if there is one.
    pub(super) at: Option<String>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Rewords a finding of the rules for a model, which has tools and does not send packets.
pub(super) fn in_tools(finding: &Diagnostic) -> InTools {
    let pointer = finding.pointer.as_deref().map(in_arguments);
    // A finding about the packet as a whole is about the call as a whole.
    let at = pointer.filter(|pointer| !pointer.is_empty() && !pointer.starts_with("/header")).map(str::to_owned);
    if finding.code == Code::E4 && at.as_deref() == Some(NO_TOKEN) && finding.pointer.as_deref() != Some(NO_TOKEN) {
        // The token is one that the proxy would have issued.
        let message = "no token can be issued here: each decision to act permits one call of a tool that writes";
        let help = "call `omen_believe` with its outcome, then `omen_decide` with `ACT` for the next call";
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

/// Rewords a text of a rule in terms of the tools: packets and moves get the names of the tools, and the proxy's own actions
/// and commands of the command line are left out.
fn words(text: &str) -> String {
    let mut text = text.split_once("; from S").map_or(text, |(before, _)| before).to_owned();
    while let Some(start) = text.find(" (`omen new") {
        let Some(length) = text.get(start..).and_then(|rest| rest.find(')')) else { break };
        text.replace_range(start..=start + length, "");
    }
    // A tool's output is recorded as an observation, together with its result.
    let seen = [Event::Settle, Event::Observe].map(|event| format!(", then {}", event.description())).concat();
    text = text.replace(&seen, "");
    for event in Event::ALL {
        let (said, tool) = (event.description(), moves::tool(*event));
        match tool {
            Some(tool) => text = text.replace(said, &tool),
            // The proxy does this itself.
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

/// Returns the position in the arguments of a tool, whose payload is at the top level.
fn in_arguments(pointer: &str) -> &str {
    pointer.strip_prefix("/payload").unwrap_or(pointer)
}

/// Pointer to the token in a directive sent by the proxy.
const NO_TOKEN: &str = "/authorization_token_id";

const OVER_BUDGET: &str = "decide `ESCALATE`, after `omen_believe` if that is not legal yet; then call `omen_escalate` with \
     `escalation_trigger` `budget_insufficient`, and the user is asked";
/// Help for safe mode.
pub(super) const SAFE_MODE: &str = "record what is known with `omen_believe`, and tell the user; `omen_escalate` asks the operator to end \
     safe mode, and another session begins another episode";
const CITE: &str = "cite what it rests on in `evidence`: packets that `omen_state` lists; if there is none, call a \
                    tool that reads; if nothing is claimed about the present, use `freshness_class` `STRATEGIC`";
