//! Panics of dependencies as mistakes: typify, syn, quote and prettyplease can panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::mistake::{Mistakes, bug};

thread_local! { static QUIET: Cell<bool> = const { Cell::new(false) }; }

/// Does work in which a panic comes back as a mistake, and prints nothing.
pub(crate) fn quietly<T>(work: impl FnOnce() -> Result<T, Mistakes>) -> Result<T, Mistakes> {
    // The hook is one for the process: what other threads have to say must come through.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.unwrap_or_else(|panic| {
        let why = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(bug(format!("a library that the generator uses does not take these schemas: {why}")))
    })
}
