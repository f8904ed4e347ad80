//! Webhook subscriptions: the endpoint's URL, the event types, the delivery controls, and the endpoint's health.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    DbBackend, QueryOrder, QueryResult, QuerySelect,
    sea_query::{Expr, ExprTrait as _, Func, LockType},
};

use crate::{Connection, InWorkspace, StringList, StringMap, row_cache, scope, statement, table};

/// Whether a subscription's deliveries are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum StoredSubscriptionState {
    /// Its deliveries are sent.
    #[sea_orm(num_value = 0)]
    Enabled,
    /// A user paused it. Its deliveries are held.
    #[sea_orm(num_value = 1)]
    Paused,
    /// It was disabled because its endpoint failed for too long. Its deliveries are held.
    #[sea_orm(num_value = 2)]
    Disabled,
}

table::declare!(
    /// One subscription. [`webhook_topics`](crate::webhook_topics) stores the same event types, for finding
    /// subscriptions.
    #[sea_orm(table_name = "webhook_subscriptions")]
    pub struct Model {
        /// The subscription's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The endpoint's URL.
        #[sea_orm(column_type = "Text")]
        pub url: String,
        /// The event types, for display.
        pub event_types: StringList,
        /// Whether deliveries are sent.
        pub state: StoredSubscriptionState,
        /// When the first attempt failed after the most recent success, change of the URL or enabling; `None` if no
        /// attempt has failed since.
        pub failing_since: Option<i64>,
        /// When the owner was warned about these failures; `None` if the owner was not.
        pub warned_at: Option<i64>,
        /// When it was disabled; `None` unless the state is disabled.
        pub disabled_at: Option<i64>,
        /// When it was deleted; `None` if it was not. The row remains until all its deliveries are deleted.
        pub deleted_at: Option<i64>,
        /// When it was created.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
        /// The conditions that events must meet, one per line; `None` without conditions.
        #[sea_orm(column_type = "Text", nullable)]
        pub filters: Option<String>,
        /// The names of its custom request headers, with their encrypted values in hexadecimal.
        pub headers: Option<StringMap>,
        /// The maximum number of deliveries per second. A row of [`webhook_rates`](crate::webhook_rates) exists if it is set.
        pub rate: Option<i32>,
        /// Whether its requests also have an Ed25519 signature.
        pub ed25519: bool,
        /// When attempts began to fail. Unlike `failing_since`, only a success clears it.
        pub outage_since: Option<i64>,
        /// When the most recent outage with dead deliveries ended.
        pub recovered_at: Option<i64>,
        /// Dead deliveries created at or after this time are offered for a replay; `None` without an offer.
        pub offered_from: Option<i64>,
        /// What its endpoint is for, for display.
        #[sea_orm(column_type = "Text", nullable)]
        pub description: Option<String>,
    }
);
scope::workspace_table!();

/// A subscription to an event, with what decides about its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// The subscription.
    pub id: Uuid,
    /// Whether deliveries are sent.
    pub state: StoredSubscriptionState,
    /// Whether it has a rate.
    pub has_rate: bool,
    /// Its conditions; see [`Model::filters`].
    pub filters: Option<String>,
}

/// Where and how to send the deliveries of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The subscription.
    pub id: Uuid,
    /// The workspace.
    pub workspace_id: Uuid,
    /// The URL.
    pub url: String,
    /// The custom request headers; see [`Model::headers`].
    pub headers: Option<StringMap>,
    /// Whether its requests also have an Ed25519 signature.
    pub ed25519: bool,
    /// The mode of the workspace.
    pub mode: String,
}

/// The mode of the workspace of the subscription `s`.
pub(crate) const MODE: &str = "(SELECT w.mode FROM workspaces AS w WHERE w.id = s.workspace_id)";

