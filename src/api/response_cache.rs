//! Caches the responses of `listCourses` and `getCourse` as bytes with their `ETag`.
//!
//! A response is cached for one workspace, path and query. It is no longer used after the courses of the workspace
//! change. A change by this process takes effect immediately, because the commit increments the epoch, a counter in
//! memory. A change by another process takes effect within [`RECHECK_MS`], because each change writes a new version to
//! the database. Every response expires after [`LIFETIME_MS`], in case something changes the database without writing
//! a version. Epoch and version are read before the response is created. If the courses change in between, a current
//! response may be discarded, but an outdated one is never kept. Times are milliseconds since the Unix epoch.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use dashmap::DashMap;
use poem::Response;
use poem::http::{HeaderMap, HeaderValue, header};

use super::generated::operations::{GET_COURSE, LIST_COURSES};
use contract_runtime::contract::JSON;
use contract_runtime::contract::Operation;
use domain::app::App;
use domain::courses::catalog;
use foundation::id::WorkspaceId;
use web::compress::CachedBody;

/// How long a version is used before it is read from the database again, in milliseconds.
const RECHECK_MS: i64 = 500;
/// Maximum age of a cached response, in milliseconds.
const LIFETIME_MS: i64 = 30_000;
/// Maximum estimated size of all responses together. When it is exceeded, the next insertion clears the cache.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The cached responses of all workspaces.
#[derive(Default)]
pub struct ResponseCache {
    workspaces: DashMap<WorkspaceId, WorkspaceResponses>,
    /// The estimated memory of all responses, by [`response_bytes`].
    bytes: AtomicUsize,
}

/// The cached responses of one workspace, all of the same version of its courses.
struct WorkspaceResponses {
    version: CoursesVersion,
    /// When the version was most recently read from the database.
    checked_ms: i64,
    /// The responses by path and query.
    responses: HashMap<Box<str>, Arc<CachedResponse>>,
}

/// Identifies a version of the courses of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CoursesVersion {
    /// Changes with each commit of this process that changes the courses.
    epoch: u64,
    /// The version in the database. It changes with each commit of any process that changes the courses; `None` before
    /// the first change.
    stored: Option<Arc<str>>,
}

/// A cached response.
pub struct CachedResponse {
    /// The body.
    pub(crate) body: Arc<CachedBody>,
    /// The `ETag` header.
    pub etag: HeaderValue,
    /// The `Link` header.
    pub link: Option<HeaderValue>,
    created_ms: i64,
}

/// Where to store a response that is not cached yet.
pub struct ResponseSlot {
    workspace: WorkspaceId,
    path: Box<str>,
    version: CoursesVersion,
    created_ms: i64,
}

/// The result of a cache lookup.
pub enum ResponseLookup {
    /// The response is cached.
    Hit(Arc<CachedResponse>),
    /// The response is not cached. Store it in this slot.
    Miss(ResponseSlot),
    /// Responses to this request are not cached, or the version of the courses could not be read.
    Uncacheable,
}

impl CachedResponse {
    /// Returns the response with its body, `Content-Type` and `Link`. The middleware adds the other headers.
    pub fn response(&self) -> Response {
        let mut response = Response::builder().content_type(JSON).body(self.body.plain().clone());
        if let Some(link) = &self.link {
            response.headers_mut().insert(header::LINK, link.clone());
        }
        response
    }
}

impl ResponseCache {
    /// Looks up the response to a request. `path` includes the query.
    pub async fn get(
        &self,
        app: &App,
        operation: &'static Operation,
        workspace: WorkspaceId,
        path: &str,
        headers: &HeaderMap,
    ) -> ResponseLookup {
        if !is_cacheable(operation, path, headers) {
            return ResponseLookup::Uncacheable;
        }
        let now_ms = app.clock.now_ms();
        let epoch = app.catalog().epoch(workspace);
        if let Some(cached) = self.workspaces.get(&workspace)
            && cached.version.epoch == epoch
            && (0..RECHECK_MS).contains(&(now_ms - cached.checked_ms))
        {
            return cached.get(workspace, path, now_ms);
        }
        let Ok(stored) = catalog::version(app, workspace).await else { return ResponseLookup::Uncacheable };
        let version = CoursesVersion { epoch, stored: stored.map(Into::into) };
        let mut cached = self
            .workspaces
            .entry(workspace)
            .or_insert_with(|| WorkspaceResponses::new(version.clone(), now_ms));
        if cached.version == version {
            cached.checked_ms = now_ms;
        } else {
            self.subtract_bytes(cached.bytes());
            *cached = WorkspaceResponses::new(version, now_ms);
        }
        cached.get(workspace, path, now_ms)
    }

