//! Literals that are checked while the program is compiled.

/// A [`Text`](omen_types::Text) from a constant string; one without a visible character does not compile (INV-001). A text that is known
/// only when the program runs is checked then: `Text::new(text)?`.
///
/// ```
/// let summary = omen_invariants::text!("drain pool 7");
/// assert_eq!(summary.as_str(), "drain pool 7");
/// ```
///
/// ```compile_fail,E0080
/// let summary = omen_invariants::text!("");
/// ```
///
/// ```compile_fail,E0080
/// let summary = omen_invariants::text!(" \u{200b}");
/// ```
#[macro_export]
macro_rules! text {
    ($text:expr $(,)?) => {{
        // Of a variable in an `impl`, rustc says that it "would need to be a `const`". Of one in a constant by itself it
        // suggests to make that a `let`, here in this macro.
        struct __OmenText;
        impl __OmenText {
            const GIVEN: &'static str = $text;
        }
        // A constant of a function is evaluated by `cargo check`, too.
        const __OMEN_TEXT: $crate::facts::__types::scalar::TextLiteral<$crate::facts::__types::Text> =
            match $crate::facts::__types::Text::literal(__OmenText::GIVEN) {
                ::core::option::Option::Some(literal) => literal,
                ::core::option::Option::None => {
                    ::core::panic!("INV-001: this text is empty or blank; the envelope needs a visible character here")
                }
            };
        $crate::facts::__types::Text::from(__OMEN_TEXT)
    }};
}

/// A [`UnitInterval`](omen_types::UnitInterval) from a constant number; one outside 0 to 1 does not compile (INV-001). One that is known
/// only when the program runs is checked then: `UnitInterval::new(number)?`.
///
/// ```
/// let confidence = omen_invariants::unit!(0.8);
/// assert_eq!(confidence.get(), 0.8);
/// ```
///
/// ```compile_fail,E0080
/// let confidence = omen_invariants::unit!(1.8);
/// ```
#[macro_export]
macro_rules! unit {
    ($number:expr $(,)?) => {{
        // As for `text!`.
        struct __OmenNumber;
        impl __OmenNumber {
            const GIVEN: f64 = $number as f64;
        }
        const __OMEN_NUMBER: $crate::facts::__types::scalar::NumberLiteral<$crate::facts::__types::UnitInterval> =
            match $crate::facts::__types::UnitInterval::literal(__OmenNumber::GIVEN) {
                ::core::option::Option::Some(literal) => literal,
                ::core::option::Option::None => ::core::panic!("INV-001: this number is not within 0 and 1"),
            };
        $crate::facts::__types::UnitInterval::from(__OMEN_NUMBER)
    }};
}
