//! The calls of the last day, and those of turns and sessions that have a budget: what limits on calls need after a restart.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

/// When tools were called, and how often turns and sessions have called one.
#[derive(Clone, Debug, Default)]
pub struct RecentCalls {
    /// By server and tool, with a separator that no name has.
    tools: BTreeMap<String, VecDeque<SystemTime>>,
    turns: BTreeMap<String, u32>,
    sessions: BTreeMap<String, u32>,
}

impl RecentCalls {
    /// A tool was about to be called.
    pub(super) fn intended(&mut self, (server, tool): (&str, &str), turn: &str, time: &str, data: &Map<String, Value>) {
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
        // Only gates with such a budget write these down, so that others remember nothing.
        if data.contains_key(TURN_CALLS) {
            *self.turns.entry(turn.to_owned()).or_default() += 1;
        }
        if let Some(session) = data.get(SESSION).and_then(Value::as_str) {
            *self.sessions.entry(session.to_owned()).or_default() += 1;
        }
    }

    /// A turn, or the session of this name, is over.
    pub(super) fn over(&mut self, turn: &str) {
        self.turns.remove(turn);
        self.sessions.remove(turn);
    }

    /// Forgets the tool whose last call is the oldest, if there are too many.
    fn make_room(&mut self) {
        if self.tools.len() < MOST_TOOLS {
            return;
        }
        let oldest = self.tools.iter().min_by_key(|(_, made)| made.back().copied()).map(|(tool, _)| tool.clone());
        oldest.into_iter().for_each(|tool| drop(self.tools.remove(&tool)));
    }

    /// Each tool with the times of its calls.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str, &VecDeque<SystemTime>)> {
        self.tools
            .iter()
            .filter_map(|(tool, made)| tool.split_once(SEPARATOR).map(|(server, tool)| (server, tool, made)))
    }

    /// How many calls a turn has made.
    pub fn of_turn(&self, turn: &str) -> u32 {
        self.turns.get(turn).copied().unwrap_or_default()
    }

    /// How many calls a session has made.
    pub fn of_session(&self, session: &str) -> u32 {
        self.sessions.get(session).copied().unwrap_or_default()
    }
}

/// The member of an intent that names the session.
pub const SESSION: &str = "session";

/// The member of an intent that says that calls of the turn are counted.
pub const TURN_CALLS: &str = "turn_calls";

/// The member of an entry that names the turn of the user, if the entry's own turn is part of it.
pub const USER_TURN: &str = "user_turn";

const SEPARATOR: char = '\0';

/// What no limit counts any more: as for limits, a day and a thousand calls.
const LONGEST: Duration = Duration::from_secs(86_400);
const MOST_CALLS: usize = 1000;
const MOST_TOOLS: usize = 4096;
