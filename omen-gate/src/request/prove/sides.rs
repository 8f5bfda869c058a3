//! Configurations as the rule sets of a proof.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_order::prove::{Admission, RuleSide};
use omen_order::rules::Premise;
use omen_types::suggest::list;

use crate::call::arguments::RulesTest;
use crate::catalog::Allowed;
use crate::config::Config;
use crate::request::order::named;

/// Returns the rule sets of an old and a new configuration.
pub(super) fn sides(old: &Config, new: &Config) -> [RuleSide; 2] {
    let is_shadow_new = new.shadow && !old.shadow;
    [side(old, false), side(new, is_shadow_new)]
}

/// Returns the rule set of one configuration.
pub(super) fn side(config: &Config, is_shadow_new: bool) -> RuleSide {
    let admission = |allowed| admission(config, allowed, is_shadow_new);
    let entries = config.allow.iter().map(|allowed| (named(&allowed.demand.tool), admission(allowed)));
    RuleSide { policy: config.order.as_ref().clone(), entries: entries.collect() }
}

fn admission(config: &Config, allowed: &Allowed, is_shadow_new: bool) -> Admission {
    let demand = &allowed.demand;
    let grants: Vec<_> = config.grants.iter().filter(|grant| grant.tool == demand.tool).collect();
    let missing: Vec<_> = demand
        .permissions
        .iter()
        .filter(|permission| !grants.iter().any(|grant| grant.permission == *permission))
        .map(|permission| permission.as_str())
        .collect();
    let closed = match (&allowed.pin, missing.is_empty()) {
        (None, _) => Some("no form of the tool is approved (`pin`)".to_owned()),
        (_, false) => Some(format!("there is no grant of {}", list(missing.into_iter()))),
        _ => None,
    };
    let is_pre_granted = demand
        .permissions
        .iter()
        .all(|permission| grants.iter().any(|grant| grant.permission == permission && grant.pre_granted));
    let has_end = grants.iter().any(|grant| grant.expires.is_some());
    // If there are several grants of a permission, the gate chooses one for each call.
    let is_chosen = grants.iter().enumerate().any(|(index, grant)| {
        let mut before = grants.iter().take(index);
        before.any(|other| other.permission == grant.permission && (other.uses.is_some() || grant.uses.is_some()))
    });
    let uses =
        grants.iter().filter(|grant| demand.permissions.contains(grant.permission)).filter_map(|grant| grant.uses);
    let pin = allowed.pin.as_ref().map(ToString::to_string);
    let rules = &allowed.arguments;
    let args = (!rules.is_empty()).then(|| {
        let test = RulesTest::new(rules.clone(), format!("where {rules:?}"), Arc::clone(&config.order_folder));
        Arc::new(test) as omen_order::rules::Test
    });
    let rate = allowed.rate.map(|rate| (rate.calls(), u64::try_from(rate.window().as_millis()).unwrap_or(u64::MAX)));
    let outside = match (is_shadow_new, has_end, is_chosen) {
        (true, ..) => Some("`shadow` is turned on, so its rules refuse nothing"),
        (_, true, _) => Some("grants with `expires` are not compared"),
        (.., true) => Some("several grants of one permission are not compared if one of them has `uses`"),
        _ => None,
    };
    Admission {
        content: format!("{is_shadow_new} {pin:?} {demand:?} {rules:?} {rate:?} {grants:?}"),
        pin,
        closed,
        must_confirm: demand.always_confirm || !is_pre_granted,
        args,
        rate,
        uses: uses.map(std::num::NonZeroU32::get).min(),
        outside: outside.map(str::to_owned),
    }
}

/// Returns whether a rule in a configuration queries the file system.
pub(super) fn asks_files(config: &Config) -> bool {
    let of_premise = |premise: &Premise| {
        let untils = premise.until.iter().flat_map(|until| [&until.args, &until.answer]);
        [&premise.args, &premise.answer].into_iter().chain(untils).flatten().any(|test| test.may_block())
    };
    config.allow.iter().any(|allowed| allowed.arguments.asks_files())
        || config.order.tools.values().flat_map(|tool| &tool.rules).any(|rule| {
            rule.condition.iter().any(|test| test.may_block()) || rule.kind.premises().iter().any(of_premise)
        })
}

/// Returns the settings that differ but are not compared, and notes on shadow mode.
pub(super) fn notes(old: &Config, new: &Config) -> Vec<String> {
    let settings: BTreeMap<_, _> = BTreeMap::from([
        ("policy.patterns", old.policy.to_pairs() != new.policy.to_pairs()),
        ("budget", (old.budget, old.calls) != (new.budget, new.calls)),
        ("breaker", old.breaker != new.breaker),
        ("limits", old.limits != new.limits),
        ("order.wait", old.order.wait_ms != new.order.wait_ms),
        ("order.gather", old.order.gather_ms != new.order.gather_ms),
        ("order.idle", old.order.idle_ms != new.order.idle_ms),
    ]);
    let changed = settings.into_iter().filter(|(_, differs)| *differs);
    let mut notes: Vec<_> = changed.map(|(setting, _)| format!("`{setting}` differs, and is not compared")).collect();
    // If shadow mode is only turned on, nothing is compared.
    let shadow = match (old.shadow, new.shadow) {
        (true, true) => Some("`shadow` is on; the rules are compared as if they were enforced"),
        (true, false) => Some("`shadow` is turned off; the rules are compared as if they had been enforced"),
        (false, _) => None,
    };
    notes.extend(shadow.map(str::to_owned));
    notes
}
