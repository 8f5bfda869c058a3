//! The confirmer of a gate whose questions are answered at a socket.

use std::fmt;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use async_trait::async_trait;
use omen_gate::Confirmer;
use omen_gate::confirm::{Question, Reply};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::place::{self, Place, SocketError};
use super::service;

/// Offers the questions of a gate at a Unix socket. When it is dropped, the socket is gone, and what waits is withdrawn.
///
/// A question waits until it is answered, or until the gate waits no longer: somebody may come to answer it.
pub struct SocketConfirmer {
    desk: Desk,
    service: JoinHandle<()>,
    place: Place,
    announce: Option<Announce>,
}

/// Takes each question as it begins to wait.
type Announce = Box<dyn Fn(&Question) + Send + Sync>;

impl fmt::Debug for SocketConfirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SocketConfirmer").field("desk", &self.desk).field("place", &self.place).finish_non_exhaustive()
    }
}

impl SocketConfirmer {
    /// Makes the socket, and the folder for it if there is none. The socket that a dead process left is replaced. Must be
    /// called within a runtime of tokio, with its timer and its driver of input and output.
    ///
    /// # Errors
    /// If a live gate has the socket, other users have rights on its folder, or it cannot be made.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let place = Place::take(path)?;
        let unusable = |source| SocketError::Io { path: path.to_owned(), source };
        // The rights of the folder keep others away from it in any case.
        let listener = place::at(path, |address| {
            let listener = UnixListener::bind(address)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            Ok(listener)
        })
        .map_err(unusable)?;
        let desk = Desk::new();
        let service = tokio::spawn(service::serve(listener, desk.clone()));
        Ok(Self { desk, service, place, announce: None })
    }

    /// Calls this with each question as it begins to wait, for example to tell the operator: nobody may be looking at the
    /// socket.
    #[must_use]
    pub fn announce(mut self, announce: impl Fn(&Question) + Send + Sync + 'static) -> Self {
        self.announce = Some(Box::new(announce));
        self
    }

    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Drop for SocketConfirmer {
    fn drop(&mut self) {
        self.service.abort();
    }
}

#[async_trait]
impl Confirmer for SocketConfirmer {
    async fn confirm(&self, question: &Question) -> Reply {
        self.announce.iter().for_each(|announce| announce(question));
        self.desk.ask(question).await
    }
}
