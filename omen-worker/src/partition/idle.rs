//! Time of the last message of each episode, by the clock of the server that stored it.

use std::collections::HashMap;

use crate::names;

/// Open episodes by the time of their last message.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    last: HashMap<Box<str>, i64>,
}

impl Idle {
    /// Records a message of an episode, at a time in milliseconds.
    pub(crate) fn message(&mut self, id: &str, at: i64) {
        match self.last.get_mut(id) {
            Some(last) => *last = at,
            None => drop(self.last.insert(id.into(), at)),
        }
    }

    /// Ends the episode whose subject ends with this token, and returns its id: the token itself, unless the token is a hash of
    /// the id.
    pub(crate) fn end(&mut self, token: &str) -> Option<Box<str>> {
        let is_hash = token.starts_with('~');
        let id = match is_hash {
            true => self.last.keys().find(|id| names::token(id) == token).cloned()?,
            false => token.into(),
        };
        self.last.remove(&id);
        Some(id)
    }

    /// Removes and returns the episodes whose last message is older than a time, ordered by id.
    pub(crate) fn since(&mut self, time: i64) -> Vec<Box<str>> {
        let mut idle: Vec<_> = self.last.extract_if(|_, last| *last < time).map(|(id, _)| id).collect();
        idle.sort_unstable();
        idle
    }

    /// Returns the number of open episodes.
    pub(crate) fn len(&self) -> usize {
        self.last.len()
    }

    /// Appends the form for checkpoints: one line for each episode. A correlation id has neither spaces nor line ends.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (id, last) in &self.last {
            out.extend_from_slice(format!("{id} {last}\n").as_bytes());
        }
    }

    /// Parses what [`write`](Self::write) has written.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let entry = |line: &str| line.rsplit_once(' ').and_then(|(id, at)| Some((id.into(), at.parse().ok()?)));
        Some(Self { last: text.lines().map(entry).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_idle_once() {
        let mut idle = Idle::default();
        for (id, at) in [("corr_b", 1), ("corr_a", 2), ("corr_c", 9), ("corr_b", 3)] {
            idle.message(id, at);
        }
        let mut bytes = Vec::new();
        idle.write(&mut bytes);
        let mut idle = std::str::from_utf8(&bytes).ok().and_then(Idle::read).expect("what was written");
        assert_eq!(idle.since(9).iter().map(|id| &**id).collect::<Vec<_>>(), ["corr_a", "corr_b"]);
        assert!(idle.since(9).is_empty());
        idle.end("corr_c");
        assert_eq!(idle.len(), 0);
        assert!(Idle::read("corr_a").is_none());
    }
}
