//! Checks of order rules and their tests of arguments and answers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use omen_order::Tool;
use omen_order::rules::config::{Max, Rules, Surroundings};
use omen_order::rules::{self, Test, ToolPolicy, duration};
use omen_types::suggest::nearest;

use super::Check;
use crate::base::bounded;
use crate::call::arguments::RulesTest;
use crate::config::file::argument::Argument;
use crate::config::file::order::OrderTable;
use crate::config::order_keys::OrderKeys;

impl Check<'_, '_> {
    /// Builds the order rules of all entries. Their paths are resolved against `folder`, once it is known.
    pub(super) fn order(
        &mut self,
        entries: &[OrderKeys],
        order: &OrderTable,
        folder: &Arc<OnceLock<PathBuf>>,
    ) -> rules::Policy {
        let mut policy = rules::Policy {
            wait_ms: self.setting("/order/wait", &order.wait),
            gather_ms: self.setting("/order/gather", &order.gather),
            idle_ms: self.setting("/order/idle", &order.idle),
            ..rules::Policy::default()
        };
        if policy.idle_ms == 0 && order.idle.starts_with('0') {
            self.wrong("/order/idle", "`idle` must be longer than zero", "write a time such as `24h`");
        }
        let tools: Vec<_> = entries.iter().map(|entry| entry.tool.clone()).collect();
        for (index, entry) in entries.iter().enumerate() {
            let pointer = format!("/allow/{index}");
            let max = match &entry.max {
                Some(Max::Limits(limits)) => Some(limits.as_ref()),
                _ => None,
            };
            let keys =
                Rules { after: &entry.after, never_after: &entry.never_after, max, before_end: &entry.before_end };
            let mut with = EntrySurroundings { check: self, pointer: &pointer, tools: &tools, entry, folder };
            match keys.build(&entry.tool, &format!("allow[{index}]"), &mut with) {
                Ok(rules) => drop(policy.tools.insert(entry.tool.clone(), ToolPolicy { may_confirm: true, rules })),
                Err(mistakes) => {
                    for wrong in mistakes {
                        self.wrong(&format!("{pointer}{}", wrong.pointer), bounded(&wrong.message), wrong.help);
                    }
                }
            }
        }
        policy
    }

    fn setting(&mut self, pointer: &str, text: &str) -> u64 {
        duration(text, true).unwrap_or_else(|| {
            let message = format!("invalid duration `{}`", bounded(text));
            self.wrong(pointer, message, "write a time such as `30s`, `2min` or `100ms`");
            0
        })
    }
}

/// Context in which the rules of one entry are read.
struct EntrySurroundings<'e, 'c, 's, 't> {
    check: &'e mut Check<'s, 't>,
    pointer: &'c str,
    tools: &'c [Tool],
    entry: &'c OrderKeys,
    folder: &'c Arc<OnceLock<PathBuf>>,
}

impl Surroundings<Argument> for EntrySurroundings<'_, '_, '_, '_> {
    fn test(&mut self, pointer: &str, table: &BTreeMap<String, Argument>, _: bool) -> Option<Test> {
        let pointer = format!("{}{pointer}", self.pointer);
        let before = self.check.errors.len();
        let rules = self.check.arguments(&pointer, table.clone());
        let content = self.check.source.value.pointer(&pointer).map(ToString::to_string).unwrap_or_default();
        let test = RulesTest::new(rules, content, Arc::clone(self.folder));
        (self.check.errors.len() == before).then(|| Arc::new(test) as Test)
    }

    fn tools(&self) -> &[Tool] {
        self.tools
    }

    fn nearest(&self, name: &str) -> Option<String> {
        let names: Vec<_> = self
            .tools
            .iter()
            .map(|tool| if tool.server == self.entry.tool.server { tool.name.to_string() } else { tool.to_string() })
            .collect();
        let same_name = self.tools.iter().find(|tool| &*tool.name == name).map(ToString::to_string);
        same_name.or_else(|| nearest(name, names.iter().map(String::as_str)).map(str::to_owned))
    }

    fn least(&self, pointer: &str) -> Option<i64> {
        self.entry.least.get(pointer).copied()
    }
}
