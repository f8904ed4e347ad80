//! What the operations of a contract share: who calls, and how errors become responses.

use super::answer::{Answer, Parts};
use super::call::Call;

/// The implementer of a contract's operations. Each trait generated for a tag requires it.
pub trait Service: Send + Sync + 'static {
    /// What the service knows about the sender of a request.
    type Caller: Send + Sync + 'static;
    /// Why an operation fails.
    type Error: Send;

    /// The response for an error.
    fn error_parts(&self, call: &Call<Self::Caller>, error: Self::Error) -> Parts;

    /// The error to respond with in place of one whose status the contract does not document for the operation.
    fn undocumented(&self, call: &Call<Self::Caller>, status: u16) -> Self::Error;
}

/// The response of an operation. An error becomes the variant that the contract documents for its status.
///
/// # Panics
/// When the contract documents neither the status of the error nor that of [`Service::undocumented`].
pub fn respond<S: Service, T: Answer>(
    service: &S,
    call: &Call<S::Caller>,
    outcome: Result<T, S::Error>,
) -> T {
    let error = match outcome {
        Ok(answer) => return answer,
        Err(error) => error,
    };
    let parts = service.error_parts(call, error);
    let status = parts.status;
    T::from_parts(parts)
        .or_else(|| T::from_parts(service.error_parts(call, service.undocumented(call, status))))
        .expect("every operation documents the status of an internal error")
}
