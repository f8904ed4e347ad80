//! Rotation of a key's secret, and the end of its old secret before the overlap ends.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{ConfirmKeyPage, LIST, find, path, reject, show_secret};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::pages::webhooks::{OVERLAPS, overlap};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, choices};
use domain::audit::Action;
use domain::keys::{self, KeyRecord, KeyRotation};
use domain::roles::Permission;
use domain::{Error, WriteOutcome};

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(
            "/dashboard/developer/keys/:key/rotate",
            get(Permission::ManageKeys, show_form).post(Permission::ManageKeys, rotate),
        )
        .at(
            "/dashboard/developer/keys/:key/end-old-secret",
            get(Permission::ManageKeys, confirm_end).post(Permission::ManageKeys, end),
        )
}

#[derive(Template)]
#[template(path = "keys/rotate.html")]
struct RotateKeyPage {
    frame: Frame,
    record: KeyRecord,
    form: Form,
    errors: FormErrors,
}

impl RotateKeyPage {
    fn new(request: &DashboardRequest, record: KeyRecord, form: Form, errors: FormErrors) -> Self {
        let frame = request.frame(Section::Keys, format!("Rotate {}?", record.name));
        Self { frame, record, form, errors }
    }

    fn overlaps(&self) -> Vec<FormChoice<'_>> {
        choices(OVERLAPS.iter().copied(), self.form.text("overlap"))
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let record = find(&request, &key).await?;
    request.require_recent_sign_in(&path(&record.id, "rotate"))?;
    request.show(&RotateKeyPage::new(&request, record, Form::default(), FormErrors::default()))
}

#[handler]
async fn rotate(request: DashboardRequest, Path(key): Path<String>, form: Form) -> PageResponse {
    let record = find(&request, &key).await?;
    request.require_recent_sign_in(&path(&record.id, "rotate"))?;
    let Some(overlap) = overlap(&form) else {
        let mut errors = FormErrors::default();
        errors.add("overlap", "must be one of the listed values");
        return request.show_errors(&RotateKeyPage::new(&request, record, form, errors));
    };
    let workspace = Some(request.workspace());
    let rotation = KeyRotation { workspace, key: record.id, current_digest: None, overlap };
    let mut write = request.begin_write().await?;
    match keys::rotate(request.app(), &mut write, rotation).await {
        Ok(rotated) => {
            let detail = rotated.audit_detail();
            request.commit_once(&form, write, Action::KeyRotated, record.id, &detail).await?;
            let old_until = Some(rotated.old_until);
            show_secret(&request, "API key rotated", &rotated.key, &rotated.secret, old_until)
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            let reason = FormErrors::from(errors);
            reject(&request, &record, reason.message_for("key").unwrap_or("was not rotated"))
        }
        Err(error) => Err(error.into()),
    }
}

#[handler]
async fn confirm_end(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let record = find(&request, &key).await?;
    let frame = request.frame(Section::Keys, format!("End the old secret of {}?", record.name));
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "Requests with the old secret will be rejected within 2 seconds. This cannot be undone.",
        action: &path(&record.id, "end-old-secret"),
        button: "End old secret",
        back: LIST,
    };
    request.show(&ConfirmKeyPage { frame, confirm })
}

#[handler]
async fn end(request: DashboardRequest, Path(key): Path<String>) -> PageResponse {
    let key = key.parse()?;
    let mut write = request.begin_write().await?;
    let WriteOutcome { record, changed } =
        keys::end_old_secret(request.app(), &mut write, request.workspace(), key).await?;
    if !changed {
        return reject(&request, &record, "has no old secret");
    }
    request.commit(write, Action::OldKeySecretEnded, record.id, &record.name).await?;
    let text = format!("The old secret of \u{201c}{}\u{201d} ended.", record.name);
    request.redirect_with(LIST, &Flash::success(text))
}
