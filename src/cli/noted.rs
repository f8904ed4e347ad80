//! Changes that an operator makes, each with its entry in the workspace's audit log, as those of the dashboard have one.

use std::fmt::Display;

use super::failure::Failure;
use domain::app::App;
use domain::audit::{self, Action, Actor};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Makes a change visible, together with what the audit log tells of it: what was done, the id of the record, and what the
/// record is called.
pub(super) async fn commit(
    app: &App,
    mut write: Write,
    workspace: WorkspaceId,
    (action, subject, detail): (Action, impl Display, &str),
) -> Result<(), Failure> {
    let told = (action, subject.to_string(), detail);
    audit::append(app, &mut write, workspace, &Actor::operator(), told).await?;
    write.commit().await?;
    Ok(())
}
