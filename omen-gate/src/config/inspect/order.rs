//! Findings about the order rules: probable mistakes, and members that a tool does not have.

mod weak_rules;

use std::collections::{BTreeMap, BTreeSet};

use omen_order::lint;
use omen_order::rules::{Member, Pair, Premise, Rule as OrderRule, RuleKind, Side, Test, Tool};
use serde_json::{Map, Value};

use super::Inspector;
use crate::call::arguments::{ArgumentRules, ArgumentTest, Rule, RulePointer, RulesTest};
use crate::catalog::{Allowed, Catalog};
use crate::config::Config;

impl Inspector<'_, '_> {
    pub(super) fn order(&mut self, config: &Config, catalog: Option<&Catalog>) {
        for found in lint(&config.order) {
            let at = pointer(&found.path);
            match found.is_error {
                true => self.wrong(&at, found.message, found.help),
                false => self.warn(&at, found.message, found.help),
            }
        }
        let schemas = Schemas::new(config, catalog);
        self.members(config, &schemas);
        self.weak_rules(config, &schemas);
    }

    /// Warns about rules that refuse nothing that the rest of the configuration allows.
    pub(super) fn vacuous(&mut self, paths: &[String]) {
        for path in paths {
            self.warn(
                &pointer(path),
                "this rule refuses nothing that the others allow, if each call ends before the next one begins",
                "remove it, or change it so that it refuses what it should",
            );
        }
    }

    /// Checks the members named in order rules against the schemas of their tools.
    fn members(&mut self, config: &Config, schemas: &Schemas<'_>) {
        let mut misfits = Vec::new();
        for (tool, entry) in &config.order.tools {
            for rule in &entry.rules {
                let at = pointer(&rule.path);
                let mut check = |key: &str, tool: &Tool, side: Side, rules: &ArgumentRules| {
                    let Some(schema) = schemas.args(tool).filter(|_| side == Side::Args) else { return };
                    let found = rules.misfits(schema).into_iter();
                    misfits.extend(found.map(|misfit| (format!("{at}{key}"), misfit)));
                };
                if let Some(rules) = rule.condition.as_ref().and_then(rules) {
                    check("/if", tool, Side::Args, rules);
                }
                for (key, premise) in premises(rule) {
                    for other in &premise.tools {
                        if let Some(rules) = premise.args.as_ref().and_then(rules) {
                            check(&format!("{key}/where"), other, Side::Args, rules);
                        }
                        // Of the two calls, `arg` belongs to the later one; for an obligation, that is the call that settles it.
                        let (later, earlier) = match rule.kind {
                            RuleKind::BeforeEnd(_) => (other, tool),
                            _ => (tool, other),
                        };
                        let same = format!("{key}/same");
                        pair_members(&premise.same, later, earlier, &mut |tool, side, rules| {
                            check(&same, tool, side, rules);
                        });
                        if let RuleKind::MaxSum(_, at, _) = &rule.kind
                            && let Some(rules) = member(at, vec![ArgumentTest::Min(0)])
                        {
                            check("/sum", other, Side::Args, &rules);
                        }
                    }
                    for (index, until) in premise.until.iter().enumerate() {
                        // `only` stands for all other tools, which have no known members.
                        for canceller in until.tools.iter().filter(|_| !until.is_other) {
                            if let Some(rules) = until.args.as_ref().and_then(rules) {
                                check(&format!("{key}/until/{index}/where"), canceller, Side::Args, rules);
                            }
                            let same = format!("{key}/until/{index}/same");
                            for other in &premise.tools {
                                pair_members(&until.same, canceller, other, &mut |tool, side, rules| {
                                    check(&same, tool, side, rules);
                                });
                            }
                        }
                    }
                }
            }
        }
        let mut known = Vec::new();
        for (at, misfit) in misfits {
            if !known.contains(&(at.clone(), misfit.message.clone())) {
                known.push((at.clone(), misfit.message.clone()));
                self.wrong(&at, misfit.message, misfit.help);
            }
        }
    }
}

/// Argument schemas of the tools that are listed in their approved form.
struct Schemas<'c>(BTreeMap<Tool, &'c Map<String, Value>>);

impl<'c> Schemas<'c> {
    fn new(config: &Config, catalog: Option<&'c Catalog>) -> Self {
        let schema = |allowed: &Allowed| {
            let id = &allowed.demand.tool;
            let listed = catalog?.get(id).filter(|listed| listed.pin().ok() == allowed.pin.as_ref())?;
            Some((Tool::new(id.server.as_str(), id.tool.as_str()), &listed.tool().input_schema))
        };
        Self(config.allow.iter().filter_map(schema).collect())
    }

    fn args(&self, tool: &Tool) -> Option<&'c Map<String, Value>> {
        self.0.get(tool).copied()
    }

    /// Returns the members that every call of a tool has.
    fn required(&self, tool: &Tool) -> BTreeSet<&'c str> {
        let required = self.args(tool).and_then(|schema| schema.get("required")?.as_array());
        required.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

/// Returns the premises of a rule, each with its key below that of the rule.
fn premises(rule: &OrderRule) -> impl Iterator<Item = (String, &Premise)> {
    let all = rule.kind.premises();
    let key = move |index: usize| if all.len() > 1 { format!("/any/{index}") } else { String::new() };
    all.iter().enumerate().map(move |(index, premise)| (key(index), premise))
}

fn rules(test: &Test) -> Option<&ArgumentRules> {
    test.as_any()?.downcast_ref::<RulesTest>().map(RulesTest::rules)
}

/// Visits both members of each pair, with the tool whose calls have the member.
fn pair_members(same: &[Pair], later: &Tool, earlier: &Tool, visit: &mut dyn FnMut(&Tool, Side, &ArgumentRules)) {
    for Pair { arg, earlier: Member { side, pointer } } in same {
        for (tool, side, pointer) in [(later, Side::Args, arg), (earlier, *side, pointer)] {
            if let Some(rules) = member(pointer, Vec::new()) {
                visit(tool, side, &rules);
            }
        }
    }
}

/// Returns a rule that requires a member to be present and to pass tests.
fn member(pointer: &str, tests: Vec<ArgumentTest>) -> Option<ArgumentRules> {
    let place = RulePointer::parse(pointer).ok()?;
    Some(ArgumentRules::new(vec![Rule { place, optional: false, tests }]))
}

/// Returns the JSON pointer for a path such as `allow[1].after[0]`.
fn pointer(path: &str) -> String {
    format!("/{}", path.replace(['[', '.'], "/").replace(']', ""))
}
