//! The operations `listOrders` and `getOrder`.

use super::Handlers;
use super::convert::id_filter;
use super::paging::{self, TimeSpans};
use crate::call::Call;
use crate::error::Reply;
use crate::generated::orders::{
    GetOrderRequest, GetOrderResponse, ListOrdersRequest, ListOrdersResponse, Orders,
};
use crate::generated::schemas::OrderList;
use contract_runtime::payload::Json;
use domain::orders::{self, OrderFilter};
use foundation::id::OrderId;

impl Orders for Handlers {
    async fn list_orders(&self, call: Call, request: ListOrdersRequest) -> Reply<ListOrdersResponse> {
        let sort = request.sort.into();
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let mut time_spans = TimeSpans::default();
        let filter = OrderFilter {
            student: id_filter("studentId", request.student_id)?,
            course: id_filter("courseId", request.course_id)?,
            status: request.status.map(Into::into),
            currency: request.currency,
            number: request.number,
            search: None,
            created: time_spans.between("created", request.created_after, request.created_before),
            updated: time_spans.between("updated", request.updated_after, request.updated_before),
            paid: time_spans.between("paid", request.paid_after, request.paid_before),
        };
        time_spans.check()?;
        let list = orders::list_lagging(&self.app, call.workspace, &filter, page).await?;
        let (pagination, link) = paging::next_page(&call, sort, list.next);
        let data = list.items.into_iter().map(Into::into).collect();
        Ok(ListOrdersResponse::Ok(Json::Value(OrderList { data, pagination }), link))
    }

    async fn get_order(&self, call: Call, request: GetOrderRequest) -> Reply<GetOrderResponse> {
        let id: OrderId = request.id.parse().map_err(domain::Error::from)?;
        let order = orders::get(&self.app, call.workspace, id).await?;
        Ok(GetOrderResponse::Ok(Json::Value(order.into())))
    }
}
