//! The health checks `/healthz` (the process is running) and `/readyz` (it can process requests).

use std::time::Duration;

use poem::Response;
use poem::http::StatusCode;

use super::page;
use domain::app::App;
use foundation::database::SchemaState;

/// The timeout for the response of the database.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the response of `/healthz`.
pub(super) fn alive() -> Response {
    page::plain(StatusCode::OK, "ok\n")
}

/// Returns the response of `/readyz`: whether the database is available and has the schema of this version.
pub(super) async fn ready(app: &App) -> Response {
    let schema_state = tokio::time::timeout(DATABASE_TIMEOUT, async {
        app.db.ping().await?;
        app.db.schema_state().await
    });
    match schema_state.await {
        Ok(Ok(SchemaState::Current)) => page::plain(StatusCode::OK, "ready\n"),
        Ok(Ok(SchemaState::Behind(_))) => unready("the database has pending migrations\n"),
        Ok(Ok(SchemaState::Ahead(_))) => unready("the database is newer than this server\n"),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database is not available");
            unready("the database is not available\n")
        }
        Err(_) => unready("the database did not respond in time\n"),
    }
}

fn unready(reason: &'static str) -> Response {
    page::plain(StatusCode::SERVICE_UNAVAILABLE, reason)
}
