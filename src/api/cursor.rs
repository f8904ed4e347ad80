//! Pagination cursors: the position after which the next page starts, as an opaque string.
//!
//! A cursor contains a format version, the sort order, a digest of the filters, the position and a MAC. The MAC also
//! covers the workspace and the operation. A cursor grants no access: the request still needs a key with the scope. A
//! cursor that was modified, belongs to another list or workspace, or was issued for different filters or a different
//! sort order is rejected with 422 for `cursor`.

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

/// The version of the cursor format.
const VERSION: u8 = 1;
/// Length of the digest of the filters.
const FILTERS_BYTES: usize = 8;
/// Length of the truncated HMAC-SHA256.
const MAC_BYTES: usize = 16;
/// Length of a cursor before base64: version, sort order, filters, time in milliseconds since the epoch, id, MAC.
const LENGTH_BYTES: usize = 1 + 1 + FILTERS_BYTES + 8 + 16 + MAC_BYTES;

/// Issues and verifies the cursors of this server.
pub struct Cursors {
    /// The HMAC with the first key, before any input.
    mac: Hmac<Sha256>,
    /// The HMACs with the other keys, which only verify.
    other_macs: Vec<Hmac<Sha256>>,
}

/// What a request must have in common with the request that the cursor was issued for.
pub(crate) struct CursorBinding<'a> {
    pub(crate) workspace: Uuid,
    /// The operation id.
    pub(crate) operation: &'a str,
    pub(crate) sort: Sort,
    /// The query parameters. `cursor`, `limit` and `sort` are ignored.
    pub(crate) query: &'a [QueryParameter],
}

/// Why a cursor is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CursorError {
    /// It is malformed, or this server did not issue it for this workspace and operation.
    Invalid,
    /// It was issued for different filters or a different sort order, or has another format version.
    DifferentRequest,
}

impl Cursors {
    /// Creates an instance that signs cursors with the first key, and accepts those of all keys.
    ///
    /// # Panics
    /// Panics without a key.
    pub fn new(keys: Vec<SecretKey>) -> Self {
        let mac = |key: SecretKey| {
            Hmac::new_from_slice(key.expose_secret()).expect("HMAC accepts a key of any length")
        };
        let mut macs = keys.into_iter().map(mac);
        Self { mac: macs.next().expect("a server has a master key"), other_macs: macs.collect() }
    }

