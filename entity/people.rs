//! How people prove their identity besides the password. A person has one row for all of their workspaces, or none.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{QueryOrder, QuerySelect};

use crate::{scope, statement, table};

table::declare!(
    /// One person.
    #[sea_orm(table_name = "people")]
    pub struct Model {
        /// The person's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The key by which email addresses are compared.
        #[sea_orm(column_type = "Text", unique)]
        pub email_folded: String,
        /// The secret of the second factor, encrypted; `None` without a second factor.
        pub totp_secret: Option<Vec<u8>>,
        /// The time step of the last accepted code.
        pub totp_step: Option<i64>,
        /// When the second factor was set up.
        pub totp_set_up_at: Option<i64>,
        /// The issuer of the account at an OpenID Connect provider.
        #[sea_orm(column_type = "Text", nullable)]
        pub issuer: Option<String>,
        /// The id of the person at the issuer.
        #[sea_orm(column_type = "Text", nullable)]
        pub subject: Option<String>,
        /// When it was created.
        pub created_at: i64,
        /// When it was last changed.
        pub updated_at: i64,
    }
);

/// Returns the person with this folded email address.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_email_folded<C: ConnectionTrait>(
    conn: &C,
    email_folded: &str,
) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find().filter(Column::EmailFolded.eq(email_folded))).await
}

/// Returns the person with this account at an OpenID Connect provider.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_subject<C: ConnectionTrait>(
    conn: &C,
    issuer: &str,
    subject: &str,
) -> Result<Option<Model>, DbErr> {
    let with_account = Column::Issuer.eq(issuer).and(Column::Subject.eq(subject));
    statement::one(conn, Entity::find().filter(with_account)).await
}

/// Locks the person with this folded email address until the transaction ends, and returns it.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn lock<C: ConnectionTrait>(conn: &C, email_folded: &str) -> Result<Option<Model>, DbErr> {
    statement::one(conn, scope::locked(Entity::find().filter(Column::EmailFolded.eq(email_folded)))).await
}

/// Inserts a person.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails, also when the email address is taken.
pub async fn insert<C: ConnectionTrait>(conn: &C, model: Model) -> Result<(), DbErr> {
    statement::insert::<_, _, ActiveModel>(conn, model).await
}

/// Updates the columns that are `Set` in `changes`.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails, also when another person has the account at the provider.
pub async fn update<C: ConnectionTrait>(conn: &C, id: Uuid, changes: ActiveModel) -> Result<(), DbErr> {
    Entity::update_many().set(changes).filter(Column::Id.eq(id)).exec(conn).await.map(drop)
}

/// Returns up to `limit` people with a second factor and ids greater than `after`, by id.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn page_with_secret<C: ConnectionTrait>(
    conn: &C,
    after: Uuid,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let page = Entity::find().filter(Column::Id.gt(after)).filter(Column::TotpSecret.is_not_null());
    statement::all(conn, page.order_by_asc(Column::Id).limit(limit)).await
}

/// Replaces the encrypted secret of a person if it is still `current`. Returns whether it was.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn replace_secret<C: ConnectionTrait>(
    conn: &C,
    id: Uuid,
    current: Vec<u8>,
    new: Vec<u8>,
) -> Result<bool, DbErr> {
    let replaced = Entity::update_many()
        .col_expr(Column::TotpSecret, Expr::value(new))
        .filter(Column::Id.eq(id))
        .filter(Column::TotpSecret.eq(current))
        .exec(conn)
        .await?;
    Ok(replaced.rows_affected > 0)
}
