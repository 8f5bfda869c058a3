//! Configurations as the rule sets of a proof.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use omen_order::prove::{Admission, RuleSide};
use omen_order::rules::Premise;
use omen_types::suggest::list;

use crate::base::Permission;
use crate::call::arguments::RulesTest;
use crate::catalog::Allowed;
use crate::config::Config;
use crate::grant::Grant;
use crate::request::order::named;

/// Returns the rule sets of an old and a new configuration.
pub(super) fn sides(old: &Config, new: &Config) -> [RuleSide; 2] {
    let is_shadow_new = new.shadow && !old.shadow;
    [side(old, false), side(new, is_shadow_new)]
}

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
    let terms = demand.permissions.iter().map(|permission| GrantTerms::new(&grants, permission)).collect::<Vec<_>>();
    let asks = |asks| terms.iter().any(|terms| terms.asks == asks);
    let must_confirm = demand.always_confirm || asks(Asks::Always);
    let expires = terms.iter().filter_map(|terms| terms.expires).min();
    let pin = allowed.pin.as_ref().map(ToString::to_string);
    let rules = &allowed.arguments;
    let args = (!rules.is_empty()).then(|| {
        let test = RulesTest::new(rules.clone(), format!("where {rules:?}"), Arc::clone(&config.order_folder));
        Arc::new(test) as omen_order::rules::Test
    });
    let rate = allowed.rate.map(|rate| (rate.calls(), u64::try_from(rate.window().as_millis()).unwrap_or(u64::MAX)));
    let outside = match is_shadow_new {
        true => Some("`shadow` is turned on, so its rules refuse nothing"),
        false => terms.iter().any(|terms| terms.is_outside).then_some(
            "grants of one permission that expire at different times are not compared if the last of them has `uses`",
        ),
    };
    Admission {
        content: format!("{is_shadow_new} {pin:?} {demand:?} {rules:?} {rate:?} {grants:?}"),
        pin,
        closed,
        must_confirm,
        may_confirm: !must_confirm && asks(Asks::Sometimes),
        args,
        rate,
        uses: terms.iter().filter_map(|terms| terms.uses).min(),
        expires: expires.map(millis),
        outside: outside.map(str::to_owned),
    }
}

/// Grants of one permission of a tool together. Each call uses one of them: one that needs no confirmation if there is
/// one, else the oldest.
#[derive(Debug)]
struct GrantTerms {
    /// Uses of all; nothing if one of them has no limit.
    uses: Option<u32>,
    /// Expiry of the last one; nothing if one of them does not expire.
    expires: Option<SystemTime>,
    asks: Asks,
    /// Whether what is left depends on which grant each call has used.
    is_outside: bool,
}

/// Whether a human has to confirm a call because of the grant that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Never,
    Sometimes,
    Always,
}

impl GrantTerms {
    fn new(grants: &[&Grant], permission: Permission) -> Self {
        let grants = || grants.iter().filter(|grant| grant.permission == permission);
        let is_last = |grant: &Grant| grants().all(|other| !outlives(other, grant));
        // One without a limit that outlives the others decides alone how long there are uses.
        let has_last =
            |holds: fn(&Grant) -> bool| grants().any(|grant| grant.uses.is_none() && is_last(grant) && holds(grant));
        let is_limited = grants().any(|grant| grant.uses.is_some()) && !has_last(|_| true);
        let uses = grants().filter_map(|grant| grant.uses).fold(0u32, |sum, uses| sum.saturating_add(uses.get()));
        let pre_granted = grants().filter(|grant| grant.pre_granted).count();
        Self {
            uses: is_limited.then_some(uses),
            expires: grants().find(|grant| is_last(grant)).and_then(|grant| grant.expires),
            asks: match pre_granted {
                _ if !permission.needs_confirmation() => Asks::Never,
                0 => Asks::Always,
                _ if pre_granted == grants().count() || has_last(|grant| grant.pre_granted) => Asks::Never,
                _ => Asks::Sometimes,
            },
            is_outside: is_limited && !grants().all(|grant| is_last(grant)),
        }
    }
}

/// Whether a grant expires later than another one.
fn outlives(grant: &Grant, other: &Grant) -> bool {
    match (grant.expires, other.expires) {
        (own, Some(other)) => own.is_none_or(|own| own > other),
        (_, None) => false,
    }
}

/// Milliseconds since 1970 at the first of which a time has come.
fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// Whether a rule of a configuration queries the file system.
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
    let mut notes: Vec<_> = changed.map(|(setting, _)| format!("`{setting}` differs, but is not compared")).collect();
    // If shadow mode is only turned on, nothing is compared.
    let shadow = match (old.shadow, new.shadow) {
        (true, true) => Some("`shadow` is on; the rules are compared as if they were enforced"),
        (true, false) => Some("`shadow` is turned off; the rules are compared as if they had been enforced"),
        (false, _) => None,
    };
    notes.extend(shadow.map(str::to_owned));
    notes
}
