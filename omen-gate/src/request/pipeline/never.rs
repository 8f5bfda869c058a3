//! Return type of steps called in the wrong state.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Future without a value. A step called in the wrong state returns it, so the rest of the program still type-checks
/// after that one compile error.
#[derive(Debug)]
pub struct Never<Out>(Infallible, PhantomData<Out>);

impl<Out> Future for Never<Out> {
    type Output = Out;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Out> {
        match self.0 {}
    }
}
