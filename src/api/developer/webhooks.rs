//! The operations on webhooks, which the domain calls subscriptions.

use std::time::Duration;

use poem_openapi::types::MaybeUndefined;
use secrecy::{ExposeSecret, SecretString};

use super::DeveloperHandlers;
use super::convert::{self, error, error_at, event_type_names, header_lines, parse};
use super::deliveries::{delivery_path, pagination};
use super::generated::schemas::{NewWebhook, RotatedSecret, WebhookList, WebhookUpdate, WebhookUpdateState};
use super::generated::webhooks::{
    CreateWebhookRequest, CreateWebhookResponse, DeleteWebhookRequest, DeleteWebhookResponse,
    GetWebhookRequest, GetWebhookResponse, ListWebhooksRequest, ListWebhooksResponse, PreviewFilterRequest,
    PreviewFilterResponse, RotateWebhookSecretRequest, RotateWebhookSecretResponse, TestWebhookRequest,
    TestWebhookResponse, UpdateWebhookRequest, UpdateWebhookResponse, Webhooks,
};
use crate::call::Call;
use crate::error::Reply;
use crate::idempotency::{run_once, run_once_sealed};
use crate::v1::{id_string, paging};
use contract_runtime::payload::Json;
use domain::WriteOutcome;
use domain::audit::Action;
use domain::page::PageRequest;
use domain::webhooks::controls::{self, ControlsChange};
use domain::webhooks::headers::MASK;
use domain::webhooks::{self, HeldAction, NewSubscription, Subscription, SubscriptionChange};
use foundation::database::Write;
use foundation::id::SubscriptionId;

impl Webhooks for DeveloperHandlers {
    async fn list_webhooks(&self, call: Call, request: ListWebhooksRequest) -> Reply<ListWebhooksResponse> {
        let sort = PageRequest::newest_first(None, 1).sort;
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let list = webhooks::list_page(&self.app, call.workspace, page).await?;
        let (pagination, link) = pagination(&call, list.next);
        let data = list.items.into_iter().map(convert::webhook).collect::<Reply<_>>()?;
        Ok(ListWebhooksResponse::Ok(Json::Value(WebhookList { data, pagination }), link))
    }

    async fn create_webhook(
        &self,
        call: Call,
        request: CreateWebhookRequest,
    ) -> Reply<CreateWebhookResponse> {
        let (handlers, caller, seal) = (self.clone(), call.clone(), &self.response_seal);
        run_once_sealed(&self.app, call, request.idempotency_key, seal, move |write| {
            let (handlers, call, body) = (handlers.clone(), caller.clone(), request.body.clone());
            Box::pin(async move {
                let (created, secret) = handlers.create(write, &call, body).await?;
                let location = format!("{}/{}", call.operation.path, created.id);
                let secret = secret.expose_secret().to_owned();
                let created = convert::webhook_with_secret(convert::webhook(created)?, secret);
                Ok(CreateWebhookResponse::Created(Json::Value(created), location))
            })
        })
        .await
    }

    async fn get_webhook(&self, call: Call, request: GetWebhookRequest) -> Reply<GetWebhookResponse> {
        let found = webhooks::get(&self.app, call.workspace, parse(&request.id)?).await?;
        Ok(GetWebhookResponse::Ok(Json::Value(convert::webhook(found)?)))
    }

