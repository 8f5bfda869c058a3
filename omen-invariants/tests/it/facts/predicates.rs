//! Each predicate holds exactly where the run-time rule has no finding.

use omen_invariants::derived::is_high;
use omen_invariants::facts::*;
use omen_invariants::rules::inv_004_live_evidence;
use omen_invariants::{Context, Ledger, rules};
use omen_types::{Code, PacketFacts, PacketType, Severity};

use super::holds;

/// Returns whether a rule has an error for a decision to ACT with this level, tier, tools and assumptions.
fn refuses(code: Code, level: &str, tier: &str, tools: &str, verified: bool, overridden: bool) -> bool {
    let mut packet = crate::packet(PacketType::DecisionPacket);
    packet["mcp"]["stakes"]["stakes_level"] = level.into();
    packet["mcp"]["quality"]["quality_tier"] = tier.into();
    packet["mcp"]["routing"]["tools_state"] = tools.into();
    packet["payload"]["decision_outcome"] = "ACT".into();
    packet["payload"]["load_bearing_assumptions"] = serde_json::json!([{"assumption": "a", "verified": verified}]);
    packet["payload"]["decision_summary"] = "safety".into();
    if overridden {
        packet["header"]["layer_source"] = 1.into();
        packet["payload"]["decision_summary"] = "safety: emergency override".into();
    }
    let line = packet.to_string();
    let facts = PacketFacts::parse(&line).unwrap_or_else(|rejected| panic!("{rejected}"));
    let mut findings = Vec::new();
    rules::check(&Context::new(&facts, &Ledger::default(), None), &mut findings);
    findings.iter().any(|finding| finding.code == code && finding.severity == Severity::Error)
}

macro_rules! for_each {
    ($each:ident: $($fact:ident)+) => { $($each!($fact);)+ };
}

#[test]
fn tiers_that_may_act() {
    macro_rules! compare {
        ($tier:ident) => {
            let refused = refuses(Code::Inv002, "LOW", $tier::VALUE.as_str(), "tools_ok", true, false);
            assert_eq!(holds!($tier: TierMayAct), !refused, stringify!($tier));
        };
    }
    for_each!(compare: Subpar Par Superb);
    assert!(holds!(Judged: TierMayAct));
}

#[test]
fn stakes_that_allow_to_act() {
    macro_rules! compare {
        ($level:ident $tier:ident $assumptions:ident $verified:literal $overridden:literal) => {
            let (level, tier) = ($level::VALUE.as_str(), $tier::VALUE.as_str());
            let refused = refuses(Code::Inv003, level, tier, "tools_ok", $verified, $overridden);
            let allowed = holds!($level: StakesAllowAct<$tier, $assumptions>);
            assert_eq!(allowed, !refused, "{level} {tier} {}", stringify!($assumptions));
            assert!(allowed || is_high($level::VALUE));
        };
        ($level:ident $tier:ident) => {
            compare!($level $tier AllVerified true false);
            compare!($level $tier SomeUnverified false false);
            compare!($level $tier Overridden false true);
            compare!($level $tier Overridden true true);
        };
        ($level:ident) => {
            compare!($level Subpar);
            compare!($level Par);
            compare!($level Superb);
        };
    }
    for_each!(compare: LowStakes MediumStakes HighStakes CriticalStakes);
    assert!(holds!(Judged: StakesAllowAct<Judged, SomeUnverified>));
}

#[test]
fn tools_that_allow_to_act() {
    macro_rules! compare {
        ($level:ident $tools:ident) => {
            let (level, tools) = ($level::VALUE.as_str(), $tools::VALUE.as_str());
            let refused = refuses(Code::Inv010, level, "SUPERB", tools, true, false);
            assert_eq!(holds!($tools: ToolsAllowAct<$level>), !refused, "{level} {tools}");
        };
        ($level:ident) => {
            compare!($level ToolsOk);
            compare!($level ToolsPartial);
            compare!($level ToolsDown);
        };
    }
    for_each!(compare: LowStakes MediumStakes HighStakes CriticalStakes);
    assert!(holds!(Judged: ToolsAllowAct<Judged>));
}

#[test]
fn claims_that_are_grounded() {
    macro_rules! compare {
        ($status:ident $freshness:ident $best:ident) => {
            let is_claim = inv_004_live_evidence::is_claim($status::VALUE, $freshness::VALUE);
            let grounded = holds!(Claim<$status, $freshness, $best>: Grounded);
            let is_live = stringify!($best) == "Live";
            assert_eq!(grounded, !is_claim || is_live, "{} {} {}", $status::VALUE, $freshness::VALUE, stringify!($best));
        };
        ($status:ident $freshness:ident) => {
            compare!($status $freshness Live);
            compare!($status $freshness Archive);
            compare!($status $freshness Absent);
        };
        ($status:ident) => {
            compare!($status Realtime);
            compare!($status Operational);
            compare!($status Strategic);
            compare!($status Archival);
            let is_claim = inv_004_live_evidence::is_claim($status::VALUE, Realtime::VALUE);
            assert_eq!(holds!($status: NeedsNoEvidence), !is_claim, "{}", $status::VALUE);
        };
    }
    for_each!(compare: Observed Derived Remembered Inferred Hypothesized Unknown);
}

#[test]
fn the_rest_is_as_listed() {
    assert_eq!([holds!(ReadClass: NeedsNoToken), holds!(WriteClass: NeedsNoToken)], [true, false]);
    assert!(!holds!(MixedClass: NeedsNoToken), "MIXED counts as WRITE (D17)");
    assert_eq!(
        [holds!(ToolsOk: Degraded), holds!(ToolsPartial: Degraded), holds!(ToolsDown: Degraded)],
        [false, true, true]
    );
    assert!(!holds!(Judged: Degraded), "the loop itself judges that at run time");
    assert_eq!([holds!(Observed: CountsAsEvidence), holds!(Derived: CountsAsEvidence)], [true, false]);
    assert!(!holds!(Remembered: CountsAsEvidence) && !holds!(Inferred: CountsAsEvidence));
    assert_eq!([holds!(op::Read: OpFits<ReadClass>), holds!(op::Write: OpFits<ReadClass>)], [true, false]);
    assert_eq!([holds!(op::Read: OpFits<WriteClass>), holds!(op::Delete: OpFits<WriteClass>)], [false, true]);
    assert!(holds!(op::Modify: OpFits<WriteClass>) && holds!(op::Write: OpFits<WriteClass>));
    assert!(holds!(op::Read: OpFits<MixedClass>) && holds!(op::Modify: OpFits<MixedClass>));
}

#[test]
fn lengths_are_those_of_the_schema() {
    assert_eq!([holds!([(); 1]: TwoOrThree), holds!([(); 2]: TwoOrThree)], [false, true]);
    assert_eq!([holds!([(); 3]: TwoOrThree), holds!([(); 4]: TwoOrThree)], [true, false]);
    assert_eq!([holds!([(); 0]: AtLeastOne), holds!([(); 1]: AtLeastOne)], [false, true]);
    assert_eq!([holds!([(); 32]: AtLeastOne), holds!([(); 33]: AtLeastOne)], [true, false]);
    assert_eq!([holds!([(); 0]: AtLeastOneCheck), holds!([(); 0]: AtLeastOneTarget)], [false, false]);
}
