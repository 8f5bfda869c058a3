//! Conversion of panics in dependencies (typify, syn, quote and prettyplease) to mistakes.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::mistake::{Mistakes, bug};

thread_local! { static QUIET: Cell<bool> = const { Cell::new(false) }; }

/// Runs `work`, and returns a panic as a mistake without printing it.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> Result<T, Mistakes>) -> Result<T, Mistakes> {
    // The hook is global to the process, so messages of other threads must still be printed.
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
        Err(bug(format!("a library that the generator uses does not accept these schemas: {why}")))
    })
}
