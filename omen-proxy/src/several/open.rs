//! What waits for an answer: requests of the client, by their ids, and requests of the servers, by numbers of our own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use omen_mcp::Id;

/// The open requests of a session. Their number is bounded.
#[derive(Debug)]
pub(super) struct Open {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    client: HashMap<Id, Waiting>,
    servers: BTreeMap<u64, Asked>,
    last: u64,
}

/// Who answers a request of the client.
#[derive(Debug)]
pub(super) enum Waiting {
    /// A task of ours, which asks several servers.
    Task(AbortHandle),
    /// One server, under the same id.
    Server(Routed),
    /// Several servers, under the same id, for as long as the client listens.
    Listening { servers: BTreeSet<usize>, is_cancelled: bool },
}

/// A request that one server answers.
#[derive(Clone, Debug)]
pub(super) struct Routed {
    pub(super) server: usize,
    /// The token by which progress names it.
    pub(super) token: Option<Id>,
    /// A cancelled call has no answer; other requests may have one.
    pub(super) is_call: bool,
    pub(super) is_cancelled: bool,
}

/// A request of a server for the client.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) server: usize,
    pub(super) id: Id,
    /// Its id and its token as the server wrote them.
    pub(super) raw_id: String,
    pub(super) raw_token: Option<String>,
}

/// Why a request of the client cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unasked {
    InUse,
    Full,
}

/// What a cancellation of the client is about.
#[derive(Debug)]
pub(super) enum Cancelled {
    /// A task, which is aborted.
    Task,
    /// A request of these servers.
    At(Vec<usize>),
    Nothing,
}

/// What a response of a server is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// The client waits for it.
    Client,
    /// One of several that answer a request; the client gets the last one.
    OneOfSeveral,
    /// The client does not wait any more.
    Late,
    /// No request of this server has this id.
    Nothing,
}

impl Open {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// Whether a request with this id may be asked.
    pub(super) fn may_ask(&self, id: &Id) -> Result<(), Unasked> {
        let state = self.lock();
        match (state.client.contains_key(id), state.client.len() >= self.limit) {
            (true, _) => Err(Unasked::InUse),
            (_, true) if !state.client.values().any(is_cancelled) => Err(Unasked::Full),
            _ => Ok(()),
        }
    }

    /// A request is asked. A cancelled one that was never answered makes room.
    pub(super) fn ask(&self, id: Id, waiting: Waiting) {
        let mut state = self.lock();
        if state.client.len() >= self.limit {
            let cancelled = state.client.iter().find(|(_, waiting)| is_cancelled(waiting)).map(|(id, _)| id.clone());
            cancelled.iter().for_each(|id| drop(state.client.remove(id)));
        }
        state.client.insert(id, waiting);
    }

    /// Asks with the table held, so that a task is known before it can end.
    pub(super) fn ask_task(&self, id: Id, spawn: impl FnOnce() -> AbortHandle) {
        let mut state = self.lock();
        let task = spawn();
        state.client.insert(id, Waiting::Task(task));
    }

    /// A task has the answer. Whether the client still waits for it.
    pub(super) fn take_task(&self, id: &Id) -> bool {
        let mut state = self.lock();
        let is_task = matches!(state.client.get(id), Some(Waiting::Task(_)));
        is_task && state.client.remove(id).is_some()
    }

    /// A task has found out which server answers. Whether the client still waits for it.
    pub(super) fn hand_over(&self, id: &Id, to: Routed) -> bool {
        match self.lock().client.get_mut(id) {
            Some(waiting @ Waiting::Task(_)) => {
                *waiting = Waiting::Server(to);
                true
            }
            _ => false,
        }
    }

    /// The request was not sent.
    pub(super) fn unasked(&self, id: &Id) {
        self.lock().client.remove(id);
    }

