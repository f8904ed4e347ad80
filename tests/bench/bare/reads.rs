//! The rows of a page and of what hangs on its items.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, Value};
use uuid::Uuid;

use super::{Bare, Client, crowd};
use crate::compare::Side;
use crate::measured::Measured;
use crate::scenarios::walk::List;

/// Rows of a page of 25: one more tells whether there are more pages.
const ROWS: usize = 26;

/// The statements of a list: the page's, and those by the ids of its items.
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

/// Readers of other pages all the time.
pub struct Reads(Arc<Shared>);

struct Shared {
    connection: DatabaseConnection,
    page: &'static str,
    children: Vec<String>,
    list: List,
    workspace: Uuid,
}

impl Reads {
    /// Readers of this list.
    pub fn new(bare: Bare, statements: Statements, list: List, workspace: Uuid) -> Self {
        let mut ids = String::from("$2");
        for place in 3..ROWS + 2 {
            let _ = write!(ids, ", ${place}");
        }
        let children = statements.children.iter().map(|text| text.replace("IDS", &ids)).collect();
        Self(Arc::new(Shared { connection: bare.reader, page: statements.page, children, list, workspace }))
    }
}

impl Side for Reads {
    async fn turn(&mut self, turn: u32, warm_up: Duration, window: Duration) -> Result<Measured> {
        crowd(warm_up, window, |number| Reader {
            shared: self.0.clone(),
            random: SmallRng::seed_from_u64(u64::from(turn) << 32 | number as u64),
        })
        .await
    }
}

struct Reader {
    shared: Arc<Shared>,
    random: SmallRng,
}

impl Client for Reader {
    async fn once(&mut self) -> Result<()> {
        let Shared { connection, page, children, list, workspace } = &*self.shared;
        let backend = connection.get_database_backend();
        let before = list.somewhere(&mut self.random);
        let values: [Value; 3] = [(*workspace).into(), before.into(), (ROWS as i64).into()];
        let rows = connection.query_all_raw(Statement::from_sql_and_values(backend, *page, values)).await?;
        let Some(last) = rows.last() else { bail!("the page is empty") };
        let last: Uuid = last.try_get_by_index(0)?;
        let mut values: Vec<Value> = Vec::with_capacity(ROWS + 1);
        values.push((*workspace).into());
        for row in &rows {
            values.push(row.try_get_by_index::<Uuid>(0)?.into());
        }
        // A short page repeats its last id, so that the statement is always the same.
        values.resize_with(ROWS + 1, || last.into());
        for text in children {
            connection.query_all_raw(Statement::from_sql_and_values(backend, text, values.clone())).await?;
        }
        Ok(())
    }
}
