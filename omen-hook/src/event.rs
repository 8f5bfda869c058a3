//! Strict parser for events of coding agents, which refuses what two readers could interpret differently.

use std::path::PathBuf;

use omen_base::bounded;
use omen_base::json::{self, Reading, Unread};
use serde_json::{Map, Value};

use crate::dialect::member_types::MemberFlaw;
use crate::dialect::{CommandEnd, Dialect, EventForm, EventRole, ReportedOutcome, SpecialEvent, VersionRange};

/// Event that an agent sends to its hook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A tool is about to run.
    Before(ToolEvent),
    /// A tool has ended.
    After(ToolEvent, ReportedOutcome),
    /// The settings of the agent are about to change.
    Settings,
    /// The session ends.
    End {
        /// Session id.
        session: String,
    },
    /// Any other event; it needs no answer.
    Note,
}

/// Tool call that an event reports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolEvent {
    /// Session id of the agent.
    pub session: String,
    /// Id of the call, if the agent sends one.
    pub call: Option<String>,
    /// Tool name as spelled by the agent.
    pub tool: String,
    /// Arguments.
    pub input: Map<String, Value>,
    /// Working directory of the call.
    pub cwd: PathBuf,
    /// Id of the subagent that makes the call, if any.
    pub subagent: Option<String>,
    /// Server and tool, if the agent names them separately.
    pub mcp: Option<(String, String)>,
    /// Whether the event is for one particular tool, and follows the one for all tools.
    pub is_special: bool,
}

/// Reason why an event is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The event is too long.
    #[error("the event exceeds {MAX_EVENT_BYTES} bytes")]
    Long,
    /// The event is not UTF-8.
    #[error("the event is not UTF-8")]
    Encoding,
    /// The event is not JSON, or readers may interpret it differently.
    #[error("the event cannot be read: {0}")]
    Json(String),
    /// The event is not an object, or lacks its name.
    #[error("the event has no name: expected an object with a string in `{0}`")]
    Nameless(String),
    /// The dialect does not have this event.
    #[error("unknown event `{name}` of {title} (the dialect is that of version {seen})")]
    Unknown {
        /// Name of the event.
        name: String,
        /// Name of the agent.
        title: String,
        /// Version against which the dialect was checked.
        seen: String,
    },
    /// A member is missing, or has another type.
    #[error("event `{event}`: {flaw}")]
    Member {
        /// Name of the event.
        event: String,
        /// Description of the mismatch.
        flaw: String,
    },
    /// The dialect does not support this version of the agent.
    #[error("{0}")]
    Version(String),
}

/// Maximum size of an event in bytes.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// Maximum nesting depth of an event.
const MAX_EVENT_DEPTH: usize = 64;

impl Dialect {
    /// Parses an event. `variable` looks up an environment variable, in which some agents state their version.
    ///
    /// # Errors
    /// If the event is ambiguous or unknown, or comes from a version that the dialect does not support.
    pub fn read(&self, bytes: &[u8], variable: impl Fn(&str) -> Option<String>) -> Result<Event, EventError> {
        if bytes.len() > MAX_EVENT_BYTES {
            return Err(EventError::Long);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| EventError::Encoding)?;
        let (members, inexact) = match object(text, true) {
            Err(error @ Unread::Number { .. }) => (object(text, false).map_err(refused)?, Some(error)),
            members => (members.map_err(refused)?, None),
        };
        let nameless = || EventError::Nameless(self.event_member.clone());
        let Value::Object(members) = members else { return Err(nameless()) };
        let name = members.get(&self.event_member).and_then(Value::as_str).ok_or_else(nameless)?;
        let form = self.events.get(name).ok_or_else(|| EventError::Unknown {
            name: bounded(name),
            title: self.title.clone(),
            seen: self.seen.clone(),
        })?;
        // A tool's answer may contain any number, but a call that is to be judged only exact ones.
        if let (EventRole::Before, Some(error)) = (form.role, inexact) {
            return Err(refused(error));
        }
        let flawed = |flaw: MemberFlaw| EventError::Member { event: name.to_owned(), flaw: bounded(&flaw.to_string()) };
        self.common.check(&members).map_err(flawed)?;
        form.members.check(&members).map_err(flawed)?;
        if let Some(range) = &self.version {
            check_version(range, &self.title, &members, variable).map_err(EventError::Version)?;
        }
        Ok(match form.role {
            EventRole::Before => Event::Before(match &form.special {
                Some(special) => self.special_event(special, &members, name)?,
                None => self.tool_event(&members, name)?,
            }),
            EventRole::After => {
                let event = self.tool_event(&members, name)?;
                let is_command = self.tools.get(event.tool.as_str()).is_some_and(|tool| tool.shell.is_some());
                Event::After(event, outcome(form, &members, is_command))
            }
            EventRole::Settings => Event::Settings,
            EventRole::End => Event::End { session: text_of(&members, &self.members.session).unwrap_or_default() },
            EventRole::Note => Event::Note,
        })
    }

