//! Outcomes that agents report, either matched to the intent of a call, or recorded as findings.

use omen_base::{ServerName, ToolId};
use omen_gate::arguments::Recordable;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{Audit, InDoubt, Key, Kind, Record, read_log};
use omen_gate::config::KeySource;
use omen_gate::{Config, TurnId};
use omen_order::{Ended, Entry, OrderMember};
use omen_proxy::episode::{CallEnd, SeenCall};
use omen_types::{CorrelationId, PacketId};
use serde_json::{Map, Value, json};

use crate::call_key::{CallKey, digest};
use crate::dialect::ReportedOutcome;
use crate::episodes::EventEpisodes;
use crate::event::ToolEvent;
use crate::hook_error::HookError;

/// An agent's report about a call that has ended.
#[derive(Debug)]
pub(crate) struct AgentReport<'r> {
    pub(crate) agent: &'r ServerName,
    pub(crate) event: &'r ToolEvent,
    pub(crate) outcome: ReportedOutcome,
}

/// Reason for closing a call without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// The session has ended.
    Session,
    /// The agent has made an equal call.
    Repeated,
    /// The call has taken longer than any.
    Late,
}

/// What the log contains about a call that is not open.
#[derive(Debug, Default)]
struct PastEntries {
    is_denied: bool,
    /// Turn of an intent with the same content whose outcome is missing or unknown, and its episode.
    late: Option<(String, Option<String>)>,
    /// Whether the call has an outcome.
    has_outcome: bool,
    /// Whether the id was used with other content.
    is_changed: bool,
}

/// Records the outcomes of an event's calls; returns the finding if one of them was not allowed in the form in which it ran.
pub(crate) fn report(
    audit: &Audit,
    config: &Config,
    report: &AgentReport<'_>,
    keys: &[(CallKey, Value)],
    episodes: &EventEpisodes<'_>,
) -> Result<Option<String>, HookError> {
    let mut found = None;
    for (key, tool) in keys {
        let open: Vec<_> = audit
            .in_doubt()
            .into_iter()
            .filter(|doubt| key.is_of_call(&doubt.turn) && doubt.call == key.hash)
            .collect();
        let finding = match open.first() {
            Some(doubt) => {
                record_outcome(audit, report, key, doubt, episodes)?;
                None
            }
            None => unexpected(audit, config, report, (key, tool), episodes)?,
        };
        found = found.or(finding);
    }
    Ok(found)
}

/// Closes calls without an outcome. Returns whether there were any.
pub(crate) fn close(
    audit: &Audit,
    is_such: impl Fn(&InDoubt) -> bool,
    end: LogEnd,
    episodes: &EventEpisodes<'_>,
) -> Result<bool, HookError> {
    let why = match end {
        LogEnd::Session => "the agent reported no outcome before its session ended",
        LogEnd::Repeated => "the agent reported no outcome before it made an equal call",
        LogEnd::Late => "the agent reported no outcome within a day",
    };
    let mut is_any = false;
    for doubt in audit.in_doubt().iter().filter(|doubt| is_such(doubt)) {
        let mut entry = members(json!({ "call": doubt.call, "ran": "unknown", "why": why }));
        entry.extend(order(audit, doubt.sequence, Ended::MayHaveRun));
        episodes.end(audit, doubt, &CallEnd::InDoubt(format!("{why}; the tool may have run")));
        record_of(audit, doubt, entry)?;
        is_any = true;
    }
    Ok(is_any)
}

/// Records an outcome. The episode comes first: an outcome in the audit log is one that nobody waits for any more.
fn record_outcome(
    audit: &Audit,
    report: &AgentReport<'_>,
    key: &CallKey,
    doubt: &InDoubt,
    episodes: &EventEpisodes<'_>,
) -> Result<(), HookError> {
    let (mut entry, end) = outcome(report, key);
    entry.extend(order(audit, doubt.sequence, end));
    episodes.end(audit, doubt, &call_end(report));
    record_of(audit, doubt, entry)
}