/// Selects the first $3 subscriptions in the workspace $1 to events of type $2. Each row also contains the number of
/// all such subscriptions, counted up to one more than $3.
const SUBSCRIBED_TO: &str = "
SELECT s.id, s.state, (SELECT count(*) FROM
    (SELECT 1 FROM webhook_topics WHERE workspace_id = $1 AND event_type = $2 LIMIT $3 + 1) AS counted),
    s.rate, s.filters
FROM (SELECT subscription_id FROM webhook_topics WHERE workspace_id = $1 AND event_type = $2
      ORDER BY subscription_id LIMIT $3) AS subscribed
JOIN webhook_subscriptions AS s ON s.id = subscribed.subscription_id
WHERE (s.workspace_id = $1) IS TRUE AND s.deleted_at IS NULL";

impl InWorkspace<Entity> {
    /// Returns the workspace's subscriptions that are not deleted, oldest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        let rows = self.select().filter(Column::DeletedAt.is_null());
        statement::all(conn, rows.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }

    /// Returns the number of the workspace's subscriptions that are not deleted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_undeleted<C: ConnectionTrait>(self, conn: &C) -> Result<u64, DbErr> {
        statement::count(conn, self.select().filter(Column::DeletedAt.is_null())).await
    }

    /// Returns the first subscriptions to events of this type, ordered by id and up to the limit.
    /// The second value is true when there are more.
    ///
    /// On PostgreSQL, locks them against deletion until the transaction ends, so that a delivery to each can be
    /// written. The foreign key of a delivery takes the same lock, which permits all other changes to the subscription.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn subscribed_to<C: Connection>(
        self,
        conn: &C,
        event_type: &str,
        limit: usize,
    ) -> Result<(Vec<Subscriber>, bool), DbErr> {
        let entry = (self.workspace(), event_type.to_owned(), limit);
        if let Some(cached) = row_cache::read(conn, |tables| tables.subscribed.get(&entry).cloned()) {
            return Ok(cached);
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = match conn.get_database_backend() {
            DbBackend::Postgres => format!("{SUBSCRIBED_TO} FOR KEY SHARE OF s"),
            _ => SUBSCRIBED_TO.to_owned(),
        };
        let values = [self.workspace().into(), event_type.into(), limit.into()];
        let rows = conn.query_without_flush(statement::raw(conn, &sql, values)).await?;
        // The count can include a subscription that is missing in the rows because it was deleted concurrently.
        let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get_by_index(2))?;
        let row = |row: &QueryResult| {
            let has_rate = row.try_get_by_index::<Option<i32>>(3)?.is_some();
            let (id, state) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
            Ok(Subscriber { id, state, has_rate, filters: row.try_get_by_index(4)? })
        };
        let subscribed = (rows.iter().map(row).collect::<Result<Vec<_>, DbErr>>()?, count > limit);
        row_cache::read(conn, |tables| tables.subscribed.insert(entry, subscribed.clone()));
        Ok(subscribed)
    }

    /// Returns these subscriptions, and locks them against deletion as
    /// [`subscribed_to`](Self::subscribed_to) does. Omits deleted subscriptions.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn subscribers<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
    ) -> Result<Vec<Subscriber>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .select_workspace_unindexed()
            .select_only()
            .columns([Column::Id, Column::State, Column::Rate, Column::Filters])
            .filter(Column::Id.is_in(statement::padded(ids)))
            .filter(Column::DeletedAt.is_null())
            .lock(LockType::KeyShare);
        let rows: Vec<(Uuid, StoredSubscriptionState, Option<i32>, Option<String>)> =
            rows.into_tuple().all(conn).await?;
        let subscriber = |(id, state, rate, filters): (_, _, Option<i32>, _)| Subscriber {
            id,
            state,
            has_rate: rate.is_some(),
            filters,
        };
        Ok(rows.into_iter().map(subscriber).collect())
    }
}

/// Returns the subscription with this id in any workspace, also if it is marked as deleted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Locks the subscriptions with these ids against changes of their state and health until the transaction ends, and
/// returns them ordered by id, including those marked as deleted. A transaction that changes their deliveries must lock
/// them first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock_many<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<Model>, DbErr> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = Entity::find().filter(Column::Id.is_in(statement::padded(ids))).order_by_asc(Column::Id);
    statement::all(conn, scope::locked(rows)).await
}

