//! The way into the audit log.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::audit::{Audit, Kind, Record};
use crate::turns::Origin;
use crate::{Blocked, Code, TurnId};

/// The audit log, for code that must not wait for the disk.
#[derive(Clone, Debug)]
pub(crate) struct Journal(Audit);

impl Journal {
    pub(crate) fn new(audit: Audit) -> Self {
        Self(audit)
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.0
    }

    /// Records something. It is in the log when this returns.
    pub(crate) async fn append(
        &self,
        kind: Kind,
        turn: &TurnId,
        origin: Option<&Arc<Origin>>,
        data: Map<String, Value>,
    ) -> Result<(), Blocked> {
        let (audit, turn, origin) = (self.0.clone(), turn.clone(), origin.cloned());
        let written = spawn_blocking(move || append(&audit, kind, &turn, origin.as_deref(), data)).await;
        written.unwrap_or_else(|_| {
            let help = "open the log again, and look at what it says";
            Err(Blocked::new(Code::A1, "recording was broken off, so whether it is recorded is not known", help))
        })
    }

    /// Records something as soon as may be. That it fails is known to the log itself, which is closed then.
    pub(crate) fn append_later(&self, kind: Kind, turn: TurnId, origin: Option<Arc<Origin>>, data: Map<String, Value>) {
        let audit = self.0.clone();
        let write = move || drop(append(&audit, kind, &turn, origin.as_deref(), data));
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(write)),
            Err(_) => write(),
        }
    }
}

fn append(
    audit: &Audit,
    kind: Kind,
    turn: &TurnId,
    origin: Option<&Origin>,
    data: Map<String, Value>,
) -> Result<(), Blocked> {
    let record = Record::new(kind, turn, data);
    let record = match origin {
        Some(origin) => record.of(&origin.packet_id, &origin.correlation_id),
        None => record,
    };
    let _ = audit.append(record)?;
    Ok(())
}
