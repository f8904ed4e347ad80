//! Orders: the list with search, and one with its receipt, its refunds and what it gave.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::dashboard::frame::{Frame, Section};
use crate::dashboard::page::{Answer, Page};
use crate::dashboard::position;
use crate::dashboard::query::Asked;
use crate::dashboard::routes::{Route, get};
use crate::dashboard::ui::{self, Badge, Choice, Tone};
use crate::domain::orders::{self, EntitlementStatus, Order, OrderFilter, OrderStatus};
use crate::domain::page::SortKey;
use crate::domain::students;
use crate::domain::students::StudentSummary;
use crate::id::OrderId;

mod refund;

const LIST: &str = "/dashboard/orders";
/// The fields of the search.
const FIELDS: &[&str] = &["q", "status", "student"];

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
#[template(path = "orders/list.html", config = "src/dashboard/templates/askama.toml")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    student: Option<StudentSummary>,
    orders: Vec<Order>,
    pager: ui::Pager,
}

impl ListPage {
    /// Whether the list is narrowed by more than whose orders they are.
    fn is_search(&self) -> bool {
        self.asked.any(&["q", "status"])
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
    let filter = OrderFilter {
        search: asked.given("q"),
        status: asked.text("status").parse().ok(),
        student: student.as_ref().map(|student| student.id),
        ..OrderFilter::default()
    };
    let request = position::request(asked.after(), SortKey::PaidAt);
    let found = orders::list(app, workspace, &filter, request).await?;
    page.show(&ListPage {
        frame: page.frame(Section::Orders, "Orders"),
        student,
        pager: ui::pager(&asked.path(LIST, FIELDS), asked.after(), found.next.map(position::text)),
        orders: found.items,
        asked,
    })
}

#[derive(Template)]
#[template(path = "orders/order.html", config = "src/dashboard/templates/askama.toml")]
struct OrderPage {
    frame: Frame,
    order: Order,
}

impl OrderPage {
    /// The title under which a course was bought.
    fn title<'a>(&'a self, course: &crate::id::CourseId) -> &'a str {
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
