//! Where a page of a list begins, as an address tells it.

use jiff::Timestamp;
use uuid::Uuid;

use domain::page::{PageRequest, Position, Sort, SortKey};

/// Rows on a page of a list.
pub(crate) const ROWS: u32 = 25;

/// The page that `after` names, newest first; the first one for what names none.
pub(crate) fn request(after: Option<&str>, key: SortKey) -> PageRequest {
    PageRequest { sort: Sort { key, descending: true }, after: after.and_then(read), to: None, limit: ROWS }
}

/// A position as it stands in an address: milliseconds and id.
pub(crate) fn text(position: Position) -> String {
    format!("{}.{}", position.at.as_millisecond(), position.id.as_simple())
}

/// The position that a text names.
pub(crate) fn read(text: &str) -> Option<Position> {
    let (at, id) = text.split_once('.')?;
    let at = Timestamp::from_millisecond(at.parse().ok()?).ok()?;
    Some(Position { at, id: Uuid::try_parse(id).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_survives_its_text() {
        let position =
            Position { at: Timestamp::from_millisecond(1_772_323_200_123).unwrap(), id: Uuid::from_u128(7) };
        assert_eq!(read(&text(position)), Some(position));
        for wrong in ["", "1", "1.", "x.0", "1.zz", "99999999999999999999.0"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
