//! What all lists share: sort, spans of time, the page asked for and the way to the next one.

use crate::call::Call;
use crate::cursor::{Binding, Refusal};
use crate::error::{ApiError, Reply};
use crate::generated::schemas::{CourseSort, OrderSort, Pagination, StudentSort};
use contract_runtime::scalar::Timestamp;
use contract_runtime::validate::{Fault, Faults, Part, query};
use domain::page::{PageRequest, Position, Sort, SortKey, Span};

/// The page that a call asks for.
///
/// # Errors
/// 422 on `cursor`.
pub(super) fn page(call: &Call, sort: Sort, limit: i32, cursor: Option<&str>) -> Reply<PageRequest> {
    let after = open(call, sort, cursor)?;
    Ok(PageRequest { sort, after, to: None, limit: u32::try_from(limit).unwrap_or(1) })
}

/// How a page tells where the next one begins: in the body and as `Link`.
pub(super) fn onward(call: &Call, sort: Sort, next: Option<Position>) -> (Pagination, Option<String>) {
    let cursor = next.map(|position| seal(call, sort, position));
    let link = cursor.as_deref().map(|cursor| link(call, cursor));
    (Pagination { has_more: cursor.is_some(), cursor }, link)
}

fn binding<'a>(call: &'a Call, sort: Sort) -> Binding<'a> {
    Binding { workspace: call.workspace.uuid(), operation: call.operation.id, sort, query: call.query() }
}

/// The cursor of the page behind this position.
fn seal(call: &Call, sort: Sort, position: Position) -> String {
    call.front.cursors.seal(&binding(call, sort), position)
}

/// The position that a call's cursor stands for.
///
/// # Errors
/// 422 on `cursor` for one that is not of this list, these filters and this sort.
fn open(call: &Call, sort: Sort, cursor: Option<&str>) -> Result<Option<Position>, ApiError> {
    let Some(text) = cursor else { return Ok(None) };
    call.front.cursors.open(&binding(call, sort), text).map(Some).map_err(|refusal| {
        let mut error = ApiError::invalid_query(
            "cursor",
            match refusal {
                Refusal::Forged => "is not a cursor that this list gave out",
                Refusal::OtherRequest => "was issued for other filters or another sort",
            },
        );
        error.message = "`cursor` does not belong to this request.".into();
        error
    })
}

/// The `Link` header that leads to the next page: this request with another cursor.
fn link(call: &Call, cursor: &str) -> String {
    let mut link = format!("<{}?", call.operation.path);
    for pair in call.query().iter().filter(|pair| pair.name != "cursor") {
        link.push_str(&query::encode(&pair.name));
        link.push('=');
        link.push_str(&query::encode(&pair.value));
        link.push('&');
    }
    link.push_str("cursor=");
    link.push_str(cursor);
    link.push_str(">; rel=\"next\"");
    link
}

/// Gathers the spans of a list's filters, and what is wrong with them.
#[derive(Default)]
pub(super) struct Spans {
    faults: Faults,
}

impl Spans {
    /// The span between `{name}_after` and `{name}_before`.
    pub(super) fn between(
        &mut self,
        name: &str,
        after: Option<Timestamp>,
        before: Option<Timestamp>,
    ) -> Span {
        if let (Some(after), Some(before)) = (after, before)
            && after >= before
        {
            self.faults.push(Fault {
                place: Part::Query,
                field: format!("{name}_before"),
                message: format!("must be later than `{name}_after`"),
            });
        }
        Span { from: after.map(|time| time.0), to: before.map(|time| time.0) }
    }

    /// All of them, together.
    ///
    /// # Errors
    /// 422 naming each span that is empty.
    pub(super) fn check(self) -> Reply<()> {
        if self.faults.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.faults)) }
    }
}

macro_rules! sorts {
    ($schema:ident: $($up:ident, $down:ident => $key:ident);+) => {
        impl From<$schema> for Sort {
            fn from(sort: $schema) -> Self {
                match sort {
                    $($schema::$up => Self { key: SortKey::$key, descending: false },
                    $schema::$down => Self { key: SortKey::$key, descending: true },)+
                }
            }
        }
    };
}

sorts!(CourseSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt);
sorts!(StudentSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt);
sorts!(OrderSort: CreatedAt, CreatedAtDescending => CreatedAt; UpdatedAt, UpdatedAtDescending => UpdatedAt;
    PaidAt, PaidAtDescending => PaidAt);
