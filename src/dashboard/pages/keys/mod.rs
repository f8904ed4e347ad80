//! API keys: list, creation, changes, rotation and revocation. A new secret is shown once.

mod edit;
mod rotate;

use askama::Template;
use jiff::{SignedDuration, Timestamp};
use poem::handler;
use poem::web::Path;
use secrecy::{ExposeSecret, SecretString};

use crate::error::PageError;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, Tone, choices};
use domain::audit::Action;
use domain::keys::{self, EffectiveQuota, KeyRecord, KeyUsage, Limit, NewKey, OldSecret};
use domain::roles::Permission;
use domain::scope::{DeveloperScope, Scope, Scopes, V1Scope};
use domain::workspaces::Quota;
use domain::{Error, WriteOutcome};
use foundation::config::Network;
use foundation::id::KeyId;

const LIST: &str = "/dashboard/developer";
const NEW: &str = "/dashboard/developer/keys/new";

/// Expiry options: days, or empty for never, and label.
const EXPIRIES: &[(&str, &str)] =
    &[("", "Never"), ("7", "In 7 days"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In 1 year")];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    let route = route
        .at(LIST, get(Permission::ReadWorkspace, list))
        .at(NEW, get(Permission::ManageKeys, new).post(Permission::ManageKeys, create))
        .at(
            "/dashboard/developer/keys/:key/revoke",
            get(Permission::ManageKeys, confirm_revoke).post(Permission::ManageKeys, revoke),
        );
    rotate::routes(edit::routes(route))
}

/// Returns the path of a form about a key.
fn path(key: &KeyId, form: &str) -> String {
    format!("/dashboard/developer/keys/{key}/{form}")
}

/// Returns a key of the workspace, also a revoked or expired one.
async fn find(request: &DashboardRequest, key: &str) -> std::result::Result<KeyRecord, PageError> {
    Ok(keys::get(request.app(), request.workspace(), key.parse()?).await?.0)
}

/// Redirects to the list, with the reason why a key was not changed.
fn reject(request: &DashboardRequest, key: &KeyRecord, reason: &str) -> PageResponse {
    request.redirect_with(LIST, &Flash::info(format!("\u{201c}{}\u{201d} {reason}.", key.name)))
}

#[derive(Template)]
#[template(path = "keys/list.html")]
struct KeyListPage {
    frame: Frame,
    keys: Vec<KeyRow>,
    /// When the daily quotas reset.
    quota_resets_at: Timestamp,
}

/// A row of the list.
struct KeyRow {
    record: KeyRecord,
    old_secret: Option<OldSecret>,
    /// The requests that count toward the daily quota, and the quota: "2 of 10,000".
    quota_used: String,
    now: Timestamp,
}

impl KeyRow {
    fn new(usage: KeyUsage, now: Timestamp) -> Self {
        let quota_used =
            format!("{} of {}", ui::number(usage.calls_today), ui::number(usage.quota.per_day.requests));
        Self { record: usage.key, old_secret: usage.old_secret, quota_used, now }
    }

    fn is_active(&self) -> bool {
        self.record.is_valid(self.now)
    }

    fn is_expired(&self) -> bool {
        self.record.expires_at.is_some_and(|expires_at| expires_at <= self.now)
    }

    fn badge(&self) -> ui::Badge<'static> {
        if self.record.revoked_at.is_some() {
            ui::badge(Tone::Quiet, "revoked")
        } else if self.is_expired() {
            ui::badge(Tone::Warn, "expired")
        } else {
            ui::badge(Tone::Good, "active")
        }
    }
}

#[handler]
async fn list(request: DashboardRequest) -> PageResponse {
    let now = request.app().clock.now();
    let keys = keys::list_usage(request.app(), request.workspace()).await?;
    let mut rows: Vec<KeyRow> = keys.into_iter().map(|usage| KeyRow::new(usage, now)).collect();
    // The sort is stable: active and inactive keys both stay newest first.
    rows.sort_by_key(|row| !row.is_active());
    let quota_resets_at = keys::daily_quota_resets_at(request.app());
    request.show(&KeyListPage {
        frame: request.frame(Section::Keys, "API keys"),
        keys: rows,
        quota_resets_at,
    })
}

