//! Refunds: the form with amount and reason.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::LIST;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::Error;
use domain::audit::Action;
use domain::orders::{self, Order, OrderRefund, OrderStatus};
use domain::roles::Permission;
use foundation::id::OrderId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(
        "/dashboard/orders/:order/refund",
        get(Permission::RefundOrders, show_form).post(Permission::RefundOrders, refund),
    )
}

#[derive(Template)]
#[template(path = "orders/refund.html")]
struct RefundOrderPage {
    frame: Frame,
    order: Order,
    paid: String,
    remaining: String,
    hint: String,
    form: Form,
    errors: FormErrors,
}

impl RefundOrderPage {
    fn new(request: &DashboardRequest, order: Order, form: Form, errors: FormErrors) -> Self {
        let frame = request.frame(Section::Orders, format!("Refund order {}", order.number));
        let paid = ui::money(order.total_amount, &order.currency);
        let remaining = ui::money(remaining(&order), &order.currency);
        let hint = format!("In {}. Leave empty to refund the remaining {remaining}.", order.currency);
        Self { frame, order, paid, remaining, hint, form, errors }
    }
}

/// Returns the amount that can still be refunded, in minor units.
const fn remaining(order: &Order) -> i64 {
    order.total_amount - order.refunded_amount
}

fn path(order: &Order) -> String {
    format!("{LIST}/{}", order.id)
}

fn already_refunded(request: &DashboardRequest, order: &Order) -> PageResponse {
    let text = format!("Order {} is already refunded.", order.number);
    request.redirect_with(&path(order), &Flash::info(text))
}

#[handler]
async fn show_form(request: DashboardRequest, Path(order): Path<String>) -> PageResponse {
    let order: OrderId = order.parse()?;
    let order = orders::get(request.app(), request.workspace(), order).await?;
    if order.status == OrderStatus::Refunded {
        return already_refunded(&request, &order);
    }
    request.show(&RefundOrderPage::new(&request, order, Form::default(), FormErrors::default()))
}

#[handler]
async fn refund(request: DashboardRequest, Path(order): Path<String>, form: Form) -> PageResponse {
    let order: OrderId = order.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let order = orders::get(app, workspace, order).await?;
    if order.status == OrderStatus::Refunded {
        return already_refunded(&request, &order);
    }
    let mut errors = FormErrors::default();
    let order_refund = parse(&order, &form, &mut errors);
    if !errors.is_empty() {
        return request.show_errors(&RefundOrderPage::new(&request, order, form, errors));
    }
    let mut write = request.begin_write().await?;
    let refunded = match orders::refund(app, &mut write, workspace, app.clock.now(), order_refund).await {
        Ok(refunded) => refunded,
        Err(Error::Invalid(errors)) => {
            drop(write);
            return request.show_errors(&RefundOrderPage::new(&request, order, form, errors.into()));
        }
        Err(error) => return Err(error.into()),
    };
    // A form that is sent twice contains an outdated refunded amount.
    if form.text("refunded") != refunded.refunded_before.to_string() {
        drop(write);
        let order = orders::get(app, workspace, order.id).await?;
        return outdated(&request, order, form);
    }
    request.commit(write, Action::OrderRefunded, order.id, &order.number).await?;
    let amount = ui::money(refunded.amount, &order.currency);
    let text = format!("Refunded {amount} of order {}.", order.number);
    request.redirect_with(&path(&order), &Flash::success(text))
}

/// Renders the form again with the current remaining amount.
fn outdated(request: &DashboardRequest, order: Order, form: Form) -> PageResponse {
    let mut errors = FormErrors::default();
    let text = "Another refund was made after this page was loaded. Check the remaining amount and submit the form again";
    errors.add("amount", text);
    request.show_errors(&RefundOrderPage::new(request, order, form, errors))
}

/// Parses the form. An empty amount is `None`, which refunds the remaining amount. Adds an error for each invalid
/// field.
fn parse(order: &Order, form: &Form, errors: &mut FormErrors) -> OrderRefund {
    let text = form.text("amount").trim();
    let amount = if text.is_empty() { None } else { ui::minor_units(text, &order.currency) };
    match amount {
        None if !text.is_empty() => {
            let example = ui::example_amount(&order.currency);
            errors.add("amount", format!("must be an amount in {}, such as {example}", order.currency));
        }
        Some(0) => errors.add("amount", "must be greater than zero"),
        Some(amount) if amount > remaining(order) => {
            let remaining = ui::money(remaining(order), &order.currency);
            errors.add("amount", format!("must be at most {remaining}, the remaining amount of the order"));
        }
        _ => {}
    }
    let reason = Some(form.text("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    OrderRefund { order: order.id.into(), amount, reason }
}
