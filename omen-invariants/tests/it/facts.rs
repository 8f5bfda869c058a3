//! The type-level facts agree with the run-time rules.

mod dynamic;
mod envelope;
mod levels;
mod predicates;
mod stakes;
mod tools;

/// Returns whether a type implements a trait, as a value.
macro_rules! holds {
    ($fact:ty: $($predicate:tt)+) => {{
        #[allow(dead_code, reason = "for the types that do not fulfil it")]
        trait Otherwise {
            const HOLDS: bool = false;
        }
        struct Asked<T>(std::marker::PhantomData<T>);
        impl<T> Otherwise for Asked<T> {}
        #[allow(dead_code, reason = "for the types that fulfil it")]
        impl<T: $($predicate)+> Asked<T> {
            const HOLDS: bool = true;
        }
        <Asked<$fact>>::HOLDS
    }};
}
use holds;
