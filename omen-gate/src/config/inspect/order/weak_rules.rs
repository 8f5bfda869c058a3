//! Warnings about order rules that are valid but weaker than they look.

use std::collections::{BTreeMap, BTreeSet};

use omen_order::rules::{Premise, Rule, RuleKind, Side, Tool, Was, shown};
use serde_json::Value;

use super::super::{Inspector, items, tool_at};
use super::{Schemas, pointer, premises, rules};
use crate::base::{Permission, bounded};
use crate::catalog::Allowed;
use crate::config::Config;

/// Warning about a rule: pointer of the key, message and help.
type Warning = (String, String, String);

impl Inspector<'_, '_> {
    /// Warns about rules that a call may evade by another spelling, another tool or a longer wait.
    pub(super) fn weak_rules(&mut self, config: &Config, schemas: &Schemas<'_>) {
        let tool = |allowed: &Allowed| {
            let id = &allowed.demand.tool;
            Tool::new(id.server.as_str(), id.tool.as_str())
        };
        let allowed = config.allow.iter().map(|allowed| (tool(allowed), allowed)).collect();
        let timeout_ms = u64::from(config.limits.call_timeout_seconds) * 1000;
        let entries = Entries { config, allowed, schemas, timeout_ms };
        let mut found = Vec::new();
        for (tool, entry) in &config.order.tools {
            for rule in &entry.rules {
                entries.condition(tool, rule, &mut found);
                for (key, premise) in premises(rule) {
                    let at = format!("{}{key}", pointer(&rule.path));
                    entries.spelling(tool, rule, premise, &at, &mut found);
                    entries.required(tool, rule, premise, &at, &mut found);
                    entries.window(rule, premise, &at, &mut found);
                    entries.readers(rule, premise, &at, &mut found);
                }
            }
        }
        for index in 0..items(self.source, "allow") {
            let name = tool_at(self.source, "allow", index);
            let known = entries.allowed.keys().find(|tool| Some(tool.to_string()) == name);
            let replaced = known.and_then(|tool| entries.replacement(tool));
            found.extend(replaced.map(|(message, help)| (format!("/allow/{index}/max"), message, help)));
        }
        for (at, message, help) in found {
            self.warn(&at, message, help);
        }
    }
}

struct Entries<'e> {
    config: &'e Config,
    allowed: BTreeMap<Tool, &'e Allowed>,
    schemas: &'e Schemas<'e>,
    /// Maximum duration of a call in milliseconds.
    timeout_ms: u64,
}

