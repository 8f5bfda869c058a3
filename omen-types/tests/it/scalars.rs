//! Checked scalars: every way in which another crate can create one enforces their bounds.

use std::num::NonZeroU32;

use omen_types::scalar::{IntegerScalar, NumberScalar, TextScalar};
use omen_types::{Count, LayerNumber, PositiveCount, Text, TokenId, UnitInterval};

#[test]
fn a_constant_is_checked_as_any_other_value() {
    assert!(Text::literal("").is_none());
    assert_eq!(Text::literal("a").map(Text::from), Text::new("a").ok());
    for number in [f64::NAN, f64::INFINITY, -f64::MIN_POSITIVE, 1.0 + f64::EPSILON] {
        assert!(UnitInterval::literal(number).is_none() && UnitInterval::new(number).is_err(), "{number}");
    }
    for number in [0.0, -0.0, 0.5, 1.0] {
        assert_eq!(UnitInterval::literal(number).map(|one| UnitInterval::from(one).get()), Some(number));
    }
    assert_eq!(LayerNumber::of::<5>(), LayerNumber::new(5).expect("within the bounds"));
    assert_eq!((LayerNumber::of::<1>(), LayerNumber::of::<6>()), (LayerNumber::MIN, LayerNumber::MAX));
}

#[test]
fn what_is_added_to_a_text_keeps_it_a_text() {
    let text = Text::new("drain").expect("a text");
    let all = [text.prefixed(""), text.suffixed(""), text.prefixed("to "), text.suffixed(" it")];
    assert!(all.iter().all(|text| Text::holds(text.as_str())));
    assert_eq!(all.map(String::from), ["drain", "drain", "to drain", "drain it"]);
}

#[test]
fn a_conversion_that_cannot_fail_is_within_the_bounds_at_its_ends() {
    for value in [0, 1, u32::MAX] {
        assert_eq!(Ok(Count::from(value)), Count::new(value.into()));
        assert!((<Count as IntegerScalar>::MIN..=<Count as IntegerScalar>::MAX).contains(&value.into()));
    }
    for value in [NonZeroU32::MIN, NonZeroU32::MAX] {
        assert_eq!(Ok(PositiveCount::from(value)), PositiveCount::new(value.get().into()));
    }
    assert!(PositiveCount::new(0).is_err());
}

#[test]
fn a_value_that_is_not_one_is_refused_whichever_way_it_comes() {
    assert!(TokenId::new("whatever").is_err() && "whatever".parse::<TokenId>().is_err());
    assert!(TokenId::try_from("whatever").is_err() && TokenId::try_from("whatever".to_owned()).is_err());
    assert!(serde_json::from_str::<TokenId>("\"whatever\"").is_err() && serde_json::from_str::<Text>("\"\"").is_err());
    assert!(serde_json::from_str::<UnitInterval>("1.5").is_err() && !<UnitInterval as NumberScalar>::holds(f64::NAN));
    assert!(serde_json::from_str::<PositiveCount>("0").is_err() && serde_json::from_str::<LayerNumber>("7").is_err());
}
