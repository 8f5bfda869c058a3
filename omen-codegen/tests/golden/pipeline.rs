/// Before the gate.
impl Call<Outside> {
    /// Comes in.
    ///
    /// # Errors
    /// If the dog barks.
    pub async fn enter<T>(self, bell: Bell) -> Result<Call<Inside<T>>, Barked> {
        steps::enter::enter(self, bell).await
    }
}

/// Behind the gate.
impl<T> Call<Inside<T>> {
    /// Sits down on a chair.
    pub fn sit<C: Chair>(self) -> Result<Call<Seated<T>>, Call<Asleep>>
    where
        C: Of<T>,
    {
        steps::sit::sit(self)
    }
}

/// What answers steps that are out of turn. Nothing here can be called.
#[doc(hidden)]
pub mod explain {
    #[allow(clippy::wildcard_imports, reason = "the states are many")]
    use super::*;
    #[diagnostic::on_unimplemented(
        message = "PG-3: not twice",
        label = "out of turn: the call is `{Self}`",
        note = "leave"
    )]
    pub trait OnlyOnce: Sized {
        type Out;
        fn out(call: Call<Self>) -> Self::Out;
    }
    #[diagnostic::on_unimplemented(
        message = "PG-0: nobody came in",
        label = "out of turn: the call is `{Self}`",
        note = "come in"
    )]
    pub trait EnterFirst: Sized {
        type Out;
        fn out(call: Call<Self>) -> Self::Out;
    }
    pub trait InOutside {}
    impl InOutside for Outside {}
    pub trait ExplainOutside<S>: Sized {
        fn sit<C>(self) -> <S as EnterFirst>::Out
        where
            S: EnterFirst;
    }
    impl<S: InOutside> ExplainOutside<S> for Call<S> {
        fn sit<C>(self) -> <S as EnterFirst>::Out
        where
            S: EnterFirst,
        {
            S::out(self)
        }
    }
    #[diagnostic::on_unimplemented(
        message = "PG-1: nobody sat down",
        label = "out of turn: the call is `{Self}`",
        note = "take a chair"
    )]
    pub trait SitFirst: Sized {
        type Out;
        fn out(call: Call<Self>) -> Self::Out;
    }
    pub trait InInside {}
    impl<T> InInside for Inside<T> {}
    pub trait ExplainInside<S>: Sized {
        fn enter<T>(self, _bell: impl Sized) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce;
    }
    impl<S: InInside> ExplainInside<S> for Call<S> {
        fn enter<T>(self, _bell: impl Sized) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce,
        {
            S::out(self)
        }
    }
    pub trait InSeated {}
    impl<T> InSeated for Seated<T> {}
    pub trait ExplainSeated<S>: Sized {
        fn enter<T>(self, _bell: impl Sized) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce;
        fn sit<C>(self) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce;
    }
    impl<S: InSeated> ExplainSeated<S> for Call<S> {
        fn enter<T>(self, _bell: impl Sized) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce,
        {
            S::out(self)
        }
        fn sit<C>(self) -> <S as OnlyOnce>::Out
        where
            S: OnlyOnce,
        {
            S::out(self)
        }
    }
    #[diagnostic::on_unimplemented(
        message = "PG-2: who sleeps does nothing",
        label = "out of turn: the call is `{Self}`",
        note = "wait"
    )]
    pub trait AsleepEnds: Sized {
        type Out;
        fn out(call: Call<Self>) -> Self::Out;
    }
    pub trait InAsleep {}
    impl InAsleep for Asleep {}
    pub trait ExplainAsleep<S>: Sized {
        fn enter<T>(self, _bell: impl Sized) -> <S as AsleepEnds>::Out
        where
            S: AsleepEnds;
        fn sit<C>(self) -> <S as AsleepEnds>::Out
        where
            S: AsleepEnds;
    }
    impl<S: InAsleep> ExplainAsleep<S> for Call<S> {
        fn enter<T>(self, _bell: impl Sized) -> <S as AsleepEnds>::Out
        where
            S: AsleepEnds,
        {
            S::out(self)
        }
        fn sit<C>(self) -> <S as AsleepEnds>::Out
        where
            S: AsleepEnds,
        {
            S::out(self)
        }
    }
}
