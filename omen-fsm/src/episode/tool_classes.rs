//! Safety class with which an episode calls each of its tools (D88).
//!
//! A tool id identifies one tool. If it is called both as a tool that reads and as one that may write, one of the two classes is
//! wrong, and the call that claims to read needs no token. In a log, this is a warning; here, the call is refused.

use std::collections::BTreeMap;

use omen_types::{Code, Diagnostic};

use super::errors::Refusal;

/// Whether the episode calls a tool as one that may write, by tool id; determined by the first call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolClasses(BTreeMap<String, bool>);

impl ToolClasses {
    /// Records a call that is in the log.
    pub(crate) fn note(&mut self, tool: &str, writes: bool) {
        if !self.0.contains_key(tool) {
            self.0.insert(tool.to_owned(), writes);
        }
    }

    /// Checks planned calls against earlier calls and against one another.
    pub(crate) fn check<'o>(&self, calls: impl Iterator<Item = (&'o str, bool)>) -> Result<(), Refusal> {
        let mut now: BTreeMap<&str, bool> = BTreeMap::new();
        for (tool, writes) in calls {
            let first = self.0.get(tool).copied().unwrap_or_else(|| *now.entry(tool).or_insert(writes));
            if first != writes {
                let word = |writes| if writes { "may write" } else { "only reads" };
                let problem = format!(
                    "the tool `{tool}` {} in this directive, but {} in an earlier one of the episode",
                    word(writes),
                    word(first)
                );
                let finding = Diagnostic::error(Code::Inv007, problem).at("/payload/execution_method/tool_id");
                return Err(Refusal::rule(
                    finding.help("declare each tool id once, with the class of everything that the tool may do"),
                ));
            }
        }
        Ok(())
    }
}
