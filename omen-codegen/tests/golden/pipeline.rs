/// Before the gate.
impl Request<Outside> {
    /// Comes in.
    ///
    /// # Errors
    /// If the dog barks.
    pub async fn enter<T: Guest>(self, bell: &Bell) -> Result<Request<Inside<T>>, Barked>
    where
        Bell: Of<T>,
    {
        steps::enter::enter(self, bell).await
    }
}

/// Behind the gate.
impl<T> Request<Inside<T>> {
    /// Sits down on a chair.
    pub fn sit(self, chair: Chair) -> Result<Request<Seated<T>>, Request<Asleep>> {
        steps::sit::sit(self, chair)
    }
}

#[doc(hidden)]
impl Request<Outside> {
    pub fn sit<T>(
        self,
        _chair: impl Sized,
    ) -> Result<Request<Seated<T>>, Request<Asleep>>
    where
        for<'never> Outside: explain::EnterFirst,
    {
        explain::EnterFirst::never(self)
    }
}

#[doc(hidden)]
impl<OfT> Request<Inside<OfT>> {
    pub fn enter<T>(self, _bell: impl Sized) -> Never<Result<Request<Inside<T>>, Barked>>
    where
        for<'never> Inside<OfT>: explain::OnlyOnce,
    {
        explain::OnlyOnce::never(self)
    }
}

#[doc(hidden)]
impl<OfT> Request<Seated<OfT>> {
    pub fn enter<T>(self, _bell: impl Sized) -> Never<Result<Request<Inside<T>>, Barked>>
    where
        for<'never> Seated<OfT>: explain::OnlyOnce,
    {
        explain::OnlyOnce::never(self)
    }
    pub fn sit<T>(
        self,
        _chair: impl Sized,
    ) -> Result<Request<Seated<T>>, Request<Asleep>>
    where
        for<'never> Seated<OfT>: explain::OnlyOnce,
    {
        explain::OnlyOnce::never(self)
    }
}

#[doc(hidden)]
impl Request<Asleep> {
    pub fn enter<T>(self, _bell: impl Sized) -> Never<Result<Request<Inside<T>>, Barked>>
    where
        for<'never> Asleep: explain::AsleepEnds,
    {
        explain::AsleepEnds::never(self)
    }
    pub fn sit<T>(
        self,
        _chair: impl Sized,
    ) -> Result<Request<Seated<T>>, Request<Asleep>>
    where
        for<'never> Asleep: explain::AsleepEnds,
    {
        explain::AsleepEnds::never(self)
    }
}

/// Bounds of methods that are called out of order. No type implements these traits, and other crates cannot
/// implement them for a state.
#[doc(hidden)]
pub mod explain {
    use super::Request;
    #[diagnostic::on_unimplemented(
        message = "PG-3: not twice",
        label = "out of turn: the request is `{Self}`",
        note = "leave"
    )]
    pub trait OnlyOnce: Sized {
        fn never<Out>(request: Request<Self>) -> Out;
    }
    #[diagnostic::on_unimplemented(
        message = "PG-0: nobody came in",
        label = "out of turn: the request is `{Self}`",
        note = "come in"
    )]
    pub trait EnterFirst: Sized {
        fn never<Out>(request: Request<Self>) -> Out;
    }
    #[diagnostic::on_unimplemented(
        message = "PG-1: nobody sat down",
        label = "out of turn: the request is `{Self}`",
        note = "take a chair"
    )]
    pub trait SitFirst: Sized {
        fn never<Out>(request: Request<Self>) -> Out;
    }
    #[diagnostic::on_unimplemented(
        message = "PG-2: who sleeps does nothing",
        label = "out of turn: the request is `{Self}`",
        note = "wait"
    )]
    pub trait AsleepEnds: Sized {
        fn never<Out>(request: Request<Self>) -> Out;
    }
}
