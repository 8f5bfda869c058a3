//! What of a configuration a reload replaces.

use std::sync::{Arc, PoisonError, RwLock};

use crate::catalog::Allowlist;
use crate::config::{Config, Limits, Policy, PolicyHash};
use crate::grant::ConfirmLimits;

/// The part of a configuration that each step reads when it is taken, so that a reload counts from the next step on.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) allow: Arc<Allowlist>,
    pub(crate) confirm: ConfirmLimits,
    /// Whether rules on what a call says are tried, and not enforced.
    pub(crate) shadow: bool,
    pub(crate) hash: PolicyHash,
}

impl Rules {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            policy: Arc::new(config.policy.clone()),
            limits: Arc::new(config.limits.clone()),
            allow: Arc::new(config.allow.clone()),
            confirm: config.confirm,
            shadow: config.shadow,
            hash: config.hash(),
        }
    }
}

/// The rules in force.
#[derive(Debug)]
pub(crate) struct InForce(RwLock<Rules>);

impl InForce {
    pub(crate) fn new(rules: Rules) -> Self {
        Self(RwLock::new(rules))
    }

    /// One of the rules at this moment.
    pub(crate) fn with<T>(&self, part: impl FnOnce(&Rules) -> T) -> T {
        // They are replaced by a single assignment, so a panic leaves the old ones or the new ones.
        part(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }
}
