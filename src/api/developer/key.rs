//! The operations on the API key of the request.

use std::time::Duration;

use secrecy::ExposeSecret;

use super::DeveloperHandlers;
use super::generated::key::{
    GetCurrentKeyRequest, GetCurrentKeyResponse, Key, RotateCurrentKeyRequest, RotateCurrentKeyResponse,
};
use super::generated::schemas::{CurrentKey, KeyLimits, KeyWorkspace, RotatedKey, WorkspaceMode};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::idempotency::run_once_sealed;
use crate::v1::id_string;
use contract_runtime::payload::Json;
use domain::audit::Action;
use domain::keys::{self, KeyRotation};
use domain::workspaces::{self, Mode};

impl Key for DeveloperHandlers {
    async fn get_current_key(&self, call: Call, _: GetCurrentKeyRequest) -> Reply<GetCurrentKeyResponse> {
        let (key, quota) = keys::get(&self.app, call.workspace, call.key).await?;
        let workspace = workspaces::get(&self.app, call.workspace).await?;
        Ok(GetCurrentKeyResponse::Ok(Json::Value(CurrentKey {
            id: id_string(key.id),
            name: key.name,
            prefix: key.prefix,
            scopes: key.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            limits: KeyLimits {
                per_minute: quota.per_minute.requests.into(),
                per_day: quota.per_day.requests.into(),
            },
            workspace: KeyWorkspace {
                id: id_string(workspace.id),
                name: workspace.name,
                mode: match workspace.mode {
                    Mode::Live => WorkspaceMode::Live,
                    Mode::Test => WorkspaceMode::Test,
                },
            },
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Into::into),
        })))
    }

    async fn rotate_current_key(
        &self,
        call: Call,
        request: RotateCurrentKeyRequest,
    ) -> Reply<RotateCurrentKeyResponse> {
        let (handlers, caller, seal) = (self.clone(), call.clone(), &self.response_seal);
        let overlap = Duration::from_secs(request.body.overlap_seconds.unsigned_abs().into());
        run_once_sealed(&self.app, call, request.idempotency_key, seal, move |write| {
            let (handlers, call) = (handlers.clone(), caller.clone());
            Box::pin(async move {
                let app = &handlers.app;
                let rotation = KeyRotation {
                    workspace: Some(call.workspace),
                    key: call.key,
                    current_digest: Some(call.secret_digest),
                    overlap,
                };
                let rotated = keys::rotate(app, write, rotation).await.map_err(rotation_error)?;
                keys::notify_owners(app, write, &rotated, call.address).await?;
                let entry = (Action::KeyRotated, id_string(call.key), &*rotated.audit_detail());
                handlers.audit(write, &call, entry).await?;
                Ok(RotateCurrentKeyResponse::Ok(Json::Value(RotatedKey {
                    key_id: id_string(call.key),
                    secret: rotated.secret.expose_secret().to_owned(),
                    old_secret_expires_at: rotated.old_until.map(Into::into),
                })))
            })
        })
        .await
    }
}

/// Converts an error of a rotation. The contract limits the overlap, so an invalid value is always the state of the key.
fn rotation_error(error: domain::Error) -> ApiError {
    match error {
        domain::Error::Invalid(errors) => {
            let reasons: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            ApiError::conflict(format!("The key {}.", reasons.join(", and ")))
        }
        error => error.into(),
    }
}
