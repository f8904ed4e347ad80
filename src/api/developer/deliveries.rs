//! The operations on deliveries.

use super::DeveloperHandlers;
use super::convert::{self, error, parse};
use super::generated::deliveries::{
    Deliveries, GetDeliveryRequest, GetDeliveryResponse, ListDeliveriesRequest, ListDeliveriesResponse,
    ListDeliveryAttemptsRequest, ListDeliveryAttemptsResponse, ReplayDeliveryRequest, ReplayDeliveryResponse,
};
use super::generated::operations::GET_DELIVERY;
use super::generated::schemas::{DeliveryAttemptList, DeliveryList, Pagination};
use crate::call::Call;
use crate::error::Reply;
use crate::idempotency::run_once;
use crate::v1::paging::{self, TimeSpans};
use crate::v1::{id_filter, id_string};
use contract_runtime::payload::Json;
use domain::page::{PageRequest, Position};
use domain::webhooks::{self, DeliveryFilter};
use foundation::id::DeliveryId;

impl Deliveries for DeveloperHandlers {
    async fn list_deliveries(
        &self,
        call: Call,
        request: ListDeliveriesRequest,
    ) -> Reply<ListDeliveriesResponse> {
        let sort = PageRequest::newest_first(None, 1).sort;
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let mut time_spans = TimeSpans::default();
        let filter = DeliveryFilter {
            state: request.state.map(Into::into),
            event_type: request.event_type.map(|event_type| event_type.as_str().to_owned()),
            created: time_spans.between("created", request.created_after, request.created_before),
        };
        time_spans.check()?;
        let webhook = id_filter("webhook_id", request.webhook_id)?;
        let list = webhooks::deliveries_of_all(&self.app, call.workspace, webhook, &filter, page).await?;
        let (pagination, link) = pagination(&call, list.next);
        let data = list.items.into_iter().map(convert::delivery).collect::<Reply<_>>()?;
        Ok(ListDeliveriesResponse::Ok(Json::Value(DeliveryList { data, pagination }), link))
    }

    async fn get_delivery(&self, call: Call, request: GetDeliveryRequest) -> Reply<GetDeliveryResponse> {
        let detail = webhooks::delivery_detail(&self.app, call.workspace, parse(&request.id)?).await?;
        Ok(GetDeliveryResponse::Ok(Json::Value(convert::delivery(detail.delivery)?)))
    }

    async fn list_delivery_attempts(
        &self,
        call: Call,
        request: ListDeliveryAttemptsRequest,
    ) -> Reply<ListDeliveryAttemptsResponse> {
        let detail = webhooks::delivery_detail(&self.app, call.workspace, parse(&request.id)?).await?;
        let attempts = detail.delivery.attempts.into_iter().zip(detail.messages);
        let data = attempts.map(convert::attempt).collect();
        Ok(ListDeliveryAttemptsResponse::Ok(Json::Value(DeliveryAttemptList { data })))
    }

    async fn replay_delivery(
        &self,
        call: Call,
        request: ReplayDeliveryRequest,
    ) -> Reply<ReplayDeliveryResponse> {
        let (handlers, caller) = (self.clone(), call.clone());
        run_once(&self.app, call, request.idempotency_key, move |write| {
            let (handlers, call, id) = (handlers.clone(), caller.clone(), request.id.clone());
            Box::pin(async move {
                let sent = webhooks::send_one_again(&handlers.app, write, call.workspace, parse(&id)?).await;
                let sent = sent.map_err(error)?;
                if let Some((action, original, detail)) = webhooks::audit_entry(std::slice::from_ref(&sent)) {
                    handlers.audit(write, &call, (action, original, &detail)).await?;
                }
                let location = delivery_path(sent.id);
                Ok(ReplayDeliveryResponse::Created(Json::Value(convert::delivery(sent)?), location))
            })
        })
        .await
    }
}

/// Returns the path of a delivery.
pub(super) fn delivery_path(id: DeliveryId) -> String {
    GET_DELIVERY.path.replace("{id}", &id_string(id))
}

/// Returns the pagination object of a list and the `Link` header of its next page, if there is one.
pub(super) fn pagination(call: &Call, next: Option<Position>) -> (Pagination, Option<String>) {
    let sort = PageRequest::newest_first(None, 1).sort;
    let (cursor, link) = paging::next_cursor(call, sort, next).unzip();
    (Pagination { has_more: cursor.is_some(), cursor }, link)
}
