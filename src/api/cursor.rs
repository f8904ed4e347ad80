//! Pagination cursors: the position after which the next page starts, as an opaque string.
//!
//! A cursor contains a format version, the sort order, a digest of the filters and the position. Its HMAC-SHA256 also
//! covers the workspace and the operation. A cursor grants no access: the request still needs a key with the scope. A
//! cursor that is modified, truncated or from another list or workspace is rejected with 422 for `cursor`, as is one
//! that was issued for different filters or a different sort order.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use contract_runtime::validate::query::QueryParameter;
use domain::page::{Position, Sort, SortKey};
use foundation::clock;
use foundation::secret::SecretKey;

const VERSION: u8 = 1;
const FILTERS_BYTES: usize = 8;
const TAG_BYTES: usize = 16;
/// Version, sort, filters, time, id, tag.
const LENGTH_BYTES: usize = 1 + 1 + FILTERS_BYTES + 8 + 16 + TAG_BYTES;

/// Signs and verifies the cursors of this server.
pub struct Cursors {
    mac: Hmac<Sha256>,
}

/// The request that a cursor is valid for.
pub(crate) struct CursorBinding<'a> {
    pub(crate) workspace: Uuid,
    pub(crate) operation: &'a str,
    pub(crate) sort: Sort,
    pub(crate) query: &'a [QueryParameter],
}

/// Why a cursor is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CursorError {
    /// This server did not issue it for this list.
    Forged,
    /// It was issued for different filters or a different sort order.
    DifferentRequest,
}

impl Cursors {
    /// Signs cursors with this key.
    ///
    /// # Panics
    /// Never: HMAC accepts a key of any length.
    pub fn new(key: SecretKey) -> Self {
        let mac = Hmac::new_from_slice(key.expose_secret()).expect("HMAC accepts a key of any length");
        Self { mac }
    }

