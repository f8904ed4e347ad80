//! API keys: the list, a new one with its secret shown once, the end of one.

use askama::Template;
use jiff::{SignedDuration, Timestamp};
use poem::handler;
use poem::web::Path;
use secrecy::{ExposeSecret, SecretString};

use crate::failure::Failure;
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui::{self, Choice, Tone};
use domain::audit::Action;
use domain::keys::{self, EffectiveQuota, KeyRecord, KeyUsage, Limit, NewKey};
use domain::scope::Scope;
use domain::workspaces::Quota;
use domain::{Changed, Error};
use foundation::id::KeyId;

const LIST: &str = "/dashboard/developer";

/// Days after which a key may end, as the form offers them.
const EXPIRIES: &[(&str, &str)] =
    &[("", "Never"), ("7", "In 7 days"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year")];

pub(super) fn routes(route: Route) -> Route {
    route
        .at(LIST, get(list))
        .at("/dashboard/developer/keys/new", get(new).post(create))
        .at("/dashboard/developer/keys/:key/revoke", get(ask).post(revoke))
}

#[derive(Template)]
#[template(path = "keys/list.html")]
struct ListPage {
    frame: Frame,
    keys: Vec<Row>,
}

/// A key as the list shows it.
struct Row {
    record: KeyRecord,
    /// Its calls of today, and how many it may make.
    calls: String,
    now: Timestamp,
}

impl Row {
    fn of(usage: KeyUsage, now: Timestamp) -> Self {
        let calls =
            format!("{} of {}", ui::number(usage.calls_today), ui::number(usage.quota.per_day.requests));
        Self { record: usage.key, calls, now }
    }

    fn is_active(&self) -> bool {
        self.record.revoked_at.is_none() && !self.is_expired()
    }

    fn is_expired(&self) -> bool {
        self.record.expires_at.is_some_and(|end| end <= self.now)
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
async fn list(page: Page) -> Answer {
    let now = page.app().clock.now();
    let keys = keys::usage(page.app(), page.workspace()).await?;
    let mut keys: Vec<Row> = keys.into_iter().map(|usage| Row::of(usage, now)).collect();
    // Stable: both parts stay newest first.
    keys.sort_by_key(|key| !key.is_active());
    page.show(&ListPage { frame: page.frame(Section::Keys, "API keys"), keys })
}

#[derive(Template)]
#[template(path = "keys/new.html")]
struct NewPage {
    frame: Frame,
    form: Form,
    faults: Faults,
    minute_hint: String,
    day_hint: String,
}

impl NewPage {
    fn of(page: &Page, form: Form, faults: Faults) -> Self {
        let quota = EffectiveQuota::of_workspace(page.viewer().workspace.quota, &page.app().config.limits);
        let hint = |most: Limit| {
            let most = ui::number(most.requests);
            format!("At most {most}, the quota of the workspace. Leave empty to use that.")
        };
        let (minute_hint, day_hint) = (hint(quota.per_minute), hint(quota.per_day));
        let frame = page.frame(Section::Keys, "New API key");
        Self { frame, form, faults, minute_hint, day_hint }
    }

    fn scopes(&self) -> Vec<Choice<'_>> {
        let choice = |scope: &Scope| {
            let (value, hint) = (scope.as_str(), grants(*scope));
            Choice { value, label: value, hint, chosen: self.form.has("scopes", value) }
        };
        Scope::ALL.iter().map(choice).collect()
    }

    fn expiries(&self) -> Vec<Choice<'_>> {
        let chosen = self.form.text("expires");
        let choice = |(value, label): &(&'static str, &'static str)| Choice {
            value,
            label,
            hint: "",
            chosen: *value == chosen,
        };
        EXPIRIES.iter().map(choice).collect()
    }
}

/// What a scope lets a program do.
const fn grants(scope: Scope) -> &'static str {
    match scope {
        Scope::ReadCourses => "List courses and read one with its modules and lessons.",
        Scope::ReadStudents => "List students with their progress and enrolments.",
        Scope::WriteStudents => "Create students.",
        Scope::ReadOrders => "List orders with items, refunds and receipts.",
        Scope::WriteEnrollments => "Enrol students in courses.",
        Scope::ReadAnalytics => "Read revenue and completion figures.",
    }
}

#[handler]
async fn new(page: Page) -> Answer {
    page.show(&NewPage::of(&page, Form::default(), Faults::default()))
}

#[derive(Template)]
#[template(path = "keys/created.html")]
struct CreatedPage<'a> {
    frame: Frame,
    record: &'a KeyRecord,
    secret: &'a str,
    curl: String,
}

