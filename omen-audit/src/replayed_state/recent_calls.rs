//! Calls of the last day, and calls of turns and sessions with a budget, for enforcing limits after a restart.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

/// Times of calls by tool, and numbers of calls by turn and session.
#[derive(Clone, Debug, Default)]
pub struct RecentCalls {
    /// Times by server and tool, joined with a separator that occurs in no name.
    tools: BTreeMap<String, VecDeque<SystemTime>>,
    turns: BTreeMap<String, u32>,
    sessions: BTreeMap<String, u32>,
}

impl RecentCalls {
    /// Counts an intent to call a tool.
    pub(super) fn add_call(&mut self, (server, tool): (&str, &str), turn: &str, time: &str, data: &Map<String, Value>) {
        let tool = &format!("{server}{SEPARATOR}{tool}");
        if let Ok(time) = humantime::parse_rfc3339(time) {
            if !self.tools.contains_key(tool) {
                self.make_room();
                self.tools.insert(tool.to_owned(), VecDeque::new());
            }
            if let Some(made) = self.tools.get_mut(tool) {
                made.push_back(time);
                let is_old = |first: &SystemTime| time.duration_since(*first).is_ok_and(|age| age >= LONGEST);
                while made.len() > MOST_CALLS || made.front().is_some_and(is_old) {
                    made.pop_front();
                }
            }
        }
        // Only gates with such a budget write this member; for other gates nothing needs to be kept.
        if data.contains_key(TURN_CALLS) {
            *self.turns.entry(turn.to_owned()).or_default() += 1;
        }
        if let Some(session) = data.get(SESSION).and_then(Value::as_str) {
            *self.sessions.entry(session.to_owned()).or_default() += 1;
        }
    }

    /// Forgets a finished turn or session.
    pub(super) fn end_turn(&mut self, turn: &str) {
        self.turns.remove(turn);
        self.sessions.remove(turn);
    }

    /// Forgets the tool with the oldest last call if there are too many tools.
    fn make_room(&mut self) {
        if self.tools.len() < MOST_TOOLS {
            return;
        }
        let oldest = self.tools.iter().min_by_key(|(_, made)| made.back().copied()).map(|(tool, _)| tool.clone());
        oldest.into_iter().for_each(|tool| drop(self.tools.remove(&tool)));
    }

    /// Iterates over the tools with the times of their calls.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str, &VecDeque<SystemTime>)> {
        self.tools
            .iter()
            .filter_map(|(tool, made)| tool.split_once(SEPARATOR).map(|(server, tool)| (server, tool, made)))
    }

    /// Returns the number of calls that a turn has made.
    pub fn of_turn(&self, turn: &str) -> u32 {
        self.turns.get(turn).copied().unwrap_or_default()
    }

    /// Returns the number of calls that a session has made.
    pub fn of_session(&self, session: &str) -> u32 {
        self.sessions.get(session).copied().unwrap_or_default()
    }
}

/// Member of an intent that names its session.
pub const SESSION: &str = "session";

/// Member of an intent that marks the turn's calls as counted.
pub const TURN_CALLS: &str = "turn_calls";

/// Member of an entry that names the user's turn, if the entry's own turn is part of one.
pub const USER_TURN: &str = "user_turn";

const SEPARATOR: char = '\0';

/// Limits on what is kept: like those of rate limits, one day and a thousand calls.
const LONGEST: Duration = Duration::from_secs(86_400);
const MOST_CALLS: usize = 1000;
const MOST_TOOLS: usize = 4096;
