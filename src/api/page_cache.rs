//! Caches the responses of `listCourses` and `getCourse` as bytes with their `ETag`.
//!
//! A page is cached per workspace under its full path and query. A change to the workspace's courses invalidates it: a
//! change by this process at once, because the commit increments the epoch; a change by another process within
//! [`RECHECK_MS`], because the change writes a new version. Every page expires after [`LIFETIME_MS`], which covers writes
//! that bypass the domain. A page is stored under the epoch and version that were read before the page itself, so it is
//! never older than the version that it is stored under.

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

/// How long a version is trusted before it is read from the database again.
const RECHECK_MS: i64 = 500;
/// How long a page is cached at most.
const LIFETIME_MS: i64 = 30_000;
/// Maximum size of all pages together. When it is exceeded, the cache is cleared.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The cached pages of all workspaces.
#[derive(Default)]
pub struct PageCache {
    workspaces: DashMap<WorkspaceId, WorkspacePages>,
    bytes: AtomicUsize,
}

/// The cached pages of one workspace, all of the same version of its courses.
struct WorkspacePages {
    version: CoursesVersion,
    checked_ms: i64,
    pages: HashMap<Box<str>, Arc<CachedPage>>,
}

/// Identifies a version of the courses of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CoursesVersion {
    /// Changes with each commit of this process.
    epoch: u64,
    /// Changes with each commit of any process.
    stored: Option<Arc<str>>,
}

/// A cached response.
pub struct CachedPage {
    /// The body.
    pub(crate) body: Arc<CachedBody>,
    /// The `ETag` header.
    pub etag: HeaderValue,
    /// The `Link` header.
    pub link: Option<HeaderValue>,
    created_ms: i64,
}

/// Where to store a page that is not cached yet.
pub struct PageSlot {
    workspace: WorkspaceId,
    path: Box<str>,
    version: CoursesVersion,
    created_ms: i64,
}

/// The result of a cache lookup.
pub enum PageLookup {
    /// The page is cached.
    Hit(Arc<CachedPage>),
    /// The page is not cached; store it in this slot.
    Miss(PageSlot),
    /// Responses to this request are not cached.
    Uncacheable,
}

impl CachedPage {
    /// Returns the response with its body, `Content-Type` and `Link`; the other headers are added later.
    pub fn response(&self) -> Response {
        let mut response = Response::builder().content_type(JSON).body(self.body.plain().clone());
        if let Some(link) = &self.link {
            response.headers_mut().insert(header::LINK, link.clone());
        }
        response
    }
}

impl PageCache {
    /// Looks up the page of a request. `path` includes the query.
    pub async fn get(
        &self,
        app: &App,
        operation: &'static Operation,
        workspace: WorkspaceId,
        path: &str,
        headers: &HeaderMap,
    ) -> PageLookup {
        if !is_cacheable(operation, path, headers) {
            return PageLookup::Uncacheable;
        }
        let now_ms = app.clock.now_ms();
        let epoch = app.catalog().epoch(workspace);
        if let Some(cached) = self.workspaces.get(&workspace)
            && cached.version.epoch == epoch
            && (0..RECHECK_MS).contains(&(now_ms - cached.checked_ms))
        {
            return cached.get(workspace, path, now_ms);
        }
        let Ok(stored) = catalog::version(app, workspace).await else { return PageLookup::Uncacheable };
        let version = CoursesVersion { epoch, stored: stored.map(Into::into) };
        let mut cached =
            self.workspaces.entry(workspace).or_insert_with(|| WorkspacePages::new(version.clone(), now_ms));
        if cached.version == version {
            cached.checked_ms = now_ms;
        } else {
            self.subtract_bytes(cached.bytes());
            *cached = WorkspacePages::new(version, now_ms);
        }
        cached.get(workspace, path, now_ms)
    }

    /// Stores a page, unless the courses have changed since the lookup that returned the slot.
    pub fn insert(
        &self,
        app: &App,
        slot: PageSlot,
        body: Bytes,
        etag: HeaderValue,
        link: Option<HeaderValue>,
    ) {
        let PageSlot { workspace, path, version, created_ms } = slot;
        if self.bytes.load(Ordering::Relaxed) > MAX_BYTES {
            self.workspaces.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        let Some(mut cached) = self.workspaces.get_mut(&workspace) else { return };
        if cached.version != version || app.catalog().epoch(workspace) != version.epoch {
            return;
        }
        if let Some(replaced) = cached.pages.get(&path) {
            self.subtract_bytes(page_bytes(&path, replaced.body.plain()));
        }
        self.bytes.fetch_add(page_bytes(&path, &body), Ordering::Relaxed);
        let page = CachedPage { body: Arc::new(CachedBody::new(body)), etag, link, created_ms };
        cached.pages.insert(path, Arc::new(page));
    }

    fn subtract_bytes(&self, bytes: usize) {
        let subtract = |total: usize| Some(total.saturating_sub(bytes));
        // Never fails: the closure always returns a value.
        let _ = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    }
}

impl WorkspacePages {
    fn new(version: CoursesVersion, now_ms: i64) -> Self {
        Self { version, checked_ms: now_ms, pages: HashMap::new() }
    }

    fn get(&self, workspace: WorkspaceId, path: &str, now_ms: i64) -> PageLookup {
        match self.pages.get(path) {
            Some(page) if (0..LIFETIME_MS).contains(&(now_ms - page.created_ms)) => {
                PageLookup::Hit(Arc::clone(page))
            }
            _ => PageLookup::Miss(PageSlot {
                workspace,
                path: path.into(),
                version: self.version.clone(),
                created_ms: now_ms,
            }),
        }
    }

    fn bytes(&self) -> usize {
        self.pages.iter().map(|(path, page)| page_bytes(path, page.body.plain())).sum()
    }
}

/// Estimates the memory of a page. The body counts twice, because a compressed copy can be stored with it.
fn page_bytes(path: &str, body: &Bytes) -> usize {
    512 + path.len() + body.len() * 2
}

/// Returns whether responses to this request are cached. Lists sorted by `updated_at` are not, because their end moves
/// with the clock, nor are requests with headers that the contract rejects. A percent-encoded path could contain
/// either.
fn is_cacheable(operation: &'static Operation, path: &str, headers: &HeaderMap) -> bool {
    const MAX_CONDITION_BYTES: usize = 4096;
    const MAX_PATH_BYTES: usize = 512;
    let reads_courses = std::ptr::eq(operation, &LIST_COURSES) || std::ptr::eq(operation, &GET_COURSE);
    let mut conditions = headers.get_all(header::IF_NONE_MATCH).iter();
    reads_courses
        && path.len() <= MAX_PATH_BYTES
        && !path.contains("updated_at")
        && !path.contains('%')
        && conditions.all(|value| {
            value.len() <= MAX_CONDITION_BYTES && value.to_str().is_ok_and(|text| !text.is_empty())
        })
}
