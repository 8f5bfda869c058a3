//! Atomic replacement of a running gate's configuration.

use std::path::Path;

use serde_json::{Value, json};

use crate::base::{Blocked, TurnId};
use crate::config::{Config, ConfigErrors, PolicyHash};
use crate::grant::{GrantId, Replacement, ReservedGrant};
use crate::request::audit_queue::{data, stamp};
use crate::request::builder::GRANTS_AN_ENTRY;
use crate::request::gate::Gate;
use crate::request::rules::Rules;
use omen_audit::Kind;

/// Outcome of a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Policy before the reload.
    pub before: PolicyHash,
    /// Policy in force now. If it is unchanged, nothing was done.
    pub policy: PolicyHash,
    /// Default grants that only the new configuration has.
    pub given: Vec<GrantId>,
    /// Default grants that only the old configuration had.
    pub revoked: Vec<GrantId>,
}

/// Error of a reload; the old configuration stays in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// The file is not a valid configuration.
    #[error("C1: {0}")]
    Invalid(ConfigErrors),
    /// The configuration changes a setting that requires a restart, it has too many grants, or the change cannot be recorded.
    #[error(transparent)]
    Refused(#[from] Blocked),
}

impl Gate {
    /// Replaces the configuration of a running gate: patterns, limits, the allowlist, the default grants, and the time limits
    /// for confirmations. The hashes of the old and the new policy are in the audit log before the new one takes effect.
    ///
    /// Every step uses the policy in force at its time, and dispatch checks an authorized call again: its query against
    /// the patterns (PG-0), its tool against the allowlist (PG-3), and its grants (G2). A running call continues unless
    /// one of its grants is gone, in which case it is cancelled as by a revocation (G2).
    ///
    /// Default grants in both configurations keep their remaining uses, and revoked ones stay revoked; those only in
    /// the old configuration are revoked, and those only in the new one are granted. Grants given at run time stay, as
    /// do breakers and turns with their failures. Looser limits on data read from a server apply from its next start.
    ///
    /// # Errors
    /// The old configuration stays in force, and the log says why: C1 if servers, the log, breakers, the failure budget
    /// or the socket differ, or plans may be longer, which requires a restart; G1 if there are too many grants; A1 if
    /// the change cannot be recorded.
    pub async fn reload(&self, config: Config) -> Result<Reloaded, Blocked> {
        // Reloads run one after another.
        let _reloading = self.0.reloading.lock().await;
        let before = self.0.rules.with(|rules| rules.hash);
        let policy = config.hash();
        if policy == before {
            return Ok(Reloaded { before, policy, given: Vec::new(), revoked: Vec::new() });
        }
        let grants = self.0.fixed.check_unchanged(&config).and_then(|()| self.grants().replace(&config.grants));
        let grants = match grants {
            Ok(grants) => grants,
            Err(why) => return Err(self.not_reloaded(Some(policy), &why).await),
        };
        self.record_grants(&grants).await?;
        let entry = json!({ "before": before, "outcome": "loaded", "policy": policy });
        self.note(Kind::Policy, entry).await?;
        let order = self.order().prepare(&config).await;

        // From here on nothing can fail or wait. Revocations come first.
        let rules = Rules::from_config(&config);
        let stamp = stamp(policy, config.shadow || self.0.keeps_shadow);
        let revoked = grants.revoke();
        self.0.discoveries.set_limits(&config.limits);
        self.0.rules.replace(rules);
        self.audit_queue().set_stamp(stamp);
        self.order().reload(order, self.is_shadow());
        let given = grants.give();
        if let Some(rules) = self.order().rules_entry() {
            let entry = data(json!({ "order": rules, "outcome": "order" }));
            self.audit_queue().append_later(Kind::Policy, &TurnId::start(), entry);
        }
        Ok(Reloaded { before, policy, given, revoked })
    }

    /// Reloads the configuration from a file, as [`reload`](Self::reload) does.
    ///
    /// # Errors
    /// As for `reload`, and if the file is not a valid configuration. In both cases the old configuration stays in
    /// force, and the log says why.
    pub async fn reload_file(&self, path: &Path) -> Result<Reloaded, ReloadError> {
        match Config::load(path) {
            Ok(config) => Ok(self.reload(config).await?),
            Err(errors) => {
                // Whether or not this can be recorded, the old configuration stays in force.
                let _ = self.not_reloaded(None, &Blocked::from(errors.clone())).await;
                Err(ReloadError::Invalid(errors))
            }
        }
    }

    /// Returns the hash of the policy in force now.
    #[must_use]
    pub fn policy_hash(&self) -> PolicyHash {
        self.0.rules.with(|rules| rules.hash)
    }

    /// Records that the old configuration stays in force and why.
    async fn not_reloaded(&self, policy: Option<PolicyHash>, why: &Blocked) -> Blocked {
        let before = self.policy_hash();
        let mut entry =
            json!({ "before": before, "code": why.code.as_str(), "outcome": "refused", "why": why.message });
        if let (Some(policy), Some(entry)) = (policy, entry.as_object_mut()) {
            entry.insert("policy".to_owned(), json!(policy));
        }
        self.note(Kind::Policy, entry).await.err().unwrap_or_else(|| why.clone())
    }

    /// Records granted and revoked grants, in entries within the size limit (G4).
    async fn record_grants(&self, grants: &Replacement) -> Result<(), Blocked> {
        for some in grants.added.chunks(GRANTS_AN_ENTRY) {
            let given: Vec<_> = some.iter().map(ReservedGrant::given).collect();
            self.note(Kind::Grant, json!({ "grants": given })).await?;
        }
        for some in grants.removed.chunks(GRANTS_AN_ENTRY) {
            self.note(Kind::Revocation, json!({ "grants": some, "why": "the configuration no longer has them" }))
                .await?;
        }
        Ok(())
    }

    /// Records an entry in the gate's own turn.
    async fn note(&self, kind: Kind, entry: Value) -> Result<(), Blocked> {
        self.audit_queue().append(kind, &TurnId::start(), None, data(entry)).await.map(drop)
    }
}
