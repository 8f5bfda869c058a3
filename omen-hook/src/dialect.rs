//! Dialects of coding agents' hooks, as described in `schema/hooks`.

pub(crate) mod install;
pub(crate) mod member_types;

use std::collections::BTreeMap;

use omen_base::{ServerName, ToolId, ToolName};
use omen_gate::tool::Tool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::install::{InstallForm, InstalledCommand};
use self::member_types::MemberTypes;

/// Dialect of an agent: its events, their members, and the answers that it accepts as a verdict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// Name of the agent, and of the virtual server that represents its tools.
    pub agent: ServerName,
    /// Name of the product.
    pub title: String,
    /// Newest version of the agent against which the dialect was checked.
    pub seen: String,
    /// Day of that check.
    pub date: String,
    /// Sources of the facts.
    pub sources: Vec<String>,
    /// Default timeout of the agent for a hook, in seconds.
    pub timeout_seconds: u64,
    /// What the agent can guarantee to a hook, as pairs of subject and guarantee.
    pub guarantees: Vec<(String, String)>,
    /// Form of the settings that register hooks.
    pub install: InstallForm,
    pub(crate) version: Option<VersionRange>,
    pub(crate) event_member: String,
    pub(crate) members: MemberNames,
    pub(crate) common: MemberTypes,
    pub(crate) events: BTreeMap<String, EventForm>,
    pub(crate) answers: AnswerForms,
    pub(crate) mcp: Option<McpNames>,
    pub(crate) settings: Vec<String>,
    pub(crate) tools: BTreeMap<ToolName, ToolForm>,
}

/// Range of versions for which a dialect holds, and where an event or the environment states the version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionRange {
    pub(crate) env: Option<String>,
    pub(crate) member: Option<String>,
    pub(crate) from: String,
    pub(crate) below: String,
}

/// Names of the members that all dialects have, but under different names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberNames {
    pub(crate) session: String,
    /// Member with the call's id; `None` for agents that send none.
    pub(crate) call: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: String,
    pub(crate) cwd: String,
    pub(crate) subagent: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventForm {
    pub(crate) role: EventRole,
    pub(crate) members: MemberTypes,
    /// Outcome that the event reports.
    pub(crate) outcome: Option<ReportedOutcome>,
    /// Pointer to a member that is present only if the call has failed.
    pub(crate) failed_if: Option<String>,
    /// Pointer to a member that names the outcome.
    pub(crate) result: Option<String>,
    /// Call that the event requests, if it does not have the usual members for a call.
    pub(crate) special: Option<SpecialEvent>,
    /// How the event reports the end of a shell command: most agents report a command that failed, or still runs, as a success.
    pub(crate) command: Option<CommandEnd>,
}

/// Event for one particular tool, which the agent sends in addition to, and after, its event for all tools.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpecialEvent {
    /// Name of the tool, or the start of its name.
    pub(crate) tool: String,
    /// Member with the rest of the tool's name.
    pub(crate) name: Option<String>,
    /// Member with the MCP server whose tool the rest of the name is.
    pub(crate) server: Option<String>,
    /// Member with all arguments, as an object or as the text of one.
    pub(crate) arguments: Option<String>,
    /// Arguments, with the members of the event that have them.
    #[serde(default)]
    pub(crate) input: BTreeMap<String, String>,
    /// Pointer to the folder in which the call is made, for events that name none.
    pub(crate) cwd: String,
}

/// Report on the end of a shell command, in an event that reports no tool error.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CommandEnd {
    /// Pointer to the exit code.
    ExitCode(String),
    /// Exit code between two texts, at the end of the text at a pointer.
    ExitCodeText { at: String, before: String, after: String },
    /// Pointer to a member that is present only while the command still runs.
    RunsIf(String),
    /// The event does not report it.
    Unknown,
}

/// Role of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventRole {
    /// A tool is about to run.
    Before,
    /// A tool has ended.
    After,
    /// The settings of the agent are about to change, which could turn its hooks off.
    Settings,
    /// The session ends.
    End,
    /// Anything else.
    Note,
}

/// Outcome of a call, as an agent reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedOutcome {
    /// The tool ran without an error.
    Ok,
    /// The tool ran and failed.
    Failed,
    /// The tool ran; the agent does not say how it ended.
    Unknown,
    /// The agent did not run the tool.
    DidNotRun,
}

/// Forms of a dialect's answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerForms {
    /// The gate has no objection. The agent's own rules and prompts still apply.
    pub(crate) allow: AnswerForm,
    pub(crate) deny: AnswerForm,
    /// Refuses a change of settings, or reports a finding about a call that has ended.
    pub(crate) settings: AnswerForm,
    /// Denial when the event is unknown, because nothing could be read.
    pub(crate) failure: AnswerForm,
}

