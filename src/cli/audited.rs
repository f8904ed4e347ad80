//! Commits changes of the operator together with an entry in the workspace's audit log.

use std::fmt::Display;

use super::outcome::CommandError;
use domain::app::App;
use domain::audit::{self, Action, Actor};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Appends an entry to the audit log, in the transaction of `write`, and commits it. The entry consists of the action,
/// the id of the record, and a detail such as the name of the record.
pub(super) async fn commit(
    app: &App,
    mut write: Write,
    workspace: WorkspaceId,
    (action, subject, detail): (Action, impl Display, &str),
) -> Result<(), CommandError> {
    let entry = (action, subject.to_string(), detail);
    audit::append(app, &mut write, workspace, &Actor::operator(), entry).await?;
    write.commit().await?;
    Ok(())
}
