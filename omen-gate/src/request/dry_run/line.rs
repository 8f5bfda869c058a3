//! One line, one plan: what stands in a file of plans.

use std::borrow::Cow;

use super::{DryRun, PlanVerdict};
use crate::base::{Blocked, GateCode, bounded};

impl DryRun {
    /// Judges one line of a file of plans (JSON Lines). It is a JSON string that holds what the planner wrote, chatter
    /// and broken JSON included; or it is an object, which is taken as the planner's text as it stands. Any other line
    /// is blocked (PG-1).
    #[must_use]
    pub fn judge_line(&self, line: &[u8]) -> PlanVerdict {
        match text(line) {
            Ok(text) => self.judge(&text),
            Err(blocked) => PlanVerdict::Block(blocked),
        }
    }

    /// The most bytes of a line that is read: however a plan within the limits is escaped, its line fits.
    /// A caller that splits a file into lines need keep no more of one.
    #[must_use]
    pub fn longest_line(&self) -> usize {
        self.limits.bytes.saturating_mul(ESCAPED).saturating_add(AROUND)
    }

    /// The verdict on a line that is longer than [`Self::longest_line`].
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

/// What the planner wrote.
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
    let help = "write one plan per line: the planner's output as a JSON string, or only the object";
    Blocked::new(GateCode::Pg1, message, help)
}

/// As an escape in a JSON string, one byte of text is six at most: `\u001b`.
const ESCAPED: usize = 6;
/// Quotes, and some white space.
const AROUND: usize = 64;
