//! Findings about the rules on order: what cannot have been meant, and members that a tool does not have.

use omen_order::lint;
use omen_order::rules::{Member, RuleKind, Side, Test, Tool};
use serde_json::{Map, Value};

use super::Inspector;
use crate::call::arguments::{ArgumentRules, Rule, RulePointer, RulesTest};
use crate::catalog::Catalog;
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
        if let Some(catalog) = catalog {
            self.members(config, catalog);
        }
    }

    /// Checks the members that rules on order name against the schemas of their tools.
    fn members(&mut self, config: &Config, catalog: &Catalog) {
        let schema = |tool: &Tool, side: Side| -> Option<&Map<String, Value>> {
            let allowed = config.allow.iter().find(|allowed| allowed.demand.tool.to_string() == tool.to_string())?;
            let listed = catalog.get(&allowed.demand.tool)?;
            let is_approved = listed.pin().ok() == allowed.pin.as_ref();
            match side {
                Side::Args => is_approved.then_some(&listed.tool().input_schema),
                Side::Answer => None,
            }
        };
        let mut misfits = Vec::new();
        for (tool, entry) in &config.order.tools {
            for rule in &entry.rules {
                let at = pointer(&rule.path);
                let mut check = |key: &str, tool: &Tool, side: Side, rules: &ArgumentRules| {
                    let Some(schema) = schema(tool, side) else { return };
                    let found = rules.misfits(schema).into_iter();
                    misfits.extend(found.map(|misfit| (format!("{at}{key}"), misfit)));
                };
                if let Some(rules) = rule.condition.as_ref().and_then(rules) {
                    check("/if", tool, Side::Args, rules);
                }
                for premise in rule.kind.premises() {
                    for other in &premise.tools {
                        if let Some(rules) = premise.args.as_ref().and_then(rules) {
                            check("/where", other, Side::Args, rules);
                        }
                        for pair in &premise.same {
                            // Of two calls, `arg` is of the later one: for an obligation, the one that settles it.
                            let (later, earlier) = match rule.kind {
                                RuleKind::BeforeEnd(_) => (other, tool),
                                _ => (tool, other),
                            };
                            let Member { side, pointer } = &pair.earlier;
                            member(&pair.arg).into_iter().for_each(|rules| check("/same", later, Side::Args, &rules));
                            member(pointer).into_iter().for_each(|rules| check("/same", earlier, *side, &rules));
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

fn rules(test: &Test) -> Option<&ArgumentRules> {
    test.as_any()?.downcast_ref::<RulesTest>().map(RulesTest::rules)
}

/// Rule that only needs a member to be there.
fn member(pointer: &str) -> Option<ArgumentRules> {
    let place = RulePointer::parse(pointer).ok()?;
    Some(ArgumentRules::new(vec![Rule { place, optional: false, tests: Vec::new() }]))
}

/// JSON pointer of a path such as `allow[1].after[0]`.
fn pointer(path: &str) -> String {
    format!("/{}", path.replace(['[', '.'], "/").replace(']', ""))
}
