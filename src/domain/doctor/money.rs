//! The amounts of orders, and the revenue sums.

use entity::integrity::money::OrderSums;
use entity::integrity::{self, revenue};
use entity::rollups::ALL_COURSES;
use foundation::clock::from_ms;
use foundation::id::{CourseId, OrderId};
use uuid::Uuid;

use super::{Finding, Report};
use crate::app::App;
use crate::{Result, workspaces};

/// Compares the amounts of each order with each other, with its items and with its refunds.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn orders(app: &App) -> Result<Report> {
    let conn = app.db.read();
    let (mut report, mut orders, mut after) = (Report::default(), 0, Uuid::nil());
    loop {
        let batch = integrity::next_batch(conn, "orders", "id", after).await?;
        orders += integrity::count(conn, "orders", "id", batch).await?;
        for sums in integrity::money::find(conn, batch).await? {
            report.add(Finding {
                table: "orders".to_owned(),
                id: OrderId::from_uuid(sums.order).to_string(),
                problem: problems(&sums).join("; "),
                remedy: "compare the order with the platform, and restore the amounts from a backup"
                    .to_owned(),
            });
        }
        if batch.is_last() {
            break;
        }
        after = batch.up_to;
    }
    report.summary = format!("{orders} orders");
    Ok(report)
}

fn problems(sums: &OrderSums) -> Vec<String> {
    let mut problems = Vec::new();
    if sums.subtotal != sums.items {
        problems
            .push(format!("subtotal_amount is {}, but the items add up to {}", sums.subtotal, sums.items));
    }
    if sums.total != sums.calculated_total {
        problems.push(format!(
            "total_amount is {}, but the subtotal minus the discount plus the tax is {}",
            sums.total, sums.calculated_total
        ));
    }
    if sums.wrong_items > 0 {
        problems.push(format!(
            "{} items have a total_amount that is not quantity times unit_amount",
            sums.wrong_items
        ));
    }
    if sums.refunded != sums.refunds {
        problems.push(format!(
            "refunded_amount is {}, but the refunds add up to {}",
            sums.refunded, sums.refunds
        ));
    }
    if sums.status != sums.calculated_status() {
        problems.push(format!("status is {}, but the amounts say {}", sums.status, sums.calculated_status()));
    }
    problems
}

/// Compares the revenue sums of each day with the orders and refunds, and with the sums of its quarter-hours.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn revenue(app: &App) -> Result<Report> {
    let conn = app.db.read();
    let workspaces = workspaces::list(app).await?;
    let mut report = Report::new(format!("{} workspaces", workspaces.len()));
    for workspace in workspaces {
        let mut from = i64::MIN;
        loop {
            let days = revenue::next_days(conn, workspace.id.uuid(), from).await?;
            let by_orders = revenue::find(conn, workspace.id.uuid(), days).await?;
            let by_quarters = revenue::find_quarters(conn, workspace.id.uuid(), days).await?;
            for (counted, wrong) in [("orders and refunds", by_orders), ("quarter-hours", by_quarters)] {
                for sum in wrong {
                    report.add(finding(&workspace.key, counted, &sum));
                }
            }
            if days.to == i64::MAX {
                break;
            }
            from = days.to;
        }
    }
    Ok(report)
}

fn finding(workspace: &str, counted: &str, sum: &revenue::WrongSum) -> Finding {
    let course = match sum.course {
        ALL_COURSES => "all courses".to_owned(),
        course => CourseId::from_uuid(course).to_string(),
    };
    let day = from_ms(sum.day).to_string();
    let excess = &sum.excess;
    Finding {
        table: "revenue_rollups".to_owned(),
        id: format!("workspace {workspace}, {course}, {}, {}", &day[..10], sum.currency),
        problem: format!(
            "the sums of the day differ from its {counted} by orders {:+}, refunds {:+}, gross_amount {:+}, discount_amount {:+}, \
             tax_amount {:+}, refunded_amount {:+}",
            excess.orders,
            excess.refunds,
            excess.gross_amount,
            excess.discount_amount,
            excess.tax_amount,
            excess.refunded_amount
        ),
        remedy:
            "analytics of this day are wrong; restore a backup, or subtract these differences from the row"
                .to_owned(),
    }
}
