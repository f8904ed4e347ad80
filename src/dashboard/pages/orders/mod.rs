//! Orders: the list with search, and one with its receipt, its refunds and what it gave.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::form::Faults;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position;
use crate::query::{Asked, FAR};
use crate::routes::{Route, get};
use crate::span::span;
use crate::ui::{self, Badge, Choice, Tone};
use domain::Result;
use domain::orders::{self, EntitlementStatus, Order, OrderFilter, OrderStatus};
use domain::page::{Page as Found, PageRequest, Position, SortKey};
use domain::students;
use domain::students::{StudentFilter, StudentSummary};
use foundation::id::OrderId;

mod refund;

const LIST: &str = "/dashboard/orders";
/// The fields of the search.
const FIELDS: &[&str] = &["q", "status", "from", "to", "student", FAR];

pub(super) fn routes(route: Route) -> Route {
    refund::routes(route).at(LIST, get(list)).at("/dashboard/orders/:order", get(one))
}

/// An amount of an order.
fn money(order: &Order, amount: &i64) -> String {
    ui::money(*amount, &order.currency)
}

/// An order's status in words.
const fn words(status: OrderStatus) -> &'static str {
    match status {
        OrderStatus::Paid => "paid",
        OrderStatus::PartiallyRefunded => "partially refunded",
        OrderStatus::Refunded => "refunded",
    }
}

/// An order's status as the pages show it.
fn badge(status: &OrderStatus) -> Badge<'static> {
    let tone = match status {
        OrderStatus::Paid => Tone::Good,
        OrderStatus::PartiallyRefunded => Tone::Warn,
        OrderStatus::Refunded => Tone::Quiet,
    };
    ui::badge(tone, words(*status))
}

/// Whether what was bought still gives access, as the pages show it.
fn access(status: &EntitlementStatus) -> Badge<'static> {
    let tone = match status {
        EntitlementStatus::Active => Tone::Good,
        EntitlementStatus::Expired => Tone::Warn,
        EntitlementStatus::Revoked => Tone::Quiet,
    };
    ui::badge(tone, status.as_str())
}

#[derive(Template)]
#[template(path = "orders/list.html")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    faults: Faults,
    student: Option<StudentSummary>,
    orders: Vec<Order>,
    pager: ui::Pager,
}

impl ListPage {
    /// Whether the list is narrowed by more than whose orders they are.
    fn is_search(&self) -> bool {
        self.asked.any(&["q", "status", "from", "to"])
    }

    fn statuses(&self) -> Vec<Choice<'_>> {
        let chosen = self.asked.text("status");
        let statuses = OrderStatus::ALL.iter().map(|status| (status.as_str(), words(*status)));
        std::iter::once(("", "any"))
            .chain(statuses)
            .map(|(value, label)| Choice { value, label, hint: "", chosen: value == chosen })
            .collect()
    }
}

#[handler]
async fn list(page: Page, asked: Asked) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let student = match asked.given("student") {
        Some(student) => Some(students::get(app, workspace, student.parse()?).await?.summary),
        None => None,
    };
    let mut faults = Faults::default();
    let filter = OrderFilter {
        search: asked.given("q"),
        status: asked.text("status").parse().ok(),
        student: student.as_ref().map(|student| student.id),
        paid: span(asked.text("from"), asked.text("to"), &mut faults),
        ..OrderFilter::default()
    };
    let request = position::request(asked.after(), SortKey::PaidAt);
    let (found, reach) = if faults.is_empty() {
        search(&page, filter, request, &asked).await?
    } else {
        (Found { items: Vec::new(), next: None }, None)
    };
    let path = asked.path(LIST, FIELDS);
    let pager = ui::pager(&path, asked.after(), found.next.map(position::text));
    let shown = ListPage {
        frame: page.frame(Section::Orders, "Orders"),
        student,
        pager: pager.beyond(&path, request.after, reach),
        orders: found.items,
        asked,
        faults,
    };
    if shown.faults.is_empty() { page.show(&shown) } else { page.show_faults(&shown) }
}