#[derive(Template)]
#[template(path = "keys/new.html")]
struct NewKeyPage {
    frame: Frame,
    form: Form,
    errors: FormErrors,
    minute_hint: String,
    day_hint: String,
}

impl NewKeyPage {
    fn new(request: &DashboardRequest, form: Form, errors: FormErrors) -> Self {
        let quota =
            EffectiveQuota::of_workspace(request.viewer().workspace.quota, &request.app().config.limits);
        let hint = |limit: Limit| {
            let maximum = ui::number(limit.requests);
            format!("At most {maximum}, the workspace quota. Leave empty to use the workspace quota.")
        };
        let (minute_hint, day_hint) = (hint(quota.per_minute), hint(quota.per_day));
        let frame = request.frame(Section::Keys, "New API key");
        Self { frame, form, errors, minute_hint, day_hint }
    }

    fn expiries(&self) -> Vec<FormChoice<'_>> {
        choices(EXPIRIES.iter().copied(), self.form.text("expires"))
    }
}

/// Returns the options for the scopes of a key, with those selected that a form contains.
fn scope_choices(form: &Form) -> Vec<FormChoice<'static>> {
    let choice = |scope: &Scope| {
        let (value, hint) = (scope.as_str(), scope_description(*scope));
        FormChoice { value, label: value, hint, is_selected: form.contains("scopes", value) }
    };
    Scope::ALL.iter().map(choice).collect()
}

/// Returns the description of a scope.
const fn scope_description(scope: Scope) -> &'static str {
    match scope {
        Scope::V1(V1Scope::ReadCourses) => "Read courses with their modules and lessons.",
        Scope::V1(V1Scope::ReadStudents) => "Read students with their progress and enrollments.",
        Scope::V1(V1Scope::WriteStudents) => "Create students.",
        Scope::V1(V1Scope::ReadOrders) => "Read orders with items, refunds and receipts.",
        Scope::V1(V1Scope::WriteEnrollments) => "Enroll students in courses.",
        Scope::V1(V1Scope::ReadAnalytics) => "Read revenue and completion figures.",
        Scope::Developer(DeveloperScope::WriteKeys) => "Rotate the secret of the key itself.",
        Scope::Developer(DeveloperScope::ReadWebhooks) => "List and retrieve webhooks and deliveries.",
        Scope::Developer(DeveloperScope::WriteWebhooks) => {
            "Manage and test webhooks, preview filters, rotate secrets, and send deliveries again."
        }
        Scope::Developer(DeveloperScope::ReadEvents) => "List and stream all events of the workspace.",
    }
}

#[handler]
async fn new(request: DashboardRequest) -> PageResponse {
    request.require_recent_sign_in(NEW)?;
    request.show(&NewKeyPage::new(&request, Form::default(), FormErrors::default()))
}

#[derive(Template)]
#[template(path = "keys/secret.html")]
struct KeySecretPage<'a> {
    frame: Frame,
    record: &'a KeyRecord,
    secret: &'a str,
    old_until: Option<Option<Timestamp>>,
    curl: String,
}

#[handler]
async fn create(request: DashboardRequest, form: Form) -> PageResponse {
    request.require_recent_sign_in(NEW)?;
    let mut errors = FormErrors::default();
    let key = parse(&request, &form, &mut errors);
    if !errors.is_empty() {
        return request.show_errors(&NewKeyPage::new(&request, form, errors));
    }
    let mut write = request.begin_write().await?;
    match keys::create_by_member(request.app(), &mut write, request.workspace(), key).await {
        Ok((record, secret)) => {
            let detail = record.creation_detail();
            request.commit_once(&form, write, Action::KeyCreated, record.id, &detail).await?;
            show_secret(&request, "API key created", &record, &secret, None)
        }
        Err(Error::Invalid(errors)) => request.show_errors(&NewKeyPage::new(&request, form, errors.into())),
        Err(error) => Err(error.into()),
    }
}