/// End of a call as its episode has it: what the agent reports.
fn call_end(report: &AgentReport<'_>) -> CallEnd {
    let agent = report.agent;
    match report.outcome {
        ReportedOutcome::Ok => CallEnd::Succeeded(json!({ "reported": "success", "reported_by": agent })),
        ReportedOutcome::Failed => {
            CallEnd::Failed { code: "tool", why: format!("`{agent}` reports that the tool failed") }
        }
        ReportedOutcome::Unknown => CallEnd::Failed { code: "unknown", why: UNKNOWN.to_owned() },
        ReportedOutcome::DidNotRun => CallEnd::DidNotRun(format!("`{agent}` reports that the tool did not run")),
    }
}

/// Returns the data of an outcome entry, and how the call ended for the order rules.
fn outcome(report: &AgentReport<'_>, key: &CallKey) -> (Map<String, Value>, Ended) {
    let (ran, class, end) = match report.outcome {
        ReportedOutcome::Ok => ("yes", None, Ended::Ok),
        ReportedOutcome::Failed => ("yes", Some("tool"), Ended::Failed),
        ReportedOutcome::Unknown => ("yes", None, Ended::MayHaveRun),
        ReportedOutcome::DidNotRun => ("no", None, Ended::DidNotRun),
    };
    let mut entry = members(json!({
        "call": key.hash,
        "class": class,
        "paired_by": if key.has_id() { "id" } else { "order and content" },
        "ran": ran,
        "reported_by": report.agent,
    }));
    if report.outcome == ReportedOutcome::Unknown {
        entry.insert("why".to_owned(), UNKNOWN.into());
    }
    subagent(&mut entry, report);
    (entry, end)
}

/// Handles an outcome that matches no open call.
fn unexpected(
    audit: &Audit,
    config: &Config,
    report: &AgentReport<'_>,
    (key, tool): (&CallKey, &Value),
    episodes: &EventEpisodes<'_>,
) -> Result<Option<String>, HookError> {
    if report.outcome == ReportedOutcome::DidNotRun {
        return Ok(None);
    }
    let past = past(config, key)?;
    if let Some((turn, episode)) = past.late {
        let (mut entry, _) = outcome(report, key);
        entry.insert("why".to_owned(), LATE.into());
        if let Some(episode) = episode {
            episodes.note(&key.session, audit, &episode, LATE);
        }
        record(audit, Kind::Outcome, &TurnId::new(turn)?, entry)?;
        return Ok(None);
    }
    let (finding, why) = match past {
        PastEntries { is_denied: true, .. } => ("after_denial", "the call ran although it was denied"),
        // The agent has reported the outcome twice. Without an id, the outcome could belong to another call.
        PastEntries { has_outcome: true, .. } if key.has_id() => return Ok(None),
        PastEntries { is_changed: true, .. } => {
            ("changed_arguments", "the call ran with arguments other than those that were allowed")
        }
        PastEntries { .. } => ("undecided", "the call ran without a decision"),
    };
    let name = |member: &str| tool.get(member).and_then(Value::as_str).unwrap_or_default();
    let why = format!("{why}: `{}/{}`", name("server"), name("tool"));
    let mut entry =
        members(json!({ "call": key.hash, "finding": finding, "reported_by": report.agent, "tool": tool, "why": why }));
    subagent(&mut entry, report);
    let id = name("server").parse().ok().zip(name("tool").parse().ok()).map(|(server, tool)| ToolId { server, tool });
    let turn = key.turn(audit.anchor().map_err(HookError::from)?.count())?;
    let call = SeenCall {
        turn: &turn,
        tool: format!("{}/{}", name("server"), name("tool")),
        hash: key.hash.clone(),
        args: &report.event.input,
        recordable: Recordable::default(),
        permissions: id.as_ref().and_then(|id| Some(&config.demand(id)?.permissions)),
    };
    let packet = episodes.ran_anyway(&key.session, audit, &call, (finding, &why), &call_end(report));
    let entry = Record::new(Kind::Bypass, &turn, entry);
    append(audit, entry, packet)?;
    Ok(Some(why))
}

