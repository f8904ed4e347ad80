//! Catches panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// Runs a future and converts a panic into an error. After a panic, values that the future borrowed mutably can be
/// changed in part; the caller must be able to handle that.
///
/// # Errors
/// Returns the panic message if the future panics.
pub fn catch_panic<T>(future: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    AssertUnwindSafe(future).catch_unwind().map(|outcome| outcome.map_err(|panic| panic_message(&*panic)))
}

/// Returns the panic message, which is a `&str` or a `String` unless the panic was raised with `panic_any`.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    message.unwrap_or("no message").to_owned()
}
