//! Settings that a reload replaces.

use std::sync::{Arc, PoisonError, RwLock};

use crate::catalog::Allowlist;
use crate::config::{Config, Limits, Policy, PolicyHash};
use crate::grant::ConfirmLimits;

/// Part of a configuration that each step reads when it runs, so a reload applies from the next step on.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) allow: Arc<Allowlist>,
    pub(crate) confirm: ConfirmLimits,
    /// Order rules as configured.
    pub(crate) order: Arc<omen_order::Policy>,
    /// Whether shadow mode is on: violations of the rules on content and order are recorded but not enforced.
    pub(crate) shadow: bool,
    pub(crate) hash: PolicyHash,
}

impl Rules {
    pub(crate) fn from_config(config: &Config) -> Self {
        Self {
            policy: Arc::new(config.policy.clone()),
            limits: Arc::new(config.limits.clone()),
            allow: Arc::new(config.allow.clone()),
            confirm: config.confirm,
            order: Arc::clone(&config.order),
            shadow: config.shadow,
            hash: config.hash(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct RulesInForce(RwLock<Rules>);

impl RulesInForce {
    pub(crate) fn new(rules: Rules) -> Self {
        Self(RwLock::new(rules))
    }

    /// Reads the rules in force.
    pub(crate) fn with<T>(&self, part: impl FnOnce(&Rules) -> T) -> T {
        // The rules are replaced by a single assignment, so a panic leaves either the old or the new ones.
        part(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }
}
