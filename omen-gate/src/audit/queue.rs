//! The way into the audit log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omen_types::{CorrelationId, PacketId};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::audit::entry::{Kind, Record};
use crate::audit::log::Audit;
use crate::base::{Blocked, GateCode, TurnId};

/// The packet of an episode that an entry is about.
#[derive(Debug)]
pub(crate) struct EpisodePacket {
    pub(crate) packet_id: PacketId,
    pub(crate) correlation_id: CorrelationId,
}

/// The audit log, for code that must not wait for the disk. Entries are written in the order in which they were asked
/// for, so that an outcome never stands before its intent, also if nobody has waited for the intent.
#[derive(Clone, Debug)]
pub(crate) struct AuditQueue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    audit: Audit,
    queue: Mutex<Queue>,
    /// Held while an entry is written.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Queue {
    last: u64,
    due: VecDeque<Due>,
}

/// An entry that is to be written.
#[derive(Debug)]
struct Due {
    number: u64,
    kind: Kind,
    turn: TurnId,
    packet: Option<Arc<EpisodePacket>>,
    data: Map<String, Value>,
    told: oneshot::Sender<Result<(), Blocked>>,
}

impl AuditQueue {
    pub(crate) fn new(audit: Audit) -> Self {
        Self(Arc::new(Shared { audit, queue: Mutex::default(), writing: Mutex::default() }))
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.0.audit
    }

    /// Records something. It is in the log when this returns.
    pub(crate) async fn append(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) -> Result<(), Blocked> {
        let (number, written) = self.0.queue(kind, turn.clone(), packet.cloned(), data);
        let shared = Arc::clone(&self.0);
        match Handle::try_current() {
            // `written` reports an interruption, too.
            Ok(runtime) => drop(runtime.spawn_blocking(move || shared.write(number)).await),
            // Without a runtime no tool runs; that it does not is recorded all the same.
            Err(_) => shared.write(number),
        }
        written.await.unwrap_or_else(|_| {
            let help = "open the log again, and check its last entries";
            Err(Blocked::new(
                GateCode::A1,
                "recording was interrupted, so it is unknown whether the entry was recorded",
                help,
            ))
        })
    }

    /// Records something as soon as may be. That it fails is known to the log itself, which is closed then.
    pub(crate) fn append_later(
        &self,
        kind: Kind,
        turn: TurnId,
        packet: Option<Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) {
        let (number, _) = self.0.queue(kind, turn, packet, data);
        let shared = Arc::clone(&self.0);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || shared.write(number))),
            Err(_) => shared.write(number),
        }
    }
}

impl Shared {
    fn queue(
        &self,
        kind: Kind,
        turn: TurnId,
        packet: Option<Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) -> (u64, oneshot::Receiver<Result<(), Blocked>>) {
        let (told, written) = oneshot::channel();
        let mut queue = lock(&self.queue);
        queue.last += 1;
        let number = queue.last;
        queue.due.push_back(Due { number, kind, turn, packet, data, told });
        (number, written)
    }

    /// Writes what is due, up to an entry. The first caller writes for all before it.
    fn write(&self, number: u64) {
        let _writing = lock(&self.writing);
        while let Some(due) = self.next(number) {
            let record = Record::new(due.kind, &due.turn, due.data);
            let record = match &due.packet {
                Some(packet) => record.of(&packet.packet_id, &packet.correlation_id),
                None => record,
            };
            // Perhaps nobody waits for it any more.
            let _ = due.told.send(self.audit.append(record).map(drop).map_err(Blocked::from));
        }
    }

    fn next(&self, number: u64) -> Option<Due> {
        lock(&self.queue).due.pop_front_if(|due| due.number <= number)
    }
}

/// A queue is whole whenever something panics; and what a log does not survive, it says itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data of an entry: the members of an object.
pub(crate) fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
