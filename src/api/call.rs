//! An admitted request: who calls, under which key, which operation.

use std::marker::PhantomData;

use poem::{FromRequest, Request, RequestBody};

use super::contract::{Describes, Operation};
use crate::id::{KeyId, WorkspaceId};

/// Who calls, and what.
#[derive(Debug, Clone)]
pub struct Call {
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request's id, as the response carries it.
    pub request_id: String,
    /// The operation called.
    pub operation: &'static Operation,
}

/// A request of operation `O` that passed scope, media type and validation: parameters and body are what the
/// contract says.
#[derive(Debug, Clone)]
pub struct Checked<O>(pub Call, PhantomData<O>);

impl<'a, O: Describes + Send> FromRequest<'a> for Checked<O> {
    async fn from_request(_request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        todo!()
    }
}
