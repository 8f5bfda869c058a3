//! PG-4: typing of the answer, and the check of one that is relayed unchanged.

use serde::de::DeserializeOwned;

use crate::answer::output;
use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Typed, Untyped};

/// Converts the answer into a value of the type registered for the tool.
///
/// # Errors
/// PG-4 if the answer is an error, has no structured content, or does not match the schema of the tool or the type.
/// Returns the raw answer with the reason; it cannot be summarized.
pub(crate) async fn type_output<T: DeserializeOwned + 'static>(
    request: Request<Dispatched>,
) -> Result<Request<Typed<T>>, Request<Untyped>> {
    let Request { gate, context, state: Dispatched { listed, answer, .. } } = request;
    match gate.outputs().type_output::<T>(&listed, answer) {
        Ok(payload) => Ok(Request { gate, context, state: Typed { payload } }),
        Err(raw) => {
            // The refusal is returned even if it cannot be recorded: a broken log stops the next call.
            let _ = context.check::<()>(Err(raw.why().clone())).await;
            Err(Request { gate, context, state: Untyped { raw } })
        }
    }
}

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