impl Entries<'_> {
    /// Returns whether the tool's entry or its schema determines how a member is spelled.
    fn fixes_spelling(&self, tool: &Tool, pointer: &str) -> bool {
        let by_rules = self.allowed.get(tool).is_some_and(|allowed| allowed.arguments.fixes_spelling(pointer));
        let schema = self.schemas.args(tool).and_then(|schema| schema.get("properties")?.pointer(pointer));
        by_rules
            || schema.is_some_and(|member| {
                let is_other = member.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "string");
                is_other || member.get("enum").is_some() || member.get("const").is_some()
            })
    }

    fn condition(&self, tool: &Tool, rule: &Rule, found: &mut Vec<Warning>) {
        let Some(tests) = rule.condition.as_ref().and_then(rules) else { return };
        for member in tests.listed_texts().filter(|member| !self.fixes_spelling(tool, member)) {
            let member = bounded(member);
            found.push((
                format!("{}/if", pointer(&rule.path)),
                format!("`if` lists texts for `{member}`; the rule does not apply to other spellings, which `where` of `{tool}` allows"),
                format!("list the allowed values of `{member}` in `where`: `where = {{ \"{member}\" = {{ in = […] }} }}`"),
            ));
        }
    }

    /// Reports members of a ban, or of a limit per value, that a call may spell differently.
    fn spelling(&self, tool: &Tool, rule: &Rule, premise: &Premise, at: &str, found: &mut Vec<Warning>) {
        if matches!(rule.kind, RuleKind::After(_) | RuleKind::BeforeEnd(_)) {
            return;
        }
        let members = premise.same.iter().flat_map(|pair| {
            let earlier = premise.tools.iter().filter(|_| pair.earlier.side == Side::Args);
            earlier.map(|tool| (tool, &pair.earlier.pointer)).chain([(tool, &pair.arg)])
        });
        let members: BTreeSet<_> = members.filter(|(tool, member)| !self.fixes_spelling(tool, member)).collect();
        for (tool, member) in members {
            let member = bounded(member);
            found.push((
                format!("{at}/same"),
                format!("`same` compares `{member}` as it is written, but `where` of `{tool}` allows several spellings of one value"),
                format!("add a rule for `{member}` to `where` of `{tool}`, such as `matches` or `in`"),
            ));
        }
    }

    /// Reports a premise that may concern a different object than the call.
    fn required(&self, tool: &Tool, rule: &Rule, premise: &Premise, at: &str, found: &mut Vec<Warning>) {
        if !matches!(rule.kind, RuleKind::After(_)) || !premise.same.is_empty() || premise.tools.contains(tool) {
            return;
        }
        let mut common = self.schemas.required(tool);
        for tool in &premise.tools {
            let required = self.schemas.required(tool);
            common.retain(|name| required.contains(name));
        }
        let Some(name) = common.first() else { return };
        let member = bounded(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
        let earlier = list(&premise.tools);
        found.push((
            at.to_owned(),
            format!("`{tool}` and {earlier} both require `{member}`, and an earlier call with another `{member}` counts as well"),
            format!("add `same = [\"{member}\"]`, or `where` to the premise"),
        ));
    }

    /// Reports a window that is shorter than a call within it may take.
    fn window(&self, rule: &Rule, premise: &Premise, at: &str, found: &mut Vec<Warning>) {
        let Some(within_ms) = premise.within_ms.filter(|within| *within < self.timeout_ms) else { return };
        let between = premise.until.iter().filter(|until| until.is_other).flat_map(|until| &until.tools);
        let between: Vec<_> = between.filter(|tool| !premise.tools.contains(tool)).cloned().collect();
        let calls = match &rule.kind {
            RuleKind::BeforeEnd(_) => list(&premise.tools),
            RuleKind::After(_) if !between.is_empty() => list(&between),
            // The age of these premises is measured from their intents.
            RuleKind::After(_) | RuleKind::NeverAfter(_) if matches!(premise.was, Was::Made | Was::Done) => {
                list(&premise.tools)
            }
            _ => return,
        };
        let (within, timeout) = (shown(within_ms), shown(self.timeout_ms));
        found.push((
            format!("{at}/within"),
            format!("a call of {calls} may take {timeout} (`call_timeout_seconds`), longer than `within` ({within})"),
            format!("set `within` to {timeout} or more, or lower `call_timeout_seconds` in `[limits]`"),
        ));
    }

    /// Reports cancelling calls that do not change anything.
    fn readers(&self, rule: &Rule, premise: &Premise, at: &str, found: &mut Vec<Warning>) {
        if !matches!(rule.kind, RuleKind::After(_)) {
            return;
        }
        for (index, until) in premise.until.iter().enumerate().filter(|(_, until)| !until.is_other) {
            for tool in until.tools.iter().filter(|tool| self.only_reads(tool)) {
                found.push((
                    format!("{at}/until/{index}"),
                    format!("`until` names `{tool}`, which only reads (`permissions = [\"READ\"]`), so it changes nothing that was established before"),
                    "name the tools that change something, or remove it".to_owned(),
                ));
            }
        }
    }

    fn only_reads(&self, tool: &Tool) -> bool {
        let permissions = self.allowed.get(tool).map(|allowed| &allowed.demand.permissions);
        permissions.is_some_and(|permissions| permissions.iter().all(|permission| permission == Permission::Read))
    }

    /// Returns the tools that a tool's limits count.
    fn limited(&self, tool: &Tool) -> BTreeSet<&Tool> {
        let rules = self.config.order.tools.get(tool).into_iter().flat_map(|entry| &entry.rules);
        let limits = rules.filter(|rule| matches!(rule.kind, RuleKind::MaxCalls(..) | RuleKind::MaxSum(..)));
        limits.flat_map(|rule| rule.kind.premises()).flat_map(|premise| &premise.tools).collect()
    }

    /// Returns a message and a help for a limited tool that another tool may replace.
    fn replacement(&self, tool: &Tool) -> Option<(String, String)> {
        let own = self.allowed.get(tool)?;
        let counted = self.limited(tool);
        let required = self.schemas.required(tool);
        if required.is_empty() || (own.rate.is_none() && !counted.contains(tool)) {
            return None;
        }
        let (other, _) = self.allowed.iter().find(|(other, allowed)| {
            let is_alike = other.server == tool.server && allowed.demand.permissions == own.demand.permissions;
            let is_free = allowed.rate.is_none() && self.limited(other).is_empty() && !counted.contains(other);
            *other != tool && is_alike && is_free && self.schemas.required(other) == required
        })?;
        Some((
            format!("`{other}` requires the same members as `{tool}` and has no limit, so it may replace it"),
            format!("limit `{other}` as well, or name both in `tool` of the limit"),
        ))
    }
}

fn list(tools: &[Tool]) -> String {
    let tools: Vec<_> = tools.iter().map(|tool| format!("`{tool}`")).collect();
    tools.join(" or ")
}
