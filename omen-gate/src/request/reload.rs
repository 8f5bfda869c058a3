//! Another configuration for a gate that runs: whole, or not at all.

use std::path::Path;

use serde_json::{Value, json};

use crate::base::{Blocked, TurnId};
use crate::config::{Config, ConfigErrors, PolicyHash};
use crate::grant::{GrantId, Replacement, Reserved};
use crate::request::audit_queue::data;
use crate::request::builder::GRANTS_AN_ENTRY;
use crate::request::gate::Gate;
use crate::request::rules::Rules;
use crate::request::stamp::stamp;
use omen_audit::Kind;

/// What a reload has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// The policy in force until then.
    pub before: PolicyHash,
    /// The policy in force now. If it is the same, nothing was done.
    pub policy: PolicyHash,
    /// The grants that the configuration has now and did not have before.
    pub given: Vec<GrantId>,
    /// The grants that it does not have any more.
    pub revoked: Vec<GrantId>,
}

/// Why the configuration before is still in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The file is not a configuration.
    #[error("C1: {0}")]
    Invalid(ConfigErrors),
    /// The configuration asks for something that takes a restart, its grants are too many, or the change cannot be
    /// recorded.
    #[error(transparent)]
    Refused(#[from] Blocked),
}

impl Gate {
    /// Puts another configuration in force while the gate runs: patterns, limits, the allowlist, the default grants, and
    /// the times of confirmations. The audit log has an entry with the hashes of the old and the new policy before the
    /// new one is in force.
    ///
    /// Every step asks the policy of its own moment, and a call that was authorized before is checked again as it is
    /// dispatched: its query against the patterns (PG-0), its tool against the allowlist (PG-3), its grants (G2). A call
    /// that runs already goes on; if one of its grants is gone, it is broken off as by a revocation (G2).
    ///
    /// Of the default grants, those that both configurations have stay as they are, with the uses that are left, and
    /// revoked if they were; the others of the old one are revoked, and the others of the new one given. Grants that were
    /// given while the gate ran stay, and so do turns with their failures, and breakers. Looser limits on what is read
    /// from a server count from its next start.
    ///
    /// # Errors
    /// Then the old configuration is in force, and the log says why: if servers, the log, breakers, the failure budget or
    /// the socket differ, or plans may be longer, which takes a restart (C1); if there are too many grants (G1); or if it
    /// cannot be recorded (A1).
    pub async fn reload(&self, config: Config) -> Result<Reloaded, Blocked> {
        // One after the other.
        let _reloading = self.0.reloading.lock().await;
        let before = self.0.rules.with(|rules| rules.hash);
        let policy = config.hash();
        if policy == before {
            return Ok(Reloaded { before, policy, given: Vec::new(), revoked: Vec::new() });
        }
        let grants = self.0.fixed.same(&config).and_then(|()| self.grants().replace(&config.grants));
        let grants = match grants {
            Ok(grants) => grants,
            Err(why) => return Err(self.not_reloaded(Some(policy), &why).await),
        };
        self.record_grants(&grants).await?;
        let entry = json!({ "before": before, "outcome": "loaded", "policy": policy });
        self.note(Kind::Policy, entry).await?;

        // From here on nothing can fail, and nothing waits. What is taken away goes first.
        let rules = Rules::of(&config);
        let stamp = stamp(policy, config.shadow || self.0.keeps_shadow);
        let revoked = grants.revoke();
        self.0.discoveries.set_limits(&config.limits);
        self.0.rules.replace(rules);
        self.audit_queue().set_stamp(stamp);
        let given = grants.give();
        Ok(Reloaded { before, policy, given, revoked })
    }

    /// Reads a configuration from a file and puts it in force, as [`reload`](Self::reload) does.
    ///
    /// # Errors
    /// As `reload`, and if the file is not a configuration. Then, too, the old one is in force, and the log says why.
    pub async fn reload_file(&self, path: &Path) -> Result<Reloaded, ReloadError> {
        match Config::load(path) {
            Ok(config) => Ok(self.reload(config).await?),
            Err(errors) => {
                // That it cannot be recorded changes nothing: the old one is in force in any case.
                let _ = self.not_reloaded(None, &Blocked::from(errors.clone())).await;
                Err(ReloadError::Invalid(errors))
            }
        }
    }

    /// Identifies the policy that is in force now.
    #[must_use]
    pub fn policy_hash(&self) -> PolicyHash {
        self.0.rules.with(|rules| rules.hash)
    }

    /// Records that the old configuration is still in force, and why.
    async fn not_reloaded(&self, policy: Option<PolicyHash>, why: &Blocked) -> Blocked {
        let before = self.policy_hash();
        let mut entry =
            json!({ "before": before, "code": why.code.as_str(), "outcome": "refused", "why": why.message });
        if let (Some(policy), Some(entry)) = (policy, entry.as_object_mut()) {
            entry.insert("policy".to_owned(), json!(policy));
        }
        self.note(Kind::Policy, entry).await.err().unwrap_or_else(|| why.clone())
    }

    /// Records what is given and revoked, in entries that are not too long (G4).
    async fn record_grants(&self, grants: &Replacement) -> Result<(), Blocked> {
        for some in grants.added().chunks(GRANTS_AN_ENTRY) {
            let given: Vec<_> = some.iter().map(Reserved::given).collect();
            self.note(Kind::Grant, json!({ "grants": given })).await?;
        }
        for some in grants.removed().chunks(GRANTS_AN_ENTRY) {
            self.note(Kind::Revocation, json!({ "grants": some, "why": "the configuration no longer has them" }))
                .await?;
        }
        Ok(())
    }

    /// An entry of the gate's own.
    async fn note(&self, kind: Kind, entry: Value) -> Result<(), Blocked> {
        self.audit_queue().append(kind, &TurnId::start(), None, data(entry)).await
    }
}
