//! Defines what a service provides for all operations of a contract: the caller type and the error responses.

use super::call::Call;
use super::response::{OperationResponse, ResponseParts};

/// The response of an operation, or an error whose status the contract does not document.
pub type Responded<T> = poem::Result<T>;

/// An implementation of a contract's operations. The traits generated for tags require it.
pub trait Service: Send + Sync + 'static {
    /// The authenticated caller of a request.
    type Caller: Send + Sync + 'static;
    /// The error of an operation.
    type Error: Send;

    /// Returns the response for an error.
    fn error_parts(&self, call: &Call<Self::Caller>, error: Self::Error) -> ResponseParts;

    /// Returns the replacement for an error that cannot be a response of the operation: the contract does not document
    /// its status, or the response to the error has no body or lacks a required header.
    fn undocumented(&self, call: &Call<Self::Caller>, status: u16) -> Self::Error;
}

/// Returns the response of an operation. Converts an error to the variant that the contract documents for its status.
///
/// # Panics
/// Panics when neither the error nor its replacement ([`Service::undocumented`]) can be a documented response.
pub fn respond<S: Service, T: OperationResponse>(
    service: &S,
    call: &Call<S::Caller>,
    outcome: Result<T, S::Error>,
) -> T {
    let error = match outcome {
        Ok(response) => return response,
        Err(error) => error,
    };
    let parts = service.error_parts(call, error);
    let status = parts.status;
    T::from_parts(parts)
        .or_else(|| T::from_parts(service.error_parts(call, service.undocumented(call, status))))
        .expect("every operation documents the status of an internal error")
}

/// Returns the response of an operation. Converts an error to the variant that the contract documents for its status. An
/// error without such a variant is sent as it is: unlike [`respond`], this function is for contracts that do not document
/// every error.
///
/// # Errors
/// Returns the response to an undocumented error as a [`poem::Error`].
pub fn respond_or_error<S: Service, T: OperationResponse>(
    service: &S,
    call: &Call<S::Caller>,
    outcome: Result<T, S::Error>,
) -> Responded<T> {
    outcome.or_else(|error| {
        let parts = service.error_parts(call, error);
        T::from_parts(parts.clone()).ok_or_else(|| poem::Error::from_response(parts.into_response()))
    })
}
