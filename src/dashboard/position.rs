//! Positions in paginated lists, as query parameters.

use jiff::Timestamp;
use uuid::Uuid;

use domain::page::{PageRequest, Position, Sort, SortKey};

/// Rows per page of a list.
pub(crate) const ROWS_PER_PAGE: u32 = 25;

/// Returns the page request for the cursor `after`, newest first. An absent or invalid cursor starts at the first page.
pub(crate) fn page_request(after: Option<&str>, key: SortKey) -> PageRequest {
    PageRequest {
        sort: Sort { key, descending: true },
        after: after.and_then(parse),
        to: None,
        limit: ROWS_PER_PAGE,
    }
}

/// Formats a position as a query parameter: milliseconds since the epoch, a dot, and the id.
pub(crate) fn format(position: Position) -> String {
    format!("{}.{}", position.at.as_millisecond(), position.id.as_simple())
}

/// Parses a position from a query parameter.
pub(crate) fn parse(text: &str) -> Option<Position> {
    let (at, id) = text.split_once('.')?;
    let at = Timestamp::from_millisecond(at.parse().ok()?).ok()?;
    Some(Position { at, id: Uuid::try_parse(id).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_parsed_from_its_text() {
        let position =
            Position { at: Timestamp::from_millisecond(1_772_323_200_123).unwrap(), id: Uuid::from_u128(7) };
        assert_eq!(parse(&format(position)), Some(position));
        for invalid in ["", "1", "1.", "x.0", "1.zz", "99999999999999999999.0"] {
            assert_eq!(parse(invalid), None, "{invalid}");
        }
    }
}
