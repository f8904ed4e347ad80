//! The operation `getAnalyticsSummary`.

use super::Handlers;
use super::convert::id_filter;
use crate::call::Call;
use crate::error::Reply;
use crate::generated::analytics::{Analytics, GetAnalyticsSummaryRequest, GetAnalyticsSummaryResponse};
use crate::generated::schemas::AnalyticsSummary;
use contract_runtime::payload::Json;
use domain::analytics::{self, AnalyticsQuery};

impl Analytics for Handlers {
    async fn get_analytics_summary(
        &self,
        call: Call,
        request: GetAnalyticsSummaryRequest,
    ) -> Reply<GetAnalyticsSummaryResponse> {
        let query = AnalyticsQuery {
            from: request.from.map(|time| time.0),
            to: request.to.map(|time| time.0),
            timezone: Some(request.timezone),
            course: id_filter("courseId", request.course_id)?,
            interval: request.interval.map(Into::into),
        };
        // A 304 says that the metrics which the client has are still current.
        let summary = match call.is_conditional {
            true => analytics::summarize(&self.app, call.workspace, query).await?,
            false => analytics::summarize_lagging(&self.app, call.workspace, query).await?,
        };
        let mut body = AnalyticsSummary::from(summary);
        // The `ETag` does not depend on `data_as_of`, so it stays the same while only `data_as_of` advances.
        let data_as_of = std::mem::replace(&mut body.data_as_of, body.window.to);
        call.set_etag_from(&Json::Value(&body).into_bytes());
        body.data_as_of = data_as_of;
        Ok(GetAnalyticsSummaryResponse::Ok(Json::Value(body)))
    }
}
