//! Requests waiting for an answer: the client's by their ids, and the servers' by numbers of the proxy.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use omen_base::Mutex;
use tokio::task::AbortHandle;

use omen_mcp::Id;

/// Open requests of a session. Their number is bounded.
#[derive(Debug)]
pub(crate) struct OpenRequests {
    state: Mutex<OpenRequestTable>,
    /// Maximum number of open requests passed on from the client, and from each server.
    limit: usize,
}

/// Open requests of the client by id, and of the servers by number.
#[derive(Debug, Default)]
struct OpenRequestTable {
    client: HashMap<Id, AnsweringParty>,
    servers: BTreeMap<u64, ServerRequest>,
    /// Number of client requests passed on.
    forwarded: u64,
    /// Servers for which a cancelled request was forgotten: a response that matches no request may answer it.
    forgetful: BTreeSet<usize>,
}

/// Party that answers a client request.
#[derive(Debug)]
enum AnsweringParty {
    /// A task of the proxy, with the server that it asks, if any.
    Task(AbortHandle, Option<RoutedRequest>),
    /// A single server, under the same id.
    Server(RoutedRequest, ForwardedRequest),
    /// Several servers, under the same id, for as long as the client listens.
    Listening(BTreeSet<usize>, ForwardedRequest),
}

/// Client request that a single server answers.
#[derive(Clone, Debug)]
pub(super) struct RoutedRequest {
    pub(super) server: usize,
    /// Token by which progress notifications name the request.
    pub(super) token: Option<Id>,
    pub(super) is_handshake: bool,
}

/// Record of a client request that was passed on to servers.
#[derive(Clone, Copy, Debug)]
struct ForwardedRequest {
    number: u64,
    is_cancelled: bool,
}

/// Request from a server to the client.
#[derive(Clone, Debug)]
pub(super) struct ServerRequest {
    pub(super) server: usize,
    pub(super) id: Id,
    /// Id and token as the server wrote them.
    pub(super) raw_id: String,
    pub(super) raw_token: Option<String>,
    /// Whether the request was cancelled: its response may but need not come.
    pub(super) is_cancelled: bool,
}

/// Reason why a request is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotForwarded {
    /// Another request with this id is open.
    InUse,
    /// Too many requests are open.
    Full,
}

/// Request that the client cancels.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CancelledRequest {
    /// A task, which is aborted.
    Task,
    /// A request to these servers.
    At(Vec<usize>),
    Nothing,
}

/// Recipient of a server's response, according to the request that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseTarget {
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

