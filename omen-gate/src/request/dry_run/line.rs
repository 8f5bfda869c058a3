//! Plan files with one plan per line.

use std::borrow::Cow;

use super::{DryRun, PlanVerdict};
use crate::base::{Blocked, GateCode, bounded};

impl DryRun {
    /// Checks one line of a plan file (JSON Lines). The line is a JSON string with the planner's text, chatter and
    /// broken JSON included, or an object, which is itself the planner's text. Any other line is blocked (PG-1).
    #[must_use]
    pub fn judge_line(&self, line: &[u8]) -> PlanVerdict {
        match text(line) {
            Ok(text) => self.judge(&text),
            Err(blocked) => PlanVerdict::Block(blocked),
        }
    }

    /// Returns the maximum length of a line to read, in bytes. A line whose plan is within the limits fits, however it
    /// is escaped, so a caller can truncate longer lines.
    #[must_use]
    pub fn longest_line(&self) -> usize {
        self.limits.bytes.saturating_mul(ESCAPED).saturating_add(AROUND)
    }

    /// Returns the verdict on a line longer than [`Self::longest_line`].
    #[must_use]
    pub fn too_long(&self) -> PlanVerdict {
        let message = format!(
            "the line has more than {} bytes, too many for a plan of at most {}",
            self.longest_line(),
            self.limits.bytes
        );
        PlanVerdict::Block(Blocked::new(
            GateCode::Pg1,
            message,
            "plan one call, and refer to large data instead of including it",
        ))
    }
}

fn text(line: &[u8]) -> Result<Cow<'_, str>, Blocked> {
    let text = std::str::from_utf8(line)
        .map_err(|error| blocked(format!("invalid UTF-8 at byte {} of the line", error.valid_up_to())))?;
    match text.trim_start_matches([' ', '\t', '\r']).chars().next() {
        Some('{') => Ok(Cow::Borrowed(text)),
        Some('"') => serde_json::from_str(text)
            .map(Cow::Owned)
            .map_err(|error| blocked(format!("invalid JSON string: {}", bounded(&error.to_string())))),
        _ => {
            let first = text.split_whitespace().next().unwrap_or_default();
            Err(blocked(format!(
                "expected a JSON string or an object, found a line that begins with `{}`",
                bounded(first)
            )))
        }
    }
}

fn blocked(message: String) -> Blocked {
    let help = "write one plan per line: the planner's output as a JSON string, or the plan itself as an object";
    Blocked::new(GateCode::Pg1, message, help)
}

/// Maximum length of one byte escaped in a JSON string, as in `\u001b`.
const ESCAPED: usize = 6;
/// Room for quotation marks and some white space.
const AROUND: usize = 64;
