//! The log of API requests: list with filters, and one request with its details and a curl command.

use std::collections::HashMap;
use std::time::Duration;

use askama::Template;
use jiff::SignedDuration;
use poem::handler;
use poem::web::Path;

use crate::error::PageError;
use crate::form::FormErrors;
use crate::frame::{Frame, Section};
use crate::position::{self, ROWS_PER_PAGE};
use crate::query::{PageQuery, SEARCH_ALL};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, Precision, RawHtml, Tone, choices};
use domain::Error;
use domain::keys::{self, KeyRecord};
use domain::page::{Page, PageRequest, TimeSpan};
use domain::requests::{self, LoggedRequest, RequestFilter, StatusFilter};
use domain::roles::Permission;
use foundation::id::{KeyId, LoggedRequestId};

mod curl;

const LIST: &str = "/dashboard/developer/logs";
/// The parameters of the filter.
const FIELDS: &[&str] = &["key", "status", "operation", "within", SEARCH_ALL];

/// Time windows in hours, and their labels. The first covers the whole log.
const WINDOWS: &[(&str, &str)] = &[("", "Last 7 days"), ("24", "Last 24 hours"), ("1", "Last hour")];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(LIST, get(Permission::ReadWorkspace, list))
        .at("/dashboard/developer/logs/:entry", get(Permission::ReadMessages, show))
}

#[derive(Template)]
#[template(path = "logs/list.html")]
struct LogListPage {
    frame: Frame,
    query: PageQuery,
    errors: FormErrors,
    /// Id and label of each key.
    keys: Vec<(String, String)>,
    /// The operations of the API.
    operations: Vec<&'static str>,
    entries: Vec<LoggedRequestRow>,
    is_filtered: bool,
    pager: ui::Pager,
}

/// A row of the list.
struct LoggedRequestRow {
    entry: LoggedRequest,
    /// The name of the key.
    key: String,
}

impl LoggedRequestRow {
    /// Returns the path without the query, which can contain personal data.
    fn path(&self) -> &str {
        self.entry.target.split('?').next().unwrap_or_default()
    }
}

impl LogListPage {
    fn keys(&self) -> Vec<FormChoice<'_>> {
        let keys = self.keys.iter().map(|(id, label)| (id.as_str(), label.as_str()));
        choices(std::iter::once(("", "All keys")).chain(keys), self.query.text("key"))
    }

    fn operations(&self) -> Vec<FormChoice<'_>> {
        let operations = self.operations.iter().map(|operation| (*operation, *operation));
        choices(std::iter::once(("", "All operations")).chain(operations), self.query.text("operation"))
    }

    fn windows(&self) -> Vec<FormChoice<'_>> {
        choices(WINDOWS.iter().copied(), self.query.text("within"))
    }
}

#[handler]
async fn list(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let mut errors = FormErrors::default();
    let can_open = request.viewer().roles.allow(Permission::ReadMessages);
    if let Some(request_id) = query.non_empty("request").filter(|_| can_open) {
        match requests::by_request_id(request.app(), request.workspace(), &request_id).await {
            Ok(entry) => return request.redirect(&format!("{LIST}/{}", entry.id)),
            Err(Error::NotFound(_)) => errors.add("request", "matches no request in the last 7 days"),
            Err(error) => return Err(error.into()),
        }
    }
    let filter = filter(&request, &query, &mut errors);
    let after = query.after().and_then(position::parse);
    let search_end = match errors.is_empty() && !query.is_full_search() {
        true => requests::search_end(request.app(), request.workspace(), &filter, after).await?,
        false => None,
    };
    let found = if errors.is_empty() {
        let page_request = PageRequest { to: search_end, ..PageRequest::newest_first(after, ROWS_PER_PAGE) };
        requests::list(request.app(), request.workspace(), &filter, page_request).await?
    } else {
        Page { items: Vec::new(), next: None }
    };
    let keys = keys::list(request.app(), request.workspace()).await?;
    let names: HashMap<KeyId, &str> = keys.iter().map(|key| (key.id, key.name.as_str())).collect();
    let row = |entry: LoggedRequest| {
        let key = names.get(&entry.key).copied().unwrap_or_default().to_owned();
        LoggedRequestRow { entry, key }
    };
    let path = query.path(LIST, FIELDS);
    let pager = ui::pager(&path, query.after(), found.next.map(position::format));
    let page = LogListPage {
        frame: request.frame(Section::Logs, "Logs"),
        is_filtered: query.has_any(FIELDS),
        pager: pager.limited_to(&path, request.zone(), after, search_end),
        entries: found.items.into_iter().map(row).collect(),
        keys: keys.iter().map(|key| (key.id.to_string(), key_label(key))).collect(),
        operations: request.operations().to_vec(),
        query,
        errors,
    };
    if page.errors.is_empty() { request.show(&page) } else { request.show_errors(&page) }
}

