//! Public items, hidden or not, cannot make a value that the rules would refuse.

use omen::*;

#[test]
fn fields_have_a_member_however_they_are_made() {
    for value in [json!({}), json!(null), json!([]), json!("text"), json!({ "a": 1 })] {
        assert!(!Fields::__written(value.clone()).into_map().is_empty(), "{value}");
    }
    assert!(Fields::new(json!({})).is_none() && Fields::new(json!([])).is_none());
}

#[test]
fn a_stage_that_strikes_everything_out_says_which_and_what() {
    let vetoed = Arbitration::of(["raise", "restart"]).veto(|_| false).expect_err("nothing is left");
    assert_eq!((vetoed.stage(), vetoed.rejected().len()), ("constitutional veto", 2));
    let left = Arbitration::of(["raise", "restart"]).veto(|option| option.id == "raise").expect("one is left");
    let none = left.feasible(|_| false).expect_err("nothing is left");
    let reasons: Vec<_> = none.rejected().iter().map(|one| one.rejection_reason.as_deref()).collect();
    assert_eq!(none.stage(), "feasibility check");
    assert_eq!(reasons, [Some("constitutional veto"), Some("feasibility check")]);
}
