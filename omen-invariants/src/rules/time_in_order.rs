//! TIME, as `rules.json` states it (D83). The validator determines which findings follow from a packet that is
//! ahead; this module has the finding on that packet.

use omen_types::{Code, Diagnostic, Instant};

use crate::context::Context;
use crate::help::time as help;
use crate::ledger::{Leap, is_behind};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let created_at = context.facts.header.created_at;
    let Some(clock) = context.ledger.clock().filter(|clock| is_behind(created_at, *clock)) else { return };
    let behind = clock.since(created_at);
    findings.push(
        Diagnostic::warning(
            Code::Time,
            format!("`created_at` {created_at} is {behind} s before the clock of the episode, {clock}"),
        )
        .at(PLACE)
        .label(format!("{behind} s back"))
        .help(help::behind(clock)),
    );
}

/// Returns the finding on a packet that is ahead, once another packet returns to a time before it.
#[must_use]
pub fn ahead(leap: &Leap, clock: Instant, returns: Instant) -> Diagnostic {
    let around = leap.before.unwrap_or(returns);
    let problem = format!(
        "`created_at` {clock} is {} s after `created_at` of the packets before and after it, {around}",
        clock.since(around)
    );
    Diagnostic::warning(Code::Time, problem).at(PLACE).help(help::ahead(around))
}

const PLACE: &str = "/header/created_at";

#[cfg(test)]
mod tests {
    use omen_types::PacketType::{BeliefUpdatePacket, ObservationPacket};
    use omen_types::{Code, Severity};
    use serde_json::Value;

    use super::super::fixture::{Episode, packet};
    use super::check;
    use crate::ledger::TOLERANCE_SECONDS;

    fn at(time: &str) -> Value {
        packet(BeliefUpdatePacket, &[("/header/created_at", time.into())])
    }

    fn begun() -> Episode {
        let first = packet(ObservationPacket, &[("/header/created_at", "2026-03-01T10:05:00Z".into())]);
        Episode::default().accept(&first, Default::default())
    }

    #[test]
    fn the_same_time_a_minute_back_and_later_times_pass() {
        for time in ["2026-03-01T10:05:00Z", "2026-03-01T10:04:00Z", "2027-03-01T10:05:00Z"] {
            assert_eq!(begun().check(check, &at(time)), [], "{time}");
        }
        assert_eq!(Episode::default().check(check, &at("1970-01-01T00:00:00Z")), []);
    }

    #[test]
    fn more_than_a_minute_back_is_a_warning() {
        let found = begun().check(check, &at("2026-03-01T10:03:59.999Z"));
        assert_eq!(found, [(Severity::Warning, "/header/created_at".to_owned())]);
    }

    #[test]
    fn the_text_has_the_tolerance() {
        assert!(Code::Time.info().statement.contains(&format!("{TOLERANCE_SECONDS} s")));
    }
}
