//! Defines the validated input of an operation call and extracts it from requests.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use poem::{FromRequest, Request, RequestBody};
use serde_json::Value;

use super::contract::Operation;
use super::payload::lines::RawLines;
use super::validate::query::QueryParameter;

/// The decoded path parameters by name, in the order of the path.
pub type PathParameters = Vec<(&'static str, String)>;

/// The validated parameters and body of a request.
#[derive(Debug)]
pub struct Input {
    pub(crate) operation: &'static Operation,
    /// The decoded path parameters, in the order of the path.
    pub(crate) path: PathParameters,
    /// The decoded query parameters, in the order they were sent.
    pub(crate) query: Vec<QueryParameter>,
    /// The `Content-Type` of the body. `None` without a body.
    pub(crate) content_type: Option<String>,
    /// The body as sent.
    pub(crate) body: Bytes,
    /// The parsed body. `None` if the operation has no body, or once the body was converted to the operation's type.
    pub(crate) value: Mutex<Option<Value>>,
    /// The lines of the body, for an operation that reads them one after the other. `None` once the operation has them.
    pub(crate) lines: Mutex<Option<RawLines>>,
}

impl Input {
    /// Takes the parsed body out of the input.
    ///
    /// # Errors
    /// Returns an error when it was already taken or the operation has no body.
    pub(crate) fn take_value(&self) -> poem::Result<Value> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        let missing =
            || std::io::Error::other("the operation has no body, or its parsed body was already taken");
        value.ok_or_else(|| poem::error::InternalServerError(missing()))
    }

    /// Takes the lines of the body out of the input.
    ///
    /// # Errors
    /// Returns an error when they were already taken or the operation does not read lines.
    pub(crate) fn take_lines(&self) -> poem::Result<RawLines> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner).take();
        let missing = || std::io::Error::other("the lines of the body are missing, or were already taken");
        lines.ok_or_else(|| poem::error::InternalServerError(missing()))
    }
}

/// A validated call of an operation. Dereferences to its caller.
#[derive(Debug)]
pub struct Call<C> {
    caller: Arc<C>,
    /// The operation that is called.
    pub operation: &'static Operation,
    input: Arc<Input>,
}

impl<C> Call<C> {
    pub(crate) fn new(caller: Arc<C>, input: Arc<Input>) -> Self {
        Self { caller, operation: input.operation, input }
    }

    /// Returns the caller.
    pub fn caller(&self) -> &C {
        &self.caller
    }

    /// Returns the decoded path parameters, in the order of the path.
    pub fn path(&self) -> &PathParameters {
        &self.input.path
    }

    /// Returns the decoded query parameters, in the order they were sent.
    pub fn query(&self) -> &[QueryParameter] {
        &self.input.query
    }

    /// Returns the `Content-Type` of the body, or `None` if the request has no body. If the contract declares a range
    /// such as `image/*`, this is the type of the request.
    pub fn content_type(&self) -> Option<&str> {
        self.input.content_type.as_deref()
    }

    /// Returns the body as sent.
    pub fn body(&self) -> &Bytes {
        &self.input.body
    }
}

impl<C> Deref for Call<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.caller
    }
}

impl<C> Clone for Call<C> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.caller), Arc::clone(&self.input))
    }
}

impl<'a, C: Send + Sync + 'static> FromRequest<'a> for Call<C> {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        extension::<Self>(request).cloned()
    }
}

/// Returns the validated input of a request.
pub(crate) fn input(request: &Request) -> poem::Result<&Arc<Input>> {
    extension(request)
}

/// Returns a value that [`Route::call`](super::router::Route::call) inserted into the request's extensions.
fn extension<T: Send + Sync + 'static>(request: &Request) -> poem::Result<&T> {
    let missing = || std::io::Error::other("the request was not called through the router of its contract");
    request.extensions().get::<T>().ok_or_else(|| poem::error::InternalServerError(missing()))
}