/// Reads what the log contains about a call. Used only for outcomes that do not match, since it reads the whole log.
fn past(config: &Config, key: &CallKey) -> Result<PastEntries, HookError> {
    let mut past = PastEntries::default();
    let Some(settings) = &config.audit else { return Ok(past) };
    let secret = match &settings.key {
        KeySource::File(path) => Key::from_file(path),
        KeySource::Env(variable) => Key::from_env(variable),
    };
    let secret = secret.map_err(|error| HookError::Gate(error.to_string()))?;
    read_log(log_of(&settings.log), &secret, None, &mut |entry| {
        let Some(turn) = entry.turn().filter(|turn| key.is_of_id(turn)) else { return };
        let text = |member: &str| entry.data().get(member).and_then(Value::as_str);
        let is_same = key.is_of_call(turn);
        match entry.kind().as_str() {
            "decision" | "confirmation" | "turn"
                if matches!(text("outcome"), Some("denied" | "aborted")) && (is_same || key.has_id()) =>
            {
                past.is_denied = true;
            }
            "intent" if is_same => {
                let episode = entry.correlation_id().map(str::to_owned);
                (past.late, past.is_denied) = (Some((turn.to_owned(), episode)), false);
            }
            "intent" if key.has_id() => past.is_changed = true,
            "outcome" if is_same && text("ran") == Some("no") => past.late = None,
            "outcome" if is_same && text("ran") == Some("yes") => (past.late, past.has_outcome) = (None, true),
            _ => {}
        }
    })?;
    Ok(past)
}

/// Returns the member that informs the order rules how a call ended, if they know the call. Anything they would read from its
/// answer stays unknown, since an agent's report is not a server's answer.
fn order(audit: &Audit, intent: u64, end: Ended) -> Map<String, Value> {
    let records = audit.past().order();
    let read = |text: &str| serde_json::from_str::<Entry>(text).ok();
    let made = records.iter().find(|record| record.sequence == intent).and_then(|record| read(&record.order));
    let Some(Entry::Made { order, .. }) = made else { return Map::new() };
    let contents = records.iter().rev().find_map(|record| match read(&record.order) {
        Some(Entry::Rules { contents }) => Some(contents),
        _ => None,
    });
    let order = OrderMember { arrival: order.arrival, unknown: contents.unwrap_or_default(), ..OrderMember::default() };
    let entry = serde_json::to_value(Entry::Ended { end, order }).ok();
    entry.map(|entry| ("order".to_owned(), entry)).into_iter().collect()
}

/// Returns the members of an object, for use as the data of an entry.
pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Records an entry, which is in the log when this returns.
pub(crate) fn record(audit: &Audit, kind: Kind, turn: &TurnId, data: Map<String, Value>) -> Result<(), HookError> {
    Ok(audit.append(Record::new(kind, turn, data)).map(drop)?)
}

/// Records the outcome of a call with the packet of its episode, if it has one.
fn record_of(audit: &Audit, doubt: &InDoubt, data: Map<String, Value>) -> Result<(), HookError> {
    let turn = TurnId::new(&doubt.turn)?;
    let packet: Option<PacketId> = doubt.packet_id.as_deref().and_then(|id| id.parse().ok());
    let episode: Option<CorrelationId> = doubt.correlation_id.as_deref().and_then(|id| id.parse().ok());
    append(audit, Record::new(Kind::Outcome, &turn, data), packet.zip(episode))
}

/// Appends an entry with the packet of its episode, if it has one.
fn append(audit: &Audit, entry: Record<'_>, packet: Option<(PacketId, CorrelationId)>) -> Result<(), HookError> {
    let receipt = match &packet {
        Some((packet_id, correlation_id)) => {
            audit.append(Record { packet_id: Some(packet_id), correlation_id: Some(correlation_id), ..entry })
        }
        None => audit.append(entry),
    };
    Ok(receipt.map(drop)?)
}

/// Names the subagent by a hash: its id is the model's word.
fn subagent(entry: &mut Map<String, Value>, report: &AgentReport<'_>) {
    if let Some(subagent) = &report.event.subagent {
        entry.insert("subagent".to_owned(), digest(subagent.as_bytes()).get(..16).unwrap_or_default().into());
    }
}

const UNKNOWN: &str = "the agent does not report how a command ended";
const LATE: &str = "the outcome was reported late";
