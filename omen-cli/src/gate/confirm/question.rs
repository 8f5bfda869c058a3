//! Human-readable form of a question.

use std::collections::BTreeMap;
use std::io::{self, Write};

use omen::render::human::clean;
use omen_proxy::confirm::{Answer, Message};
use serde_json::value::RawValue;

/// A question from the gate.
pub(super) struct ShownQuestion {
    pub(super) id: u64,
    tool: String,
    permissions: String,
    args: String,
    pub(super) hash: String,
    turn: String,
    seconds_left: u64,
}

impl ShownQuestion {
    pub(super) fn from_message(message: Message) -> Option<Self> {
        let Message::Question { id, server, tool, permissions, args, hash, turn, seconds_left } = message else {
            return None;
        };
        let (tool, permissions) = (format!("{server}/{tool}"), permissions.join(", "));
        Some(Self { id, tool, permissions, args, hash, turn, seconds_left })
    }

    /// Prints everything that the answer depends on. Names and arguments are untrusted: only visible text reaches the terminal.
    /// Arguments are shown in full, since an omitted part could be the one that matters.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { id, seconds_left, .. } = self;
        let (tool, permissions) = (clean(&self.tool), clean(&self.permissions));
        writeln!(out, "call {id}: {tool} ({permissions}), {seconds_left} s left until it is denied")?;
        match serde_json::from_str::<BTreeMap<String, &RawValue>>(&self.args) {
            Ok(args) if args.is_empty() => writeln!(out, "  no arguments")?,
            Ok(args) => {
                for (name, value) in args {
                    writeln!(out, "  {}: {}", clean(&name), clean(value.get()))?;
                }
            }
            Err(_) => writeln!(out, "  {}", clean(&self.args))?,
        }
        writeln!(out, "  turn {}, call hash {}", clean(&self.turn), clean(&self.hash))
    }

    /// Creates an answer that is valid for this question only.
    pub(super) fn answer(&self, confirm: bool, why: Option<String>) -> Answer {
        Answer { why, ..Answer::new(self.id, self.hash.clone(), confirm) }
    }
}
