//! Webhook subscriptions: where a workspace's events go, and how that place has been answering.

use sea_orm::entity::prelude::*;
use sea_orm::{
    DbBackend, QueryOrder, QueryResult, QuerySelect,
    sea_query::{Expr, LockType},
};

use crate::{InWorkspace, StringList, scope, statement, table};

/// Whether a subscription's deliveries are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum State {
    /// They are sent.
    #[sea_orm(num_value = 0)]
    Enabled,
    /// Its owner holds them back.
    #[sea_orm(num_value = 1)]
    Paused,
    /// They are held back since its endpoint failed for too long.
    #[sea_orm(num_value = 2)]
    Disabled,
}

table::declare!(
    /// One subscription. What it wants to hear is also in [`webhook_topics`](crate::webhook_topics), where events look for it.
    #[sea_orm(table_name = "webhook_subscriptions")]
    pub struct Model {
        /// The subscription's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// Where deliveries are sent.
        #[sea_orm(column_type = "Text")]
        pub url: String,
        /// The types of event it wants, for showing.
        pub event_types: StringList,
        /// Whether its deliveries are sent.
        pub state: State,
        /// When the first of the attempts failed that have failed without a success since.
        pub failing_since: Option<i64>,
        /// When its owner was warned of that.
        pub warned_at: Option<i64>,
        /// When it was disabled.
        pub disabled_at: Option<i64>,
        /// When it was deleted, while its deliveries still go.
        pub deleted_at: Option<i64>,
        /// When it was made.
        pub created_at: i64,
        /// When it last changed.
        pub updated_at: i64,
    }
);
scope::tenant!();

/// The first subscriptions that want events of the type $2, and how many want them, counted to one more than these.
const LISTENING: &str = "
SELECT s.id, s.state, (SELECT count(*) FROM
    (SELECT 1 FROM webhook_topics WHERE workspace_id = $1 AND event_type = $2 LIMIT $3 + 1) AS wanting)
FROM (SELECT subscription_id FROM webhook_topics WHERE workspace_id = $1 AND event_type = $2
      ORDER BY subscription_id LIMIT $3) AS topics
JOIN webhook_subscriptions AS s ON s.id = topics.subscription_id
WHERE (s.workspace_id = $1) IS TRUE AND s.deleted_at IS NULL";

impl InWorkspace<Entity> {
    /// The workspace's subscriptions that are not deleted, oldest first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn list<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        let rows = self.select().filter(Column::DeletedAt.is_null());
        statement::all(conn, rows.order_by_asc(Column::CreatedAt).order_by_asc(Column::Id)).await
    }

    /// How many subscriptions the workspace has that are not deleted.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count_kept<C: ConnectionTrait>(self, conn: &C) -> Result<u64, DbErr> {
        statement::count(conn, self.select().filter(Column::DeletedAt.is_null())).await
    }

    /// The first subscriptions that want events of this type, by their ids, with their states: as many as the limit at most. True
    /// when there are more.
    ///
    /// On PostgreSQL none of them can be deleted until the transaction ends, so that a delivery can be written for
    /// each. It is the lock that the delivery's foreign key takes anyway, and leaves them open to every other change.
    ///
    /// # Errors
    /// When the database does.
    pub async fn listening<C: ConnectionTrait>(
        self,
        conn: &C,
        event_type: &str,
        limit: usize,
    ) -> Result<(Vec<(Uuid, State)>, bool), DbErr> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = match conn.get_database_backend() {
            DbBackend::Postgres => format!("{LISTENING} FOR KEY SHARE OF s"),
            _ => LISTENING.to_owned(),
        };
        let values = [self.workspace().into(), event_type.into(), limit.into()];
        let rows = conn.query_all_raw(statement::raw(conn, &sql, values)).await?;
        // One that was deleted at this very moment is missing among the rows, but not in this number.
        let wanting: i64 = rows.first().map_or(Ok(0), |row| row.try_get_by_index(2))?;
        let row = |row: &QueryResult| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
        Ok((rows.iter().map(row).collect::<Result<_, DbErr>>()?, wanting > limit))
    }

    /// The states of these subscriptions, none of which can be deleted until the transaction ends, as by
    /// [`listening`](Self::listening). One that is gone is left out.
    ///
    /// # Errors
    /// When the database does.
    pub async fn standing<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
    ) -> Result<Vec<(Uuid, State)>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.states(conn, Column::Id.is_in(statement::padded(ids))).await
    }

    async fn states<C: ConnectionTrait>(self, conn: &C, which: Expr) -> Result<Vec<(Uuid, State)>, DbErr> {
        let rows = self
            .checked()
            .select_only()
            .columns([Column::Id, Column::State])
            .filter(which)
            .filter(Column::DeletedAt.is_null())
            .lock(LockType::KeyShare);
        rows.into_tuple().all(conn).await
    }
}

