//! Looking up what a change names, inside its workspace, and naming what is new.

use entity::{InWorkspace, Keyed};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::{Error, Named, Result};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Id, Kind};

/// The record's noun without its article, as messages name it: "course".
pub(crate) fn noun<K: Kind>() -> &'static str {
    K::NOUN.split_once(' ').map_or(K::NOUN, |(_, noun)| noun)
}

/// There is no record of this kind under this name.
pub(crate) fn absent<K: Kind>(name: impl std::fmt::Display) -> Error {
    Error::not_found(noun::<K>(), name)
}

/// The named record as it stands.
pub(crate) async fn read<K, E>(
    conn: &impl ConnectionTrait,
    rows: InWorkspace<E>,
    named: &Named,
) -> Result<E::Model>
where
    K: Kind,
    E: Keyed,
{
    let found = match named.id::<K>() {
        Some(id) => rows.by_id(conn, id.uuid()).await?,
        None => rows.by_key(conn, named.as_str()).await?,
    };
    found.ok_or_else(|| absent::<K>(named))
}

/// The named record, held against changes by others until the transaction ends.
pub(crate) async fn lock<K, E>(
    conn: &impl ConnectionTrait,
    rows: InWorkspace<E>,
    named: &Named,
) -> Result<E::Model>
where
    K: Kind,
    E: Keyed,
{
    let found = match named.id::<K>() {
        Some(id) => rows.lock(conn, id.uuid()).await?,
        None => rows.lock_by_key(conn, named.as_str()).await?,
    };
    found.ok_or_else(|| absent::<K>(named))
}

/// The named record, which others may share but not change until the transaction ends.
pub(crate) async fn share<K, E>(
    conn: &impl ConnectionTrait,
    rows: InWorkspace<E>,
    named: &Named,
) -> Result<E::Model>
where
    K: Kind,
    E: Keyed,
{
    let found = match named.id::<K>() {
        Some(id) => rows.share(conn, id.uuid()).await?,
        None => rows.share_by_key(conn, named.as_str()).await?,
    };
    found.ok_or_else(|| absent::<K>(named))
}

/// The UUID of a new record, made at the write's recording time.
pub(crate) fn fresh<K: Kind>(app: &App, write: &Write) -> Uuid {
    app.ids.next::<K>(from_ms(write.now_ms())).uuid()
}

/// What a search looks for: the text, or the id of this kind when it is one.
pub(crate) fn searched<K: Kind>(text: &str) -> (String, Option<Uuid>) {
    let text = text.trim();
    (text.to_owned(), text.parse::<Id<K>>().ok().map(Id::uuid))
}

/// The id of a row.
pub(crate) const fn id<K>(uuid: Uuid) -> Id<K> {
    Id::from_uuid(uuid)
}
