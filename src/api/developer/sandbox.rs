//! The operations for tests: events of a sandbox, and the clock of an ephemeral server.

use std::time::Duration;

use super::DeveloperHandlers;
use super::generated::sandbox::{
    AdvanceSandboxClockRequest, AdvanceSandboxClockResponse, CreateSandboxEventRequest,
    CreateSandboxEventResponse, Sandbox,
};
use super::generated::schemas::SandboxClock;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::feed_page;
use crate::idempotency::run_once;
use crate::v1::id_string;
use contract_runtime::payload::Json;
use domain::audit::Action;
use domain::outbox::EventType;
use domain::sandbox::{clock, events};
use domain::workspaces::{self, Mode};
use foundation::id::EventId;

impl Sandbox for DeveloperHandlers {
    async fn create_sandbox_event(
        &self,
        call: Call,
        request: CreateSandboxEventRequest,
    ) -> Reply<CreateSandboxEventResponse> {
        if workspaces::get(&self.app, call.workspace).await?.mode != Mode::Test {
            return Err(ApiError::forbidden_operation(
                "This operation is for sandboxes only. Use a key of a sandbox: it begins with `svc_test_`. A sandbox is created in the \
                 dashboard, or by the operator with `creator-api workspaces create-sandbox`.",
            ));
        }
        let event_type = EventType::from(request.body.r#type);
        let (handlers, caller) = (self.clone(), call.clone());
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call) = (handlers.clone(), caller.clone());
            Box::pin(async move {
                let created = events::create(&handlers.app, write, call.workspace, event_type).await?;
                let id = EventId::from_uuid(created.event.position.uuid());
                let entry = (Action::SandboxEventCreated, id_string(id), event_type.as_str());
                handlers.audit(write, &call, entry).await?;
                let body = feed_page::sandbox_event(&created);
                Ok(CreateSandboxEventResponse::Created(Json::Serialized(body.into())))
            })
        })
        .await
    }

    async fn advance_sandbox_clock(
        &self,
        call: Call,
        request: AdvanceSandboxClockRequest,
    ) -> Reply<AdvanceSandboxClockResponse> {
        if !self.app.clock.is_adjustable() {
            return Err(ApiError::forbidden_operation(
                "The clock of this server cannot be advanced. Use a server that was started with `creator-api serve --ephemeral`.",
            ));
        }
        let (handlers, caller) = (self.clone(), call.clone());
        let seconds = request.body.advance_seconds.unsigned_abs();
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call) = (handlers.clone(), caller.clone());
            Box::pin(async move {
                let entry = (Action::ClockAdvanced, id_string(call.workspace), &*format!("by {seconds} s"));
                handlers.audit(write, &call, entry).await?;
                let by = Duration::from_secs(seconds.into());
                let advanced = clock::advance(&handlers.app, write, by).await?;
                Ok(AdvanceSandboxClockResponse::Ok(Json::Value(SandboxClock {
                    now: advanced.now.into(),
                    advanced_seconds: i32::try_from(advanced.total.as_secs()).unwrap_or(i32::MAX),
                })))
            })
        })
        .await
    }
}
