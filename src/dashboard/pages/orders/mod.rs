//! Orders: list with search, and one order with its receipt, refunds and entitlements.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::form::FormErrors;
use crate::frame::{Frame, Section};
use crate::position;
use crate::query::{PageQuery, SEARCH_ALL, TIME_ZONE};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::time_span;
use crate::ui::{self, Badge, FormChoice, Tone};
use domain::Result;
use domain::orders::{self, EntitlementStatus, Order, OrderFilter, OrderStatus};
use domain::page::{Page, PageRequest, Position, SortKey};
use domain::roles::Permission;
use domain::students;
use domain::students::{StudentFilter, StudentSummary};
use foundation::id::OrderId;

mod refund;

const LIST: &str = "/dashboard/orders";
/// The parameters of the search.
const FIELDS: &[&str] = &["q", "status", "from", "to", TIME_ZONE, "student", SEARCH_ALL];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    refund::routes(route)
        .at(LIST, get(Permission::ReadWorkspace, list))
        .at("/dashboard/orders/:order", get(Permission::ReadWorkspace, show))
}

/// Formats an amount of an order.
fn money(order: &Order, amount: &i64) -> String {
    ui::money(*amount, &order.currency)
}

/// Returns the label of a status.
const fn status_label(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Paid => "paid",
        OrderStatus::PartiallyRefunded => "partially refunded",
        OrderStatus::Refunded => "refunded",
    }
}

/// Renders a status.
fn status_badge(status: &OrderStatus) -> Badge<'static> {
    let tone = match status {
        OrderStatus::Paid => Tone::Good,
        OrderStatus::PartiallyRefunded => Tone::Warn,
        OrderStatus::Refunded => Tone::Quiet,
    };
    ui::badge(tone, status_label(*status))
}

/// Renders the status of an entitlement.
fn entitlement_badge(status: &EntitlementStatus) -> Badge<'static> {
    let tone = match status {
        EntitlementStatus::Active => Tone::Good,
        EntitlementStatus::Expired => Tone::Warn,
        EntitlementStatus::Revoked => Tone::Quiet,
    };
    ui::badge(tone, status.as_str())
}

#[derive(Template)]
#[template(path = "orders/list.html")]
struct OrderListPage {
    frame: Frame,
    query: PageQuery,
    errors: FormErrors,
    /// The student to whom the list is limited.
    student: Option<StudentSummary>,
    orders: Vec<Order>,
    pager: ui::Pager,
}

impl OrderListPage {
    /// Returns whether the list is filtered by more than the student.
    fn is_search(&self) -> bool {
        self.query.has_any(&["q", "status", "from", "to"])
    }

    fn statuses(&self) -> Vec<FormChoice<'_>> {
        let selected = self.query.text("status");
        let statuses = OrderStatus::ALL.iter().map(|status| (status.as_str(), status_label(*status)));
        std::iter::once(("", "Any"))
            .chain(statuses)
            .map(|(value, label)| FormChoice { value, label, hint: "", is_selected: value == selected })
            .collect()
    }
}

#[handler]
async fn list(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let student = match query.non_empty("student") {
        Some(student) => Some(students::get(app, workspace, student.parse()?).await?.summary),
        None => None,
    };
    let mut errors = FormErrors::default();
    let filter = OrderFilter {
        search: query.non_empty("q"),
        status: query.text("status").parse().ok(),
        student: student.as_ref().map(|student| student.id),
        paid: time_span::parse(request.zone(), |field| query.text(field), &mut errors),
        ..OrderFilter::default()
    };
    let page_request = position::page_request(query.after(), SortKey::PaidAt);
    let (found, search_end) = if errors.is_empty() {
        search(&request, filter, page_request, &query).await?
    } else {
        (Page { items: Vec::new(), next: None }, None)
    };
    let path = query.path(LIST, FIELDS);
    let pager = ui::pager(&path, query.after(), found.next.map(position::format));
    let page = OrderListPage {
        frame: request.frame(Section::Orders, "Orders"),
        student,
        pager: pager.limited_to(&path, request.zone(), page_request.after, search_end),
        orders: found.items,
        query,
        errors,
    };
    if page.errors.is_empty() { request.show(&page) } else { request.show_errors(&page) }
}