/// A page of what fits, and how far was looked: to the end only where an index finds what is asked for, or when it is
/// wanted.
async fn search(
    page: &Page,
    filter: OrderFilter,
    request: PageRequest,
    asked: &Asked,
) -> Result<(Found<Order>, Option<Position>)> {
    let (app, workspace) = (page.app(), page.workspace());
    let is_id = filter.search.as_ref().is_some_and(|text| text.parse::<OrderId>().is_ok());
    let narrowed = filter.search.is_some() || filter.status.is_some();
    let known = !narrowed || is_id || filter.student.is_some();
    let reach = match known || asked.is_far() {
        true => None,
        false => orders::reach(app, workspace, filter.paid, request).await?,
    };
    let mut found = orders::list(app, workspace, &filter, PageRequest { to: reach, ..request }).await?;
    if asked.is_cut() && !known {
        let first = named_first(page, &filter, PageRequest { after: None, ..request }).await?;
        found.items.retain(|order| first.iter().all(|first| first.id != order.id));
    } else if let Some(reach) = reach {
        let first = named(page, &filter, reach, found.items.len()).await?;
        found.items.splice(..0, first);
    }
    Ok((found, reach))
}

/// What the first page of a search puts first.
async fn named_first(page: &Page, filter: &OrderFilter, first: PageRequest) -> Result<Vec<Order>> {
    let (app, workspace) = (page.app(), page.workspace());
    let Some(reach) = orders::reach(app, workspace, filter.paid, first).await? else { return Ok(Vec::new()) };
    let within = PageRequest { to: Some(reach), ..first };
    // The page tells how many of an address had room; of a number, one has.
    let shown = match filter.search.as_ref().is_some_and(|text| text.contains('@')) {
        true => orders::list(app, workspace, filter, within).await?.items.len(),
        false => 0,
    };
    named(page, filter, reach, shown).await
}

/// What a search names by the whole number, or by the customer's whole address, among what stands behind where its first page
/// looks: so many of an address as have room beside those that it shows. That page puts them first, and the others leave
/// them out.
async fn named(page: &Page, filter: &OrderFilter, behind: Position, shown: usize) -> Result<Vec<Order>> {
    let (app, workspace) = (page.app(), page.workspace());
    let Some(text) = filter.search.clone() else { return Ok(Vec::new()) };
    let exact = OrderFilter { search: None, ..filter.clone() };
    let request = position::request(None, SortKey::PaidAt);
    let room = request.limit.saturating_sub(u32::try_from(shown).unwrap_or(u32::MAX));
    let first = PageRequest { after: Some(behind), limit: room.max(1), ..request };
    if !text.contains('@') {
        let exact = OrderFilter { number: Some(text), ..exact };
        return Ok(orders::list(app, workspace, &exact, first).await?.items);
    }
    if room == 0 {
        return Ok(Vec::new());
    }
    let by_email = StudentFilter { email: Some(text), ..StudentFilter::default() };
    let students = position::request(None, SortKey::CreatedAt);
    let Some(student) = students::list(app, workspace, &by_email, students).await?.items.pop() else {
        return Ok(Vec::new());
    };
    let exact = OrderFilter { student: Some(student.summary.id), ..exact };
    Ok(orders::list(app, workspace, &exact, first).await?.items)
}

#[derive(Template)]
#[template(path = "orders/order.html")]
struct OrderPage {
    frame: Frame,
    order: Order,
}

impl OrderPage {
    /// The title under which a course was bought.
    fn title<'a>(&'a self, course: &foundation::id::CourseId) -> &'a str {
        let item = self.order.items.iter().find(|item| item.course_id == *course);
        item.map_or("", |item| item.title.as_str())
    }
}

#[handler]
async fn one(page: Page, Path(order): Path<String>) -> Answer {
    let order: OrderId = order.parse()?;
    let order = orders::get(page.app(), page.workspace(), order).await?;
    let frame = page.frame(Section::Orders, format!("Order {}", order.number));
    page.show(&OrderPage { frame, order })
}
