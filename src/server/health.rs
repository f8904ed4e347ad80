//! Is the process alive, and can it answer?

use std::time::Duration;

use poem::Response;
use poem::http::StatusCode;

use super::page;
use domain::app::App;
use foundation::database::SchemaState;

/// How long the database may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// The process runs.
pub(super) fn alive() -> Response {
    page::plain(StatusCode::OK, "ok\n")
}

/// The process can answer: its database is there and has the schema of this binary.
pub(super) async fn ready(app: &App) -> Response {
    let looked = tokio::time::timeout(PATIENCE, async {
        app.db.ping().await?;
        app.db.schema_state().await
    });
    match looked.await {
        Ok(Ok(SchemaState::Current)) => page::plain(StatusCode::OK, "ready\n"),
        Ok(Ok(SchemaState::Behind(_))) => unready("the database lacks migrations\n"),
        Ok(Ok(SchemaState::Ahead(_))) => unready("the database is newer than this server\n"),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database is not there");
            unready("the database does not answer\n")
        }
        Err(_) => unready("the database does not answer in time\n"),
    }
}

fn unready(why: &'static str) -> Response {
    page::plain(StatusCode::SERVICE_UNAVAILABLE, why)
}
