//! The workspace's public keys that verify Ed25519 signatures, and their rotation.

use std::time::Duration;

use askama::Template;
use poem::handler;

use super::LIST;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, Badge, FormChoice, Tone, badge, choices};
use domain::Error;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::signing_keys::{self, PublicKey, Replacement};

/// Path of the signing keys.
pub(super) const SIGNING_KEYS: &str = "/dashboard/developer/webhooks/signing-keys";

/// Options for the overlap: hours, or an immediate replacement. The first is the default.
const OVERLAPS: &[(&str, &str)] = &[
    ("24", "24 hours"),
    ("72", "3 days"),
    ("168", "7 days"),
    ("0", "None, once the new key signs"),
    ("now", "Delete the previous keys now: the private key may have leaked"),
];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(SIGNING_KEYS, get(Permission::ReadWorkspace, show).post(Permission::ManageWebhooks, rotate))
}

#[derive(Template)]
#[template(path = "webhooks/signing_keys.html")]
struct SigningKeysPage {
    frame: Frame,
    keys: Vec<PublicKey>,
    /// The URL of the published keys.
    url: String,
    now: jiff::Timestamp,
    form: Form,
    errors: FormErrors,
}

impl SigningKeysPage {
    fn overlaps(&self) -> Vec<FormChoice<'_>> {
        choices(OVERLAPS.iter().copied(), self.form.text("overlap"))
    }

    fn badge(&self, key: &PublicKey) -> Badge<'static> {
        match key.signs_until {
            Some(until) if until <= self.now => badge(Tone::Quiet, "replaced"),
            _ if key.signs_from > self.now => badge(Tone::Busy, "published"),
            _ => badge(Tone::Good, "signs"),
        }
    }
}

async fn page(request: &DashboardRequest, form: Form, errors: FormErrors) -> domain::Result<SigningKeysPage> {
    Ok(SigningKeysPage {
        frame: request.frame(Section::Webhooks, "Signing keys"),
        keys: signing_keys::list(request.app(), request.workspace()).await?,
        url: format!("{}/webhooks/{}/jwks.json", request.base_url(), request.workspace()),
        now: request.app().clock.now(),
        form,
        errors,
    })
}

#[handler]
async fn show(request: DashboardRequest) -> PageResponse {
    request.show(&page(&request, Form::default(), FormErrors::default()).await?)
}

#[handler]
async fn rotate(request: DashboardRequest, form: Form) -> PageResponse {
    let choice = form.text("overlap");
    let is_offered = OVERLAPS.iter().any(|(value, _)| *value == choice);
    let replacement = match choice.parse().ok().filter(|_| is_offered) {
        Some(hours) => Replacement::Overlap(Duration::from_hours(hours)),
        None if choice == "now" => Replacement::Immediate,
        None => {
            let mut errors = FormErrors::default();
            errors.add("overlap", "must be one of the listed values");
            return request.show_errors(&page(&request, form, errors).await?);
        }
    };
    let mut write = request.begin_write().await?;
    let rotated =
        signing_keys::rotate(request.app(), &mut write, request.seal(), request.workspace(), replacement)
            .await;
    match rotated {
        Ok(key) => {
            request.commit_once(&form, write, Action::SigningKeyRotated, key.id, &key.text()).await?;
            let text = match replacement {
                Replacement::Overlap(_) => "The new public key is published. It signs in 6 minutes.",
                Replacement::Immediate => "The new public key is published. It signs now.",
            };
            request.redirect_with(SIGNING_KEYS, &Flash::success(text))
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            request.show_errors(&page(&request, form, errors.into()).await?)
        }
        Err(error) => Err(error.into()),
    }
}
