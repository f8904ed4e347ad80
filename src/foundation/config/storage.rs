//! Where the data lives.

use std::path::PathBuf;

use super::concern::concern;
use super::value::Secret;

concern! {
    /// The data folder and the key that protects what is in it.
    Storage, "Data" {
        /// Folder of everything that is kept here: the SQLite database, the master key, the demo's key.
        data_dir: PathBuf = Some("./data"), "CREATOR_API_DATA_DIR", "DIR";
        /// The server's master key, 64 hexadecimal digits. Without it, the key of the data folder is used,
        /// which is made on the first start.
        master_key: Option<Secret> = None, "CREATOR_API_MASTER_KEY", "KEY";
    }
}
