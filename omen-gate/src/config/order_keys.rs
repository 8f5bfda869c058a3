//! Keys of the order rules, taken from an `[[allow]]` entry.

use std::collections::BTreeMap;

use omen_order::Tool;
use omen_order::rules::config::Max;

use super::file::AllowTable;
use super::file::argument::Argument;
use super::file::order::Premises;

/// Order rules of one `[[allow]]` entry.
pub(super) struct OrderKeys {
    pub(super) tool: Tool,
    pub(super) after: Premises,
    pub(super) never_after: Premises,
    pub(super) max: Option<Max<Argument>>,
    pub(super) before_end: Premises,
    /// Minimum amounts that the `where` of the entry allows.
    pub(super) least: BTreeMap<String, i64>,
}

impl OrderKeys {
    /// Takes the keys out of an entry.
    pub(super) fn take(entry: &mut AllowTable) -> Self {
        let max = match entry.max.take() {
            Some(Max::Rate(text)) => {
                entry.max = Some(Max::Rate(text));
                None
            }
            limits => limits,
        };
        let least = entry.arguments.iter().filter_map(|(pointer, argument)| Some((pointer.clone(), argument.min?)));
        Self {
            tool: Tool::new(&entry.server, &entry.tool),
            least: least.collect(),
            after: std::mem::take(&mut entry.after),
            never_after: std::mem::take(&mut entry.never_after),
            max,
            before_end: std::mem::take(&mut entry.before_end),
        }
    }
}
