//! Lookup of records by id or key within a workspace, and ids for new records.

use entity::{Connection, InWorkspace, Keyed};
use uuid::Uuid;

use super::{Error, IdOrKey, Result};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Id, IdKind};

/// Returns the noun of kind `K` for messages, without its article: "course".
pub(crate) fn noun<K: IdKind>() -> &'static str {
    K::NOUN.split_once(' ').map_or(K::NOUN, |(_, noun)| noun)
}

/// Creates the error for a record of this kind that does not exist. `reference` is its id or key.
pub(crate) fn not_found<K: IdKind>(reference: impl std::fmt::Display) -> Error {
    Error::not_found(noun::<K>(), reference)
}

/// Reads the record with this id or key, without a lock.
pub(crate) async fn read<K, E>(
    conn: &impl Connection,
    rows: InWorkspace<E>,
    reference: &IdOrKey,
) -> Result<E::Model>
where
    K: IdKind,
    E: Keyed,
{
    let row = match reference.id::<K>() {
        Some(id) => rows.by_id(conn, id.uuid()).await?,
        None => rows.by_key(conn, reference.as_str()).await?,
    };
    row.ok_or_else(|| not_found::<K>(reference))
}

/// Reads the record with this id or key and locks it exclusively until the transaction ends.
pub(crate) async fn lock<K, E>(
    conn: &impl Connection,
    rows: InWorkspace<E>,
    reference: &IdOrKey,
) -> Result<E::Model>
where
    K: IdKind,
    E: Keyed,
{
    let row = match reference.id::<K>() {
        Some(id) => rows.lock(conn, id.uuid()).await?,
        None => rows.lock_by_key(conn, reference.as_str()).await?,
    };
    row.ok_or_else(|| not_found::<K>(reference))
}

/// Reads the record with this id or key and locks it in shared mode: no other transaction can change it until this one ends.
pub(crate) async fn lock_shared<K, E>(
    conn: &impl Connection,
    rows: InWorkspace<E>,
    reference: &IdOrKey,
) -> Result<E::Model>
where
    K: IdKind,
    E: Keyed,
{
    let row = match reference.id::<K>() {
        Some(id) => rows.lock_shared(conn, id.uuid()).await?,
        None => rows.lock_shared_by_key(conn, reference.as_str()).await?,
    };
    row.ok_or_else(|| not_found::<K>(reference))
}

/// Creates the UUID of a new record. Its timestamp is the time of the write ([`Write::now_ms`]).
pub(crate) fn new_uuid<K: IdKind>(app: &App, write: &Write) -> Uuid {
    app.ids.next::<K>(from_ms(write.now_ms())).uuid()
}

/// Parses a search term. Returns the trimmed term, and its UUID if it is an id of kind `K`.
pub(crate) fn parse_search<K: IdKind>(text: &str) -> (String, Option<Uuid>) {
    let text = text.trim();
    (text.to_owned(), text.parse::<Id<K>>().ok().map(Id::uuid))
}

/// Creates a typed id from the UUID of a row.
pub(crate) const fn id<K>(uuid: Uuid) -> Id<K> {
    Id::from_uuid(uuid)
}
