//! Requests waiting for an answer: the client's by their ids, and the servers' by numbers of the proxy.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use omen_base::Mutex;
use tokio::task::AbortHandle;

use omen_mcp::Id;

/// Open requests of a session. Their number is bounded.
#[derive(Debug)]
pub(crate) struct Open {
    state: Mutex<State>,
    /// Maximum number of open requests passed on from the client, and from each server.
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    client: HashMap<Id, Waiting>,
    servers: BTreeMap<u64, Asked>,
    /// Number of client requests passed on.
    passed: u64,
    /// Servers for which a cancelled request was forgotten: a response that matches no request may answer it.
    forgetful: BTreeSet<usize>,
}

/// Party that answers a client request.
#[derive(Debug)]
enum Waiting {
    /// A task of the proxy, with the server that it asks, if any.
    Task(AbortHandle, Option<Routed>),
    /// A single server, under the same id.
    Server(Routed, Passed),
    /// Several servers, under the same id, for as long as the client listens.
    Listening(BTreeSet<usize>, Passed),
}

/// Request that a single server answers.
#[derive(Clone, Debug)]
pub(super) struct Routed {
    pub(super) server: usize,
    /// Token by which progress notifications name the request.
    pub(super) token: Option<Id>,
    pub(super) is_handshake: bool,
}

/// Request that was passed on.
#[derive(Clone, Copy, Debug)]
struct Passed {
    number: u64,
    is_cancelled: bool,
}

/// Request from a server to the client.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) server: usize,
    pub(super) id: Id,
    /// Id and token as the server wrote them.
    pub(super) raw_id: String,
    pub(super) raw_token: Option<String>,
    /// Whether the request was cancelled: its response may but need not come.
    pub(super) is_cancelled: bool,
}

/// Reason why a request cannot be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unasked {
    /// Another request with this id is open.
    InUse,
    /// Too many requests are open.
    Full,
}

/// Request that the client cancels.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cancelled {
    /// A task, which is aborted.
    Task,
    /// A request to these servers.
    At(Vec<usize>),
    Nothing,
}

/// Request that a server's response answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// A request for which the client waits.
    Client { is_handshake: bool },
    /// A request answered by several servers; the client gets the last response.
    OneOfSeveral,
    /// A request for which the client no longer waits.
    Late,
    /// A request that may have been cancelled and forgotten.
    Forgotten,
    /// No request to this server has this id.
    Nothing,
}