    /// Stores a response, unless the courses have changed or the cache was cleared since the lookup that returned the
    /// slot.
    pub fn insert(
        &self,
        app: &App,
        slot: ResponseSlot,
        body: Bytes,
        etag: HeaderValue,
        link: Option<HeaderValue>,
    ) {
        let ResponseSlot { workspace, path, version, created_ms } = slot;
        if self.bytes.load(Ordering::Relaxed) > MAX_BYTES {
            self.workspaces.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        let Some(mut cached) = self.workspaces.get_mut(&workspace) else { return };
        if cached.version != version || app.catalog().epoch(workspace) != version.epoch {
            return;
        }
        if let Some(replaced) = cached.responses.get(&path) {
            self.subtract_bytes(response_bytes(&path, replaced.body.plain()));
        }
        self.bytes.fetch_add(response_bytes(&path, &body), Ordering::Relaxed);
        let response = CachedResponse { body: Arc::new(CachedBody::new(body)), etag, link, created_ms };
        cached.responses.insert(path, Arc::new(response));
    }

    fn subtract_bytes(&self, bytes: usize) {
        let subtract = |total: usize| Some(total.saturating_sub(bytes));
        // Never fails: the closure always returns a value.
        let _ = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    }
}

impl WorkspaceResponses {
    fn new(version: CoursesVersion, now_ms: i64) -> Self {
        Self { version, checked_ms: now_ms, responses: HashMap::new() }
    }

    fn get(&self, workspace: WorkspaceId, path: &str, now_ms: i64) -> ResponseLookup {
        match self.responses.get(path) {
            Some(response) if (0..LIFETIME_MS).contains(&(now_ms - response.created_ms)) => {
                ResponseLookup::Hit(Arc::clone(response))
            }
            _ => ResponseLookup::Miss(ResponseSlot {
                workspace,
                path: path.into(),
                version: self.version.clone(),
                created_ms: now_ms,
            }),
        }
    }

    fn bytes(&self) -> usize {
        self.responses.iter().map(|(path, response)| response_bytes(path, response.body.plain())).sum()
    }
}

/// Estimates the memory of a response, in bytes. The body counts twice, because compressed copies can be stored with
/// it.
fn response_bytes(path: &str, body: &Bytes) -> usize {
    /// Estimated memory of a cache entry with its headers.
    const ENTRY_BYTES: usize = 512;
    ENTRY_BYTES + path.len() + body.len() * 2
}

/// Returns whether the response to this request can be cached. Only responses of `listCourses` and `getCourse` can,
/// except for:
///
/// - lists sorted by `updated_at`, because their last items depend on the time of the request,
/// - an `If-None-Match` that the contract could reject, because a cached response is sent without validation,
/// - a percent-encoded path, because it could contain an encoded `updated_at`,
/// - a path longer than 512 bytes.
fn is_cacheable(operation: &'static Operation, path: &str, headers: &HeaderMap) -> bool {
    const MAX_IF_NONE_MATCH_BYTES: usize = 4096;
    const MAX_PATH_BYTES: usize = 512;
    let reads_courses = std::ptr::eq(operation, &LIST_COURSES) || std::ptr::eq(operation, &GET_COURSE);
    let mut if_none_match = headers.get_all(header::IF_NONE_MATCH).iter();
    reads_courses
        && path.len() <= MAX_PATH_BYTES
        && !path.contains("updated_at")
        && !path.contains('%')
        && if_none_match.all(|value| {
            value.len() <= MAX_IF_NONE_MATCH_BYTES && value.to_str().is_ok_and(|text| !text.is_empty())
        })
}
