//! The students of a workspace.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, sea_query::Query};

use crate::{
    Connection, InWorkspace, Keyset, SpanMs, StringList, StringMap,
    children::Children,
    enrollments::{self, EffectiveStatus},
    scope, search, statement, student_tags, table,
};

table::declare!(
    /// One student.
    #[sea_orm(table_name = "students")]
    pub struct Model {
        /// The student's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The key assigned by the platform whose changes are imported, if any. Unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The email address as entered.
        #[sea_orm(column_type = "Text")]
        pub email: String,
        /// The key by which email addresses are compared, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub email_folded: String,
        /// The name.
        #[sea_orm(column_type = "Text", nullable)]
        pub name: Option<String>,
        /// The id in another system; not necessarily unique.
        #[sea_orm(column_type = "Text", nullable)]
        pub external_id: Option<String>,
        /// The tags in the order in which they were given. [`student_tags`] stores the same tags for searching.
        pub tags: StringList,
        /// Metadata set by integrations.
        pub metadata: StringMap,
        /// When the student was created; for an imported change, the time of the change.
        pub created_at: i64,
        /// When data shown with the student was last changed, by the clock of the server. Unlike `created_at`, never
        /// the time of an imported change.
        pub updated_at: i64,
    }
);
scope::workspace_table!(keyed, cached);

/// Filters students. All specified conditions must match; course and enrollment status must match the same enrollment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudentRowFilter {
    /// The student with this folded email address.
    pub email_folded: Option<String>,
    /// Students with this external id.
    pub external_id: Option<String>,
    /// Students with an enrollment in this course, in any status.
    pub course_id: Option<Uuid>,
    /// Students with an enrollment in this status.
    pub enrollment_status: Option<EffectiveStatus>,
    /// The time at which the enrollment status is evaluated, in milliseconds since the epoch.
    pub now: i64,
    /// Students with this tag.
    pub tag: Option<String>,
    /// Students whose email address or name contains this string. If an id is set, the student with this id instead.
    pub search: Option<(String, Option<Uuid>)>,
    /// The searched text as a folded email address. The search also finds the student who has it.
    pub searched_email_folded: Option<String>,
    /// Students created in this time span.
    pub created: SpanMs,
    /// Students last changed in this time span.
    pub updated: SpanMs,
}

impl StudentRowFilter {
    /// Returns the conditions on the columns of the student. `keyset` only decides which bounds of the time spans may
    /// use an index, see [`Keyset::span_condition`].
    fn row_condition(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.email_folded.as_deref().map(|email_folded| Column::EmailFolded.eq(email_folded)))
            .add_option(self.external_id.as_deref().map(|external_id| Column::ExternalId.eq(external_id)))
            .add_option(self.search.as_ref().map(|(text, id)| {
                match id {
                    Some(id) => Condition::all().add(Column::Id.eq(*id)),
                    None => Condition::any()
                        .add(search::any_contains([Column::Email, Column::Name], text))
                        .add_option(
                            self.searched_email_folded.as_deref().map(|key| Column::EmailFolded.eq(key)),
                        ),
                }
            }))
            .add(keyset.span_condition(Column::CreatedAt, self.created))
            .add(keyset.span_condition(Column::UpdatedAt, self.updated))
    }

    /// Returns the enrollments of which a student must have one; `None` when the filter does not refer to enrollments.
    fn enrollments(&self, workspace: Uuid) -> Option<Children> {
        if self.course_id.is_none() && self.enrollment_status.is_none() {
            return None;
        }
        let condition = Condition::all()
            .add(enrollments::Column::WorkspaceId.eq(workspace))
            .add_option(self.course_id.map(|course| enrollments::Column::CourseId.eq(course)))
            .add_option(self.enrollment_status.map(EffectiveStatus::stored_condition));
        Some(Children {
            rows: Query::select().from(enrollments::Entity).cond_where(condition).take(),
            time_condition: self
                .enrollment_status
                .and_then(|enrollment_status| enrollment_status.time_condition(self.now)),
            parent_id: enrollments::Column::StudentId.as_column_ref().into(),
        })
    }

    /// Returns the tag that a student must have; `None` when the filter does not refer to a tag.
    fn tags(&self, workspace: Uuid) -> Option<Children> {
        let tag = self.tag.as_deref()?;
        let rows = Query::select()
            .from(student_tags::Entity)
            .and_where(student_tags::Column::WorkspaceId.eq(workspace))
            .and_where(student_tags::Column::Tag.eq(tag))
            .take();
        Some(Children {
            rows,
            time_condition: None,
            parent_id: student_tags::Column::StudentId.as_column_ref().into(),
        })
    }
}