impl Open {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// Returns whether the client has a request with this id.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.state.lock().client.contains_key(id)
    }

    /// Registers a request that is about to be passed on to one server.
    pub(super) fn ask(&self, id: &Id, to: Routed) -> Result<(), Unasked> {
        self.pass(id, |passed| Waiting::Server(to, passed))
    }

    /// Registers a request that is about to be passed on to several servers.
    pub(super) fn listen(&self, id: &Id, servers: BTreeSet<usize>) -> Result<(), Unasked> {
        self.pass(id, |passed| Waiting::Listening(servers, passed))
    }

    /// Registers a request that is passed on. A cancelled request that was never answered makes room.
    fn pass(&self, id: &Id, waiting: impl FnOnce(Passed) -> Waiting) -> Result<(), Unasked> {
        let mut state = self.state.lock();
        if state.client.contains_key(id) {
            return Err(Unasked::InUse);
        }
        let passed = || state.client.iter().filter_map(|(id, waiting)| Some((id, waiting.passed()?)));
        if passed().count() >= self.limit {
            let cancelled = passed().filter(|(_, passed)| passed.is_cancelled);
            let oldest = cancelled.min_by_key(|(_, passed)| passed.number).map(|(id, _)| id.clone());
            let oldest = state.client.remove(&oldest.ok_or(Unasked::Full)?);
            state.forgetful.extend(oldest.iter().flat_map(Waiting::servers));
        }
        state.passed += 1;
        let passed = Passed { number: state.passed, is_cancelled: false };
        state.client.insert(id.clone(), waiting(passed));
        Ok(())
    }

    /// Answers a request in a task, which is started with the table locked, so that it is registered before it can end.
    pub(super) fn ask_task(&self, id: Id, of: Option<Routed>, spawn: impl FnOnce() -> AbortHandle) {
        let mut state = self.state.lock();
        let task = spawn();
        state.client.insert(id, Waiting::Task(task, of));
    }

    /// Removes a request whose task has the answer. Returns whether the client still waits for it.
    pub(super) fn take_task(&self, id: &Id) -> bool {
        let mut state = self.state.lock();
        let is_task = matches!(state.client.get(id), Some(Waiting::Task(..)));
        is_task && state.client.remove(id).is_some()
    }

    /// Removes a request that was not sent.
    pub(super) fn unasked(&self, id: &Id) {
        self.state.lock().client.remove(id);
    }

    /// Accepts a server's response to a client request.
    pub(super) fn answered(&self, id: &Id, by: usize) -> To {
        let mut state = self.state.lock();
        let is_forgetful = state.forgetful.contains(&by);
        match state.client.get_mut(id) {
            Some(Waiting::Server(to, _)) if to.server == by => {
                let is_handshake = to.is_handshake;
                state.client.remove(id);
                To::Client { is_handshake }
            }
            Some(Waiting::Listening(servers, passed)) if servers.contains(&by) => {
                servers.remove(&by);
                let to = match (passed.is_cancelled, servers.is_empty()) {
                    (true, _) => To::Late,
                    (false, true) => To::Client { is_handshake: false },
                    (false, false) => To::OneOfSeveral,
                };
                if servers.is_empty() {
                    state.client.remove(id);
                }
                to
            }
            _ if is_forgetful => To::Forgotten,
            _ => To::Nothing,
        }
    }

    /// Cancels a request for which the client no longer waits.
    pub(super) fn cancel(&self, id: &Id) -> Cancelled {
        let mut state = self.state.lock();
        match state.client.get_mut(id) {
            None => Cancelled::Nothing,
            Some(Waiting::Task(task, _)) => {
                task.abort();
                state.client.remove(id);
                Cancelled::Task
            }
            Some(Waiting::Server(to, passed)) => {
                passed.is_cancelled = true;
                Cancelled::At(vec![to.server])
            }
            Some(Waiting::Listening(servers, passed)) => {
                passed.is_cancelled = true;
                Cancelled::At(servers.iter().copied().collect())
            }
        }
    }

    /// Returns whether a server has a request whose progress has this token.
    pub(super) fn has_token(&self, token: &Id, server: usize) -> bool {
        let has = |waiting: &Waiting| match waiting {
            Waiting::Server(to, _) | Waiting::Task(_, Some(to)) => {
                to.server == server && to.token.as_ref() == Some(token)
            }
            _ => false,
        };
        self.state.lock().client.values().any(has)
    }

    /// Returns whether the client listens to a server through the request with this id.
    pub(super) fn listens(&self, id: &Id, to: usize) -> bool {
        let state = self.state.lock();
        matches!(state.client.get(id), Some(Waiting::Listening(servers, passed)) if !passed.is_cancelled && servers.contains(&to))
    }

    /// Returns whether nobody waits for a request that was passed on to a server.
    pub(crate) fn is_idle(&self, server: usize) -> bool {
        let waits = |waiting: &Waiting| {
            waiting.passed().is_some_and(|passed| !passed.is_cancelled) && waiting.servers().any(|own| own == server)
        };
        !self.state.lock().client.values().any(waits)
    }

    /// Registers a server's request that is about to be passed on under this number. A cancelled, unanswered one makes room.
    pub(super) fn ask_client(&self, number: u64, asked: Asked) -> Result<(), Unasked> {
        let mut state = self.state.lock();
        let own = || state.servers.iter().filter(|(_, other)| other.server == asked.server);
        if own().any(|(_, other)| other.id == asked.id) {
            return Err(Unasked::InUse);
        }
        if own().count() >= self.limit {
            // They are in the order in which they were sent.
            let oldest = own().find(|(_, other)| other.is_cancelled).map(|(number, _)| *number);
            state.servers.remove(&oldest.ok_or(Unasked::Full)?);
        }
        state.servers.insert(number, asked);
        Ok(())
    }

    /// Accepts the client's answer to a request.
    pub(super) fn answered_by_client(&self, number: u64) -> Option<Asked> {
        self.state.lock().servers.remove(&number)
    }

    /// Returns a server's request that the client has not answered.
    pub(super) fn asked(&self, number: u64) -> Option<Asked> {
        self.state.lock().servers.get(&number).cloned()
    }

    /// Returns the number of the open request that a server knows by an id.
    pub(super) fn number_of(&self, server: usize, id: &Id) -> Option<u64> {
        let state = self.state.lock();
        let found = state.servers.iter().find(|(_, asked)| asked.server == server && asked.id == *id);
        found.map(|(number, _)| *number)
    }

    /// Cancels a request for whose answer a server no longer waits. Returns its number, the first time.
    pub(super) fn cancelled_by_server(&self, server: usize, id: &Id) -> Option<u64> {
        let number = self.number_of(server, id)?;
        let mut state = self.state.lock();
        let asked = state.servers.get_mut(&number).filter(|asked| !asked.is_cancelled)?;
        asked.is_cancelled = true;
        Some(number)
    }

    /// Takes the client requests that a server has not answered.
    pub(super) fn unanswered(&self, server: usize) -> Vec<Id> {
        let mut state = self.state.lock();
        let mut over = Vec::new();
        for (id, waiting) in &mut state.client {
            match waiting {
                Waiting::Server(to, passed) if to.server == server => over.push((*passed, id.clone())),
                Waiting::Listening(servers, passed) => {
                    let was_last = servers.remove(&server) && servers.is_empty();
                    over.extend(was_last.then(|| (*passed, id.clone())));
                }
                _ => {}
            }
        }
        over.sort_by_key(|(passed, _)| passed.number);
        over.iter().for_each(|(_, id)| drop(state.client.remove(id)));
        over.into_iter().filter(|(passed, _)| !passed.is_cancelled).map(|(_, id)| id).collect()
    }

    /// Takes the requests of a server that the client has not answered.
    pub(super) fn unanswered_by_client(&self, server: usize) -> Vec<u64> {
        let mut state = self.state.lock();
        let own = state.servers.iter().filter(|(_, asked)| asked.server == server && !asked.is_cancelled);
        let waiting = own.map(|(number, _)| *number).collect();
        state.servers.retain(|_, asked| asked.server != server);
        waiting
    }
}

