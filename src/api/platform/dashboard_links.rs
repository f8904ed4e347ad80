//! The operation `createDashboardLink`.

use secrecy::ExposeSecret;

use super::generated::dashboard_links::{
    CreateDashboardLinkRequest, CreateDashboardLinkResponse, DashboardLinks,
};
use super::generated::schemas::{self, DashboardLink};
use super::{Call, PlatformHandlers};
use crate::error::{ApiError, Reply};
use contract_runtime::payload::Json;
use domain::retry::retry_on_conflict;
use domain::roles::{Role, Roles};
use domain::users::{self, LinkHolder};
use domain::{IdOrKey, workspaces};

impl DashboardLinks for PlatformHandlers {
    async fn create_dashboard_link(
        &self,
        call: Call,
        request: CreateDashboardLinkRequest,
    ) -> Reply<CreateDashboardLinkResponse> {
        let new = request.body;
        let reference: IdOrKey = new.workspace.as_str().into();
        let workspace = workspaces::find(&self.app, &reference).await;
        let workspace = workspace.map_err(|error| match error {
            domain::Error::NotFound(missing) => ApiError::not_found_in_body("workspace", &missing),
            error => error.into(),
        })?;
        let roles = new.role.as_ref().map_or(Roles::DEFAULT, |roles| roles.iter().map(role).collect());
        let link = retry_on_conflict(|| async {
            let mut write = self.app.begin_write().await.map_err(domain::Error::from)?;
            let holder = LinkHolder { email: &new.email, name: new.name.as_deref(), roles };
            let link =
                users::create_sign_in_link(&self.app, &mut write, &workspace, holder, &call.public_url)
                    .await?;
            write.commit().await.map_err(domain::Error::from)?;
            domain::Result::Ok(link)
        })
        .await?;
        let url = link.url.expose_secret().to_owned();
        Ok(CreateDashboardLinkResponse::Created(Json::Value(DashboardLink {
            url,
            expires_at: link.expires_at.into(),
        })))
    }
}

fn role(role: &schemas::Role) -> Role {
    match role {
        schemas::Role::Owner => Role::Owner,
        schemas::Role::Developer => Role::Developer,
        schemas::Role::Manager => Role::Manager,
        schemas::Role::Viewer => Role::Viewer,
    }
}
