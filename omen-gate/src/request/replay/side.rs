//! One of the two policies, with the calls that it allowed.

use std::collections::{BTreeMap, VecDeque};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::call::{ReplayCall, ReplayVerdict};
use crate::base::{Blocked, GateCode, ToolId};
use crate::call::Rate;
use crate::call::arguments::RecordedVerdict;
use crate::catalog::{Allowed, Allowlist, Pin};
use crate::config::{Config, PolicyHash};
use crate::grant::Grant;

/// One of the two policies.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) hash: PolicyHash,
    pub(super) patterns: Vec<(String, String)>,
    allow: Allowlist,
    grants: Vec<Grant>,
    now: SystemTime,
    /// Calls that were allowed, or may have been, within the rate window of their tool.
    made: BTreeMap<ToolId, CallTimes>,
}

#[derive(Debug, Default)]
struct CallTimes {
    certain: VecDeque<SystemTime>,
    perhaps: VecDeque<SystemTime>,
}

impl Side {
    pub(super) fn new(config: &Config, now: SystemTime) -> Self {
        Self {
            hash: config.hash(),
            patterns: config.policy.to_pairs(),
            allow: config.allow.clone(),
            grants: config.grants.clone(),
            now,
            made: BTreeMap::new(),
        }
    }

    pub(super) fn pin(&self, tool: &ToolId) -> Option<Pin> {
        self.allow.get(tool)?.pin
    }

    pub(super) fn judge(
        &mut self,
        call: &ReplayCall,
        form: Option<Pin>,
        schema: Option<&Map<String, Value>>,
    ) -> ReplayVerdict {
        let verdict = self.by_rules(call, form, schema);
        let rate = self.allow.get(&call.tool).and_then(|allowed| allowed.rate);
        let (Some(rate), Some(time)) = (rate, call.time) else { return verdict };
        let made = self.made.entry(call.tool.clone()).or_default();
        match verdict {
            denied @ ReplayVerdict::Deny(_) => denied,
            verdict => made.within(&call.tool, rate, time, verdict),
        }
    }

    /// Combines all checks except the rate limit. A certain refusal takes precedence.
    fn by_rules(&self, call: &ReplayCall, form: Option<Pin>, schema: Option<&Map<String, Value>>) -> ReplayVerdict {
        let Some(allowed) = self.allow.get(&call.tool) else {
            return deny(GateCode::Pg3, format!("the operator has not allowed the tool `{}`", call.tool));
        };
        let mut unknown = None;
        match (allowed.pin, form) {
            (None, _) => {
                return deny(GateCode::Pg3, format!("the tool `{}` is in the allowlist without a pin", call.tool));
            }
            (Some(approved), Some(form)) if approved != form => {
                let message =
                    format!("the tool `{}` is suspended: it is approved as `{approved}`, but was `{form}`", call.tool);
                return deny(GateCode::Pg3, message);
            }
            (Some(_), None) => unknown = Some("the form of the tool is unknown; pass the catalogue that has it"),
            _ => {}
        }
        if let Some(misfit) = schema.and_then(|schema| allowed.arguments.misfits(schema).into_iter().next()) {
            return deny(GateCode::Pg3, misfit.message);
        }
        match &call.args {
            None if !allowed.arguments.is_empty() => unknown = unknown.or(Some("its arguments were not recorded")),
            None => {}
            Some(args) => match allowed.arguments.judge_recorded(&call.tool, args) {
                RecordedVerdict::Passes => {}
                RecordedVerdict::Breaks(blocked) => return ReplayVerdict::Deny(blocked),
                RecordedVerdict::Unknown => {
                    unknown = unknown.or(Some("an argument that a rule checks was not recorded"))
                }
            },
        }
        match (self.granted(allowed, call.time.unwrap_or(self.now)), unknown) {
            (denied @ ReplayVerdict::Deny(_), _) => denied,
            (_, Some(why)) => ReplayVerdict::Undecidable(why),
            (verdict, None) => verdict,
        }
    }

    /// Checks that each permission is granted (G1, G2), and whether it needs a confirmation (G3). Uses are not counted:
    /// each call is checked as if it were the first.
    fn granted(&self, allowed: &Allowed, time: SystemTime) -> ReplayVerdict {
        let mut confirm = allowed.demand.always_confirm;
        for permission in allowed.demand.permissions.iter() {
            let tool = &allowed.demand.tool;
            let given = || self.grants.iter().filter(|grant| grant.tool == *tool && grant.permission == permission);
            let valid = || given().filter(|grant| grant.expires.is_none_or(|expires| time < expires));
            if given().next().is_none() {
                return deny(GateCode::G1, format!("`{tool}` is not granted `{permission}`"));
            }
            if valid().next().is_none() {
                return deny(GateCode::G2, format!("the grant of `{permission}` for `{tool}` had expired"));
            }
            confirm |= permission.needs_confirmation() && !valid().any(|grant| grant.pre_granted);
        }
        if confirm { ReplayVerdict::Confirm } else { ReplayVerdict::Allow }
    }
}

impl CallTimes {
    /// Checks the rate limit for a call that passes, or may pass, the other checks.
    fn within(&mut self, tool: &ToolId, rate: Rate, time: SystemTime, verdict: ReplayVerdict) -> ReplayVerdict {
        for made in [&mut self.certain, &mut self.perhaps] {
            while made.front().is_some_and(|at| time.duration_since(*at).is_ok_and(|age| age >= rate.window())) {
                made.pop_front();
            }
        }
        let most = rate.calls() as usize;
        if self.certain.len() >= most {
            return deny(GateCode::Pg3, format!("`{tool}` had used up its calls, `max = \"{rate}\"`"));
        }
        let is_certain = self.certain.len() + self.perhaps.len() < most;
        let verdict = match verdict {
            ReplayVerdict::Allow | ReplayVerdict::Confirm if !is_certain => {
                ReplayVerdict::Undecidable("the number of calls before it is unknown")
            }
            verdict => verdict,
        };
        match verdict {
            ReplayVerdict::Undecidable(_) if self.perhaps.len() < most => self.perhaps.push_back(time),
            ReplayVerdict::Undecidable(_) => {}
            _ => self.certain.push_back(time),
        }
        verdict
    }
}

fn deny(code: GateCode, message: String) -> ReplayVerdict {
    ReplayVerdict::Deny(Blocked::new(code, message, "change the policy, or the call"))
}