/// Parses the form. Adds an error for each invalid field.
fn parse(request: &DashboardRequest, form: &Form, errors: &mut FormErrors) -> NewKey {
    let (per_minute, per_day) = (form.integer("per_minute", errors), form.integer("per_day", errors));
    NewKey {
        name: form.text("name").trim().to_owned(),
        scopes: parse_scopes(form, errors),
        quota: Quota { per_minute, per_day },
        expires_at: parse_expiry(request, form, errors),
        networks: parse_networks(form, errors),
    }
}

fn parse_scopes(form: &Form, errors: &mut FormErrors) -> Scopes {
    let scopes: Vec<Scope> = form.values("scopes").filter_map(|scope| scope.parse().ok()).collect();
    if scopes.len() != form.values("scopes").count() {
        errors.add("scopes", "must be among the listed scopes");
    }
    scopes.into_iter().collect()
}

fn parse_expiry(request: &DashboardRequest, form: &Form, errors: &mut FormErrors) -> Option<Timestamp> {
    let days = form.text("expires");
    if !EXPIRIES.iter().any(|(value, _)| *value == days) {
        errors.add("expires", "must be one of the listed values");
    }
    let lifetime = days.parse().ok().map(|days: i64| SignedDuration::from_hours(24 * days));
    lifetime.and_then(|lifetime| request.app().clock.now().checked_add(lifetime).ok())
}

fn parse_networks(form: &Form, errors: &mut FormErrors) -> Vec<Network> {
    let separators = |character: char| character == ',' || character.is_whitespace();
    let networks = form.text("networks").split(separators).filter(|text| !text.is_empty());
    let networks: Vec<Option<Network>> = networks.map(|text| text.parse().ok()).collect();
    if networks.contains(&None) {
        errors.add("networks", "must be networks such as 203.0.113.0/24, separated by commas");
    }
    networks.into_iter().flatten().collect()
}

/// Renders the only page that shows the secret. It is the response to the form and is not cached. `old_until` is when the old secret
/// ends, if it was replaced; `Some(None)` if it has ended.
fn show_secret(
    request: &DashboardRequest,
    title: &str,
    record: &KeyRecord,
    secret: &SecretString,
    old_until: Option<Option<Timestamp>>,
) -> PageResponse {
    let secret = secret.expose_secret();
    // Every key can call the second operation.
    let can_read = record.scopes.contains(Scope::V1(V1Scope::ReadCourses));
    let path = if can_read { "/api/v1/courses?limit=2" } else { "/developer/v1/me" };
    let curl = format!("curl -H 'Authorization: Bearer {secret}' '{}{path}'", request.base_url());
    request.show(&KeySecretPage {
        frame: request.frame(Section::Keys, title),
        record,
        secret,
        old_until,
        curl,
    })
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmKeyPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_revoke(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let record = find(&request, &key).await?;
    if record.revoked_at.is_some() {
        return reject(&request, &record, "is already revoked");
    }
    let frame = request.frame(Section::Keys, format!("Revoke {}?", record.name));
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "Requests with this key will be rejected within 2 seconds, also those with its old secret. This cannot be undone.",
        action: &path(&record.id, "revoke"),
        button: "Revoke key",
        back: LIST,
    };
    request.show(&ConfirmKeyPage { frame, confirm })
}

#[handler]
async fn revoke(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let key: KeyId = key.parse()?;
    let mut write = request.begin_write().await?;
    let WriteOutcome { record, changed } =
        keys::revoke(request.app(), &mut write, Some(request.workspace()), key).await?;
    if !changed {
        return reject(&request, &record, "is already revoked");
    }
    request.commit(write, Action::KeyRevoked, record.id, &record.name).await?;
    request.redirect_with(LIST, &Flash::success(format!("\u{201c}{}\u{201d} was revoked.", record.name)))
}