    /// Builds the call from an event for one particular tool. It has no id.
    fn special_event(
        &self,
        special: &SpecialEvent,
        members: &Map<String, Value>,
        event: &str,
    ) -> Result<ToolEvent, EventError> {
        let member = |name: &Option<String>| name.as_deref().map(|member| required(members, member, event)).transpose();
        let (rest, server) = (member(&special.name)?, member(&special.server)?);
        let input = match &special.arguments {
            Some(member) => arguments(members, member, event)?,
            None => {
                let input = special.input.iter();
                input.filter_map(|(name, member)| Some((name.clone(), members.get(member)?.clone()))).collect()
            }
        };
        let folder = || at(members, &special.cwd).and_then(Value::as_str).map(str::to_owned);
        Ok(ToolEvent {
            session: required(members, &self.members.session, event)?,
            call: None,
            tool: format!("{}{}", special.tool, rest.as_deref().unwrap_or_default()),
            input,
            cwd: required(members, &self.members.cwd, event).ok().or_else(folder).unwrap_or_default().into(),
            subagent: None,
            mcp: server.zip(rest),
            is_special: true,
        })
    }

    fn tool_event(&self, members: &Map<String, Value>, event: &str) -> Result<ToolEvent, EventError> {
        let names = &self.members;
        let required = |member: &str| required(members, member, event);
        let input = members.get(&names.input).and_then(Value::as_object).cloned().unwrap_or_default();
        let context = self.mcp.as_ref().and_then(|mcp| members.get(mcp.context.as_ref()?)?.as_object());
        let mcp = match context {
            Some(context) => match (text_of(context, "server_name"), text_of(context, "tool_name")) {
                (Some(server), Some(tool)) => Some((server, tool)),
                _ => {
                    let flaw = "the context of an MCP tool names no server and tool".to_owned();
                    return Err(EventError::Member { event: event.to_owned(), flaw });
                }
            },
            None => None,
        };
        Ok(ToolEvent {
            session: required(&names.session)?,
            call: names.call.as_deref().map(required).transpose()?,
            tool: required(&names.tool)?,
            input,
            cwd: text_of(members, &names.cwd).unwrap_or_default().into(),
            subagent: names.subagent.as_ref().and_then(|member| text_of(members, member)),
            mcp,
            is_special: false,
        })
    }
}

fn object(text: &str, exact_numbers: bool) -> Result<Value, Unread> {
    json::read(text, Reading { depth: MAX_EVENT_DEPTH, exact_numbers })
}

fn refused(error: Unread) -> EventError {
    EventError::Json(error.to_string())
}

/// Checks that an event comes from a supported version. An event that does not state its version is refused.
fn check_version(
    range: &VersionRange,
    title: &str,
    members: &Map<String, Value>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let (place, found) = match (&range.member, &range.env) {
        (Some(member), _) => {
            (format!("field `{member}`"), members.get(member).and_then(Value::as_str).map(str::to_owned))
        }
        (None, Some(name)) => (format!("variable `{name}`"), variable(name)),
        (None, None) => return Ok(()),
    };
    let expected = format!("expected {} or later, and below {}", range.from, range.below);
    let Some(found) = found else {
        return Err(format!("the {place}, which names the version of {title}, is missing; {expected}"));
    };
    let is_within = match (numbers(&found), numbers(&range.from), numbers(&range.below)) {
        (Some(found), Some(from), Some(below)) => from <= found && found < below,
        _ => false,
    };
    if is_within { Ok(()) } else { Err(format!("unsupported version `{}` of {title}; {expected}", bounded(&found))) }
}

