//! The way into the audit log.

use std::sync::{Arc, PoisonError, RwLock};

use omen_types::{CorrelationId, PacketId};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::audit::AuditError;
use crate::audit::entry::{Entry, Kind, Record};
use crate::audit::line::Draft;
use crate::audit::log::Audit;
use crate::audit::waiting::{Due, Duty, Waiter};
use crate::base::{Blocked, GateCode, TurnId};

/// The episode that an entry is about, and the packet of it that asks for something. A packet that was refused has no id.
#[derive(Debug)]
pub(crate) struct EpisodePacket {
    pub(crate) packet_id: Option<PacketId>,
    pub(crate) correlation_id: CorrelationId,
}

/// The audit log, for code that must not wait for the disk. Entries are written in the order in which they were asked
/// for, so that an outcome never stands before its intent, also if nobody has waited for the intent.
#[derive(Clone, Debug)]
pub(crate) struct AuditQueue {
    audit: Audit,
    /// What each entry about a call says of the rules that it was judged by.
    stamp: Arc<RwLock<Map<String, Value>>>,
}

impl AuditQueue {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { audit, stamp: Arc::default() }
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    /// From now on, entries about calls say this of the rules.
    pub(crate) fn set_stamp(&self, stamp: Map<String, Value>) {
        *self.stamp.write().unwrap_or_else(PoisonError::into_inner) = stamp;
    }

    fn entry(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        mut data: Map<String, Value>,
    ) -> Entry {
        if matches!(kind, Kind::Decision | Kind::Confirmation | Kind::Intent) {
            let stamp = self.stamp.read().unwrap_or_else(PoisonError::into_inner);
            data.extend(stamp.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let record = Record::new(kind, turn, data);
        match packet.map(Arc::as_ref) {
            Some(EpisodePacket { packet_id, correlation_id }) => {
                Record { packet_id: packet_id.as_ref(), correlation_id: Some(correlation_id), ..record }.into()
            }
            None => record.into(),
        }
    }

    /// Records something. It is in the log when this returns.
    pub(crate) async fn append(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) -> Result<(), Blocked> {
        let (waiter, recorded) = oneshot::channel();
        let due = Due { draft: Draft::new(&self.entry(kind, turn, packet, data))?, waiter: Waiter::Task(waiter) };
        // Callers that went away may have left so many; there is no room for ever more (A1).
        let Some(must_lead) = self.audit.waiting().push_below(MAX_WAITING, due) else {
            let message = format!("{MAX_WAITING} entries are waiting to be recorded");
            return Err(Blocked::new(GateCode::A1, message, "check the disk of the audit log, and try again later"));
        };
        if must_lead {
            self.lead();
        }
        let recorded = recorded.await.unwrap_or(Err(AuditError::Interrupted));
        recorded.map(drop).map_err(Blocked::from)
    }

    /// Records something as soon as may be. That it fails is known to the log itself, which is closed then. There is
    /// room for it however many wait: it is what comes of a call whose intent had room.
    pub(crate) fn append_later(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) {
        // What has no text stays unrecorded, and the call in doubt.
        let Ok(draft) = Draft::new(&self.entry(kind, turn, packet, data)) else { return };
        let (waiter, _) = oneshot::channel();
        if self.audit.waiting().push(Due { draft, waiter: Waiter::Task(waiter) }) {
            self.lead();
        }
    }

    /// Has what is due written: on a thread that may wait for the disk, if the log waits for one.
    fn lead(&self) {
        let audit = self.audit.clone();
        let waits = audit.waits();
        let duty = Duty(move || audit.lead());
        match Handle::try_current() {
            Ok(runtime) if waits => drop(runtime.spawn_blocking(move || drop(duty))),
            // Without a runtime no tool runs; that it does not is recorded all the same.
            _ => drop(duty),
        }
    }
}

/// How many entries may wait before no more are taken.
const MAX_WAITING: usize = 65_536;

/// The data of an entry: the members of an object.
pub(crate) fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
