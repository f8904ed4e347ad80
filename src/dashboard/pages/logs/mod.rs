//! The log of API requests: the list with its filters, and one request with all that helps to understand and repeat it.

use std::collections::HashMap;

use askama::Template;
use jiff::SignedDuration;
use poem::handler;
use poem::web::Path;

use crate::failure::Failure;
use crate::form::Faults;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position::{self, ROWS};
use crate::query::{Asked, FAR};
use crate::routes::{Route, get};
use crate::ui::{self, Choice, Raw, Tone};
use domain::Error;
use domain::keys::{self, KeyRecord};
use domain::page::{Page as Found, PageRequest, Span};
use domain::requests::{self, LoggedRequest, RequestFilter, StatusFilter};
use foundation::id::{KeyId, LoggedRequestId};

mod curl;

const LIST: &str = "/dashboard/developer/logs";
/// The fields of the filter.
const FIELDS: &[&str] = &["key", "status", "operation", "within", FAR];

/// Hours that can be looked back at, as the form offers them; the log goes no further than the first.
const WINDOWS: &[(&str, &str)] =
    &[("", "The last 7 days"), ("24", "The last 24 hours"), ("1", "The last hour")];

/// The operations of the API, as the form offers them.
const OPERATIONS: &[&str] = &[
    "listCourses",
    "getCourse",
    "listStudents",
    "createStudent",
    "listOrders",
    "createEnrollment",
    "getAnalyticsSummary",
];

pub(super) fn routes(route: Route) -> Route {
    route.at(LIST, get(list)).at("/dashboard/developer/logs/:entry", get(one))
}

#[derive(Template)]
#[template(path = "logs/list.html")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    faults: Faults,
    keys: Vec<(String, String)>,
    entries: Vec<Row>,
    filtered: bool,
    pager: ui::Pager,
}

/// A request as the list shows it.
struct Row {
    entry: LoggedRequest,
    key: String,
}

impl ListPage {
    fn keys(&self) -> Vec<Choice<'_>> {
        let all = ("", "All keys");
        let keys = self.keys.iter().map(|(id, name)| (id.as_str(), name.as_str()));
        choices(std::iter::once(all).chain(keys), self.asked.text("key"))
    }

    fn operations(&self) -> Vec<Choice<'_>> {
        let all = OPERATIONS.iter().map(|operation| (*operation, *operation));
        choices(std::iter::once(("", "All operations")).chain(all), self.asked.text("operation"))
    }

    fn windows(&self) -> Vec<Choice<'_>> {
        choices(WINDOWS.iter().copied(), self.asked.text("within"))
    }
}

fn choices<'a>(all: impl Iterator<Item = (&'a str, &'a str)>, chosen: &str) -> Vec<Choice<'a>> {
    all.map(|(value, label)| Choice { value, label, hint: "", chosen: value == chosen }).collect()
}

#[handler]
async fn list(page: Page, asked: Asked) -> Answer {
    let mut faults = Faults::default();
    if let Some(wanted) = asked.given("request") {
        match requests::by_request_id(page.app(), page.workspace(), &wanted).await {
            Ok(entry) => return page.redirect(&format!("{LIST}/{}", entry.id)),
            Err(Error::NotFound(_)) => faults.add("request", "is not among those of the last 7 days"),
            Err(error) => return Err(error.into()),
        }
    }
    let filter = filter(&page, &asked, &mut faults);
    let after = asked.after().and_then(position::read);
    let reach = match faults.is_empty() && !asked.is_far() {
        true => requests::reach(page.app(), page.workspace(), &filter, after).await?,
        false => None,
    };
    let found = if faults.is_empty() {
        let within = PageRequest { to: reach, ..PageRequest::newest(after, ROWS) };
        requests::list(page.app(), page.workspace(), &filter, within).await?
    } else {
        Found { items: Vec::new(), next: None }
    };
    let keys = keys::list(page.app(), page.workspace()).await?;
    let names: HashMap<KeyId, &str> = keys.iter().map(|key| (key.id, key.name.as_str())).collect();
    let row = |entry: LoggedRequest| {
        let key = names.get(&entry.key).copied().unwrap_or_default().to_owned();
        Row { entry, key }
    };
    let path = asked.path(LIST, FIELDS);
    let pager = ui::pager(&path, asked.after(), found.next.map(position::text));
    let shown = ListPage {
        frame: page.frame(Section::Logs, "Logs"),
        filtered: asked.any(FIELDS),
        pager: pager.beyond(&path, after, reach),
        entries: found.items.into_iter().map(row).collect(),
        keys: keys.iter().map(|key| (key.id.to_string(), label(key))).collect(),
        asked,
        faults,
    };
    if shown.faults.is_empty() { page.show(&shown) } else { page.show_faults(&shown) }
}

