//! PG-4 for answers that are relayed unchanged.

use crate::answer::output;
use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Untyped};

impl Request<Dispatched> {
    /// Checks the answer against the tool's own `outputSchema`, for a program that relays it unchanged and has no type
    /// for it. An answer with `isError` passes, and so does any answer of a tool without an `outputSchema`.
    ///
    /// # Errors
    /// PG-4 with the raw answer and the reason if the answer does not match; it should then not be relayed as valid. A1
    /// if the refusal cannot be recorded; then no part of the answer should be relayed.
    pub async fn as_promised(self) -> Result<Self, Request<Untyped>> {
        let Request { gate, context, state: Dispatched { tool, listed, answer } } = self;
        match output::as_promised(&listed, answer) {
            Ok(answer) => Ok(Request { gate, context, state: Dispatched { tool, listed, answer } }),
            Err(raw) => {
                let raw = match context.check::<()>(Err(raw.why().clone())).await {
                    Err(why) => Box::new(raw.because(why)),
                    Ok(()) => raw,
                };
                Err(Request { gate, context, state: Untyped { raw } })
            }
        }
    }
}
