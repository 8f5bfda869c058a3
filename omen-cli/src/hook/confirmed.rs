//! Confirmations of the calls of a hook: at the socket of `omen gate confirm`, while the agent waits for its hook.

use std::path::PathBuf;

use async_trait::async_trait;
use omen_gate::confirm::{Confirmer, Question, Reply};
use omen_proxy::confirm::SocketConfirmer;

/// Confirmer that takes the socket only once a call needs it, since a hook is a process for each event.
#[derive(Debug)]
pub(super) struct AtSocket(pub(super) PathBuf);

#[async_trait]
impl Confirmer for AtSocket {
    async fn confirm(&self, question: &Question) -> Reply {
        match SocketConfirmer::bind(&self.0) {
            Ok(socket) => socket.confirm(question).await,
            Err(error) => Reply::Denied { why: format!("nobody can confirm the call: {error}") },
        }
    }
}