    async fn update_webhook(
        &self,
        call: Call,
        request: UpdateWebhookRequest,
    ) -> Reply<UpdateWebhookResponse> {
        let (handlers, caller) = (self.clone(), call.clone());
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call) = (handlers.clone(), caller.clone());
            let (id, body) = (request.id.clone(), request.body.clone());
            Box::pin(async move {
                let updated = handlers.update(write, &call, parse(&id)?, body).await?;
                Ok(UpdateWebhookResponse::Ok(Json::Value(convert::webhook(updated)?)))
            })
        })
        .await
    }

    async fn delete_webhook(
        &self,
        call: Call,
        request: DeleteWebhookRequest,
    ) -> Reply<DeleteWebhookResponse> {
        let (handlers, caller) = (self.clone(), call.clone());
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call, id) = (handlers.clone(), caller.clone(), request.id.clone());
            Box::pin(async move {
                let found = webhooks::get_locked(write, call.workspace, parse(&id)?).await?;
                webhooks::delete(write, call.workspace, found.id).await?;
                let entry = (Action::WebhookDeleted, id_string(found.id), found.url.as_str());
                handlers.audit(write, &call, entry).await?;
                Ok(DeleteWebhookResponse::NoContent)
            })
        })
        .await
    }

    async fn rotate_webhook_secret(
        &self,
        call: Call,
        request: RotateWebhookSecretRequest,
    ) -> Reply<RotateWebhookSecretResponse> {
        let (handlers, caller, seal) = (self.clone(), call.clone(), &self.response_seal);
        let overlap = Duration::from_secs(request.body.overlap_seconds.unsigned_abs().into());
        run_once_sealed(&self.app, call, request.idempotency_key, seal, move |write| {
            let (handlers, call, id) = (handlers.clone(), caller.clone(), request.id.clone());
            Box::pin(async move {
                let DeveloperHandlers { app, seal, .. } = &handlers;
                let found = webhooks::get_locked(write, call.workspace, parse(&id)?).await?;
                let rotated = webhooks::rotate(app, write, seal, call.workspace, found.id, overlap)
                    .await
                    .map_err(error)?;
                let entry = (Action::WebhookRotated, id_string(found.id), found.url.as_str());
                handlers.audit(write, &call, entry).await?;
                Ok(RotateWebhookSecretResponse::Ok(Json::Value(RotatedSecret {
                    webhook_id: id_string(found.id),
                    secret: rotated.secret.expose_secret().to_owned(),
                    older_secrets_expire_at: rotated.older_until.map(Into::into),
                })))
            })
        })
        .await
    }

    async fn test_webhook(&self, call: Call, request: TestWebhookRequest) -> Reply<TestWebhookResponse> {
        let (handlers, caller) = (self.clone(), call.clone());
        let event_type = request.body.event_type.map(|event_type| event_type.as_str());
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call, id) = (handlers.clone(), caller.clone(), request.id.clone());
            Box::pin(async move {
                let id = parse(&id)?;
                let sent = webhooks::send_test(&handlers.app, write, call.workspace, id, event_type)
                    .await
                    .map_err(error)?;
                let entry = (Action::WebhookTested, id_string(id), sent.event_type.as_str());
                handlers.audit(write, &call, entry).await?;
                let location = delivery_path(sent.id);
                Ok(TestWebhookResponse::Created(Json::Value(convert::delivery(sent)?), location))
            })
        })
        .await
    }

    async fn preview_filter(
        &self,
        call: Call,
        request: PreviewFilterRequest,
    ) -> Reply<PreviewFilterResponse> {
        let filter = request.body.filter.join("\n");
        let dry_run = controls::dry_run(&self.app, call.workspace, parse(&request.id)?, &filter).await;
        let preview = convert::filter_preview(dry_run.map_err(error)?)?;
        Ok(PreviewFilterResponse::Ok(Json::Value(preview)))
    }
}

/// Rejects a change that would send stored header values to another server: they can be secrets that the key may not read.
fn require_header_values(before: &Subscription, body: &WebhookUpdate) -> Reply<()> {
    let moves = body.url.as_ref().is_some_and(|url| !webhooks::is_same_server(url, &before.url));
    let keeps_values = match &body.headers {
        None => !before.header_names.is_empty(),
        Some(headers) => headers.iter().any(|header| header.value == MASK),
    };
    if moves && keeps_values {
        let message = "must be sent with their values when `url` changes to another server";
        return Err(domain::Error::invalid("headers", message).into());
    }
    Ok(())
}