impl InWorkspace<Entity> {
    /// Returns the student with this folded email address.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_email_folded<C: Connection>(
        self,
        conn: &C,
        email_folded: &str,
    ) -> Result<Option<Model>, DbErr> {
        let cached =
            self.cached(conn, |rows| rows.one_with(self.workspace(), Column::EmailFolded, email_folded));
        if let Some(row) = cached {
            return Ok(row);
        }
        statement::one(conn, self.select().filter(Column::EmailFolded.eq(email_folded))).await
    }

    /// Locks the students with these ids, keys or folded email addresses in the order of their ids, and keeps them in the cache of
    /// the transaction, if it is active. Returns them. SQLite has no row locks.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn lock_students<C: Connection>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
        emails_folded: &[String],
    ) -> Result<Vec<Model>, DbErr> {
        let mut ids = ids.to_vec();
        let with_emails: Vec<&str> = emails_folded.iter().map(String::as_str).collect();
        let with_emails = self.ids_with_texts(conn, Column::EmailFolded, &with_emails).await?;
        ids.extend(with_emails.into_iter().map(|(id, _)| id));
        let rows = self.lock_and_remember(conn, &ids, keys).await?;
        let complete = emails_folded.iter().map(|email| (Column::EmailFolded, email.as_str().into()));
        self.remember(conn, rows.clone(), complete.collect());
        Ok(rows)
    }

    /// Returns one page of students, without their enrollments.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &StudentRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let children = [filter.enrollments(self.workspace()), filter.tags(self.workspace())];
        let select = self.select_having_children(conn, children).await?.filter(filter.row_condition(&keyset));
        let update_time = Column::UpdatedAt;
        statement::all(conn, keyset.page(select, update_time)).await
    }

    /// Returns whether few enrollments match the enrollment conditions or few students have the tag.
    /// [`page`](Self::page) then reads all of these students and sorts them, which is fast.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn has_few_matches<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &StudentRowFilter,
    ) -> Result<bool, DbErr> {
        let children = [filter.enrollments(self.workspace()), filter.tags(self.workspace())];
        for children in children.into_iter().flatten() {
            if children.has_few_matches(conn).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the creation time and id of the student in row `row_number` of the list, counted from 1 at its start or
    /// after `keyset.after`. Returns `None` when no other student follows that one.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn position_at<C: ConnectionTrait>(
        self,
        conn: &C,
        created: SpanMs,
        keyset: Keyset<Column>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.select().filter(keyset.span_condition(Column::CreatedAt, created));
        keyset.position_at(conn, rows, row_number).await
    }

    /// Records that the data shown with these students changed: sets their `updated_at` to `at`, unless it is already
    /// later.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn touch<C: Connection>(self, conn: &C, ids: &[Uuid], at: i64) -> Result<(), DbErr> {
        scope::touch(self, conn, Column::UpdatedAt, ids, at).await
    }

    /// Returns the students created in a time span, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn created_in<C: ConnectionTrait>(self, conn: &C, span: SpanMs) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().filter(span.contains(Column::CreatedAt))).await
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::SqliteQueryBuilder;

    use super::*;

    #[test]
    fn a_list_checks_expiry_for_each_student_without_an_index() {
        let filter = StudentRowFilter {
            enrollment_status: Some(EffectiveStatus::Expired),
            now: 7,
            ..StudentRowFilter::default()
        };
        let expired = filter.enrollments(Uuid::nil()).unwrap();
        let sql = Query::select().expr(expired.exist_for::<Entity>()).to_string(SqliteQueryBuilder);
        // If the condition used an index, SQLite would read all expired enrollments for each student.
        assert!(sql.contains(r#"("enrollments"."expires_at" <= 7) IS TRUE"#), "{sql}");
        assert!(sql.contains(r#""enrollments"."status" = 'active'"#), "{sql}");
    }
}
