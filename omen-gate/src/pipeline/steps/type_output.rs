//! PG-4.

use crate::output::Registered;
use crate::pipeline::{Dispatched, Request, Typed, Untyped};

/// Makes a value of the answer: of the type that is registered for the tool, and of no other.
///
/// # Errors
/// If the answer is an error, has no structured content, or fits the tool's schema or the type's not (PG-4): the
/// raw answer comes back with its mark, and no summary can be made of it.
pub(crate) async fn type_output<T: Registered>(request: Request<Dispatched>) -> Result<Request<Typed<T>>, Request<Untyped>> {
    let Dispatched { tool, listed, answer } = request.state;
    let request = Request { gate: request.gate, turn: request.turn, state: () };
    match request.gate.outputs().read::<T>(&tool, &listed, answer) {
        Ok(payload) => Ok(request.at(|()| Typed { payload })),
        Err(raw) => {
            // The mark goes with the answer, whether or not it can be recorded.
            let why = raw.why().clone();
            let raw = match request.check::<()>(Err(why)).await {
                Err(unrecorded) => raw.marked(unrecorded),
                Ok(()) => raw,
            };
            Err(request.at(|()| Untyped { raw }))
        }
    }
}
