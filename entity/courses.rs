//! The courses of a workspace. Times are milliseconds since the epoch.

use sea_orm::Condition;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{ExprTrait as _, Func, SimpleExpr};

use crate::{InWorkspace, Keyset, SpanMs, scope, search, statement, table};

/// The stored status of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredCourseStatus {
    /// Visible to its authors only.
    Draft,
    /// Visible and on sale.
    Published,
    /// Visible but no longer on sale.
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
        /// The key assigned by the platform whose changes are imported, if any. Unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The name used in URLs, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub slug: String,
        /// The title.
        #[sea_orm(column_type = "Text")]
        pub title: String,
        /// The description.
        #[sea_orm(column_type = "Text", nullable)]
        pub description: Option<String>,
        /// The language tag (BCP 47).
        #[sea_orm(column_type = "Text", nullable)]
        pub language: Option<String>,
        /// The status.
        pub status: StoredCourseStatus,
        /// The URL of the image.
        #[sea_orm(column_type = "Text", nullable)]
        pub image_url: Option<String>,
        /// The URL of the course page.
        #[sea_orm(column_type = "Text", nullable)]
        pub url: Option<String>,
        /// The price in minor units. Set if and only if the currency is.
        pub price_amount: Option<i64>,
        /// The price's currency, ISO 4217.
        #[sea_orm(column_type = "Text", nullable)]
        pub price_currency: Option<String>,
        /// The number of modules.
        pub module_count: i32,
        /// The number of lessons.
        pub lesson_count: i32,
        /// The total duration of the lessons, in seconds.
        pub duration_seconds: i64,
        /// When its status most recently became published; `None` if it never did.
        pub published_at: Option<i64>,
        /// When it was archived; `None` unless the status is archived.
        pub archived_at: Option<i64>,
        /// When it was created, according to the imported change.
        pub created_at: i64,
        /// When it was last changed, by the clock of the server. Unlike `created_at`, never the time of an imported
        /// change.
        pub updated_at: i64,
    }
);
scope::workspace_table!(keyed, cached);

/// Filters courses. All specified conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CourseRowFilter {
    /// Courses with this status.
    pub status: Option<StoredCourseStatus>,
    /// The course with this slug.
    pub slug: Option<String>,
    /// Courses in this language. Compares the whole tag, ignoring case.
    pub language: Option<String>,
    /// Courses whose title or slug contains this string.
    pub search: Option<String>,
    /// Courses created in this time span.
    pub created: SpanMs,
    /// Courses last changed in this time span.
    pub updated: SpanMs,
}

impl CourseRowFilter {
    /// Returns the conditions of the filter. `keyset` only decides which bounds of the time spans may use an index, see
    /// [`Keyset::span_condition`].
    fn condition(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.status.map(|status| Column::Status.eq(status)))
            .add_option(self.slug.as_deref().map(|slug| Column::Slug.eq(slug)))
            .add_option(self.language.as_deref().map(|language| {
                // SQLite's `lower` converts only ASCII letters, which suffices for language tags. The index uses the
                // same expression.
                SimpleExpr::from(Func::lower(Column::Language.into_expr())).eq(language.to_ascii_lowercase())
            }))
            .add_option(
                self.search.as_deref().map(|text| search::any_contains([Column::Title, Column::Slug], text)),
            )
            .add(keyset.span_condition(Column::CreatedAt, self.created))
            .add(keyset.span_condition(Column::UpdatedAt, self.updated))
    }
}

impl InWorkspace<Entity> {
    /// Returns the course with this slug.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_slug<C: ConnectionTrait>(self, conn: &C, slug: &str) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::Slug.eq(slug))).await
    }

    /// Returns one page of courses.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &CourseRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let select = self.select().filter(filter.condition(&keyset));
        let update_time = Column::UpdatedAt;
        statement::all(conn, keyset.page(select, update_time)).await
    }
}
