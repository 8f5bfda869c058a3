//! What two policies say of the same calls: those that an audit log has, or plans.
//!
//! A call is judged by what both policies are: the allowlist with its pins, the rules on arguments and the rates (PG-3), grants
//! (G1, G2), and whether a confirmation is needed (G3). What depends on more is left out, and is the same under both: servers,
//! failures, who confirms. The patterns of queries (PG-0) are left out, too: a log has no queries.
//!
//! What was not recorded is not guessed: a verdict that depends on it is [`ReplayVerdict::Undecidable`].

mod side;

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::audit::Logged;
use crate::base::{Blocked, GateCode, ToolId};
use crate::catalog::{Catalog, Pin};
use crate::config::{Config, PolicyHash};
use crate::request::plan::{Plan, PlanLimits};

use side::Side;

/// What a policy says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// It would be made.
    Allow,
    /// It would be made if somebody confirmed it (G3).
    Confirm,
    /// It would be refused.
    Deny(Blocked),
    /// What was recorded does not say: why.
    Undecidable(&'static str),
}

/// A call that was asked for.
#[derive(Clone, Debug)]
pub struct ReplayCall {
    /// The tool.
    pub tool: ToolId,
    /// What is known of its arguments.
    pub args: Option<Map<String, Value>>,
    /// The form of the tool at that time, if it is known.
    pub pin: Option<Pin>,
    /// When it was asked for. Without a time, calls do not count for rates.
    pub time: Option<SystemTime>,
    /// It was refused for what no policy changes, such as arguments that do not fit the schema (PG-2).
    pub refused: Option<Blocked>,
}

/// Two policies, side by side. Calls are given in the order in which they were made.
#[derive(Debug)]
pub struct Replay {
    old: Side,
    new: Side,
    catalog: Option<Catalog>,
    limits: (PlanLimits, PlanLimits),
}

impl Replay {
    /// Takes the policies, and the tools of the servers if they are known. `now` is the time of calls without one.
    #[must_use]
    pub fn new(old: &Config, new: &Config, catalog: Option<Catalog>, now: SystemTime) -> Self {
        let limits = (old.limits.plan(), new.limits.plan());
        Self { old: Side::new(old, now), new: Side::new(new, now), catalog, limits }
    }

    /// The hashes of both policies.
    #[must_use]
    pub fn hashes(&self) -> (PolicyHash, PolicyHash) {
        (self.old.hash, self.new.hash)
    }

    /// Whether the patterns of queries (PG-0) differ, which calls are not judged by here.
    #[must_use]
    pub fn patterns_differ(&self) -> bool {
        self.old.patterns != self.new.patterns
    }

    /// What the old and the new policy say of a call.
    pub fn judge(&mut self, call: &ReplayCall) -> (ReplayVerdict, ReplayVerdict) {
        let listed = self.catalog.as_ref().map(|catalog| catalog.find(&call.tool));
        let refused = call.refused.clone().or_else(|| match (&listed, &call.args) {
            (Some(Err(blocked)), _) => Some(blocked.clone()),
            // What was hidden might fit.
            (Some(Ok(listed)), Some(args)) if !crate::arguments::has_masked(args) => listed.conform(args).err(),
            _ => None,
        });
        if let Some(refused) = refused {
            return (ReplayVerdict::Deny(refused.clone()), ReplayVerdict::Deny(refused));
        }
        let listed = listed.and_then(Result::ok);
        let form = call.pin.or_else(|| listed.and_then(|listed| listed.pin().ok().copied()));
        // A form that both have approved is the one, or both refuse it alike.
        let form = form.or_else(|| {
            let (old, new) = (self.old.pin(&call.tool), self.new.pin(&call.tool));
            old.filter(|_| old == new)
        });
        let schema = listed.map(|listed| &listed.tool().input_schema);
        (self.old.judge(call, form, schema), self.new.judge(call, form, schema))
    }

    /// What both policies say of what a planner wrote. Nothing if no tool is called, under either.
    pub fn judge_plan(&mut self, text: &str) -> Option<(ReplayVerdict, ReplayVerdict)> {
        let plans = (Plan::parse(text, &self.limits.0), Plan::parse(text, &self.limits.1));
        let call = |plan: &Result<Plan, Blocked>| match plan {
            Ok(Plan::CallTool(call)) => Some(ReplayCall {
                tool: call.tool().clone(),
                args: Some(call.args().clone()),
                pin: None,
                time: None,
                refused: None,
            }),
            _ => None,
        };
        let Some(call) = call(&plans.0).or_else(|| call(&plans.1)) else {
            return match plans {
                (Err(old), Err(new)) => Some((ReplayVerdict::Deny(old), ReplayVerdict::Deny(new))),
                _ => None,
            };
        };
        let (old, new) = self.judge(&call);
        let said = |plan: Result<Plan, Blocked>, verdict| plan.err().map_or(verdict, ReplayVerdict::Deny);
        Some((said(plans.0, old), said(plans.1, new)))
    }
}

impl ReplayCall {
    /// The call that an entry of a log is about: one that was about to be made, or was refused. An entry that says what a
    /// policy would have refused is followed by that of the call.
    #[must_use]
    pub fn of_entry(entry: Logged<'_>) -> Option<Self> {
        let data = entry.data();
        let text = |member: &str| data.get(member).and_then(Value::as_str);
        let is_denied = text("outcome") == Some("denied");
        let code = text("code").and_then(|code| code.parse::<GateCode>().ok());
        match entry.kind().as_str() {
            "intent" => {}
            // After the call was made, its answer was refused.
            "decision" if is_denied && !matches!(code, Some(GateCode::Pg4 | GateCode::Pg5)) => {}
            "confirmation" if is_denied => {}
            _ => return None,
        }
        let tool: ToolId = serde_json::from_value(data.get("tool")?.clone()).ok()?;
        let refused = code.filter(|code| *code == GateCode::Pg2).map(|code| {
            Blocked::new(code, text("why").unwrap_or_default(), "pass what the tool's `inputSchema` describes")
        });
        Some(Self {
            tool,
            args: data.get("args").and_then(Value::as_object).cloned(),
            pin: text("pin").and_then(|pin| pin.parse().ok()),
            time: humantime::parse_rfc3339(entry.time()).ok(),
            refused,
        })
    }
}