/// Returns the text of a changed field, which is empty for null, or `None` if the field is absent.
fn text_or_empty(field: MaybeUndefined<impl ToString>) -> Option<String> {
    match field {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(String::new()),
        MaybeUndefined::Value(value) => Some(value.to_string()),
    }
}

impl DeveloperHandlers {
    async fn create(
        &self,
        write: &mut Write,
        call: &Call,
        body: NewWebhook,
    ) -> Reply<(Subscription, SecretString)> {
        let new = NewSubscription {
            url: body.url,
            event_types: event_type_names(&body.event_types),
            description: body.description,
        };
        let created = webhooks::create(&self.app, write, &self.seal, call.workspace, new).await;
        let (created, secret) = created.map_err(error)?;
        let entry = (Action::WebhookCreated, id_string(created.id), created.url.as_str());
        self.audit(write, call, entry).await?;
        let change = ControlsChange {
            filter: body.filter.map(|filter| filter.join("\n")),
            headers: body.headers.map(header_lines),
            rate: body.rate.map(|rate| rate.to_string()),
            ed25519: Some(body.ed25519),
        };
        let created = self.change_controls(write, call, created.id, change).await?;
        Ok((created, secret))
    }

    async fn update(
        &self,
        write: &mut Write,
        call: &Call,
        id: SubscriptionId,
        body: WebhookUpdate,
    ) -> Reply<Subscription> {
        let before = webhooks::get_locked(write, call.workspace, id).await?;
        require_header_values(&before, &body)?;
        let change = SubscriptionChange {
            url: body.url,
            event_types: body.event_types.as_deref().map(event_type_names),
            description: text_or_empty(body.description),
        };
        let edited = webhooks::edit(&self.app, write, call.workspace, id, change).await;
        let edited = edited.map_err(error)?;
        if edited.changed {
            let detail = controls::describe_edit(&before, &edited.record);
            self.audit(write, call, (Action::WebhookEdited, id_string(id), &detail)).await?;
        }
        let change = ControlsChange {
            filter: body.filter.map(|filter| filter.join("\n")),
            headers: body.headers.map(header_lines),
            rate: text_or_empty(body.rate),
            ed25519: body.ed25519,
        };
        let changed = self.change_controls(write, call, id, change).await?;
        match body.state {
            None => Ok(changed),
            Some(state) => self.set_state(write, call, id, state).await,
        }
    }

    async fn change_controls(
        &self,
        write: &mut Write,
        call: &Call,
        id: SubscriptionId,
        change: ControlsChange,
    ) -> Reply<Subscription> {
        let changed = controls::change(&self.app, write, &self.seal, call.workspace, id, change).await;
        let WriteOutcome { record, changed } = changed.map_err(error)?;
        if changed {
            let detail = controls::describe(&record);
            self.audit(write, call, (Action::WebhookControlsChanged, id_string(id), &detail)).await?;
        }
        Ok(record)
    }

    /// Pauses or enables a webhook. Held deliveries are sent.
    async fn set_state(
        &self,
        write: &mut Write,
        call: &Call,
        id: SubscriptionId,
        state: WebhookUpdateState,
    ) -> Reply<Subscription> {
        let (action, record, changed) = match state {
            WebhookUpdateState::Paused => {
                let paused = webhooks::pause(write, call.workspace, id).await;
                let paused = paused.map_err(|error| error_at("state", error))?;
                (Action::WebhookPaused, paused.record, paused.changed)
            }
            WebhookUpdateState::Enabled => {
                let held = HeldAction::Send;
                let enabled = webhooks::enable(&self.app, write, call.workspace, id, held).await?;
                (Action::WebhookEnabled, enabled.subscription, enabled.changed)
            }
        };
        if changed {
            self.audit(write, call, (action, id_string(id), record.url.as_str())).await?;
        }
        Ok(record)
    }
}
