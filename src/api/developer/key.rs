//! The operation `getCurrentKey`.

use super::DeveloperHandlers;
use super::generated::key::{GetCurrentKeyRequest, GetCurrentKeyResponse, Key};
use super::generated::schemas::{CurrentKey, KeyLimits, KeyWorkspace};
use crate::call::Call;
use crate::error::Reply;
use crate::v1::id_string;
use contract_runtime::payload::Json;
use domain::{keys, workspaces};

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
            workspace: KeyWorkspace { id: id_string(workspace.id), name: workspace.name },
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Into::into),
        })))
    }
}
