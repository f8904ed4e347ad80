//! A rehearsal of a new version of the API: a draft of v2 (`v2.yaml`) is served beside v1, from one domain, by the release that
//! deprecates v1.
//!
//! `cargo xtask codegen` generates `generated/` from the draft. The comparison of v1 with the draft, and the migration guide, are in
//! `xtask/breaking/tests/rehearsal.rs`.

mod convert;
#[allow(clippy::all, dead_code, reason = "generated, and the tests do not use all of it")]
mod generated;
mod handlers;
mod records;
mod timeline;

use std::sync::LazyLock;

use api::generated::adapter::V1;
use api::generated::operations as v1;
use api::v1::Handlers;
use contract::diagnostic::DiagnosticFormat;
use contract::source::Source;
use contract::{Conventions, Profile, SPELLING_EXCEPTIONS};
use contract_runtime::contract::Contract;
use serde_json::{Value, json};

use self::generated::adapter::V2;
use self::generated::operations as v2;
use self::handlers::V2Handlers;
use crate::support::{TestApp, TestKey};

/// The contract of v1 in the release that introduces v2: all operations are deprecated, and end at their sunset.
static DEPRECATED_V1: LazyLock<Contract> = LazyLock::new(|| {
    let mut document: Value = serde_json::from_str(v1::CONTRACT.json).expect("JSON");
    let paths = document["paths"].as_object_mut().expect("the contract has paths");
    for operation in
        paths.values_mut().flat_map(|path| path.as_object_mut().expect("operations").values_mut())
    {
        let id = operation["operationId"].as_str().expect("an operation has an id");
        let is_in_v2 = v2::OPERATIONS.iter().any(|operation| operation.id == id);
        operation["x-replaced-by"] = match is_in_v2 {
            true => format!("Use {id} of version 2.").into(),
            false => "Use the figures of the dashboard.".into(),
        };
        operation["deprecated"] = true.into();
        operation["x-deprecated-at"] = "2026-03-03".into();
        operation["x-sunset"] = "2026-09-03".into();
        operation["x-removed-at-sunset"] = true.into();
        operation["x-brownouts"] = json!(["2026-08-03T10:00:00Z/PT1H", "2026-08-20T00:00:00Z/P1D"]);
        operation["responses"]["410"] = json!({
            "description": "Version 1 has ended, or is switched off for an announced time.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorEnvelope"}}},
        });
    }
    Contract { json: document.to_string().leak(), ..v1::CONTRACT }
});

/// Restarts the server as the release that introduces v2.
async fn release_v2(app: TestApp) -> TestApp {
    let extend = |server: creator_api::server::Server, app: &domain::app::App| {
        let app = app.for_requests();
        let server = server.with_version(&DEPRECATED_V1, V1(Handlers { app: app.clone() })).expect("v1");
        server.with_version(&v2::CONTRACT, V2(V2Handlers { app })).expect("v2")
    };
    app.restart_extended(extend).await
}

/// Returns a key, for requests to a server that was restarted.
fn after_restart(app: &TestApp, key: &TestKey) -> TestKey {
    app.key_with_secret(key.id.clone(), key.secret.clone())
}

#[test]
fn the_deprecated_contract_of_v1_is_valid() {
    let conventions = Conventions {
        path_prefix: "/api/v1/",
        spelling_exceptions: SPELLING_EXCEPTIONS,
        profile: Profile::Server,
        has_rate_limits: true,
    };
    let read = contract::read(Source::new("v1.json", DEPRECATED_V1.json), &conventions);
    assert!(read.is_ok(), "{}", read.unwrap_err().render(DiagnosticFormat::Text));
}
