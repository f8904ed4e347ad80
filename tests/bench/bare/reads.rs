//! Reads the rows of a page and the child rows of its items from the bare database, as the server does.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, Value};
use uuid::Uuid;

use super::{BareClient, BareDatabase, run_clients};
use crate::compare::MeasuredSide;
use crate::measurement::Measurement;
use crate::scenarios::walk::ListSource;

/// Rows read for a page of 25 items. The extra row shows whether there is a next page.
const PAGE_ROWS: usize = 26;

/// The statements of a list: one for the page, and one per child table by the ids of its items.
///
/// `$1` is the workspace. `$2` and `$3` of a page are the upper limit of the creation time and the number of rows.
/// `IDS` stands for the parameters with the ids.
#[derive(Clone, Copy)]
pub struct Statements {
    page: &'static str,
    children: &'static [&'static str],
}

/// `listStudents`.
pub const STUDENTS: Statements = Statements {
    page: "SELECT * FROM students WHERE workspace_id = $1 AND created_at < $2
           ORDER BY created_at DESC, id DESC LIMIT $3",
    children: &["SELECT * FROM enrollments WHERE workspace_id = $1 AND student_id IN (IDS)"],
};

/// `listOrders`.
pub const ORDERS: Statements = Statements {
    page: "SELECT * FROM orders WHERE workspace_id = $1 AND created_at < $2
           ORDER BY created_at DESC, id DESC LIMIT $3",
    children: &[
        "SELECT * FROM order_items WHERE workspace_id = $1 AND order_id IN (IDS)",
        "SELECT * FROM refunds WHERE workspace_id = $1 AND order_id IN (IDS)",
        "SELECT * FROM entitlements WHERE workspace_id = $1 AND order_id IN (IDS)",
    ],
};

/// Clients that read random pages.
pub struct BareReads(Arc<ReadContext>);

struct ReadContext {
    connection: DatabaseConnection,
    page: &'static str,
    children: Vec<String>,
    list: ListSource,
    workspace: Uuid,
}

impl BareReads {
    /// Creates clients that read this list.
    pub fn new(bare: BareDatabase, statements: Statements, list: ListSource, workspace: Uuid) -> Self {
        let mut ids = String::from("$2");
        for number in 3..PAGE_ROWS + 2 {
            let _ = write!(ids, ", ${number}");
        }
        let children = statements.children.iter().map(|text| text.replace("IDS", &ids)).collect();
        Self(Arc::new(ReadContext {
            connection: bare.reader,
            page: statements.page,
            children,
            list,
            workspace,
        }))
    }
}

impl MeasuredSide for BareReads {
    async fn measure(&mut self, round: u32, warm_up: Duration, window: Duration) -> Result<Measurement> {
        run_clients(warm_up, window, |number| ReadClient {
            context: self.0.clone(),
            random: SmallRng::seed_from_u64(u64::from(round) << 32 | number as u64),
        })
        .await
    }
}

struct ReadClient {
    context: Arc<ReadContext>,
    random: SmallRng,
}

impl BareClient for ReadClient {
    async fn run_once(&mut self) -> Result<()> {
        let ReadContext { connection, page, children, list, workspace } = &*self.context;
        let backend = connection.get_database_backend();
        let created_before_ms = list.random_time(&mut self.random);
        let values: [Value; 3] = [(*workspace).into(), created_before_ms.into(), (PAGE_ROWS as i64).into()];
        let rows = connection.query_all_raw(Statement::from_sql_and_values(backend, *page, values)).await?;
        let Some(last) = rows.last() else { bail!("the page is empty") };
        let last: Uuid = last.try_get_by_index(0)?;
        let mut values: Vec<Value> = Vec::with_capacity(PAGE_ROWS + 1);
        values.push((*workspace).into());
        for row in &rows {
            values.push(row.try_get_by_index::<Uuid>(0)?.into());
        }
        // A short page repeats its last id, so that the statement stays the same.
        values.resize_with(PAGE_ROWS + 1, || last.into());
        for text in children {
            connection.query_all_raw(Statement::from_sql_and_values(backend, text, values.clone())).await?;
        }
        Ok(())
    }
}
