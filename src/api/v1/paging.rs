//! What all lists share: sort, spans of time, the page asked for and the way to the next one.

use crate::call::Call;
use crate::cursor;
use crate::error::{ApiError, Reply};
use crate::generated::schemas::{CourseSort, OrderSort, Pagination, StudentSort};
use contract_runtime::scalar::Timestamp;
use contract_runtime::validate::{Fault, Faults, Part};
use domain::page::{PageRequest, Position, Sort, SortKey, Span};

/// The page that a call asks for.
///
/// # Errors
/// 422 on `cursor`.
pub(super) fn page(call: &Call, sort: Sort, limit: i32, cursor: Option<&str>) -> Reply<PageRequest> {
    let after = cursor::open(call, sort, cursor)?;
    Ok(PageRequest { sort, after, to: None, limit: u32::try_from(limit).unwrap_or(1) })
}

/// How a page tells where the next one begins: in the body and as `Link`.
pub(super) fn onward(call: &Call, sort: Sort, next: Option<Position>) -> (Pagination, Option<String>) {
    let cursor = next.map(|position| cursor::seal(call, sort, position));
    let link = cursor.as_deref().map(|cursor| cursor::link(call, cursor));
    (Pagination { has_more: cursor.is_some(), cursor }, link)
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
