//! Ready pages of the catalogue: `listCourses` and `getCourse`, as bytes with their tag.
//!
//! A page is kept for one workspace under its whole path and query. What invalidates it: a change of the workspace's
//! courses, in this process at once (the epoch that the commit raises), in others within [`RECHECK_MS`] (the version
//! that the change wrote); and in any case [`LIFETIME_MS`], for what was written past the domain. A page is kept only
//! under the epoch and version that were known before it was read, so it is never older than what it is kept under.

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
use domain::courses::catalogue;
use foundation::id::WorkspaceId;
use web::compress::Packable;

/// How long a version is believed before the database is asked for it again.
const RECHECK_MS: i64 = 500;
/// How long a page is kept at most.
const LIFETIME_MS: i64 = 30_000;
/// Bytes of all pages together, beyond which all are forgotten.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The pages of all workspaces.
#[derive(Default)]
pub struct Pages {
    shelves: DashMap<WorkspaceId, Shelf>,
    bytes: AtomicUsize,
}

/// The pages of one workspace, all of one state of its courses.
struct Shelf {
    state: State,
    checked_ms: i64,
    pages: HashMap<Box<str>, Arc<Page>>,
}

/// A state of a workspace's courses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    epoch: u64,
    version: Option<Arc<str>>,
}

/// One page, ready to be sent.
pub struct Page {
    /// The body.
    pub(crate) body: Arc<Packable>,
    /// Its `ETag`.
    pub tag: HeaderValue,
    /// Its `Link`.
    pub link: Option<HeaderValue>,
    made_ms: i64,
}

/// The place where a page that is still to be made belongs.
pub struct Place {
    workspace: WorkspaceId,
    name: Box<str>,
    state: State,
    made_ms: i64,
}

/// What a look at the shelf comes to.
pub enum Look {
    /// The page.
    Found(Arc<Page>),
    /// No page yet; what is made belongs here.
    Missing(Place),
    /// Nothing that is kept.
    Elsewhere,
}

impl Page {
    /// The response, before it gets its final form.
    pub fn response(&self) -> Response {
        let mut response = Response::builder().content_type(JSON).body(self.body.plain().clone());
        if let Some(link) = &self.link {
            response.headers_mut().insert(header::LINK, link.clone());
        }
        response
    }
}

impl Pages {
    /// The page of a request, or the place for it. `path` holds the query too.
    pub async fn look(
        &self,
        app: &App,
        operation: &'static Operation,
        workspace: WorkspaceId,
        path: &str,
        headers: &HeaderMap,
    ) -> Look {
        if !is_kept(operation, path, headers) {
            return Look::Elsewhere;
        }
        let now_ms = app.clock.now_ms();
        let epoch = app.catalogue().epoch(workspace);
        if let Some(shelf) = self.shelves.get(&workspace)
            && shelf.state.epoch == epoch
            && (0..RECHECK_MS).contains(&(now_ms - shelf.checked_ms))
        {
            return shelf.look(workspace, path, now_ms);
        }
        let Ok(version) = catalogue::version(app, workspace).await else { return Look::Elsewhere };
        let state = State { epoch, version: version.map(Into::into) };
        let mut shelf = self.shelves.entry(workspace).or_insert_with(|| Shelf::new(state.clone(), now_ms));
        if shelf.state == state {
            shelf.checked_ms = now_ms;
        } else {
            self.lighten(shelf.bytes());
            *shelf = Shelf::new(state, now_ms);
        }
        shelf.look(workspace, path, now_ms)
    }

    /// Keeps a page, unless the courses have changed since its place was found.
    pub fn keep(&self, app: &App, place: Place, body: Bytes, tag: HeaderValue, link: Option<HeaderValue>) {
        let Place { workspace, name, state, made_ms } = place;
        if self.bytes.load(Ordering::Relaxed) > MOST_BYTES {
            self.shelves.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        let Some(mut shelf) = self.shelves.get_mut(&workspace) else { return };
        if shelf.state != state || app.catalogue().epoch(workspace) != state.epoch {
            return;
        }
        if let Some(old) = shelf.pages.get(&name) {
            self.lighten(weight(&name, old.body.plain()));
        }
        self.bytes.fetch_add(weight(&name, &body), Ordering::Relaxed);
        shelf.pages.insert(name, Arc::new(Page { body: Arc::new(Packable::new(body)), tag, link, made_ms }));
    }

    fn lighten(&self, bytes: usize) {
        let lighter = |held: usize| Some(held.saturating_sub(bytes));
        // Never fails: the closure always gives a value.
        let _ = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lighter);
    }
}

impl Shelf {
    fn new(state: State, now_ms: i64) -> Self {
        Self { state, checked_ms: now_ms, pages: HashMap::new() }
    }

    fn look(&self, workspace: WorkspaceId, path: &str, now_ms: i64) -> Look {
        match self.pages.get(path) {
            Some(page) if (0..LIFETIME_MS).contains(&(now_ms - page.made_ms)) => {
                Look::Found(Arc::clone(page))
            }
            _ => Look::Missing(Place {
                workspace,
                name: path.into(),
                state: self.state.clone(),
                made_ms: now_ms,
            }),
        }
    }

    fn bytes(&self) -> usize {
        self.pages.iter().map(|(name, page)| weight(name, page.body.plain())).sum()
    }
}

/// What a page takes, roughly: the body may be packed once more.
fn weight(name: &str, body: &Bytes) -> usize {
    512 + name.len() + body.len() * 2
}

/// Whether pages of this request are kept: not those sorted by `updated_at`, whose end moves with the clock, nor
/// those whose headers the contract would refuse. What is percent-encoded could hide either.
fn is_kept(operation: &'static Operation, path: &str, headers: &HeaderMap) -> bool {
    const LONGEST_CONDITION: usize = 4096;
    const LONGEST_PATH: usize = 512;
    let catalogue = std::ptr::eq(operation, &LIST_COURSES) || std::ptr::eq(operation, &GET_COURSE);
    let mut conditions = headers.get_all(header::IF_NONE_MATCH).iter();
    catalogue
        && path.len() <= LONGEST_PATH
        && !path.contains("updated_at")
        && !path.contains('%')
        && conditions
            .all(|value| value.len() <= LONGEST_CONDITION && value.to_str().is_ok_and(|it| !it.is_empty()))
}