/// Returns the endpoints of these subscriptions, in any workspace. Omits subscriptions that are not enabled.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn enabled_endpoints<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<Endpoint>, DbErr> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = Entity::find()
        .select_only()
        .columns([Column::Id, Column::WorkspaceId, Column::Url, Column::Headers, Column::Ed25519])
        .expr(Expr::cust(MODE.replace("s.workspace_id", "webhook_subscriptions.workspace_id")))
        .filter(Column::Id.is_in(statement::padded(ids)))
        .filter(Column::State.eq(StoredSubscriptionState::Enabled));
    let rows: Vec<(Uuid, Uuid, String, Option<StringMap>, bool, String)> =
        rows.into_tuple().all(conn).await?;
    let endpoint = |(id, workspace_id, url, headers, ed25519, mode)| Endpoint {
        id,
        workspace_id,
        url,
        headers,
        ed25519,
        mode,
    };
    Ok(rows.into_iter().map(endpoint).collect())
}

/// Sets the time since which attempts fail, unless it is already set, and the beginning of the outage. Returns true when
/// this call set it.
///
/// A transaction that changes the health of several subscriptions must do so in the order of their ids, and before it
/// changes their deliveries, to avoid deadlocks.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn set_failing<C: ConnectionTrait>(conn: &C, id: Uuid, since: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::FailingSince, Expr::value(since))
        .col_expr(
            Column::OutageSince,
            Func::coalesce([Expr::col(Column::OutageSince), Expr::value(since)]).into(),
        )
        .filter(Column::Id.eq(id))
        .filter(Column::FailingSince.is_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Clears the time since which attempts fail, the beginning of the outage and the time of the warning, after a success.
/// Returns true when attempts had failed.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn clear_failing<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::FailingSince, Expr::value(None::<i64>))
        .col_expr(Column::WarnedAt, Expr::value(None::<i64>))
        .col_expr(Column::OutageSince, Expr::value(None::<i64>))
        .filter(Column::Id.eq(id))
        .filter(Column::FailingSince.is_not_null().or(Column::OutageSince.is_not_null()));
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Records that the owner is warned about the failures of an enabled subscription. Returns true only for the first call
/// since the failures began; the caller must then send the warning.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn set_warned<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::WarnedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(StoredSubscriptionState::Enabled))
        .filter(Column::FailingSince.is_not_null())
        .filter(Column::WarnedAt.is_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Disables an enabled subscription. Returns true when this call disabled it; the caller must then notify the owner.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn disable<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::State, Expr::value(StoredSubscriptionState::Disabled))
        .col_expr(Column::DisabledAt, Expr::value(at))
        .col_expr(Column::UpdatedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(StoredSubscriptionState::Enabled));
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Returns the subscriptions of all workspaces that are marked as deleted. Some of their deliveries may still exist.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn deleted<C: ConnectionTrait>(conn: &C) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::DeletedAt.is_not_null()).order_by_asc(Column::Id))
        .await
}

/// Returns up to `limit` subscriptions of all workspaces that have custom headers, with ids greater than `after`, by id.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn with_headers<C: ConnectionTrait>(
    conn: &C,
    after: Uuid,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let page = Entity::find().filter(Column::Id.gt(after)).filter(Column::Headers.is_not_null());
    statement::all(conn, page.order_by_asc(Column::Id).limit(limit)).await
}

/// Replaces the custom headers of a subscription if they are still `current`. Returns whether they were.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn replace_headers<C: ConnectionTrait>(
    conn: &C,
    id: Uuid,
    current: StringMap,
    new: StringMap,
) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::Headers, Expr::value(new))
        .filter(Column::Id.eq(id))
        .filter(Column::Headers.eq(current));
    Ok(update.exec(conn).await?.rows_affected > 0)
}