/// Parses the numbers of a version, ignoring a suffix such as `-beta.1`.
fn numbers(version: &str) -> Option<Vec<u32>> {
    let plain = version.split(['-', '+']).next().unwrap_or(version);
    plain.split('.').map(|number| number.parse().ok()).collect()
}

/// Arguments of a call: an object, or its text.
fn arguments(members: &Map<String, Value>, member: &str, event: &str) -> Result<Map<String, Value>, EventError> {
    let flawed = |flaw: String| EventError::Member { event: event.to_owned(), flaw: format!("`{member}`: {flaw}") };
    let found = match members.get(member) {
        Some(Value::String(text)) => object(text, true).map_err(|error| flawed(error.to_string()))?,
        other => other.cloned().unwrap_or_default(),
    };
    match found {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(flawed("expected an object, or its JSON as a string".to_owned())),
    }
}

/// Text of a member that is not empty.
fn required(members: &Map<String, Value>, member: &str, event: &str) -> Result<String, EventError> {
    text_of(members, member).filter(|text| !text.is_empty()).ok_or_else(|| EventError::Member {
        event: event.to_owned(),
        flaw: format!("`{member}`: expected a non-empty string"),
    })
}

fn text_of(members: &Map<String, Value>, name: &str) -> Option<String> {
    members.get(name)?.as_str().map(str::to_owned)
}

fn outcome(form: &EventForm, members: &Map<String, Value>, is_command: bool) -> ReportedOutcome {
    let reported = match (&form.result, &form.failed_if) {
        (Some(result), _) => match at(members, result).and_then(Value::as_str) {
            Some("success") => ReportedOutcome::Ok,
            Some("failure" | "error" | "timeout") => ReportedOutcome::Failed,
            Some("denied" | "permission_denied") => ReportedOutcome::DidNotRun,
            // An event of its own for failures says that much without a reason.
            None if form.outcome == Some(ReportedOutcome::Failed) => ReportedOutcome::Failed,
            _ => ReportedOutcome::Unknown,
        },
        (None, Some(failure)) if at(members, failure).is_some() => ReportedOutcome::Failed,
        _ => form.outcome.unwrap_or(ReportedOutcome::Unknown),
    };
    match &form.command {
        Some(end) if is_command && reported == ReportedOutcome::Ok => command_outcome(end, members),
        _ => reported,
    }
}

/// Returns the outcome of a shell command that is not reported as a tool error.
fn command_outcome(end: &CommandEnd, members: &Map<String, Value>) -> ReportedOutcome {
    let code = match end {
        CommandEnd::ExitCode(pointer) => at(members, pointer).and_then(Value::as_i64),
        CommandEnd::ExitCodeText { at: pointer, before, after } => {
            // Matches only at the end: any earlier text may be output of the command.
            let text = at(members, pointer).and_then(Value::as_str).and_then(|text| text.strip_suffix(after.as_str()));
            text.and_then(|text| text.rsplit_once(before.as_str())?.1.parse().ok())
        }
        CommandEnd::RunsIf(pointer) => at(members, pointer).is_none().then_some(0),
        CommandEnd::Unknown => None,
    };
    match code {
        Some(0) => ReportedOutcome::Ok,
        Some(_) => ReportedOutcome::Failed,
        None => ReportedOutcome::Unknown,
    }
}

/// Returns the value at a pointer, unless it is `null`.
fn at<'m>(members: &'m Map<String, Value>, pointer: &str) -> Option<&'m Value> {
    let pointer = pointer.strip_prefix('/')?;
    let found = match pointer.split_once('/') {
        Some((first, rest)) => members.get(first)?.pointer(&format!("/{rest}")),
        None => members.get(pointer),
    };
    found.filter(|value| !value.is_null())
}
