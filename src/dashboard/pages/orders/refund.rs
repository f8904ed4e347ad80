//! Money given back: the form says how much and why, and what a full refund takes away.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::LIST;
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui;
use domain::Error;
use domain::audit::Action;
use domain::orders::{self, Order, OrderRefund, OrderStatus};
use foundation::id::OrderId;

pub(super) fn routes(route: Route) -> Route {
    route.at("/dashboard/orders/:order/refund", get(ask).post(refund))
}

#[derive(Template)]
#[template(path = "orders/refund.html")]
struct RefundPage {
    frame: Frame,
    order: Order,
    paid: String,
    left: String,
    hint: String,
    form: Form,
    faults: Faults,
}

impl RefundPage {
    fn of(page: &Page, order: Order, form: Form, faults: Faults) -> Self {
        let frame = page.frame(Section::Orders, format!("Refund order {}", order.number));
        let paid = ui::money(order.total_amount, &order.currency);
        let left = ui::money(left(&order), &order.currency);
        let hint = format!("In {}. Empty: all that is left, {left}.", order.currency);
        Self { frame, order, paid, left, hint, form, faults }
    }
}

/// What can still be given back.
const fn left(order: &Order) -> i64 {
    order.total_amount - order.refunded_amount
}

fn path(order: &Order) -> String {
    format!("{LIST}/{}", order.id)
}

fn already(page: &Page, order: &Order) -> Answer {
    let told = format!("Order {} was refunded before; nothing was changed.", order.number);
    page.redirect_with(&path(order), &Flash::note(told))
}

#[handler]
async fn ask(page: Page, Path(order): Path<String>) -> Answer {
    let order: OrderId = order.parse()?;
    let order = orders::get(page.app(), page.workspace(), order).await?;
    if order.status == OrderStatus::Refunded {
        return already(&page, &order);
    }
    page.show(&RefundPage::of(&page, order, Form::default(), Faults::default()))
}

#[handler]
async fn refund(page: Page, Path(order): Path<String>, form: Form) -> Answer {
    let order: OrderId = order.parse()?;
    let (app, workspace) = (page.app(), page.workspace());
    let order = orders::get(app, workspace, order).await?;
    if order.status == OrderStatus::Refunded {
        return already(&page, &order);
    }
    let mut faults = Faults::default();
    let asked = read(&order, &form, &mut faults);
    if !faults.is_empty() {
        return page.show_faults(&RefundPage::of(&page, order, form, faults));
    }
    let mut write = page.begin_write().await?;
    let refunded = match orders::refund(app, &mut write, workspace, app.clock.now(), asked).await {
        Ok(refunded) => refunded,
        Err(Error::Invalid(faults)) => {
            drop(write);
            return page.show_faults(&RefundPage::of(&page, order, form, faults.into()));
        }
        Err(error) => return Err(error.into()),
    };
    // A form that is sent twice is about an order that the second one no longer finds.
    if form.text("refunded") != refunded.refunded_before.to_string() {
        drop(write);
        let order = orders::get(app, workspace, order.id).await?;
        return outdated(&page, order, form);
    }
    page.commit(write, Action::OrderRefunded, order.id, &order.number).await?;
    let amount = ui::money(refunded.amount, &order.currency);
    let told = format!("{amount} of order {} is given back.", order.number);
    page.redirect_with(&path(&order), &Flash::done(told))
}

/// The form again, with what is left now.
fn outdated(page: &Page, order: Order, form: Form) -> Answer {
    let mut faults = Faults::default();
    let told = "was not refunded, since money was given back after this page was loaded; look at what is left, and send \
                it again";
    faults.add("amount", told);
    page.show_faults(&RefundPage::of(page, order, form, faults))
}

/// The refund that a form describes.
fn read(order: &Order, form: &Form, faults: &mut Faults) -> OrderRefund {
    let text = form.text("amount").trim();
    let amount = if text.is_empty() { None } else { ui::minor_units(text, &order.currency) };
    match amount {
        None if !text.is_empty() => {
            faults.add("amount", format!("must be an amount in {}, such as 12.50", order.currency));
        }
        Some(0) => faults.add("amount", "must be more than nothing"),
        Some(amount) if amount > left(order) => {
            let left = ui::money(left(order), &order.currency);
            faults.add("amount", format!("must be at most {left}, which is what is left of the order"));
        }
        _ => {}
    }
    let reason = Some(form.text("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    OrderRefund { order: order.id.into(), amount, reason }
}