    /// A server responds under an id of the client's.
    pub(super) fn answered(&self, id: &Id, by: usize) -> To {
        let mut state = self.lock();
        match state.client.get_mut(id) {
            Some(Waiting::Server(to)) if to.server == by => {
                state.client.remove(id);
                To::Client
            }
            Some(Waiting::Listening { servers, is_cancelled }) if servers.contains(&by) => {
                servers.remove(&by);
                let to = match (*is_cancelled, servers.is_empty()) {
                    (true, _) => To::Late,
                    (false, true) => To::Client,
                    (false, false) => To::OneOfSeveral,
                };
                if servers.is_empty() {
                    state.client.remove(id);
                }
                to
            }
            _ => To::Nothing,
        }
    }

    /// The client does not wait for a request any more.
    pub(super) fn cancel(&self, id: &Id) -> Cancelled {
        let mut state = self.lock();
        let (cancelled, is_over) = match state.client.get_mut(id) {
            None => (Cancelled::Nothing, false),
            Some(Waiting::Task(task)) => {
                task.abort();
                (Cancelled::Task, true)
            }
            Some(Waiting::Server(to)) => {
                to.is_cancelled = true;
                (Cancelled::At(vec![to.server]), to.is_call)
            }
            Some(Waiting::Listening { servers, is_cancelled }) => {
                *is_cancelled = true;
                (Cancelled::At(servers.iter().copied().collect()), false)
            }
        };
        if is_over {
            state.client.remove(id);
        }
        cancelled
    }

    /// Whether a server has been asked a request whose progress has this token.
    pub(super) fn has_token(&self, token: &Id, server: usize) -> bool {
        let has = |waiting: &Waiting| matches!(waiting, Waiting::Server(to) if to.server == server && to.token.as_ref() == Some(token));
        self.lock().client.values().any(has)
    }

    /// Whether the client listens to a server by the request with this id.
    pub(super) fn listens(&self, id: &Id, to: usize) -> bool {
        matches!(self.lock().client.get(id), Some(Waiting::Listening { servers, is_cancelled: false }) if servers.contains(&to))
    }

    /// A request of a server, under a number of our own.
    pub(super) fn ask_client(&self, asked: Asked) -> u64 {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        state.servers.insert(number, asked);
        number
    }

    /// The client has answered a request.
    pub(super) fn answered_by_client(&self, number: u64) -> Option<Asked> {
        self.lock().servers.remove(&number)
    }

    /// A request of a server that the client has not answered.
    pub(super) fn asked(&self, number: u64) -> Option<Asked> {
        self.lock().servers.get(&number).cloned()
    }

    /// The number of the open request that a server knows by an id.
    pub(super) fn number_of(&self, server: usize, id: &Id) -> Option<u64> {
        let state = self.lock();
        let found = state.servers.iter().find(|(_, asked)| asked.server == server && asked.id == *id);
        found.map(|(number, _)| *number)
    }

    /// A server is gone. Gives the requests of the client that it has not answered, and the numbers of its own.
    pub(super) fn gone(&self, server: usize) -> (Vec<Id>, Vec<u64>) {
        let mut state = self.lock();
        let (mut over, mut waits) = (Vec::new(), Vec::new());
        for (id, waiting) in &mut state.client {
            match waiting {
                Waiting::Server(to) if to.server == server => over.push((id.clone(), !to.is_cancelled)),
                Waiting::Listening { servers, is_cancelled } => {
                    let was_last = servers.remove(&server) && servers.is_empty();
                    over.extend(was_last.then(|| (id.clone(), !*is_cancelled)));
                }
                _ => {}
            }
        }
        for (id, is_wanted) in over {
            state.client.remove(&id);
            if is_wanted {
                waits.push(id);
            }
        }
        let asked: Vec<_> = state.servers.iter().filter(|(_, asked)| asked.server == server).map(|(n, _)| *n).collect();
        asked.iter().for_each(|number| drop(state.servers.remove(number)));
        (waits, asked)
    }

    /// It is changed as a whole, and nothing panics in between.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_cancelled(waiting: &Waiting) -> bool {
    match waiting {
        Waiting::Task(_) => false,
        Waiting::Server(to) => to.is_cancelled,
        Waiting::Listening { is_cancelled, .. } => *is_cancelled,
    }
}