/// Form of an answer: the exit code and the output.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerForm {
    pub(crate) exit: u8,
    /// Object on standard output, in which the text `$reason` stands for the reason.
    pub(crate) stdout: Option<Value>,
    /// Whether the reason is written to standard error.
    #[serde(default)]
    pub(crate) stderr: bool,
}

/// Names that an agent gives to the tools of MCP servers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct McpNames {
    #[serde(default)]
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) separator: String,
    /// Member of an event that names server and tool.
    pub(crate) context: Option<String>,
    /// Prefix of names that have no server: which one it is only the event about the tools of servers says.
    pub(crate) bare: Option<String>,
}

/// Form of a built-in tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolForm {
    pub(crate) input: MemberTypes,
    /// Whether the tool has further members that are not listed.
    #[serde(default)]
    pub(crate) open: bool,
    /// Member with a shell command.
    pub(crate) shell: Option<String>,
    /// Member with the command's working folder, relative to that of the event.
    pub(crate) cwd: Option<String>,
    /// Member with a patch that may change several files.
    pub(crate) patch: Option<String>,
    /// Member with a file path.
    pub(crate) path: Option<String>,
    /// Whether the tool writes the file.
    #[serde(default)]
    pub(crate) writes: bool,
}

/// Error for an unknown agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent `{0}`; expected one of {list}", list = Dialect::agents().collect::<Vec<_>>().join(", "))]
pub struct UnknownAgent(pub String);

impl Dialect {
    /// Returns the names of the agents that have a dialect.
    pub fn agents() -> impl Iterator<Item = &'static str> {
        omen_schema::HOOKS.iter().filter_map(|(path, _)| path.strip_suffix(".json"))
    }

    /// Returns the dialect of an agent.
    ///
    /// # Errors
    /// If the agent has no dialect.
    pub fn from_agent(agent: &str) -> Result<Self, UnknownAgent> {
        // The packaged files are tested, so one that cannot be parsed may be treated as missing.
        let text = omen_schema::hooks(agent);
        text.and_then(|text| serde_json::from_str(text).ok()).ok_or_else(|| UnknownAgent(agent.to_owned()))
    }

    /// Returns the agent's built-in tools as a server would list them, with argument schemas, which pins cover.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.tools.iter().map(|(name, form)| form.listed(name.clone(), &self.title)).collect()
    }

    /// Returns the events that must reach the hook, with their roles.
    pub fn governed_events(&self) -> impl Iterator<Item = (&str, EventRole)> {
        let governed = self.events.iter().filter(|(_, form)| form.role != EventRole::Note);
        governed.map(|(name, form)| (name.as_str(), form.role))
    }

    /// Arguments of a tool that its special event has, too; `None` for tools without such an event.
    pub(crate) fn in_special_event(&self, tool: &ToolId, args: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut specials = self.events.values().filter_map(|form| form.special.as_ref());
        if tool.server != self.agent {
            return specials.any(|special| special.server.is_some()).then(|| args.clone());
        }
        let special = specials.find(|special| special.tool == tool.tool.as_str())?;
        Some(special.input.keys().filter_map(|name| Some((name.clone(), args.get(name)?.clone()))).collect())
    }

    /// Returns the elements to add to the settings' lists of events; empty for agents that load a plug-in instead.
    #[must_use]
    pub fn hook_elements(&self, command: &InstalledCommand<'_>) -> Vec<(String, Value)> {
        let events = self.governed_events();
        let binds = |role| matches!(role, EventRole::Before | EventRole::Settings);
        let element = |role| self.install.element(command, binds(role));
        events.filter_map(|(name, role)| Some((name.to_owned(), element(role)?))).collect()
    }

    /// Returns the parts of paths below which agents keep their settings, for all dialects: no agent may write there.
    #[must_use]
    pub fn settings_of_all() -> Vec<String> {
        Self::agents().filter_map(|agent| Self::from_agent(agent).ok()).flat_map(|dialect| dialect.settings).collect()
    }
}

impl ToolForm {
    fn listed(&self, name: ToolName, title: &str) -> Tool {
        let schema = match self.patch {
            Some(_) => PATCHED_FILE.schema(true),
            None => self.input.schema(!self.open),
        };
        let description = match self.patch {
            Some(_) => format!("`{name}` of {title}: the change of one file, judged file by file"),
            None => format!("`{name}` of {title}"),
        };
        Tool { name, description: Some(description), input_schema: schema, output_schema: None, more: Map::new() }
    }
}

/// Arguments used to judge the change of one file.
static PATCHED_FILE: std::sync::LazyLock<MemberTypes> = std::sync::LazyLock::new(|| {
    let members = json!({ "path": "string", "change": "string", "patch": "string" });
    serde_json::from_value(members).unwrap_or_default()
});
