//! A request that its contract accepts.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use poem::{FromRequest, Request, RequestBody};
use serde_json::Value;

use super::contract::Operation;
use super::router::Captured;
use super::validate::query::Pair;

/// The parameters and the body of a request, after validation.
#[derive(Debug)]
pub struct Input {
    /// The operation.
    pub operation: &'static Operation,
    /// The path's parameters, decoded, in the order of the path.
    pub captured: Captured,
    /// The query's parameters, decoded, in the order they were sent.
    pub query: Vec<Pair>,
    /// The body as it was sent; empty for operations that take none.
    pub body: Bytes,
    /// The body as JSON, until the operation takes it.
    pub(crate) value: Mutex<Option<Value>>,
}

impl Input {
    /// Takes the body's value: `None` for the second time, and for a body that is not JSON.
    pub(crate) fn take_value(&self) -> Option<Value> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A call of an operation. Dereferences to its caller.
#[derive(Debug)]
pub struct Call<C> {
    /// Who calls.
    pub caller: Arc<C>,
    /// The operation.
    pub operation: &'static Operation,
    input: Arc<Input>,
}

impl<C> Call<C> {
    pub(crate) fn new(caller: Arc<C>, input: Arc<Input>) -> Self {
        Self { caller, operation: input.operation, input }
    }

    /// The query's parameters, decoded, in the order they were sent.
    pub fn query(&self) -> &[Pair] {
        &self.input.query
    }

    /// The body as it was sent; empty for operations that take none.
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
