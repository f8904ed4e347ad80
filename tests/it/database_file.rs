//! The files of an SQLite database are moved, replaced or deleted while a server uses them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::conformance::assert_error;
use crate::support::{TestApp, skip};

/// Returns the path of a file of the database: the file itself, or one that SQLite creates beside it.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    format!("{}{suffix}", path.display()).into()
}

#[tokio::test]
async fn writes_and_readiness_fail_while_the_open_files_are_not_at_their_paths() {
    let app = TestApp::start().await;
    let url = app.database_url();
    let Some(path) = url.strip_prefix("sqlite://").map(Path::new) else { return skip("SQLite only") };
    let key = app.workspace("acme").await.key("write:students").await;
    let mut number = 0;
    let mut create_student = async || {
        number += 1;
        key.post("/api/v1/students", json!({"email": format!("{number}@example.com")})).await
    };
    let folder = path.parent().unwrap();
    let files = ["", "-wal", "-shm"].map(|suffix| with_suffix(path, suffix));
    for moved in files.iter().map(PathBuf::as_path).chain([folder]) {
        create_student().await.assert_status(201);
        let away = with_suffix(moved, ".away");
        fs::rename(moved, &away).unwrap();
        for is_replaced in [false, true] {
            if is_replaced {
                match moved == folder {
                    true => fs::create_dir(folder).and_then(|()| fs::write(path, "")).unwrap(),
                    false => fs::copy(&away, moved).map(drop).unwrap(),
                }
            }
            assert_error(&create_student().await, 500, "internal_error");
            let ready = app.get("/readyz").await;
            assert_eq!((ready.status, ready.body.as_slice()), (503, &b"the database is not available\n"[..]));
        }
        if moved == folder {
            fs::remove_dir_all(folder).unwrap();
        }
        fs::rename(&away, moved).unwrap();
        create_student().await.assert_status(201);
        app.get("/readyz").await.assert_status(200);
    }
}