impl OpenRequests {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit }
    }

    /// Returns whether the client has a request with this id.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.state.lock().client.contains_key(id)
    }

    /// Registers a request that is about to be passed on to one server.
    pub(super) fn ask(&self, id: &Id, to: RoutedRequest) -> Result<(), NotForwarded> {
        self.forward(id, |forwarded| AnsweringParty::Server(to, forwarded))
    }

    /// Registers a request that is about to be passed on to several servers.
    pub(super) fn listen(&self, id: &Id, servers: BTreeSet<usize>) -> Result<(), NotForwarded> {
        self.forward(id, |forwarded| AnsweringParty::Listening(servers, forwarded))
    }

    /// Registers a request that is passed on. A cancelled request that was never answered makes room.
    fn forward(&self, id: &Id, party: impl FnOnce(ForwardedRequest) -> AnsweringParty) -> Result<(), NotForwarded> {
        let mut state = self.state.lock();
        if state.client.contains_key(id) {
            return Err(NotForwarded::InUse);
        }
        let forwarded = || state.client.iter().filter_map(|(id, party)| Some((id, party.forwarded()?)));
        if forwarded().count() >= self.limit {
            let cancelled = forwarded().filter(|(_, forwarded)| forwarded.is_cancelled);
            let oldest = cancelled.min_by_key(|(_, forwarded)| forwarded.number).map(|(id, _)| id.clone());
            let oldest = state.client.remove(&oldest.ok_or(NotForwarded::Full)?);
            state.forgetful.extend(oldest.iter().flat_map(AnsweringParty::servers));
        }
        state.forwarded += 1;
        let forwarded = ForwardedRequest { number: state.forwarded, is_cancelled: false };
        state.client.insert(id.clone(), party(forwarded));
        Ok(())
    }

    /// Answers a request in a task, which is started with the table locked, so that it is registered before it can end.
    pub(super) fn ask_task(&self, id: Id, of: Option<RoutedRequest>, spawn: impl FnOnce() -> AbortHandle) {
        let mut state = self.state.lock();
        let task = spawn();
        state.client.insert(id, AnsweringParty::Task(task, of));
    }

    /// Removes a request whose task has the answer. Returns whether the client still waits for it.
    pub(super) fn take_task(&self, id: &Id) -> bool {
        let mut state = self.state.lock();
        let is_task = matches!(state.client.get(id), Some(AnsweringParty::Task(..)));
        is_task && state.client.remove(id).is_some()
    }

    /// Removes a request that was not sent.
    pub(super) fn unasked(&self, id: &Id) {
        self.state.lock().client.remove(id);
    }

    /// Accepts a server's response to a client request.
    pub(super) fn answered(&self, id: &Id, by: usize) -> ResponseTarget {
        let mut state = self.state.lock();
        let is_forgetful = state.forgetful.contains(&by);
        match state.client.get_mut(id) {
            Some(AnsweringParty::Server(to, _)) if to.server == by => {
                let is_handshake = to.is_handshake;
                state.client.remove(id);
                ResponseTarget::Client { is_handshake }
            }
            Some(AnsweringParty::Listening(servers, forwarded)) if servers.contains(&by) => {
                servers.remove(&by);
                let to = match (forwarded.is_cancelled, servers.is_empty()) {
                    (true, _) => ResponseTarget::Late,
                    (false, true) => ResponseTarget::Client { is_handshake: false },
                    (false, false) => ResponseTarget::OneOfSeveral,
                };
                if servers.is_empty() {
                    state.client.remove(id);
                }
                to
            }
            _ if is_forgetful => ResponseTarget::Forgotten,
            _ => ResponseTarget::Nothing,
        }
    }

    /// Cancels a request for which the client no longer waits.
    pub(super) fn cancel(&self, id: &Id) -> CancelledRequest {
        let mut state = self.state.lock();
        match state.client.get_mut(id) {
            None => CancelledRequest::Nothing,
            Some(AnsweringParty::Task(task, _)) => {
                task.abort();
                state.client.remove(id);
                CancelledRequest::Task
            }
            Some(AnsweringParty::Server(to, forwarded)) => {
                forwarded.is_cancelled = true;
                CancelledRequest::At(vec![to.server])
            }
            Some(AnsweringParty::Listening(servers, forwarded)) => {
                forwarded.is_cancelled = true;
                CancelledRequest::At(servers.iter().copied().collect())
            }
        }
    }

    /// Returns whether a server has a request whose progress has this token.
    pub(super) fn has_token(&self, token: &Id, server: usize) -> bool {
        let has = |party: &AnsweringParty| match party {
            AnsweringParty::Server(to, _) | AnsweringParty::Task(_, Some(to)) => {
                to.server == server && to.token.as_ref() == Some(token)
            }
            _ => false,
        };
        self.state.lock().client.values().any(has)
    }

    /// Returns whether the client listens to a server through the request with this id.
    pub(super) fn listens(&self, id: &Id, to: usize) -> bool {
        let state = self.state.lock();
        matches!(state.client.get(id), Some(AnsweringParty::Listening(servers, forwarded)) if !forwarded.is_cancelled && servers.contains(&to))
    }

    /// Returns whether nobody waits for a request that was passed on to a server.
    pub(crate) fn is_idle(&self, server: usize) -> bool {
        let waits = |party: &AnsweringParty| {
            party.forwarded().is_some_and(|forwarded| !forwarded.is_cancelled)
                && party.servers().any(|own| own == server)
        };
        !self.state.lock().client.values().any(waits)
    }

    /// Registers a server's request that is about to be passed on under this number. A cancelled, unanswered one makes room.
    pub(super) fn ask_client(&self, number: u64, asked: ServerRequest) -> Result<(), NotForwarded> {
        let mut state = self.state.lock();
        let own = || state.servers.iter().filter(|(_, other)| other.server == asked.server);
        if own().any(|(_, other)| other.id == asked.id) {
            return Err(NotForwarded::InUse);
        }
        if own().count() >= self.limit {
            // They are in the order in which they were sent.
            let oldest = own().find(|(_, other)| other.is_cancelled).map(|(number, _)| *number);
            state.servers.remove(&oldest.ok_or(NotForwarded::Full)?);
        }
        state.servers.insert(number, asked);
        Ok(())
    }

    /// Accepts the client's answer to a request.
    pub(super) fn answered_by_client(&self, number: u64) -> Option<ServerRequest> {
        self.state.lock().servers.remove(&number)
    }

    /// Returns a server's request that the client has not answered.
    pub(super) fn asked(&self, number: u64) -> Option<ServerRequest> {
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
        for (id, party) in &mut state.client {
            match party {
                AnsweringParty::Server(to, forwarded) if to.server == server => over.push((*forwarded, id.clone())),
                AnsweringParty::Listening(servers, forwarded) => {
                    let was_last = servers.remove(&server) && servers.is_empty();
                    over.extend(was_last.then(|| (*forwarded, id.clone())));
                }
                _ => {}
            }
        }
        over.sort_by_key(|(forwarded, _)| forwarded.number);
        over.iter().for_each(|(_, id)| drop(state.client.remove(id)));
        over.into_iter().filter(|(forwarded, _)| !forwarded.is_cancelled).map(|(_, id)| id).collect()
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

impl AnsweringParty {
    /// Returns how the request was passed on; `None` if a task answers it.
    fn forwarded(&self) -> Option<ForwardedRequest> {
        match self {
            Self::Task(..) => None,
            Self::Server(_, forwarded) | Self::Listening(_, forwarded) => Some(*forwarded),
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
    use super::{CancelledRequest, NotForwarded, OpenRequests, ResponseTarget, RoutedRequest, ServerRequest};
    use omen_mcp::Id;

    fn to(server: usize, is_handshake: bool) -> RoutedRequest {
        RoutedRequest { server, token: None, is_handshake }
    }

    const OTHER: ResponseTarget = ResponseTarget::Client { is_handshake: false };

    #[test]
    fn an_id_is_in_use_until_it_is_answered_once() {
        let open = OpenRequests::new(10);
        let id = Id::Number(1);
        assert_eq!(open.ask(&id, to(0, true)), Ok(()));
        assert_eq!(open.ask(&id, to(1, false)), Err(NotForwarded::InUse));
        assert_eq!(open.cancel(&id), CancelledRequest::At(vec![0]));
        assert_eq!(open.ask(&id, to(0, false)), Err(NotForwarded::InUse), "its answer may still come");
        assert_eq!(open.answered(&id, 1), ResponseTarget::Nothing, "another server cannot answer it");
        assert_eq!(open.answered(&id, 0), ResponseTarget::Client { is_handshake: true });
        assert_eq!(open.answered(&id, 0), ResponseTarget::Nothing);
    }

    #[test]
    fn what_is_open_is_bounded_and_only_what_was_cancelled_is_forgotten() {
        let open = OpenRequests::new(2);
        for id in [1, 2] {
            assert_eq!(open.ask(&Id::Number(id), to(0, false)), Ok(()));
        }
        assert_eq!(open.ask(&Id::Number(3), to(0, false)), Err(NotForwarded::Full));
        open.cancel(&Id::Number(2));
        assert_eq!(open.ask(&Id::Number(3), to(0, false)), Ok(()));
        assert_eq!(
            (open.answered(&Id::Number(2), 0), open.answered(&Id::Number(2), 1)),
            (ResponseTarget::Forgotten, ResponseTarget::Nothing)
        );
        assert_eq!(open.unanswered(0), [Id::Number(1), Id::Number(3)]);
        assert!(open.is_idle(0));
    }

    #[test]
    fn who_listens_gets_the_last_answer() {
        let open = OpenRequests::new(2);
        let id = Id::Number(1);
        assert_eq!(open.listen(&id, [0, 1].into()), Ok(()));
        assert!(open.listens(&id, 1) && !open.is_idle(1));
        assert_eq!(
            (open.answered(&id, 0), open.answered(&id, 0)),
            (ResponseTarget::OneOfSeveral, ResponseTarget::Nothing)
        );
        assert_eq!((open.answered(&id, 1), open.has(&id)), (OTHER, false));
    }

    #[test]
    fn requests_of_servers_are_bounded_and_kept_apart() {
        let open = OpenRequests::new(1);
        let asked = |server, id| {
            let (id, raw_id) = (Id::Number(id), id.to_string());
            ServerRequest { server, id, raw_id, raw_token: None, is_cancelled: false }
        };
        assert_eq!(open.ask_client(1, asked(0, 7)), Ok(()));
        assert_eq!(open.ask_client(2, asked(1, 7)), Ok(()));
        assert_eq!(open.ask_client(3, asked(0, 7)), Err(NotForwarded::InUse));
        assert_eq!(open.ask_client(3, asked(0, 8)), Err(NotForwarded::Full));
        assert_eq!(
            (open.cancelled_by_server(0, &Id::Number(7)), open.number_of(1, &Id::Number(7))),
            (Some(1), Some(2))
        );
        assert_eq!(open.ask_client(3, asked(0, 8)), Ok(()), "a cancelled one makes room");
        assert!(open.answered_by_client(1).is_none());
        assert_eq!((open.unanswered_by_client(1), open.unanswered_by_client(0)), (vec![2], vec![3]));
    }
}