    /// Creates the cursor of the page after a position.
    pub(crate) fn issue(&self, binding: &CursorBinding<'_>, position: Position) -> String {
        let mut bytes = [0_u8; LENGTH_BYTES];
        bytes[0] = VERSION;
        bytes[1] = sort_byte(binding.sort);
        bytes[2..10].copy_from_slice(&filters_digest(binding.query));
        bytes[10..18].copy_from_slice(&position.at.as_millisecond().to_be_bytes());
        bytes[18..34].copy_from_slice(position.id.as_bytes());
        let mac = mac_over(&self.mac, binding, &bytes[..LENGTH_BYTES - MAC_BYTES]).finalize().into_bytes();
        bytes[LENGTH_BYTES - MAC_BYTES..].copy_from_slice(&mac[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Verifies a cursor and returns the position after which the page starts.
    pub(crate) fn verify(&self, binding: &CursorBinding<'_>, cursor: &str) -> Result<Position, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError::Invalid)?;
        let bytes: [u8; LENGTH_BYTES] = bytes.try_into().map_err(|_| CursorError::Invalid)?;
        let (payload, mac) = bytes.split_at(LENGTH_BYTES - MAC_BYTES);
        let is_valid =
            |key: &Hmac<Sha256>| mac_over(key, binding, payload).verify_truncated_left(mac).is_ok();
        if !is_valid(&self.mac) && !self.other_macs.iter().any(is_valid) {
            return Err(CursorError::Invalid);
        }
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
}

/// Computes the MAC over the payload of a cursor, its workspace and its operation. `key` is the HMAC before any input.
fn mac_over(key: &Hmac<Sha256>, binding: &CursorBinding<'_>, payload: &[u8]) -> Hmac<Sha256> {
    let mut mac = key.clone();
    mac.update(payload);
    mac.update(binding.workspace.as_bytes());
    mac.update(binding.operation.as_bytes());
    mac
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
    let mut filters: Vec<&QueryParameter> = query
        .iter()
        .filter(|parameter| !matches!(parameter.name.as_str(), "cursor" | "limit" | "sort"))
        .collect();
    filters.sort_by(|a, b| a.name.cmp(&b.name));
    let mut digest = Sha256::new();
    for filter in filters {
        for text in [&filter.name, &filter.value] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text.as_bytes());
        }
    }
    let mut truncated = [0; FILTERS_BYTES];
    truncated.copy_from_slice(&digest.finalize()[..FILTERS_BYTES]);
    truncated
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secrecy::SecretBox;

    use super::*;

    const CREATED: Sort = Sort { key: SortKey::CreatedAt, descending: true };
    const UPDATED: Sort = Sort { key: SortKey::UpdatedAt, descending: false };

    fn cursors(byte: u8) -> Cursors {
        cursors_of(&[byte])
    }

    fn cursors_of(bytes: &[u8]) -> Cursors {
        Cursors::new(bytes.iter().map(|byte| SecretBox::new(Box::new([*byte; 32]))).collect())
    }

    fn parameter(name: &str, value: &str) -> QueryParameter {
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
        let tag = [parameter("tag", "a"), parameter("limit", "5")];
        let cursor = cursors(1).issue(&binding(7, "listStudents", CREATED, &tag), position(5, 6));
        let verify = |cursors: Cursors, binding: CursorBinding<'_>| cursors.verify(&binding, &cursor);
        let reordered = [parameter("limit", "99"), parameter("tag", "a"), parameter("cursor", "x")];
        assert_eq!(verify(cursors(1), binding(7, "listStudents", CREATED, &reordered)), Ok(position(5, 6)));
        assert_eq!(verify(cursors(2), binding(7, "listStudents", CREATED, &tag)), Err(CursorError::Invalid));
        assert_eq!(verify(cursors(1), binding(8, "listStudents", CREATED, &tag)), Err(CursorError::Invalid));
        assert_eq!(verify(cursors(1), binding(7, "listOrders", CREATED, &tag)), Err(CursorError::Invalid));
        assert_eq!(
            verify(cursors(1), binding(7, "listStudents", UPDATED, &tag)),
            Err(CursorError::DifferentRequest)
        );
        assert_eq!(
            verify(cursors(1), binding(7, "listStudents", CREATED, &[])),
            Err(CursorError::DifferentRequest)
        );
        let other_filters = [parameter("tag", "b")];
        assert_eq!(
            verify(cursors(1), binding(7, "listStudents", CREATED, &other_filters)),
            Err(CursorError::DifferentRequest)
        );
    }

    #[test]
    fn a_cursor_of_a_previous_key_is_valid_until_the_key_is_removed() {
        let request = || binding(7, "listStudents", CREATED, &[]);
        let earlier = cursors(1).issue(&request(), position(5, 6));
        assert_eq!(cursors_of(&[2, 1]).verify(&request(), &earlier), Ok(position(5, 6)));
        assert_eq!(cursors(2).verify(&request(), &earlier), Err(CursorError::Invalid));
        let later = cursors_of(&[2, 1]).issue(&request(), position(7, 8));
        assert_eq!(cursors(2).verify(&request(), &later), Ok(position(7, 8)));
    }

    proptest! {
        #[test]
        fn every_position_is_preserved(ms in -62_000_000_000_000i64..250_000_000_000_000, id in any::<u128>()) {
            let request = || binding(1, "listOrders", UPDATED, &[]);
            let cursor = cursors(3).issue(&request(), position(ms, id));
            prop_assert!(cursor.len() <= 1024 && cursor.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(cursors(3).verify(&request(), &cursor), Ok(position(ms, id)));
        }

        #[test]
        fn a_modified_cursor_is_rejected(
            ms in 0i64..4_000_000_000_000,
            id in any::<u128>(),
            index in any::<prop::sample::Index>(),
            replacement in any::<char>(),
        ) {
            let request = || binding(1, "listOrders", UPDATED, &[]);
            let cursor = cursors(3).issue(&request(), position(ms, id));
            let index = index.index(cursor.len());
            let mut characters: Vec<char> = cursor.chars().collect();
            characters[index] = replacement;
            let modified: String = characters.into_iter().collect();
            prop_assume!(modified != cursor);
            prop_assert!(cursors(3).verify(&request(), &modified).is_err());
            prop_assert!(cursors(3).verify(&request(), &cursor[..index]).is_err());
        }
    }
}
