//! Claims: one writer for each episode (D21).
//!
//! A validator rejects a log in which two episodes share an id. So an episode claims its correlation id when it starts,
//! and a resumed episode takes over the claim: from then on, the earlier handle can no longer write.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::CorrelationId;

use super::lease::Leases;

/// Correlation ids in use, each with the episode that writes its log. Clones share one record.
///
/// A process has one record ([`Claims::process`]), which every [`Setup`](super::Setup) uses by default. An episode that
/// runs on a copy of a log, as in tests or simulations, needs separate claims. Each id takes about 40 bytes for the
/// lifetime of the claims.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<BTreeMap<Fingerprint, Weak<Leases>>>>);

static PROCESS: LazyLock<Claims> = LazyLock::new(Claims::default);

impl Claims {
    /// Creates an empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the record of this process.
    #[must_use]
    pub fn process() -> Self {
        PROCESS.clone()
    }

    /// Claims an unused id.
    pub(crate) fn begin(&self, id: &CorrelationId, leases: &Arc<Leases>) -> Result<(), StartError> {
        match self.lock().entry(key(id)) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(Arc::downgrade(leases));
                Ok(())
            }
            std::collections::btree_map::Entry::Occupied(_) => Err(StartError::Begun(id.clone())),
        }
    }

    /// Claims an id, taking it over from its current holder.
    pub(crate) fn take_over(&self, id: &CorrelationId, leases: &Arc<Leases>) {
        let before = self.lock().insert(key(id), Arc::downgrade(leases));
        // Called without the lock on the claims, because a move of the other episode may take long.
        if let Some(before) = before.and_then(|before| before.upgrade()) {
            before.supersede();
        }
    }

    /// Records that an episode will not write any more. If it never wrote, its id becomes unused.
    pub(crate) fn end(&self, id: &CorrelationId, leases: &Arc<Leases>, wrote: bool) {
        let mut claims = self.lock();
        let is_own = claims.get(&key(id)).is_some_and(|own| Weak::ptr_eq(own, &Arc::downgrade(leases)));
        if is_own && wrote {
            claims.insert(key(id), Weak::new());
        } else if is_own {
            claims.remove(&key(id));
        }
    }

    /// Ignores poisoning: every change is a single operation, so a panic leaves the map consistent.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fingerprint, Weak<Leases>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(id: &CorrelationId) -> Fingerprint {
    Fingerprint::new(Kind::Packet, id.as_str())
}

/// Reason why an episode cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// An episode with this correlation id was started earlier in this process (see [`Claims`]).
    Begun(CorrelationId),
    /// The log already holds packets of an episode with this correlation id.
    InLog(CorrelationId),
    /// The correlation id or the campaign id is too long for a packet header.
    LongId {
        /// Length in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun(id) => write!(
                f,
                "`{id}` has already begun in this process; resume it from its log with `AnyEpisode::resume`, or start \
                 an episode with another correlation id"
            ),
            Self::InLog(id) => write!(
                f,
                "the log already holds packets of `{id}`; resume it with `AnyEpisode::resume`, or start an episode \
                 with another correlation id"
            ),
            Self::LongId { bytes, limit } => {
                write!(f, "the correlation id or campaign id exceeds {limit} bytes ({bytes} bytes); use a shorter id")
            }
        }
    }
}

impl std::error::Error for StartError {}
