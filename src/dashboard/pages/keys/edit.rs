//! Changes of a key: name, scopes, expiry and networks.

use askama::Template;
use jiff::Timestamp;
use poem::handler;
use poem::web::Path;

use super::{EXPIRIES, LIST, find, parse_expiry, parse_networks, parse_scopes, path, reject, scope_choices};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, choices};
use domain::Error;
use domain::audit::Action;
use domain::keys::{self, KeyChange, KeyRecord};
use domain::roles::Permission;
use foundation::config::Network;

/// The option that keeps the expiry.
const KEEP: &str = "keep";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(
        "/dashboard/developer/keys/:key/edit",
        get(Permission::ManageKeys, show_form).post(Permission::ManageKeys, edit),
    )
}

#[derive(Template)]
#[template(path = "keys/edit.html")]
struct EditKeyPage {
    frame: Frame,
    record: KeyRecord,
    form: Form,
    errors: FormErrors,
    /// The label of the option [`KEEP`].
    keep: String,
}

impl EditKeyPage {
    fn new(request: &DashboardRequest, record: KeyRecord, form: Form, errors: FormErrors) -> Self {
        let expiry = |end: &Timestamp| request.zone().text(end);
        let expiry = record.expires_at.as_ref().map_or_else(|| "never".to_owned(), expiry);
        let frame = request.frame(Section::Keys, "Edit API key");
        Self { frame, record, form, errors, keep: format!("Unchanged: {expiry}") }
    }

    fn expiries(&self) -> Vec<FormChoice<'_>> {
        let others = EXPIRIES.iter().copied();
        choices(std::iter::once((KEEP, &*self.keep)).chain(others), self.form.text("expires"))
    }
}

/// Returns the networks of a key as the form contains them.
fn networks(record: &KeyRecord) -> String {
    record.networks.iter().map(Network::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the values that the form changes, as one text. The form sends it along, so that it does not restore what somebody else
/// has changed since the page was loaded.
fn version(record: &KeyRecord) -> String {
    let scopes: Vec<&str> = record.scopes.iter().map(|scope| scope.as_str()).collect();
    let expiry = record.expires_at.map_or_else(|| "never".to_owned(), |end| end.to_string());
    [&*scopes.join(" "), &expiry, &networks(record), &record.name].join("; ")
}

/// Returns the form with the values of a key.
fn filled(record: &KeyRecord) -> Form {
    let mut fields = vec![
        ("version", version(record)),
        ("name", record.name.clone()),
        ("expires", KEEP.to_owned()),
        ("networks", networks(record)),
    ];
    fields.extend(record.scopes.iter().map(|scope| ("scopes", scope.to_string())));
    Form::filled(fields)
}

#[handler]
async fn show_form(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let record = find(&request, &key).await?;
    request.require_recent_sign_in(&path(&record.id, "edit"))?;
    let form = filled(&record);
    request.show(&EditKeyPage::new(&request, record, form, FormErrors::default()))
}

/// All changes need a recent sign-in, since a new scope, a later expiry and other networks give programs more access.
#[handler]
async fn edit(request: DashboardRequest, Path(key): Path<String>, form: Form) -> PageResponse {
    let record = find(&request, &key).await?;
    request.require_recent_sign_in(&path(&record.id, "edit"))?;
    let mut errors = FormErrors::default();
    let change = KeyChange {
        name: form.text("name").trim().to_owned(),
        scopes: parse_scopes(&form, &mut errors),
        expires_at: match form.text("expires") {
            KEEP => record.expires_at,
            _ => parse_expiry(&request, &form, &mut errors),
        },
        networks: parse_networks(&form, &mut errors),
    };
    if !errors.is_empty() {
        return request.show_errors(&EditKeyPage::new(&request, record, form, errors));
    }
    let mut write = request.begin_write().await?;
    match keys::edit(request.app(), &mut write, request.workspace(), record.id, change).await {
        Ok((before, after)) if before == after => request.redirect_with(LIST, &Flash::info("No changes.")),
        Ok((before, _)) if form.text("version") != version(&before) => {
            drop(write);
            outdated(&request, before)
        }
        Ok((before, after)) => {
            let detail = keys::describe_edit(&before, &after);
            request.commit(write, Action::KeyEdited, after.id, &detail).await?;
            let text = format!("\u{201c}{}\u{201d} was changed.", after.name);
            request.redirect_with(LIST, &Flash::success(text))
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            let errors = FormErrors::from(errors);
            match errors.message_for("key") {
                Some(reason) => reject(&request, &record, reason),
                None => request.show_errors(&EditKeyPage::new(&request, record, form, errors)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Renders the form again with the current values.
fn outdated(request: &DashboardRequest, record: KeyRecord) -> PageResponse {
    let mut errors = FormErrors::default();
    let text = "This key was changed after this page was loaded. Nothing was saved. The form contains the current values: make your \
                changes again";
    errors.add("version", text);
    let form = filled(&record);
    request.show_errors(&EditKeyPage::new(request, record, form, errors))
}
