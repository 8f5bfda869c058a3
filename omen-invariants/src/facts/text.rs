//! Macros for literals that are checked at compile time.

/// Creates a [`Text`](omen_types::Text) from a constant string; a string without a visible character does not
/// compile (INV-001). For a text that is known only at run time, use `Text::new(text)?`.
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
        // For a variable in an `impl`, rustc reports that it "would need to be a `const`". In a plain constant, it
        // would suggest a `let` inside this macro.
        struct __OmenText;
        impl __OmenText {
            const GIVEN: &'static str = $text;
        }
        // `cargo check` also evaluates a constant inside a function.
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

/// Creates a [`UnitInterval`](omen_types::UnitInterval) from a constant number; a number outside 0 to 1 does not
/// compile (INV-001). For a number that is known only at run time, use `UnitInterval::new(number)?`.
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
        // See `text!`.
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
