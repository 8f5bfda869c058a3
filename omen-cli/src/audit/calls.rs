//! One-line text of entries, and calls that have an intent but no outcome yet.

use std::collections::BTreeMap;

use omen_gate::audit::Logged;
use omen_gate::{Call, Demand, Permission, Permissions, ToolId, TurnId};
use serde_json::Value;

use super::order::RecordedPremises;

/// Calls without an outcome yet. An outcome identifies its call by the hash; only the intent names the tool.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(BTreeMap<(String, String), OpenCall>);

#[derive(Debug)]
struct OpenCall {
    sequence: u64,
    tool: String,
    json: String,
    human: String,
}

impl OpenCalls {
    /// Returns the tool that an entry is about.
    pub(super) fn tool(&mut self, entry: Logged<'_>) -> Option<String> {
        let data = entry.data();
        let call = || Some((entry.turn()?.to_owned(), data.get("call")?.as_str()?.to_owned()));
        let named = data.get("tool").and_then(named);
        match entry.kind().as_str() {
            "intent" => {
                let tool = named?;
                let human = line(entry, Some(&tool), false);
                if let Some(call) = call() {
                    let open = OpenCall { sequence: entry.sequence(), tool: tool.clone(), json: entry.line(), human };
                    self.0.insert(call, open);
                }
                Some(tool)
            }
            "outcome" => self.0.remove(&call()?).map(|open| open.tool),
            _ => named,
        }
    }

    /// Returns the calls without an outcome in log order, each as JSON and as a line of text.
    pub(super) fn in_doubt(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut open: Vec<_> = self.0.values().collect();
        open.sort_by_key(|open| open.sequence);
        open.into_iter().map(|open| (open.json.as_str(), open.human.as_str()))
    }

    /// Returns the entry numbers of intents without an outcome, in ascending order.
    pub(super) fn sequences(&self) -> Vec<u64> {
        let mut open: Vec<_> = self.0.values().map(|open| open.sequence).collect();
        open.sort_unstable();
        open
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Returns `server/tool`.
pub(super) fn named(tool: &Value) -> Option<String> {
    Some(format!("{}/{}", tool.get("server")?.as_str()?, tool.get("tool")?.as_str()?))
}

/// Returns the outcome of a call as one word.
pub(super) fn result(entry: Logged<'_>) -> Option<String> {
    let data = entry.data();
    let text = |member: &str| data.get(member).and_then(Value::as_str).map(str::to_owned);
    if entry.kind() != "outcome" {
        return text("outcome");
    }
    match data.get("class") {
        Some(Value::String(class)) => Some(class.clone()),
        Some(_) => Some("answered".to_owned()),
        None if data.contains_key("settles") => Some("settled".to_owned()),
        None => Some("stopped".to_owned()),
    }
}

/// Returns the hash of the call that an entry is about. A refusal before the grants are checked does not record the hash; it is
/// then computed from the arguments, if they were recorded in full.
pub(super) fn call_of(entry: Logged<'_>) -> Option<String> {
    let data = entry.data();
    let hashed = || {
        let tool: ToolId = serde_json::from_value(data.get("tool")?.clone()).ok()?;
        let args = data.get("args")?.as_object()?.clone();
        // The hash depends neither on the tool's requirements nor on the turn.
        let demand = Demand { tool, permissions: Permissions::new([Permission::Read]).ok()?, always_confirm: false };
        Some(Call::new(TurnId::new("t").ok()?, demand, args).ok()?.hash().to_string())
    };
    data.get("call").and_then(Value::as_str).map(str::to_owned).or_else(hashed)
}

/// Formats an entry as a line: number, time, kind, turn, tool, and details. `waits` marks a decision whose call is waiting for
/// confirmation.
pub(super) fn line(entry: Logged<'_>, tool: Option<&str>, waits: bool) -> String {
    let (sequence, time, kind) = (entry.sequence(), entry.time(), entry.kind());
    let (turn, tool) = (entry.turn().unwrap_or("-"), tool.unwrap_or("-"));
    format!("{sequence:>7}  {time}  {kind:<12}  {turn:<33}  {tool:<26}  {}", says(entry, waits)).trim_end().to_owned()
}

fn says(entry: Logged<'_>, waits: bool) -> String {
    let data = entry.data();
    let text = |member: &str| data.get(member).and_then(Value::as_str);
    let kind = entry.kind();
    let mut says = match kind.as_str() {
        "intent" => match data.get("args") {
            Some(args) => args.to_string(),
            // The arguments were not recorded.
            None => format!("call {}", text("call").unwrap_or_default()),
        },
        "outcome" => match text("ran") {
            Some("yes") => result(entry).unwrap_or_default(),
            ran => format!("{}; ran: {}", result(entry).unwrap_or_default(), ran.unwrap_or("unknown")),
        },
        "decision" if text("outcome") == Some("left_out") => data.get("tools").map(left_out).unwrap_or_default(),
        "decision" if waits => "waits for confirmation".to_owned(),
        "bypass" => text("finding").unwrap_or_default().to_owned(),
        "grant" | "revocation" => data.get("grants").map(grants).unwrap_or_default(),
        _ => text("outcome").unwrap_or_default().to_owned(),
    };
    if let Some(code) = text("code") {
        says = format!("{says} {code}");
    }
    if let Some(order) = data.get("order").filter(|_| kind == "intent") {
        says.push_str(&RecordedPremises::from_json(order).text());
    }
    if let Some(by) = data.get("by").and_then(responder) {
        says = format!("{says}, by {by}");
    }
    if let Some(why) = text("why") {
        says = format!("{says}: {why}");
    }
    if says.is_empty() && !data.is_empty() {
        says = Value::Object(data.clone()).to_string();
    }
    let says = cut(says.trim_start());
    match data.get("args").filter(|_| matches!(kind.as_str(), "decision" | "confirmation")) {
        Some(args) => format!("{says}; {}", cut(&args.to_string())),
        None => says,
    }
}

/// Returns who answered a confirmation, and through which channel.
fn responder(by: &Value) -> Option<String> {
    let via = by.get("via")?.as_str()?;
    let uid = || by.get("uid").map(|uid| format!("user {uid}"));
    let user = by.get("user").and_then(Value::as_str).map(str::to_owned).or_else(uid);
    Some(user.map_or_else(|| via.to_owned(), |user| format!("{user} ({via})")))
}

/// Returns the tools that were left out of a list.
fn left_out(tools: &Value) -> String {
    let names: Vec<_> =
        tools.as_array().into_iter().flatten().filter_map(|tool| tool.get("tool").and_then(Value::as_str)).collect();
    let s = if names.len() == 1 { "" } else { "s" };
    format!("{} tool{s} omitted from the list: {}", names.len(), names.join(", "))
}

/// Formats grants by id; new grants also with tool and permission.
fn grants(grants: &Value) -> String {
    let of = |grant: &Value| match (grant.get("id"), grant.get("tool").and_then(named), grant.get("permission")) {
        (Some(id), Some(tool), Some(permission)) => {
            format!("{id} {tool} {}", permission.as_str().unwrap_or_default())
        }
        _ => grant.to_string(),
    };
    grants.as_array().into_iter().flatten().map(of).collect::<Vec<_>>().join(", ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Maximum length in characters of the details, and of the arguments after them.
const WIDTH: usize = 200;
