//! Queue of audit entries, with the data shared by all entries about calls.

use std::sync::{Arc, PoisonError, RwLock};

use omen_audit::{Audit, AuditError, Kind, Record};
use omen_types::{CorrelationId, PacketId};
use serde_json::{Map, Value, json};

use crate::base::{Blocked, GateCode, TurnId};
use crate::config::PolicyHash;

/// Episode and packet that an entry refers to. A rejected packet has no id.
#[derive(Debug)]
pub(crate) struct EpisodePacket {
    pub(crate) packet_id: Option<PacketId>,
    pub(crate) correlation_id: CorrelationId,
}

/// Audit log of a gate, for code that must not block on disk writes. An outcome never precedes its intent, even if
/// nobody waited for the intent.
#[derive(Clone, Debug)]
pub(crate) struct AuditQueue {
    audit: Audit,
    /// Data on the rules in force, which is repeated in each entry about a call.
    stamp: Arc<RwLock<Map<String, Value>>>,
}

impl AuditQueue {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { audit, stamp: Arc::default() }
    }

    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Sets the data on the rules for all further entries.
    pub(crate) fn set_stamp(&self, stamp: Map<String, Value>) {
        *self.stamp.write().unwrap_or_else(PoisonError::into_inner) = stamp;
    }

    /// Creates the record of an entry, with the data shared by all entries about calls.
    pub(crate) fn record<'r>(
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

    /// Records an entry and returns its number. The entry is in the log when this returns.
    pub(crate) async fn append(
        &self,
        kind: Kind,
        turn: &TurnId,
        packet: Option<&Arc<EpisodePacket>>,
        data: Map<String, Value>,
    ) -> Result<u64, Blocked> {
        let recorded = self.audit.record(self.record(kind, turn, packet, data)).await;
        recorded.map(|receipt| receipt.sequence).map_err(Blocked::from)
    }

    /// Queues an entry for which nobody waits.
    pub(crate) fn append_later(&self, kind: Kind, turn: &TurnId, data: Map<String, Value>) {
        self.audit.record_later(self.record(kind, turn, None, data));
    }
}

impl From<AuditError> for Blocked {
    fn from(error: AuditError) -> Self {
        Blocked::new(GateCode::A1, error.to_string(), error.help())
    }
}

/// Returns the members of an object as the data of an entry.
pub(crate) fn data(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// Returns the data on the rules in force, for entries about calls (A2): the gate's version, hashes of the protocol's schema and of the policy, and whether the policy is in shadow mode.
pub(crate) fn stamp(policy: PolicyHash, shadow: bool) -> Map<String, Value> {
    let mut stamp = data(json!({
        "gate": env!("CARGO_PKG_VERSION"),
        "policy": policy,
        "schema": env!("OMEN_SCHEMA_SHA256"),
    }));
    if shadow {
        stamp.insert("shadow".to_owned(), true.into());
    }
    stamp
}
