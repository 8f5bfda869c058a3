//! User's turn that a call is part of (A2, R2), known if the client names it in `_meta`.

use std::collections::BTreeSet;

use omen_base::Mutex;
use omen_gate::{Blocked, Gate, GateCode, TurnId};
use serde_json::{Map, Value};

/// Turns of a session's user.
#[derive(Debug)]
pub(crate) struct UserTurns {
    /// Member of `_meta` that names a turn, if the operator has chosen one.
    member: Option<String>,
    session: TurnId,
    seen: Mutex<BTreeSet<TurnId>>,
}

impl UserTurns {
    /// Creates the turns of a client session. Other sessions have separate turns, whatever names their clients use.
    pub(crate) fn new(member: Option<String>, session: TurnId) -> Self {
        Self { member, session, seen: Mutex::default() }
    }

    /// Returns the turn that a call is part of, according to its `_meta`. `None` if the operator has chosen no member.
    ///
    /// # Errors
    /// If the member is missing or is not a turn name (A2).
    pub(crate) fn turn(&self, meta: Option<&str>) -> Result<Option<TurnId>, Blocked> {
        let Some(member) = &self.member else { return Ok(None) };
        let refused = |message: String| {
            let help =
                format!("name the user's turn in `_meta` as `{member}`, with 1 to {LONGEST} characters without blanks");
            Err(Blocked::new(GateCode::A2, message, help))
        };
        let meta: Map<String, Value> = meta.and_then(|meta| serde_json::from_str(meta).ok()).unwrap_or_default();
        let Some(named) = meta.get(member) else {
            return refused(format!("the call does not name the turn of its user (`{member}` of `_meta`)"));
        };
        let named = named.as_str().filter(|name| !name.is_empty() && name.chars().count() <= LONGEST);
        let Some(turn) = named.and_then(|name| TurnId::new(format!("{}/{name}", self.session)).ok()) else {
            return refused(format!("`{member}` of `_meta` is not the name of a turn"));
        };
        let mut seen = self.seen.lock();
        if seen.len() >= omen_gate::MAX_TURNS && !seen.contains(&turn) {
            return refused(format!("the session has already named {} turns", seen.len()));
        }
        seen.insert(turn.clone());
        Ok(Some(turn))
    }

    /// Ends the turns of a session that has ended.
    pub(crate) fn end(&self, gate: &Gate) {
        let seen = std::mem::take(&mut *self.seen.lock());
        seen.iter().for_each(|turn| drop(gate.end_turn(turn)));
    }
}

/// Maximum length of a turn name, in characters.
const LONGEST: usize = 64;
