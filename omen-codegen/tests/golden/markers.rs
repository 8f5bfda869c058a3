/// `blue`: For letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlueInk;

/// `red`: For corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedInk;

/// The values of `Ink` by their names alone.
pub mod ink {
    /// `blue`: For letters.
    pub type Blue = super::BlueInk;
    /// `red`: For corrections.
    pub type Red = super::RedInk;
}

/// Resolves the name in a macro's input to its type.
#[doc(hidden)]
#[macro_export]
macro_rules! __ink {
    (Blue) => {
        $crate::facts::ink::Blue
    };
    (Red) => {
        $crate::facts::ink::Red
    };
    (check Blue) => {};
    (check Red) => {};
    (check $other:ident) => {
        ::core::compile_error!(::core::concat!("SCHEMA: `", ::core::stringify!($other),
        "` is not a `Ink`; expected one of `Blue`, `Red`"));
    };
    ($other:ident) => {
        $crate::facts::ink::Blue
    };
}

/// A type-level value of `Ink`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of `Ink`",
    label = "a value of another sort",
    note = "expected one of `BlueInk`, `RedInk`"
)]
pub trait InkFact: sealed::ValueSealed {
    /// The value at run time.
    const VALUE: ::omen_types::Ink;
}

impl sealed::FactSealed for BlueInk {}

impl sealed::ValueSealed for BlueInk {}

#[diagnostic::do_not_recommend]
impl InkFact for BlueInk {
    const VALUE: ::omen_types::Ink = ::omen_types::Ink::Blue;
}

impl sealed::FactSealed for RedInk {}

impl sealed::ValueSealed for RedInk {}

#[diagnostic::do_not_recommend]
impl InkFact for RedInk {
    const VALUE: ::omen_types::Ink = ::omen_types::Ink::Red;
}

/// The type-level values of `Pace`.
pub mod pace {
    /// `SLOW`: Without haste.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Slow;
    /// `FAST`: Whatever it takes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Fast;
}

/// A type-level value of `Pace`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of `Pace`",
    label = "a value of another sort",
    note = "expected one of `pace::Slow`, `pace::Fast`"
)]
pub trait PaceFact: sealed::ValueSealed {
    /// The value at run time.
    const VALUE: ::omen_types::Pace;
    /// Rank of the value in the schema, which lists the lowest first.
    #[doc(hidden)]
    type Place;
}

impl sealed::FactSealed for pace::Slow {}

impl sealed::ValueSealed for pace::Slow {}

#[diagnostic::do_not_recommend]
impl PaceFact for pace::Slow {
    const VALUE: ::omen_types::Pace = ::omen_types::Pace::Slow;
    type Place = Place<0usize>;
}

impl sealed::FactSealed for pace::Fast {}

impl sealed::ValueSealed for pace::Fast {}

#[diagnostic::do_not_recommend]
impl PaceFact for pace::Fast {
    const VALUE: ::omen_types::Pace = ::omen_types::Pace::Fast;
    type Place = Place<1usize>;
}

#[doc(hidden)]
#[allow(missing_docs, reason = "for generated code")]
pub mod values {
    pub mod ink {
        pub type Blue = super::super::BlueInk;
        pub type Red = super::super::RedInk;
    }
    pub mod pace {
        pub type Slow = super::super::pace::Slow;
        pub type Fast = super::super::pace::Fast;
    }
}

#[diagnostic::do_not_recommend]
impl HasLines for [(); 1usize] {}

#[diagnostic::do_not_recommend]
impl HasLines for [(); 2usize] {}

#[diagnostic::do_not_recommend]
impl Signed for [(); 2usize] {}

#[diagnostic::do_not_recommend]
impl Signed for [(); 3usize] {}
