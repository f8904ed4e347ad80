//! A request that its contract accepts.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use poem::{FromRequest, Request, RequestBody};
use serde_json::Value;

use super::contract::Operation;
use super::validate::query::Pair;

/// The parameters of a path, decoded, in the order of the path.
pub type Captured = Vec<(&'static str, String)>;

/// The parameters and the body of a request, after validation.
#[derive(Debug)]
pub struct Input {
    pub(crate) operation: &'static Operation,
    /// The path's parameters, decoded, in the order of the path.
    pub(crate) captured: Captured,
    /// The query's parameters, decoded, in the order they were sent.
    pub(crate) query: Vec<Pair>,
    /// The body as it was sent.
    pub(crate) body: Bytes,
    /// The value of the body, until it is converted to the operation's type.
    pub(crate) value: Mutex<Option<Value>>,
}

impl Input {
    /// Takes the body's value out.
    ///
    /// # Errors
    /// When it was taken before, or the operation takes no body.
    pub(crate) fn take_value(&self) -> poem::Result<Value> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        let missing = || std::io::Error::other("the body was taken before");
        value.ok_or_else(|| poem::error::InternalServerError(missing()))
    }
}

/// A call of an operation. Dereferences to its caller.
#[derive(Debug)]
pub struct Call<C> {
    caller: Arc<C>,
    /// The operation.
    pub operation: &'static Operation,
    input: Arc<Input>,
}

impl<C> Call<C> {
    pub(crate) fn new(caller: Arc<C>, input: Arc<Input>) -> Self {
        Self { caller, operation: input.operation, input }
    }

    /// Who calls.
    pub fn caller(&self) -> &C {
        &self.caller
    }

    /// The query's parameters, decoded, in the order they were sent.
    pub fn query(&self) -> &[Pair] {
        &self.input.query
    }

    /// The body as it was sent.
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

/// The validated input of a request.
pub(crate) fn input(request: &Request) -> poem::Result<&Arc<Input>> {
    extension(request)
}

/// What [`Route::call`](super::router::Route::call) put into the request.
fn extension<T: Send + Sync + 'static>(request: &Request) -> poem::Result<&T> {
    let missing = || std::io::Error::other("the request did not come through the router of its contract");
    request.extensions().get::<T>().ok_or_else(|| poem::error::InternalServerError(missing()))
}
