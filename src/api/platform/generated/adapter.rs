// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! Serves the traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::operations;
use super::schemas;
use super::{changes, event_feed, dashboard_links};
use contract_runtime::call::Call;
use contract_runtime::parameter::Query;
use contract_runtime::payload::{JsonBody, Lines};
use contract_runtime::scalar::Timestamp;
use contract_runtime::security::{SecurityRequirement, SecurityScheme};
use contract_runtime::service::respond;

/// A tag of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// Changes of the platform, such as new courses, students and orders.
    #[oai(rename = "changes")]
    Changes,
    /// The events of all workspaces, in one order.
    #[oai(rename = "event_feed")]
    EventFeed,
    /// Links that sign a person in to the dashboard.
    #[oai(rename = "dashboard_links")]
    DashboardLinks,
}

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
pub enum Scope {
    /// `write:changes`.
    #[oai(rename = "write:changes")]
    WriteChanges,
    /// `read:events`.
    #[oai(rename = "read:events")]
    ReadEvents,
    /// `write:dashboard_links`.
    #[oai(rename = "write:dashboard_links")]
    WriteDashboardLinks,
}

impl Scope {
    /// All scopes, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::WriteChanges,
        Self::ReadEvents,
        Self::WriteDashboardLinks,
    ];
    /// Returns the scope as a string, such as `read:courses`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteChanges => "write:changes",
            Self::ReadEvents => "read:events",
            Self::WriteDashboardLinks => "write:dashboard_links",
        }
    }
}

/// The security scheme `platformToken`: how clients send their API keys.
pub struct Keys;

impl SecurityScheme for Keys {
    const NAME: &'static str = "platformToken";
    const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
}

/// Serves an implementation of the traits of all tags as a poem-openapi API.
pub struct PlatformV1<S>(pub S);

#[OpenApi]
impl<
    S: changes::Changes + event_feed::EventFeed + dashboard_links::DashboardLinks,
> PlatformV1<S> {
    /// Import changes
    #[oai(
        path = "/platform/v1/changes",
        method = "post",
        operation_id = "importChanges",
        tag = "Tag::Changes"
    )]
    async fn import_changes(
        &self,
        #[oai(scope = "Scope::WriteChanges")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "dry_run", default = "import_changes_dry_run_default")]
        dry_run: Query<bool>,
        #[oai(name = "mode", default = "import_changes_mode_default")]
        mode: Query<schemas::ImportChangesMode>,
        body: Lines<schemas::Change>,
    ) -> changes::ImportChangesResponse {
        let request = changes::ImportChangesRequest {
            dry_run: dry_run.0,
            mode: mode.0,
            body,
        };
        respond(&self.0, &call, self.0.import_changes(call.clone(), request).await)
    }
    /// List events
    #[oai(
        path = "/platform/v1/events",
        method = "get",
        operation_id = "listEvents",
        tag = "Tag::EventFeed"
    )]
    async fn list_events(
        &self,
        #[oai(scope = "Scope::ReadEvents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 200, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_events_limit_default",
            validator(minimum(value = "1"), maximum(value = "1000"))
        )]
        limit: Query<i32>,
        #[oai(
            name = "wait",
            default = "list_events_wait_default",
            validator(minimum(value = "0"), maximum(value = "30"))
        )]
        wait: Query<i32>,
        #[oai(name = "type")]
        r#type: Query<Option<schemas::ListEventsType>>,
        #[oai(
            name = "workspace_id",
            validator(pattern = "^wks_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        workspace_id: Query<Option<String>>,
        #[oai(name = "mode", default = "list_events_mode_default")]
        mode: Query<schemas::ListEventsMode>,
        #[oai(name = "after")]
        after: Query<Option<Timestamp>>,
    ) -> event_feed::ListEventsResponse {
        let request = event_feed::ListEventsRequest {
            cursor: cursor.0,
            limit: limit.0,
            wait: wait.0,
            r#type: r#type.0,
            workspace_id: workspace_id.0,
            mode: mode.0,
            after: after.0,
        };
        respond(&self.0, &call, self.0.list_events(call.clone(), request).await)
    }
    /// Create a sign-in link to the dashboard
    #[oai(
        path = "/platform/v1/dashboard-links",
        method = "post",
        operation_id = "createDashboardLink",
        tag = "Tag::DashboardLinks"
    )]
    async fn create_dashboard_link(
        &self,
        #[oai(scope = "Scope::WriteDashboardLinks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        body: JsonBody<schemas::NewDashboardLink>,
    ) -> dashboard_links::CreateDashboardLinkResponse {
        let request = dashboard_links::CreateDashboardLinkRequest {
            body: body.0,
        };
        respond(
            &self.0,
            &call,
            self.0.create_dashboard_link(call.clone(), request).await,
        )
    }
}

fn import_changes_dry_run_default() -> bool {
    false
}

fn import_changes_mode_default() -> schemas::ImportChangesMode {
    schemas::ImportChangesMode::Live
}

fn list_events_limit_default() -> i32 {
    100
}

fn list_events_wait_default() -> i32 {
    0
}

fn list_events_mode_default() -> schemas::ListEventsMode {
    schemas::ListEventsMode::Live
}