impl Waiting {
    /// Returns how the request was passed on; `None` if a task answers it.
    fn passed(&self) -> Option<Passed> {
        match self {
            Self::Task(..) => None,
            Self::Server(_, passed) | Self::Listening(_, passed) => Some(*passed),
        }
    }

    /// Iterates over the servers to which the request was passed on.
    fn servers(&self) -> impl Iterator<Item = usize> {
        let (one, several) = match self {
            Self::Task(..) => (None, None),
            Self::Server(to, _) => (Some(to.server), None),
            Self::Listening(servers, _) => (None, Some(servers)),
        };
        one.into_iter().chain(several.into_iter().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Cancelled, Open, Routed, To, Unasked};
    use omen_mcp::Id;

    fn to(server: usize, is_handshake: bool) -> Routed {
        Routed { server, token: None, is_handshake }
    }

    const OTHER: To = To::Client { is_handshake: false };

    #[test]
    fn an_id_is_in_use_until_it_is_answered_once() {
        let open = Open::new(10);
        let id = Id::Number(1);
        assert_eq!(open.ask(&id, to(0, true)), Ok(()));
        assert_eq!(open.ask(&id, to(1, false)), Err(Unasked::InUse));
        assert_eq!(open.cancel(&id), Cancelled::At(vec![0]));
        assert_eq!(open.ask(&id, to(0, false)), Err(Unasked::InUse), "its answer may still come");
        assert_eq!(open.answered(&id, 1), To::Nothing, "another server cannot answer it");
        assert_eq!(open.answered(&id, 0), To::Client { is_handshake: true });
        assert_eq!(open.answered(&id, 0), To::Nothing);
    }

    #[test]
    fn what_is_open_is_bounded_and_only_what_was_cancelled_is_forgotten() {
        let open = Open::new(2);
        for id in [1, 2] {
            assert_eq!(open.ask(&Id::Number(id), to(0, false)), Ok(()));
        }
        assert_eq!(open.ask(&Id::Number(3), to(0, false)), Err(Unasked::Full));
        open.cancel(&Id::Number(2));
        assert_eq!(open.ask(&Id::Number(3), to(0, false)), Ok(()));
        assert_eq!((open.answered(&Id::Number(2), 0), open.answered(&Id::Number(2), 1)), (To::Forgotten, To::Nothing));
        assert_eq!(open.unanswered(0), [Id::Number(1), Id::Number(3)]);
        assert!(open.is_idle(0));
    }

    #[test]
    fn who_listens_gets_the_last_answer() {
        let open = Open::new(2);
        let id = Id::Number(1);
        assert_eq!(open.listen(&id, [0, 1].into()), Ok(()));
        assert!(open.listens(&id, 1) && !open.is_idle(1));
        assert_eq!((open.answered(&id, 0), open.answered(&id, 0)), (To::OneOfSeveral, To::Nothing));
        assert_eq!((open.answered(&id, 1), open.has(&id)), (OTHER, false));
    }

    #[test]
    fn requests_of_servers_are_bounded_and_kept_apart() {
        let open = Open::new(1);
        let asked = |server, id| {
            let (id, raw_id) = (Id::Number(id), id.to_string());
            Asked { server, id, raw_id, raw_token: None, is_cancelled: false }
        };
        assert_eq!(open.ask_client(1, asked(0, 7)), Ok(()));
        assert_eq!(open.ask_client(2, asked(1, 7)), Ok(()));
        assert_eq!(open.ask_client(3, asked(0, 7)), Err(Unasked::InUse));
        assert_eq!(open.ask_client(3, asked(0, 8)), Err(Unasked::Full));
        assert_eq!(
            (open.cancelled_by_server(0, &Id::Number(7)), open.number_of(1, &Id::Number(7))),
            (Some(1), Some(2))
        );
        assert_eq!(open.ask_client(3, asked(0, 8)), Ok(()), "a cancelled one makes room");
        assert!(open.answered_by_client(1).is_none());
        assert_eq!((open.unanswered_by_client(1), open.unanswered_by_client(0)), (vec![2], vec![3]));
    }
}
