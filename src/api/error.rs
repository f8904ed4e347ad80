//! Errors as the API tells them: one closed type, made HTTP last.

use super::answer::Answer;
use super::call::Call;

/// Why a call was refused or failed.
#[derive(Debug)]
pub struct ApiError {}

/// What a handler returns.
pub type Reply<T> = Result<T, ApiError>;

/// The response for a handler's reply; an error becomes the variant documented for its status.
pub fn answer<T: Answer>(_call: &Call, _reply: Reply<T>) -> T {
    todo!()
}
