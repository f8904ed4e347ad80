//! Students.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QuerySelect, sea_query::Query};

use crate::{
    InWorkspace, Keyset, Span, StringList, StringMap,
    children::Children,
    enrollments::{self, Standing},
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
        /// The platform's own name, unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The address as it was given.
        #[sea_orm(column_type = "Text")]
        pub email: String,
        /// The address without regard to case, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub email_folded: String,
        /// The name.
        #[sea_orm(column_type = "Text", nullable)]
        pub name: Option<String>,
        /// What another system calls the student; need not be unique.
        #[sea_orm(column_type = "Text", nullable)]
        pub external_id: Option<String>,
        /// The tags in their order; [`student_tags`] holds the same for searching.
        pub tags: StringList,
        /// What integrations keep with the student.
        pub metadata: StringMap,
        /// When the student was made.
        pub created_at: i64,
        /// When the server last recorded a change of anything shown with the student.
        pub updated_at: i64,
    }
);
scope::tenant!(keyed);

/// Which students a list holds. Everything given must hold; course and standing must hold of one enrolment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudentFilter {
    /// The student with this folded address.
    pub email_folded: Option<String>,
    /// Students with this external id.
    pub external_id: Option<String>,
    /// Students enrolled in this course, however that stands.
    pub course_id: Option<Uuid>,
    /// Students with an enrolment that stands so.
    pub standing: Option<Standing>,
    /// The moment at which `standing` is judged.
    pub now: i64,
    /// Students with this tag.
    pub tag: Option<String>,
    /// Students with this text in their address or name; with an id, the student with it.
    pub search: Option<(String, Option<Uuid>)>,
    /// Students made in this span.
    pub created: Span,
    /// Students changed in this span.
    pub updated: Span,
}

impl StudentFilter {
    /// What the student's own row tells.
    fn own(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.email_folded.as_deref().map(|folded| Column::EmailFolded.eq(folded)))
            .add_option(self.external_id.as_deref().map(|external| Column::ExternalId.eq(external)))
            .add_option(self.search.as_ref().map(|(text, id)| match id {
                Some(id) => Condition::all().add(Column::Id.eq(*id)),
                None => search::anywhere([Column::EmailFolded, Column::Name], text),
            }))
            .add(keyset.within(Column::CreatedAt, self.created))
            .add(keyset.within(Column::UpdatedAt, self.updated))
    }

    /// The enrolments asked for, by student, if any are.
    fn enrolled(&self, workspace: Uuid) -> Option<Children> {
        if self.course_id.is_none() && self.standing.is_none() {
            return None;
        }
        let condition = Condition::all()
            .add(enrollments::Column::WorkspaceId.eq(workspace))
            .add_option(self.course_id.map(|course| enrollments::Column::CourseId.eq(course)))
            .add_option(self.standing.map(Standing::stored));
        Some(Children {
            rows: Query::select().from(enrollments::Entity).cond_where(condition).take(),
            also: self.standing.and_then(|standing| standing.lasts_at(self.now)),
            parent: enrollments::Column::StudentId.as_column_ref().into(),
        })
    }

    /// The tags asked for, by student, if one is.
    fn tagged(&self, workspace: Uuid) -> Option<Children> {
        let tag = self.tag.as_deref()?;
        let rows = Query::select()
            .from(student_tags::Entity)
            .and_where(student_tags::Column::WorkspaceId.eq(workspace))
            .and_where(student_tags::Column::Tag.eq(tag))
            .take();
        Some(Children { rows, also: None, parent: student_tags::Column::StudentId.as_column_ref().into() })
    }
}

impl InWorkspace<Entity> {
    /// The student with this folded address.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_email_folded<C: ConnectionTrait>(
        self,
        conn: &C,
        folded: &str,
    ) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::EmailFolded.eq(folded))).await
    }

    /// The ids of the students with these folded addresses, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn ids_by_emails<C: ConnectionTrait>(
        self,
        conn: &C,
        folded: &[String],
    ) -> Result<Vec<Uuid>, DbErr> {
        if folded.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.select().filter(Column::EmailFolded.is_in(statement::padded(folded)));
        rows.select_only().column(Column::Id).into_tuple().all(conn).await
    }

    /// One page of students, without what hangs on them.
    ///
    /// # Errors
    /// When the database does.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &StudentFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let children = [filter.enrolled(self.workspace()), filter.tagged(self.workspace())];
        let select = self.with_children(conn, children).await?.filter(filter.own(&keyset));
        statement::all(conn, keyset.page(select, Column::UpdatedAt)).await
    }

    /// Whether few are enrolled as is asked for, or have the tag, so that a page is found through these and soon sorted.
    ///
    /// # Errors
    /// When the database does.
    pub async fn are_few<C: ConnectionTrait>(self, conn: &C, filter: &StudentFilter) -> Result<bool, DbErr> {
        let children = [filter.enrolled(self.workspace()), filter.tagged(self.workspace())];
        for children in children.into_iter().flatten() {
            if children.are_few(conn).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// When the student was made who stands so many places down the list, and the id; none where no other follows.
    ///
    /// # Errors
    /// When the database does.
    pub async fn reach<C: ConnectionTrait>(
        self,
        conn: &C,
        created: Span,
        keyset: Keyset<Column>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.select().filter(keyset.within(Column::CreatedAt, created));
        keyset.reach(conn, rows, many).await
    }

    /// Moves the students' `updated_at` to the recording time, for a change of what is shown with them.
    ///
    /// # Errors
    /// When the database does.
    pub async fn touch<C: ConnectionTrait>(self, conn: &C, ids: &[Uuid], at: i64) -> Result<(), DbErr> {
        scope::touch(self, conn, Column::UpdatedAt, ids, at).await
    }

    /// The students made in a span, oldest first. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn created_in<C: ConnectionTrait>(self, conn: &C, span: Span) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select().filter(span.holds(Column::CreatedAt))).await
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::SqliteQueryBuilder;

    use super::*;

    #[test]
    fn a_walk_asks_each_student_whether_an_enrolment_has_expired() {
        let filter = StudentFilter { standing: Some(Standing::Expired), now: 7, ..StudentFilter::default() };
        let expired = filter.enrolled(Uuid::nil()).unwrap();
        let walk = Query::select().expr(expired.exist_for::<Entity>()).to_string(SqliteQueryBuilder);
        // By its index, SQLite would go through all that expired, for each student anew.
        assert!(walk.contains(r#"("enrollments"."expires_at" <= 7) IS TRUE"#), "{walk}");
        assert!(walk.contains(r#""enrollments"."status" = 'active'"#), "{walk}");
    }
}
