//! Keys that match a decision with the outcome that the agent reports later.
//!
//! The deciding process has ended by the time the outcome arrives, so the key is stored as the call's turn name in the audit log.
//! It contains no text from the agent: ids are chosen by the model, and may repeat.

use omen_base::{BadName, ServerName, TurnId, canonical};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Session of an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionKey(String);

/// Key of an agent's call: session, id if it has one, and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallKey {
    pub(crate) session: SessionKey,
    call: String,
    /// Hash of server, tool and arguments, as the gate computes it.
    pub(crate) hash: String,
    /// Hash of the part of the call that the tool's special event also contains.
    special: Option<String>,
}

impl SessionKey {
    pub(crate) fn new(agent: &ServerName, session: &str) -> Self {
        Self(format!("{agent}:{}", short(&digest(session.as_bytes()))))
    }

    /// Session of a call's turn.
    pub(crate) fn of_turn(turn: &str) -> Option<Self> {
        let (agent, rest) = turn.split_once(':')?;
        Some(Self(format!("{agent}:{}", rest.split(':').next()?)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Session for the limits and the order rules.
    pub(crate) fn turn(&self) -> Result<TurnId, BadName> {
        TurnId::new(&self.0)
    }

    /// Returns whether a turn is a call of the session.
    pub(crate) fn has(&self, turn: &str) -> bool {
        turn.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with(':'))
    }
}

impl CallKey {
    pub(crate) fn new(session: &SessionKey, call: Option<&str>, hash: String) -> Self {
        let call = call.map_or_else(|| NO_ID.to_owned(), |call| short(&digest(call.as_bytes())).to_owned());
        Self { session: session.clone(), call, hash, special: None }
    }

    /// Adds the hash by which the tool's special event finds the call.
    pub(crate) fn with_special(self, special: Option<String>) -> Self {
        Self { special, ..self }
    }

    /// Returns whether the agent has given the call an id.
    pub(crate) fn has_id(&self) -> bool {
        self.call != NO_ID
    }

    /// Returns the call's turn. The number distinguishes calls with the same key.
    pub(crate) fn turn(&self, number: u64) -> Result<TurnId, BadName> {
        let special = self.special.iter().map(|hash| format!(":{}", short(hash))).collect::<String>();
        TurnId::new(format!("{}:{}:{}:{number}{special}", self.session.0, self.call, short(&self.hash)))
    }

    /// Returns whether a turn has the same session and id. A call without an id matches all calls without one in the session.
    pub(crate) fn is_of_id(&self, turn: &str) -> bool {
        self.session.has(turn) && turn.starts_with(&format!("{}:{}:", self.session.0, self.call))
    }

    /// Returns whether a turn is of the same session, and its call would have the same special event.
    pub(crate) fn has_special_event_of(&self, turn: &str) -> bool {
        let is_same = |special: &String| turn.ends_with(&format!(":{}", short(special)));
        self.session.has(turn) && self.special.as_ref().is_some_and(is_same)
    }

    /// Returns whether a turn has the same session, id and content.
    pub(crate) fn is_of_call(&self, turn: &str) -> bool {
        turn.starts_with(&format!("{}:{}:{}:", self.session.0, self.call, short(&self.hash)))
    }
}

/// Returns the hash of a call, as the gate computes it. Arguments without a canonical form, which it refuses, are hashed as JSON.
pub(crate) fn hash_of(server: &str, tool: &str, args: &Map<String, Value>) -> String {
    let call = json!({ "server": server, "tool": tool, "args": args });
    digest(&canonical(&call).unwrap_or_else(|_| call.to_string().into_bytes()))
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

/// Stands for the id of calls for which the agent sends none.
const NO_ID: &str = "-";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{CallKey, SessionKey};

    #[test]
    fn a_turn_is_found_by_session_id_and_content() {
        let agent = "codex".parse().unwrap();
        let session = SessionKey::new(&agent, "s1");
        let key = CallKey::new(&session, Some("call_1"), "0123456789abcdef99".to_owned());
        let turn = key.turn(7).unwrap();
        assert!(session.has(turn.as_str()) && key.is_of_id(turn.as_str()) && key.is_of_call(turn.as_str()));
        let changed = CallKey::new(&session, Some("call_1"), "1123456789abcdef99".to_owned());
        assert!(changed.is_of_id(turn.as_str()) && !changed.is_of_call(turn.as_str()));
        let other = CallKey::new(&SessionKey::new(&agent, "s2"), Some("call_1"), key.hash.clone());
        assert!(!other.is_of_id(turn.as_str()));
        assert_eq!(SessionKey::of_turn(turn.as_str()), Some(session.clone()));
        assert!(CallKey::new(&session, None, key.hash.clone()).turn(1).unwrap().as_str().contains(":-:"));
    }
}
