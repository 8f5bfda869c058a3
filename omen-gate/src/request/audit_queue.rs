//! What the gate records, with what every entry about a call says.

use std::sync::{Arc, PoisonError, RwLock};

use omen_audit::{Audit, AuditError, Kind, Record};
use omen_types::{CorrelationId, PacketId};
use serde_json::{Map, Value};

use crate::base::{Blocked, GateCode, TurnId};

/// The episode that an entry is about, and the packet of it that asks for something. A packet that was refused has no id.
#[derive(Debug)]
pub(crate) struct EpisodePacket {
    pub(crate) packet_id: Option<PacketId>,
    pub(crate) correlation_id: CorrelationId,
}

/// The audit log of a gate, for code that must not wait for the disk. An outcome never stands before its intent, also if nobody has
/// waited for the intent.
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

    fn record<'r>(
        &self,
        kind: Kind,
        turn: &'r TurnId,
        packet: Option<&'r Arc<EpisodePacket>>,
        mut data: Map<String, Value>,
    ) -> Record<'r> {
        if matches!(kind, Kind::Decision | Kind::Confirmation | Kind::Intent) {
            let stamp = self.stamp.read().unwrap_or_else(PoisonError::into_inner);
            data.extend(stamp.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        let record = Record::new(kind, turn, data);
        match packet.map(Arc::as_ref) {
            Some(EpisodePacket { packet_id, correlation_id }) => {
                Record { packet_id: packet_id.as_ref(), correlation_id: Some(correlation_id), ..record }
            }
            None => record,
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
        let recorded = self.audit.record(self.record(kind, turn, packet, data)).await;
        recorded.map(drop).map_err(Blocked::from)
    }

    /// Records something as soon as may be: what comes of a call whose intent is recorded.
    pub(crate) fn append_later(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) {
        self.audit.record_later(self.record(kind, turn, packet, data));
    }
}

impl From<AuditError> for Blocked {
    fn from(error: AuditError) -> Self {
        Blocked::new(GateCode::A1, error.to_string(), error.help())
    }
}

/// The data of an entry: the members of an object.
pub(crate) fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
