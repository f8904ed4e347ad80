//! The endpoint of `--platform-listen`, where only the Platform API is served.

use std::sync::Arc;

use poem::{Endpoint, Request, Response};

use super::rejection;
use api::platform::PlatformPipeline;
use web::public_response;

/// Returns whether the Platform API serves this path, which has no leading slashes.
pub(super) fn serves(path: &str) -> bool {
    path == "platform" || path.starts_with("platform/")
}

/// Serves the Platform API only.
pub(super) struct PlatformRouter(pub(super) Arc<PlatformPipeline>);

impl Endpoint for PlatformRouter {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if serves(request.uri().path().trim_start_matches('/')) {
            return self.0.call(request).await;
        }
        Ok(rejection::response(&request).unwrap_or_else(public_response::not_found))
    }
}