/// Formats a key with its last characters, since names are not unique.
fn key_label(key: &KeyRecord) -> String {
    let suffix = if key.revoked_at.is_some() { ", revoked" } else { "" };
    format!("{} (...{}{suffix})", key.name, key.last4)
}

/// Parses the filter. Adds an error for each invalid parameter.
fn filter(request: &DashboardRequest, query: &PageQuery, errors: &mut FormErrors) -> RequestFilter {
    let key = query
        .non_empty("key")
        .and_then(|key| key.parse().map_err(|_| errors.add("key", "must be one of the listed values")).ok());
    let status = query.non_empty("status").and_then(|text| {
        let parsed = parse_status(&text);
        if parsed.is_none() {
            errors.add("status", "must be a code such as 404, or a class such as 4xx");
        }
        parsed
    });
    let operation = query.non_empty("operation");
    if operation.as_ref().is_some_and(|operation| !request.operations().contains(&operation.as_str())) {
        errors.add("operation", "must be one of the listed values");
    }
    let hours = query.text("within");
    if !WINDOWS.iter().any(|(value, _)| *value == hours) {
        errors.add("within", "must be one of the listed values");
    }
    let window = hours.parse().ok().map(SignedDuration::from_hours);
    let from = window.and_then(|window| request.app().clock.now().checked_sub(window).ok());
    RequestFilter { key, status, operation, received: TimeSpan { from, to: None } }
}

/// Parses a status filter: `404` or `4xx`.
fn parse_status(text: &str) -> Option<StatusFilter> {
    match text.as_bytes() {
        [digit @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] => Some(StatusFilter::Class(digit - b'0')),
        [b'1'..=b'5', _, _] => text.parse().ok().map(StatusFilter::Exact),
        _ => None,
    }
}

/// Renders a response status.
fn badge(status: &u16) -> RawHtml<String> {
    let tone = match status {
        0..=399 => Tone::Good,
        400..=499 => Tone::Warn,
        _ => Tone::Bad,
    };
    RawHtml(ui::badge(tone, &status.to_string()).to_string())
}

/// Formats the duration of a request.
fn duration(duration_us: &u64) -> String {
    ui::duration(Duration::from_micros(*duration_us), Precision::Microseconds)
}

#[derive(Template)]
#[template(path = "logs/entry.html")]
struct LogEntryPage {
    frame: Frame,
    entry: LoggedRequest,
    /// The label of the key.
    key: String,
    /// The body of the response if it is an error; `None` otherwise.
    error_body: Option<String>,
    curl: String,
    has_body: bool,
}

#[handler]
async fn show(request: DashboardRequest, Path(entry): Path<String>) -> PageResponse {
    let entry: LoggedRequestId = entry.parse()?;
    let entry = requests::get(request.app(), request.workspace(), entry).await?;
    let keys = keys::list(request.app(), request.workspace()).await?;
    let key = keys.iter().find(|key| key.id == entry.key).ok_or(PageError::NotFound)?;
    request.show(&LogEntryPage {
        frame: request.frame(Section::Logs, format!("{} {}", entry.method, entry.status)),
        key: key_label(key),
        error_body: entry.error.as_deref().map(format_body),
        curl: curl::command(&entry, request.base_url()),
        has_body: curl::has_body(&entry),
        entry,
    })
}

/// Formats a body: indented if it is JSON, otherwise unchanged.
fn format_body(body: &[u8]) -> String {
    let value = serde_json::from_slice::<serde_json::Value>(body);
    let text = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    text.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_filter_is_a_code_or_a_class() {
        assert_eq!(parse_status("404"), Some(StatusFilter::Exact(404)));
        assert_eq!(parse_status("4xx"), Some(StatusFilter::Class(4)));
        assert_eq!(parse_status("5XX"), Some(StatusFilter::Class(5)));
        for invalid in ["", "4", "4x", "999", "600", "40x", "abc", "-12", "4043", "4ä"] {
            assert_eq!(parse_status(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn bodies_that_are_not_json_are_shown_unchanged() {
        assert_eq!(format_body(b"{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(format_body(b"cut off {\"a"), "cut off {\"a");
    }
}
