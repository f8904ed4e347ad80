//! Cursors: the place behind which the next page begins, as an opaque text.
//!
//! A cursor holds the version, the sort, a digest of the filters and the position, under an HMAC-SHA256 that also
//! covers workspace and operation. It grants nothing: the request still needs a key with the scope. A forged,
//! foreign or cut one, and one sent with other filters or another sort, is 422 on `cursor`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use contract_runtime::validate::query::Pair;
use domain::page::{Position, Sort, SortKey};
use foundation::clock;
use foundation::secret::Key;

const VERSION: u8 = 1;
const FILTERS: usize = 8;
const TAG: usize = 16;
/// Version, sort, filters, time, id, tag.
const LENGTH: usize = 1 + 1 + FILTERS + 8 + 16 + TAG;

/// Seals and opens the cursors of this server.
pub struct Cursors {
    mac: Hmac<Sha256>,
}

/// What a cursor is bound to besides its position.
pub(crate) struct Binding<'a> {
    pub(crate) workspace: Uuid,
    pub(crate) operation: &'a str,
    pub(crate) sort: Sort,
    pub(crate) query: &'a [Pair],
}

/// Why a cursor is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was not issued by this server for this list.
    Forged,
    /// It was issued for other filters or another sort.
    OtherRequest,
}

impl Cursors {
    /// Under this key.
    ///
    /// # Panics
    /// Never: a MAC takes a key of any length.
    pub fn new(key: Key) -> Self {
        let mac = Hmac::new_from_slice(key.expose_secret()).expect("a MAC takes a key of any length");
        Self { mac }
    }

    pub(crate) fn seal(&self, binding: &Binding<'_>, position: Position) -> String {
        let mut bytes = [0_u8; LENGTH];
        bytes[0] = VERSION;
        bytes[1] = sort_byte(binding.sort);
        bytes[2..10].copy_from_slice(&filters(binding.query));
        bytes[10..18].copy_from_slice(&position.at.as_millisecond().to_be_bytes());
        bytes[18..34].copy_from_slice(position.id.as_bytes());
        let tag = self.covering(binding, &bytes[..LENGTH - TAG]).finalize().into_bytes();
        bytes[LENGTH - TAG..].copy_from_slice(&tag[..TAG]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(crate) fn open(&self, binding: &Binding<'_>, text: &str) -> Result<Position, Refusal> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Refusal::Forged)?;
        let bytes: [u8; LENGTH] = bytes.try_into().map_err(|_| Refusal::Forged)?;
        let (held, tag) = bytes.split_at(LENGTH - TAG);
        self.covering(binding, held).verify_truncated_left(tag).map_err(|_| Refusal::Forged)?;
        if held[0] != VERSION || held[1] != sort_byte(binding.sort) || held[2..10] != filters(binding.query) {
            return Err(Refusal::OtherRequest);
        }
        let (mut at, mut id) = ([0; 8], [0; 16]);
        at.copy_from_slice(&held[10..18]);
        id.copy_from_slice(&held[18..34]);
        Ok(Position { at: clock::from_ms(i64::from_be_bytes(at)), id: Uuid::from_bytes(id) })
    }

    /// The MAC over what a cursor holds and whose it is.
    fn covering(&self, binding: &Binding<'_>, held: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(held);
        mac.update(binding.workspace.as_bytes());
        mac.update(binding.operation.as_bytes());
        mac
    }
}

/// The sort in a byte: the column, and a bit for the direction.
fn sort_byte(sort: Sort) -> u8 {
    let column = match sort.key {
        SortKey::CreatedAt => 1,
        SortKey::UpdatedAt => 2,
        SortKey::PaidAt => 3,
    };
    column << 1 | u8::from(sort.descending)
}

/// A digest of the filters, whatever their order: every parameter but the paging itself.
fn filters(query: &[Pair]) -> [u8; FILTERS] {
    let mut pairs: Vec<&Pair> =
        query.iter().filter(|pair| !matches!(pair.name.as_str(), "cursor" | "limit" | "sort")).collect();
    pairs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut digest = Sha256::new();
    for pair in pairs {
        for text in [&pair.name, &pair.value] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text.as_bytes());
        }
    }
    let mut short = [0; FILTERS];
    short.copy_from_slice(&digest.finalize()[..FILTERS]);
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

    fn pair(name: &str, value: &str) -> Pair {
        Pair { name: name.into(), value: value.into() }
    }

    fn bound<'a>(workspace: u128, operation: &'a str, sort: Sort, query: &'a [Pair]) -> Binding<'a> {
        Binding { workspace: Uuid::from_u128(workspace), operation, sort, query }
    }

    fn position(ms: i64, id: u128) -> Position {
        Position { at: clock::from_ms(ms), id: Uuid::from_u128(id) }
    }

    #[test]
    fn a_cursor_opens_only_where_it_was_given_out() {
        let tag = [pair("tag", "a"), pair("limit", "5")];
        let text = cursors(1).seal(&bound(7, "listStudents", CREATED, &tag), position(5, 6));
        let open = |cursors: Cursors, binding: Binding<'_>| cursors.open(&binding, &text);
        let reordered = [pair("limit", "99"), pair("tag", "a"), pair("cursor", "x")];
        assert_eq!(open(cursors(1), bound(7, "listStudents", CREATED, &reordered)), Ok(position(5, 6)));
        assert_eq!(open(cursors(2), bound(7, "listStudents", CREATED, &tag)), Err(Refusal::Forged));
        assert_eq!(open(cursors(1), bound(8, "listStudents", CREATED, &tag)), Err(Refusal::Forged));
        assert_eq!(open(cursors(1), bound(7, "listOrders", CREATED, &tag)), Err(Refusal::Forged));
        assert_eq!(open(cursors(1), bound(7, "listStudents", UPDATED, &tag)), Err(Refusal::OtherRequest));
        assert_eq!(open(cursors(1), bound(7, "listStudents", CREATED, &[])), Err(Refusal::OtherRequest));
        let other = [pair("tag", "b")];
        assert_eq!(open(cursors(1), bound(7, "listStudents", CREATED, &other)), Err(Refusal::OtherRequest));
    }

    proptest! {
        #[test]
        fn every_position_survives(ms in -62_000_000_000_000i64..250_000_000_000_000, id in any::<u128>()) {
            let binding = || bound(1, "listOrders", UPDATED, &[]);
            let text = cursors(3).seal(&binding(), position(ms, id));
            prop_assert!(text.len() <= 1024 && text.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(cursors(3).open(&binding(), &text), Ok(position(ms, id)));
        }

        #[test]
        fn any_change_is_refused(ms in 0i64..4_000_000_000_000, id in any::<u128>(), at in any::<prop::sample::Index>(), with in any::<char>()) {
            let binding = || bound(1, "listOrders", UPDATED, &[]);
            let text = cursors(3).seal(&binding(), position(ms, id));
            let at = at.index(text.len());
            let changed: String =
                text.chars().enumerate().map(|(index, old)| if index == at { with } else { old }).collect();
            prop_assume!(changed != text);
            prop_assert!(cursors(3).open(&binding(), &changed).is_err());
            prop_assert!(cursors(3).open(&binding(), &text[..at]).is_err());
        }
    }
}
