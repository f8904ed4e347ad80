//! The commands for sandboxes, and the keys that they lead to.

use serde_json::json;

use crate::support::program::{CommandOutput, TestProgram, list_as_json};

/// Runs a command of `workspaces` that must succeed.
async fn run(program: &TestProgram, args: &[&str]) -> CommandOutput {
    let output = program.run(&[&["workspaces"], args].concat()).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    output
}

/// Runs a command of `workspaces` that must fail, and returns its message.
async fn failure(program: &TestProgram, args: &[&str]) -> String {
    let output = program.run(&[&["workspaces"], args].concat()).await;
    assert!(output.code != Some(0) && output.stdout.is_empty(), "{output:?}");
    output.stderr
}

/// Creates a key with all scopes for this workspace, and returns the secret.
async fn create_key(program: &TestProgram, workspace: &str) -> String {
    let args = ["keys", "create", "--workspace", workspace, "--name", "CI", "--scope", "all"];
    let created = program.run(&args).await;
    assert_eq!(created.code, Some(0), "{created:?}");
    created.stdout.trim().to_owned()
}

#[tokio::test]
async fn a_sandbox_is_created_reset_and_deleted_by_commands() {
    let program = TestProgram::new().await;
    run(&program, &["create", "--key", "acme", "--name", "Acme", "--owner-email", "o@acme.example"]).await;
    let created = run(&program, &["create-sandbox", "acme"]).await;
    assert!(created.stdout.starts_with("wks_"), "{created:?}");
    assert!(created.stderr.contains("keys create --workspace acme-sandbox"), "{created:?}");
    let listed = list_as_json(&program, &["workspaces", "list"]).await;
    let listed: Vec<_> = listed.as_array().unwrap().iter().map(|row| [&row["key"], &row["mode"]]).collect();
    assert_eq!(listed, [[&json!("acme"), &json!("live")], [&json!("acme-sandbox"), &json!("test")]]);

    let (live, test) = (create_key(&program, "acme").await, create_key(&program, "acme-sandbox").await);
    assert!(live.starts_with("svc_live_") && test.starts_with("svc_test_"), "{live} {test}");
    let server = program.serve(&["serve"]).await;
    let (live, test) = (server.key(&program.app, &live), server.key(&program.app, &test));
    assert!(live.get("/api/v1/courses").await.assert_status(200).ids().is_empty());
    let before = test.get("/api/v1/courses").await.assert_status(200).ids();
    let me = test.get("/developer/v1/me").await.assert_status(200).json();
    assert_eq!(
        [&me["workspace"]["name"], &me["workspace"]["mode"]],
        [&json!("Acme (sandbox)"), &json!("test")]
    );
    let me = live.get("/developer/v1/me").await.assert_status(200).json();
    assert_eq!(me["workspace"]["mode"], "live");

    run(&program, &["reset-sandbox", "acme"]).await;
    let after = test.get("/api/v1/courses").await.assert_status(200).ids();
    assert!(
        after.len() == before.len() && after.iter().all(|id| !before.contains(id)),
        "{before:?} {after:?}"
    );
    assert!(failure(&program, &["delete-sandbox", "acme"]).await.contains("add --yes"));
    run(&program, &["delete-sandbox", "acme", "--yes"]).await;
    test.get("/api/v1/courses").await.assert_status(401);
    live.get("/api/v1/courses").await.assert_status(200);
    let listed = list_as_json(&program, &["workspaces", "list"]).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert!(failure(&program, &["reset-sandbox", "acme"]).await.contains("has no sandbox"));
    run(&program, &["create-sandbox", "acme"]).await;
    test.get("/api/v1/courses").await.assert_status(401);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_workspace_that_cannot_have_a_sandbox_is_told_why() {
    let program = TestProgram::new().await;
    let long = "a".repeat(57);
    for key in ["acme", "globex", "globex-sandbox", &long] {
        run(&program, &["create", "--key", key, "--name", key, "--owner-email", "o@acme.example"]).await;
    }
    run(&program, &["create-sandbox", "acme"]).await;
    for (key, message) in [
        ("acme", "has a sandbox already"),
        ("acme-sandbox", "is a test workspace"),
        ("globex", "`globex-sandbox`, which another workspace has"),
        (&long, "longer than 64 characters"),
        ("nowhere", "not found"),
    ] {
        let failed = failure(&program, &["create-sandbox", key]).await;
        assert!(failed.contains(message), "{key}: {failed}");
    }
    let owner = ["set-owner", "--workspace", "acme-sandbox", "--email", "eve@acme.example"];
    assert!(failure(&program, &owner).await.contains("is a sandbox"));
    let user = ["users", "add", "--workspace", "acme-sandbox", "--email", "eve@acme.example"];
    assert!(program.run(&user).await.stderr.contains("is a sandbox"));
}

#[tokio::test]
async fn the_import_command_changes_sandboxes_in_the_mode_test_only() {
    let program = TestProgram::new().await;
    run(&program, &["create", "--key", "acme", "--name", "Acme", "--owner-email", "o@acme.example"]).await;
    run(&program, &["create-sandbox", "acme"]).await;
    let line = |workspace: &str| {
        let data = json!({"key": "ada", "email": "ada@example.com"});
        let change = json!({"change": "student.upsert", "id": "c-1", "workspace": workspace, "at": "2026-03-01T09:00:00Z", "data": data});
        change.to_string()
    };
    for (workspace, mode, summary) in [
        ("acme-sandbox", "live", "0 applied, 0 applied before, 1 rejected"),
        ("acme", "test", "0 applied, 0 applied before, 1 rejected"),
        ("acme-sandbox", "test", "1 applied, 0 applied before, 0 rejected"),
        ("acme", "live", "1 applied, 0 applied before, 0 rejected"),
    ] {
        let imported = program.run_with_input(&["import", "-", "--mode", mode], &line(workspace)).await;
        assert_eq!(imported.stdout.trim_end(), summary, "{workspace} {mode}: {imported:?}");
    }
    // The changes of a sandbox end with its data.
    run(&program, &["reset-sandbox", "acme"]).await;
    let again = program.run_with_input(&["import", "-", "--mode", "test"], &line("acme-sandbox")).await;
    assert_eq!(again.stdout.trim_end(), "1 applied, 0 applied before, 0 rejected");
}