/// A key among others, which may have the same name.
fn label(key: &KeyRecord) -> String {
    let ended = if key.revoked_at.is_some() { ", revoked" } else { "" };
    format!("{} (...{}{ended})", key.name, key.last4)
}

/// The filter that an address describes.
fn filter(page: &Page, asked: &Asked, faults: &mut Faults) -> RequestFilter {
    let key = asked.given("key").and_then(|key| {
        key.parse().map_err(|_| faults.add("key", "must be one of those that are listed")).ok()
    });
    let status = asked.given("status").and_then(|text| {
        let read = status(&text);
        if read.is_none() {
            faults.add("status", "must be a code such as 404, or a class such as 4xx");
        }
        read
    });
    let operation = asked.given("operation");
    if operation.as_ref().is_some_and(|operation| !OPERATIONS.contains(&operation.as_str())) {
        faults.add("operation", "must be one of those that are listed");
    }
    let hours = asked.text("within");
    if !WINDOWS.iter().any(|(value, _)| *value == hours) {
        faults.add("within", "must be one of those that are listed");
    }
    let back = hours.parse().ok().map(SignedDuration::from_hours);
    let from = back.and_then(|back| page.app().clock.now().checked_sub(back).ok());
    RequestFilter { key, status, operation, received: Span { from, to: None } }
}

/// A status as people write it: `404` or `4xx`.
fn status(text: &str) -> Option<StatusFilter> {
    match text.as_bytes() {
        [digit @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] => Some(StatusFilter::Class(digit - b'0')),
        [b'1'..=b'5', _, _] => text.parse().ok().map(StatusFilter::Exact),
        _ => None,
    }
}

/// A status as the pages show it.
fn badge(status: &u16) -> Raw<String> {
    let tone = match status {
        0..=399 => Tone::Good,
        400..=499 => Tone::Warn,
        _ => Tone::Bad,
    };
    Raw(ui::badge(tone, &status.to_string()).to_string())
}

/// A duration in milliseconds.
fn duration(duration_us: &u64) -> String {
    format!("{}.{} ms", ui::number(duration_us / 1000), duration_us % 1000 / 100)
}

#[derive(Template)]
#[template(path = "logs/entry.html")]
struct EntryPage {
    frame: Frame,
    entry: LoggedRequest,
    key: String,
    error: Option<String>,
    curl: String,
    has_body: bool,
}

#[handler]
async fn one(page: Page, Path(entry): Path<String>) -> Answer {
    let entry: LoggedRequestId = entry.parse()?;
    let entry = requests::get(page.app(), page.workspace(), entry).await?;
    let keys = keys::list(page.app(), page.workspace()).await?;
    let key = keys.iter().find(|key| key.id == entry.key).ok_or(Failure::NotFound)?;
    page.show(&EntryPage {
        frame: page.frame(Section::Logs, format!("{} {}", entry.method, entry.status)),
        key: label(key),
        error: entry.error.as_deref().map(pretty),
        curl: curl::command(&entry, page.address()),
        has_body: curl::has_body(&entry),
        entry,
    })
}

/// A body as people read it: indented when it is JSON.
fn pretty(body: &[u8]) -> String {
    let value = serde_json::from_slice::<serde_json::Value>(body);
    let text = value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    text.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_code_or_a_class() {
        assert_eq!(status("404"), Some(StatusFilter::Exact(404)));
        assert_eq!(status("4xx"), Some(StatusFilter::Class(4)));
        assert_eq!(status("5XX"), Some(StatusFilter::Class(5)));
        for wrong in ["", "4", "4x", "999", "600", "40x", "abc", "-12", "4043", "4ä"] {
            assert_eq!(status(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_body_is_shown_whatever_it_is() {
        assert_eq!(pretty(b"{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(pretty(b"cut off {\"a"), "cut off {\"a");
        assert_eq!(duration(&1_234_567), "1,234.5 ms");
    }
}