/// Returns a page of matching orders, and the position down to which orders were searched; `None` means to the end.
///
/// The search is limited unless an index finds the orders or the request asks for a full search.
async fn search(
    request: &DashboardRequest,
    filter: OrderFilter,
    page_request: PageRequest,
    query: &PageQuery,
) -> Result<(Page<Order>, Option<Position>)> {
    let (app, workspace) = (request.app(), request.workspace());
    let is_id = filter.search.as_ref().is_some_and(|text| text.parse::<OrderId>().is_ok());
    let is_filtered = filter.search.is_some() || filter.status.is_some();
    let is_indexed = !is_filtered || is_id || filter.student.is_some();
    let search_end = match is_indexed || query.is_full_search() {
        true => None,
        false => orders::search_end(app, workspace, filter.paid, page_request).await?,
    };
    let mut found =
        orders::list(app, workspace, &filter, PageRequest { to: search_end, ..page_request }).await?;
    if query.continues_limited_search() && !is_indexed {
        let listed_first =
            exact_matches_of_first_page(request, &filter, PageRequest { after: None, ..page_request })
                .await?;
        found.items.retain(|order| listed_first.iter().all(|listed| listed.id != order.id));
    } else if let Some(search_end) = search_end {
        let exact_matches = exact_matches(request, &filter, search_end, found.items.len()).await?;
        found.items.splice(..0, exact_matches);
    }
    Ok((found, search_end))
}

/// Returns the exact matches that the first page of a search lists first.
async fn exact_matches_of_first_page(
    request: &DashboardRequest,
    filter: &OrderFilter,
    first_page: PageRequest,
) -> Result<Vec<Order>> {
    let (app, workspace) = (request.app(), request.workspace());
    let Some(search_end) = orders::search_end(app, workspace, filter.paid, first_page).await? else {
        return Ok(Vec::new());
    };
    let searched_page = PageRequest { to: Some(search_end), ..first_page };
    // Exact matches of an email address fill up the first page. An order number matches one order at most.
    let match_count = match filter.search.as_ref().is_some_and(|text| text.contains('@')) {
        true => orders::list(app, workspace, filter, searched_page).await?.items.len(),
        false => 0,
    };
    exact_matches(request, filter, search_end, match_count).await
}

/// Returns the orders beyond `search_end` that match the order number, or the customer's email address, exactly.
///
/// The first page lists them first, and later pages leave them out. `match_count` is the number of matches within the
/// searched rows: together with them, matches of an email address fill at most one page.
async fn exact_matches(
    request: &DashboardRequest,
    filter: &OrderFilter,
    search_end: Position,
    match_count: usize,
) -> Result<Vec<Order>> {
    let (app, workspace) = (request.app(), request.workspace());
    let Some(text) = filter.search.clone() else { return Ok(Vec::new()) };
    let exact = OrderFilter { search: None, ..filter.clone() };
    let page_request = position::page_request(None, SortKey::PaidAt);
    let remaining = page_request.limit.saturating_sub(u32::try_from(match_count).unwrap_or(u32::MAX));
    let page_request = PageRequest { after: Some(search_end), limit: remaining.max(1), ..page_request };
    if !text.contains('@') {
        let exact = OrderFilter { number: Some(text), ..exact };
        return Ok(orders::list(app, workspace, &exact, page_request).await?.items);
    }
    if remaining == 0 {
        return Ok(Vec::new());
    }
    let by_email = StudentFilter { email: Some(text), ..StudentFilter::default() };
    let newest_students = position::page_request(None, SortKey::CreatedAt);
    let Some(student) = students::list(app, workspace, &by_email, newest_students).await?.items.pop() else {
        return Ok(Vec::new());
    };
    let exact = OrderFilter { student: Some(student.summary.id), ..exact };
    Ok(orders::list(app, workspace, &exact, page_request).await?.items)
}

#[derive(Template)]
#[template(path = "orders/order.html")]
struct OrderPage {
    frame: Frame,
    order: Order,
}

impl OrderPage {
    /// Returns the title under which a course was bought.
    fn title<'a>(&'a self, course: &foundation::id::CourseId) -> &'a str {
        let item = self.order.items.iter().find(|item| item.course_id == *course);
        item.map_or("", |item| item.title.as_str())
    }
}

#[handler]
async fn show(request: DashboardRequest, Path(order): Path<String>) -> PageResponse {
    let order: OrderId = order.parse()?;
    let order = orders::get(request.app(), request.workspace(), order).await?;
    let frame = request.frame(Section::Orders, format!("Order {}", order.number));
    request.show(&OrderPage { frame, order })
}
