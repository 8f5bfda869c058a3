//! PG-4.

use serde::de::DeserializeOwned;

use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Typed, Untyped};

/// Makes a value of the answer: of the type that is registered for the tool, and of no other.
///
/// # Errors
/// If the answer is an error, has no structured content, or does not fit the tool's schema or the type's (PG-4): the
/// raw answer comes back with its mark, and no summary can be made of it.
pub(crate) async fn type_output<T: DeserializeOwned + 'static>(
    request: Request<Dispatched>,
) -> Result<Request<Typed<T>>, Request<Untyped>> {
    let Request { gate, context, state: Dispatched { listed, answer, .. } } = request;
    match gate.outputs().type_output::<T>(&listed, answer) {
        Ok(payload) => Ok(Request { gate, context, state: Typed { payload } }),
        Err(raw) => {
            // The answer is marked whether or not that can be recorded: a log that is broken stops the next call.
            let _ = context.check::<()>(Err(raw.why().clone())).await;
            Err(Request { gate, context, state: Untyped { raw } })
        }
    }
}
