//! Pagination, sort order and time filters, shared by all list operations, also those of the Developer API.

use crate::call::Call;
use crate::cursor::{CursorBinding, CursorError};
use crate::error::{ApiError, Reply};
use crate::generated::schemas::{CourseSort, OrderSort, Pagination, StudentSort};
use contract_runtime::scalar::Timestamp;
use contract_runtime::validate::{RequestPart, Violation, Violations, query};
use domain::page::{PageRequest, Position, Sort, SortKey, TimeSpan};

/// Reads the requested page from the parameters of a call.
///
/// # Errors
/// Returns 422 for `cursor` if it is not valid for this request.
pub fn page(call: &Call, sort: Sort, limit: i32, cursor: Option<&str>) -> Reply<PageRequest> {
    let after = verify_cursor(call, sort, cursor)?;
    Ok(PageRequest { sort, after, to: None, limit: u32::try_from(limit).unwrap_or(1) })
}

/// Returns the pagination object of a response and the `Link` header of the next page, if there is one.
pub(super) fn next_page(call: &Call, sort: Sort, next: Option<Position>) -> (Pagination, Option<String>) {
    let (cursor, link) = next_cursor(call, sort, next).unzip();
    (Pagination { has_more: cursor.is_some(), cursor }, link)
}

/// Returns the cursor and the `Link` header of the next page, if there is one.
pub fn next_cursor(call: &Call, sort: Sort, next: Option<Position>) -> Option<(String, String)> {
    let cursor = issue_cursor(call, sort, next?);
    let link = link(call, &cursor);
    Some((cursor, link))
}

/// Returns what the cursors of this call depend on.
fn binding<'a>(call: &'a Call, sort: Sort) -> CursorBinding<'a> {
    CursorBinding {
        workspace: call.workspace.uuid(),
        operation: call.operation.id,
        sort,
        query: call.query(),
    }
}

/// Creates the cursor of the page after this position.
fn issue_cursor(call: &Call, sort: Sort, position: Position) -> String {
    call.state.cursors.issue(&binding(call, sort), position)
}

/// Returns the position of a call's cursor, or `None` without a cursor.
///
/// # Errors
/// Returns 422 for `cursor` if it was not issued for this list, these filters and this sort order.
fn verify_cursor(call: &Call, sort: Sort, cursor: Option<&str>) -> Result<Option<Position>, ApiError> {
    let Some(cursor) = cursor else { return Ok(None) };
    call.state.cursors.verify(&binding(call, sort), cursor).map(Some).map_err(|reason| {
        let mut error = ApiError::invalid_query(
            "cursor",
            match reason {
                CursorError::Invalid => "is not a cursor of this list",
                CursorError::DifferentRequest => "was issued for different filters or a different sort order",
            },
        );
        error.message = "`cursor` does not belong to this request.".into();
        error
    })
}

/// Returns the `Link` header of the next page: the URL of this request with the new cursor.
fn link(call: &Call, cursor: &str) -> String {
    let mut link = format!("<{}?", call.operation.path);
    for parameter in call.query().iter().filter(|parameter| parameter.name != "cursor") {
        link.push_str(&query::encode(&parameter.name));
        link.push('=');
        link.push_str(&query::encode(&parameter.value));
        link.push('&');
    }
    link.push_str("cursor=");
    link.push_str(cursor);
    link.push_str(">; rel=\"next\"");
    link
}

/// Reads the time filters of a list and collects their violations.
#[derive(Default)]
pub(crate) struct TimeSpans {
    violations: Violations,
}

impl TimeSpans {
    /// Returns the time span from `{name}_after`, inclusive, to `{name}_before`, exclusive. Records a violation if it
    /// is empty.
    pub(crate) fn between(
        &mut self,
        name: &str,
        after: Option<Timestamp>,
        before: Option<Timestamp>,
    ) -> TimeSpan {
        if let (Some(after), Some(before)) = (after, before)
            && after >= before
        {
            self.violations.push(Violation {
                part: RequestPart::Query,
                field: format!("{name}_before"),
                message: format!("must be later than `{name}_after`"),
            });
        }
        TimeSpan { from: after.map(|time| time.0), to: before.map(|time| time.0) }
    }

    /// Rejects the call if any time span is empty, because it does not end after its start.
    ///
    /// # Errors
    /// Returns 422 with one detail for each empty time span.
    pub(crate) fn check(self) -> Reply<()> {
        if self.violations.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.violations)) }
    }
}

/// Implements the conversion of a sort parameter of the contract into a sort order of the domain.
macro_rules! sort_orders {
    ($schema:ident: $($ascending:ident, $descending:ident => $key:ident);+) => {
        impl From<$schema> for Sort {
            fn from(sort: $schema) -> Self {
                match sort {
                    $($schema::$ascending => Self { key: SortKey::$key, descending: false },
                    $schema::$descending => Self { key: SortKey::$key, descending: true },)+
                }
            }
        }
    };
}

sort_orders!(CourseSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt);
sort_orders!(StudentSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt);
sort_orders!(OrderSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt;
    PaidAt, PaidAtDescending => PaidAt);
