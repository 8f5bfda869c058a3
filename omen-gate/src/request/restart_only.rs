//! Settings that only a restart can change.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::base::{Blocked, GateCode, ServerName, bounded};
use crate::call::{BreakerLimits, BudgetLimits, CallLimits};
use crate::config::{Audit, Config, OnVeto, Server};

/// Settings with which a gate is built and which a reload cannot change.
#[derive(Debug)]
pub(crate) struct RestartOnly {
    servers: BTreeMap<ServerName, Server>,
    audit: Option<Audit>,
    breaker: BreakerLimits,
    budget: BudgetLimits,
    calls: CallLimits,
    user_turn: Option<String>,
    on_veto: OnVeto,
    socket: Option<PathBuf>,
    plan_bytes: u32,
    /// Whether a turn may have several calls.
    has_turns: bool,
}

impl RestartOnly {
    pub(crate) fn new(config: &Config, has_turns: bool) -> Self {
        Self {
            servers: config.servers.clone(),
            audit: config.audit.clone(),
            breaker: config.breaker,
            budget: config.budget,
            calls: config.calls,
            user_turn: config.user_turn.clone(),
            on_veto: config.on_veto,
            socket: config.confirm_socket.clone(),
            plan_bytes: config.limits.plan_bytes,
            has_turns,
        }
    }

    /// Checks that a configuration has the same settings, and no rule that the running gate cannot enforce.
    pub(crate) fn check_unchanged(&self, config: &Config) -> Result<(), Blocked> {
        if let Some(rule) = config.rule_per_turn().filter(|_| !self.has_turns) {
            let message = format!("the rule `{rule}` applies per turn, but here each call is a separate turn");
            let help = "write `per = \"session\"`, or set `user_turn` in `[budget]` and restart the gate";
            return Err(Blocked::new(GateCode::C1, message, help));
        }
        let server = || {
            let names = self.servers.keys().chain(config.servers.keys());
            let differs = |name: &&ServerName| self.servers.get(*name) != config.servers.get(*name);
            names.into_iter().find(differs).map(|name| format!("servers.{}", bounded(name.as_str())))
        };
        let differs = |key: &str, differs: bool| differs.then(|| key.to_owned());
        let what = server()
            .or_else(|| differs("audit", self.audit != config.audit))
            .or_else(|| differs("breaker", self.breaker != config.breaker))
            .or_else(|| differs("budget", self.budget != config.budget || self.calls != config.calls))
            .or_else(|| differs("budget.user_turn", self.user_turn != config.user_turn))
            .or_else(|| differs("episode", self.on_veto != config.on_veto))
            .or_else(|| differs("confirm.socket", self.socket != config.confirm_socket))
            // The maximum size of a log entry depends on this limit.
            .or_else(|| differs("limits.plan_bytes", config.limits.plan_bytes > self.plan_bytes));
        match what {
            None => Ok(()),
            Some(what) => {
                let message = format!("the new configuration changes `{what}`, which requires a restart");
                Err(Blocked::new(GateCode::C1, message, "restart the gate, or undo this change"))
            }
        }
    }
}
