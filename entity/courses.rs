//! Courses.

use sea_orm::Condition;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait as _, Func, SimpleExpr};

use crate::{InWorkspace, Keyset, Span, scope, search, statement, table};

/// Whether a course can be seen and sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Status {
    /// Seen by its makers only.
    Draft,
    /// Seen and sold.
    Published,
    /// Seen, no longer sold.
    Archived,
}

table::declare!(
    /// One course.
    #[sea_orm(table_name = "courses")]
    pub struct Model {
        /// The course's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The platform's own name for it, unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The name in addresses, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub slug: String,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// What it is about.
        #[sea_orm(column_type = "Text", nullable)]
        pub description: Option<String>,
        /// The language's tag.
        #[sea_orm(column_type = "Text", nullable)]
        pub language: Option<String>,
        /// Whether it can be seen and sold.
        pub status: Status,
        /// Its picture.
        #[sea_orm(column_type = "Text", nullable)]
        pub image_url: Option<String>,
        /// Its page.
        #[sea_orm(column_type = "Text", nullable)]
        pub url: Option<String>,
        /// The price in minor units; set together with the currency.
        pub price_amount: Option<i64>,
        /// The price's currency, ISO 4217.
        #[sea_orm(column_type = "Text", nullable)]
        pub price_currency: Option<String>,
        /// How many modules it has.
        pub module_count: i32,
        /// How many lessons it has.
        pub lesson_count: i32,
        /// How long its lessons take together.
        pub duration_seconds: i64,
        /// When it was first published.
        pub published_at: Option<i64>,
        /// When it was archived.
        pub archived_at: Option<i64>,
        /// When it was made.
        pub created_at: i64,
        /// When the server last recorded a change of it.
        pub updated_at: i64,
    }
);
scope::tenant!(keyed);

/// Which courses a list holds. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CourseFilter {
    /// Courses in this state.
    pub status: Option<Status>,
    /// The course with this slug.
    pub slug: Option<String>,
    /// Courses in this language: the whole tag, without regard to case.
    pub language: Option<String>,
    /// Courses with this text in their title or slug.
    pub search: Option<String>,
    /// Courses made in this span.
    pub created: Span,
    /// Courses changed in this span.
    pub updated: Span,
}

impl CourseFilter {
    fn condition(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.status.map(|status| Column::Status.eq(status)))
            .add_option(self.slug.as_deref().map(|slug| Column::Slug.eq(slug)))
            .add_option(self.language.as_deref().map(|language| {
                // Tags are ASCII, and so is what `lower` knows of on SQLite; the index is over the same.
                SimpleExpr::from(Func::lower(Column::Language.into_expr())).eq(language.to_ascii_lowercase())
            }))
            .add_option(
                self.search.as_deref().map(|text| search::anywhere([Column::Title, Column::Slug], text)),
            )
            .add(keyset.within(Column::CreatedAt, self.created))
            .add(keyset.within(Column::UpdatedAt, self.updated))
    }
}

impl InWorkspace<Entity> {
    /// The course with this slug.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_slug<C: ConnectionTrait>(self, conn: &C, slug: &str) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::Slug.eq(slug))).await
    }

    /// One page of courses.
    ///
    /// # Errors
    /// When the database does.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &CourseFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, keyset.page(self.select().filter(filter.condition(&keyset)), Column::UpdatedAt))
            .await
    }
}