#[handler]
async fn create(page: Page, form: Form) -> Answer {
    let mut faults = Faults::default();
    let key = read(&page, &form, &mut faults);
    if !faults.is_empty() {
        return page.show_faults(&NewPage::of(&page, form, faults));
    }
    let mut write = page.begin_write().await?;
    match keys::create_by_member(page.app(), &mut write, page.workspace(), key).await {
        Ok((record, secret)) => {
            page.commit_once(&form, write, Action::KeyCreated, record.id, &record.name).await?;
            created(&page, &record, &secret)
        }
        Err(Error::Invalid(faults)) => page.show_faults(&NewPage::of(&page, form, faults.into())),
        Err(error) => Err(error.into()),
    }
}

/// The key that a form describes, as far as it can be read.
fn read(page: &Page, form: &Form, faults: &mut Faults) -> NewKey {
    let (per_minute, per_day) = (form.number("per_minute", faults), form.number("per_day", faults));
    let scopes: Vec<Scope> = form.all("scopes").filter_map(|scope| scope.parse().ok()).collect();
    if scopes.len() != form.all("scopes").count() {
        faults.add("scopes", "must be among those that are listed");
    }
    let days = form.text("expires");
    if !EXPIRIES.iter().any(|(value, _)| *value == days) {
        faults.add("expires", "must be one of those that are listed");
    }
    let lives = days.parse().ok().map(|days: i64| SignedDuration::from_hours(24 * days));
    NewKey {
        name: form.text("name").trim().to_owned(),
        scopes: scopes.into_iter().collect(),
        quota: Quota { per_minute, per_day },
        expires_at: lives.and_then(|lives| page.app().clock.now().checked_add(lives).ok()),
    }
}

/// The one page that shows the secret: the answer to the form itself, which nobody keeps.
fn created(page: &Page, record: &KeyRecord, secret: &SecretString) -> Answer {
    let secret = secret.expose_secret();
    let curl =
        format!("curl -H 'Authorization: Bearer {secret}' '{}/api/v1/courses?limit=2'", page.address());
    page.show(&CreatedPage { frame: page.frame(Section::Keys, "Your new API key"), record, secret, curl })
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct RevokePage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn ask(page: Page, Path(key): Path<String>) -> Answer {
    let key: KeyId = key.parse()?;
    let all = keys::list(page.app(), page.workspace()).await?;
    let record = all.into_iter().find(|record| record.id == key).ok_or(Failure::NotFound)?;
    if record.revoked_at.is_some() {
        return page.redirect_with(LIST, &already(&record));
    }
    let frame = page.frame(Section::Keys, format!("Revoke {}?", record.name));
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: "Every request with this key is refused from now on. A revoked key does not come back.",
        action: &format!("/dashboard/developer/keys/{key}/revoke"),
        button: "Revoke key",
        back: LIST,
    };
    page.show(&RevokePage { frame, confirm })
}

#[handler]
async fn revoke(page: Page, Path(key): Path<String>) -> Answer {
    let key: KeyId = key.parse()?;
    let mut write = page.begin_write().await?;
    let Changed { record, changed } =
        keys::revoke(page.app(), &mut write, Some(page.workspace()), key).await?;
    if !changed {
        return page.redirect_with(LIST, &already(&record));
    }
    page.commit(write, Action::KeyRevoked, record.id, &record.name).await?;
    page.redirect_with(LIST, &Flash::done(format!("\u{201c}{}\u{201d} is revoked.", record.name)))
}

fn already(record: &KeyRecord) -> Flash {
    Flash::note(format!("\u{201c}{}\u{201d} was revoked before; nothing was changed.", record.name))
}
