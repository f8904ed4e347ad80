//! Puts the parts of the process together.
//!
//! The one place that knows all of them; the parts do not look for each other.

use sea_orm::DbBackend;

use api::events::{encode, example};
use domain::app::{App, Parts};
use domain::keys::Principals;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, MigrateError, Options, SchemaState, Source};
use foundation::id::Ids;
use foundation::secret::{KEY_FILE, MasterKey};

use super::failure::Failure;

/// The name under which the database keeps the fingerprint of its master key.
const FINGERPRINT: &str = "master_key_fingerprint";

/// Opens the database, as it is.
pub(super) async fn connect(config: &Config) -> Result<Database, Failure> {
    let url = config.database.database_url.as_ref().map(|url| url.expose());
    let source = Source::new(url, &config.storage.data_dir)?;
    let max_connections = config.database.database_max_connections.get();
    Ok(Database::connect(Options { max_connections, ..Options::new(source) }).await?)
}

/// The shared parts, on a database whose schema is the one this program knows.
///
/// An embedded database is brought up to date in passing. One that others may use is not: that is asked for with
/// `creator-api migrate`.
pub(super) async fn app(config: Config) -> Result<App, Failure> {
    let db = connect(&config).await?;
    match db.schema_state().await? {
        SchemaState::Current => {}
        SchemaState::Ahead(step) => return Err(MigrateError::Newer(step).into()),
        SchemaState::Behind(_) if db.backend() == DbBackend::Sqlite => db.migrate().await?,
        SchemaState::Behind(steps) => {
            return Err(Failure::new(format!(
                "the database at {} is {steps} steps behind this version; run `creator-api migrate` first",
                db.place()
            )));
        }
    }
    Ok(assemble(config, db))
}

/// The shared parts, on a database that is brought up to date whatever it is: a demo asks for nothing first.
pub(super) async fn app_migrated(config: Config) -> Result<App, Failure> {
    let db = connect(&config).await?;
    db.migrate().await?;
    Ok(assemble(config, db))
}

fn assemble(config: Config, db: Database) -> App {
    App::new(Parts {
        config,
        db,
        clock: Clock::system(),
        ids: Ids::default(),
        encode,
        example,
        principals: Principals::default(),
    })
}

/// The master key: as given, or the data folder's, made on the first start. Refused when the data is another key's.
pub(super) async fn master_key(app: &App) -> Result<MasterKey, Failure> {
    let data_dir = &app.config.storage.data_dir;
    let file = data_dir.join(KEY_FILE);
    let known = entity::server_state::get(app.db.read(), FINGERPRINT).await?;
    let (key, place) = match &app.config.storage.master_key {
        Some(given) => {
            (Some(MasterKey::from_hex(given.expose(), "the master key")?), "the given master key".to_owned())
        }
        None => (MasterKey::open(data_dir)?, file.display().to_string()),
    };
    let key = match (key, &known) {
        (Some(key), _) => key,
        (None, None) => MasterKey::create(data_dir)?,
        (None, Some(_)) => {
            return Err(Failure::new(format!(
                "the master key of this data is missing: put it back into {}, or give it with --master-key-file",
                file.display()
            )));
        }
    };
    let fingerprint = key.fingerprint();
    if known.is_none() {
        let write = app.begin_write().await?;
        entity::server_state::put_if_absent(write.conn(), FINGERPRINT, &fingerprint).await?;
        write.commit().await?;
    }
    // Another process may have been first.
    match entity::server_state::get(app.db.read(), FINGERPRINT).await? {
        Some(known) if known != fingerprint => Err(Failure::new(format!(
            "{place} is not the key that the data at {} was made with; give that one with --master-key-file, or begin \
             with an empty database",
            app.db.place()
        ))),
        _ => Ok(key),
    }
}
