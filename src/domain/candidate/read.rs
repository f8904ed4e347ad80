//! Reads the usage of all workspaces.

use std::collections::{BTreeMap, BTreeSet};

pub use entity::candidate_findings::Model as FindingRow;
pub use entity::candidate_requests::Model as RequestRow;
use entity::{candidate_findings, candidate_requests};

use crate::app::App;
use crate::{Error, Result, keys, requests, workspaces};
use foundation::id::{KeyId, WorkspaceId};

/// The usage since a day.
#[derive(Debug)]
pub struct CandidateUsage {
    /// The accepted requests, oldest first.
    pub requests: Vec<RequestRow>,
    /// The findings, oldest first. Their example is empty if the request log does not contain it.
    pub findings: Vec<FindingRow>,
    /// The names of the keys in the rows. Deleted ones are missing.
    pub keys: BTreeMap<KeyId, KeyNames>,
}

/// The names of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyNames {
    /// The name of the key.
    pub name: String,
    /// The key of the workspace.
    pub workspace: String,
    /// The name of the workspace.
    pub workspace_name: String,
}

/// Returns the usage since a day, whose start is in milliseconds since the epoch.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn since(app: &App, day: i64) -> Result<CandidateUsage> {
    let requests = candidate_requests::since(app.db.read(), day).await?;
    let mut findings = candidate_findings::since(app.db.read(), day).await?;
    let workspaces_of_rows =
        requests.iter().map(|row| row.workspace_id).chain(findings.iter().map(|row| row.workspace_id));
    let concerned: BTreeSet<_> = workspaces_of_rows.map(WorkspaceId::from_uuid).collect();
    let mut names = BTreeMap::new();
    for workspace in
        workspaces::list(app).await?.into_iter().filter(|workspace| concerned.contains(&workspace.id))
    {
        for key in keys::list(app, workspace.id).await? {
            let (workspace, workspace_name) = (workspace.key.clone(), workspace.name.clone());
            names.insert(key.id, KeyNames { name: key.name, workspace, workspace_name });
        }
    }
    let logged_from = app.clock.now_ms() - requests::RETENTION_DAYS * entity::rollups::DAY_MS;
    for row in &mut findings {
        let workspace = WorkspaceId::from_uuid(row.workspace_id);
        let is_logged = row.last_at >= logged_from
            && match requests::by_request_id(app, workspace, &row.request_id).await {
                Ok(_) => true,
                Err(Error::NotFound(_)) => false,
                Err(error) => return Err(error),
            };
        if !is_logged {
            row.request_id.clear();
        }
    }
    Ok(CandidateUsage { requests, findings, keys: names })
}