    /// Creates the cursor of a position.
    pub(crate) fn seal(&self, binding: &CursorBinding<'_>, position: Position) -> String {
        let mut bytes = [0_u8; LENGTH_BYTES];
        bytes[0] = VERSION;
        bytes[1] = sort_byte(binding.sort);
        bytes[2..10].copy_from_slice(&filters_digest(binding.query));
        bytes[10..18].copy_from_slice(&position.at.as_millisecond().to_be_bytes());
        bytes[18..34].copy_from_slice(position.id.as_bytes());
        let tag = self.mac_over(binding, &bytes[..LENGTH_BYTES - TAG_BYTES]).finalize().into_bytes();
        bytes[LENGTH_BYTES - TAG_BYTES..].copy_from_slice(&tag[..TAG_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Verifies a cursor and returns its position.
    pub(crate) fn open(&self, binding: &CursorBinding<'_>, cursor: &str) -> Result<Position, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError::Forged)?;
        let bytes: [u8; LENGTH_BYTES] = bytes.try_into().map_err(|_| CursorError::Forged)?;
        let (payload, tag) = bytes.split_at(LENGTH_BYTES - TAG_BYTES);
        self.mac_over(binding, payload).verify_truncated_left(tag).map_err(|_| CursorError::Forged)?;
        if payload[0] != VERSION
            || payload[1] != sort_byte(binding.sort)
            || payload[2..10] != filters_digest(binding.query)
        {
            return Err(CursorError::DifferentRequest);
        }
        let (mut at, mut id) = ([0; 8], [0; 16]);
        at.copy_from_slice(&payload[10..18]);
        id.copy_from_slice(&payload[18..34]);
        Ok(Position { at: clock::from_ms(i64::from_be_bytes(at)), id: Uuid::from_bytes(id) })
    }

    /// Computes the MAC over the payload of a cursor, its workspace and its operation.
    fn mac_over(&self, binding: &CursorBinding<'_>, payload: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(payload);
        mac.update(binding.workspace.as_bytes());
        mac.update(binding.operation.as_bytes());
        mac
    }
}

/// Encodes the sort order in one byte: the column, and one bit for the direction.
fn sort_byte(sort: Sort) -> u8 {
    let column = match sort.key {
        SortKey::CreatedAt => 1,
        SortKey::UpdatedAt => 2,
        SortKey::PaidAt => 3,
    };
    column << 1 | u8::from(sort.descending)
}

/// Computes a digest of all parameters except those of the pagination, independent of their order.
fn filters_digest(query: &[QueryParameter]) -> [u8; FILTERS_BYTES] {
    let mut pairs: Vec<&QueryParameter> =
        query.iter().filter(|pair| !matches!(pair.name.as_str(), "cursor" | "limit" | "sort")).collect();
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut digest = Sha256::new();
    for pair in pairs {
        for text in [&pair.name, &pair.value] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text.as_bytes());
        }
    }
    let mut short = [0; FILTERS_BYTES];
    short.copy_from_slice(&digest.finalize()[..FILTERS_BYTES]);
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secrecy::SecretBox;

    use super::*;

    const CREATED: Sort = Sort { key: SortKey::CreatedAt, descending: true };
    const UPDATED: Sort = Sort { key: SortKey::UpdatedAt, descending: false };

    fn cursors(byte: u8) -> Cursors {
        Cursors::new(SecretBox::new(Box::new([byte; 32])))
    }

    fn pair(name: &str, value: &str) -> QueryParameter {
        QueryParameter { name: name.into(), value: value.into() }
    }

    fn binding<'a>(
        workspace: u128,
        operation: &'a str,
        sort: Sort,
        query: &'a [QueryParameter],
    ) -> CursorBinding<'a> {
        CursorBinding { workspace: Uuid::from_u128(workspace), operation, sort, query }
    }

    fn position(ms: i64, id: u128) -> Position {
        Position { at: clock::from_ms(ms), id: Uuid::from_u128(id) }
    }

    #[test]
    fn a_cursor_is_valid_only_for_the_request_that_it_was_issued_for() {
        let tag = [pair("tag", "a"), pair("limit", "5")];
        let cursor = cursors(1).seal(&binding(7, "listStudents", CREATED, &tag), position(5, 6));
        let open = |cursors: Cursors, binding: CursorBinding<'_>| cursors.open(&binding, &cursor);
        let reordered = [pair("limit", "99"), pair("tag", "a"), pair("cursor", "x")];
        assert_eq!(open(cursors(1), binding(7, "listStudents", CREATED, &reordered)), Ok(position(5, 6)));
        assert_eq!(open(cursors(2), binding(7, "listStudents", CREATED, &tag)), Err(CursorError::Forged));
        assert_eq!(open(cursors(1), binding(8, "listStudents", CREATED, &tag)), Err(CursorError::Forged));
        assert_eq!(open(cursors(1), binding(7, "listOrders", CREATED, &tag)), Err(CursorError::Forged));
        assert_eq!(
            open(cursors(1), binding(7, "listStudents", UPDATED, &tag)),
            Err(CursorError::DifferentRequest)
        );
        assert_eq!(
            open(cursors(1), binding(7, "listStudents", CREATED, &[])),
            Err(CursorError::DifferentRequest)
        );
        let other = [pair("tag", "b")];
        assert_eq!(
            open(cursors(1), binding(7, "listStudents", CREATED, &other)),
            Err(CursorError::DifferentRequest)
        );
    }

    proptest! {
        #[test]
        fn every_position_is_preserved(ms in -62_000_000_000_000i64..250_000_000_000_000, id in any::<u128>()) {
            let request = || binding(1, "listOrders", UPDATED, &[]);
            let cursor = cursors(3).seal(&request(), position(ms, id));
            prop_assert!(cursor.len() <= 1024 && cursor.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(cursors(3).open(&request(), &cursor), Ok(position(ms, id)));
        }

        #[test]
        fn a_modified_cursor_is_rejected(ms in 0i64..4_000_000_000_000, id in any::<u128>(), at in any::<prop::sample::Index>(), with in any::<char>()) {
            let request = || binding(1, "listOrders", UPDATED, &[]);
            let cursor = cursors(3).seal(&request(), position(ms, id));
            let at = at.index(cursor.len());
            let changed: String =
                cursor.chars().enumerate().map(|(index, old)| if index == at { with } else { old }).collect();
            prop_assume!(changed != cursor);
            prop_assert!(cursors(3).open(&request(), &changed).is_err());
            prop_assert!(cursors(3).open(&request(), &cursor[..at]).is_err());
        }
    }
}