/// The subscription with this id, in whichever workspace, for the operator's commands.
///
/// # Errors
/// When the database does.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// The subscriptions with these ids in the order of the ids, each locked against other changes of its state and health
/// until the transaction ends, for whoever then changes its deliveries.
///
/// # Errors
/// When the database does.
pub async fn lock_many<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<Model>, DbErr> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = Entity::find().filter(Column::Id.is_in(statement::padded(ids))).order_by_asc(Column::Id);
    statement::all(conn, scope::locked(rows)).await
}

/// Where the enabled ones of these subscriptions, in whichever workspaces, want their deliveries.
///
/// # Errors
/// When the database does.
pub async fn routes<C: ConnectionTrait>(conn: &C, ids: &[Uuid]) -> Result<Vec<(Uuid, String)>, DbErr> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = Entity::find()
        .select_only()
        .columns([Column::Id, Column::Url])
        .filter(Column::Id.is_in(statement::padded(ids)))
        .filter(Column::State.eq(State::Enabled));
    rows.into_tuple().all(conn).await
}

/// Remembers that attempts fail since then, unless they failed before. True when this was the first.
///
/// Whoever changes the health of several subscriptions in one transaction takes them in the order of their ids, and
/// before their deliveries, so that no two wait for each other.
///
/// # Errors
/// When the database does.
pub async fn set_failing<C: ConnectionTrait>(conn: &C, id: Uuid, since: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::FailingSince, Expr::value(since))
        .filter(Column::Id.eq(id))
        .filter(Column::FailingSince.is_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Forgets that attempts failed, since one succeeded. True when they had.
///
/// # Errors
/// When the database does.
pub async fn clear_failing<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::FailingSince, Expr::value(None::<i64>))
        .col_expr(Column::WarnedAt, Expr::value(None::<i64>))
        .filter(Column::Id.eq(id))
        .filter(Column::FailingSince.is_not_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Remembers that the owner is warned of the failures. True when nobody else did it before: whoever is told so warns.
///
/// # Errors
/// When the database does.
pub async fn set_warned<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::WarnedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(State::Enabled))
        .filter(Column::FailingSince.is_not_null())
        .filter(Column::WarnedAt.is_null());
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Disables an enabled subscription. True when this did it: whoever is told so tells the owner.
///
/// # Errors
/// When the database does.
pub async fn disable<C: ConnectionTrait>(conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
    let update = Entity::update_many()
        .col_expr(Column::State, Expr::value(State::Disabled))
        .col_expr(Column::DisabledAt, Expr::value(at))
        .col_expr(Column::UpdatedAt, Expr::value(at))
        .filter(Column::Id.eq(id))
        .filter(Column::State.eq(State::Enabled));
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// The subscriptions that are deleted and whose deliveries still go, of any workspaces.
///
/// # Errors
/// When the database does.
pub async fn deleted<C: ConnectionTrait>(conn: &C) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::DeletedAt.is_not_null()).order_by_asc(Column::Id))
        .await
}
