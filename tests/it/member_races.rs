//! Removals of users and changes of the owner, concurrent with other changes of the same users.

use domain::app::App;
use domain::audit::Actor;
use domain::roles::Roles;
use domain::sessions::{self, SessionClient, Viewer};
use domain::users::{self, User, UserRemoval};
use domain::{Error, workspaces};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::task::JoinHandle;

use crate::support::browser::{PASSWORD, csrf_token};
use crate::support::members::user_emails;
use crate::support::{Browser, TestApp, TestWorkspace, wait_until};

const ADA: &str = "ada@acme.example";
const EVE: &str = "eve@acme.example";
const MEMBERS: &str = "/dashboard/settings/people";

fn client() -> SessionClient<'static> {
    SessionClient { address: [127, 0, 0, 1].into(), agent: "test" }
}

/// Waits until a session of the database waits for a lock, or this task has ended. On SQLite, this only lets the task
/// begin, because a write transaction waits for the write lock before it reads.
async fn wait_until_blocked<T>(app: &TestApp, task: &JoinHandle<T>) {
    tokio::task::yield_now().await;
    if app.uses_postgres() {
        let is_blocked = async || task.is_finished() || app.has_blocked_session().await;
        wait_until("a session waits for a lock", is_blocked).await;
    }
}

/// Removes a user in its own write transaction.
async fn remove_user(app: &App, user: &User) -> Result<UserRemoval, Error> {
    let write = app.begin_write().await?;
    let removal = users::remove(&write, user.workspace, user.id).await?;
    write.commit().await?;
    Ok(removal)
}

fn spawn_removal(app: &TestApp, user: &User) -> JoinHandle<Result<UserRemoval, Error>> {
    let (app, user) = (app.app.clone(), user.clone());
    tokio::spawn(async move { remove_user(&app, &user).await })
}

fn spawn_set_password(app: &TestApp, token: &str, password: &'static str) -> JoinHandle<Option<User>> {
    let (app, token) = (app.app.clone(), token.to_owned());
    tokio::spawn(async move {
        let password = SecretString::from(password);
        users::set_password(&app, &token, &password, |_| Actor::operator()).await.unwrap()
    })
}

/// Resumes the session with this token; `None` if it has ended.
async fn viewer(app: &TestApp, token: &SecretString) -> Option<Viewer> {
    sessions::resume(&app.app, token.expose_secret(), true).await.unwrap()
}

/// Counts the sessions and links of a workspace.
async fn remaining_sessions_and_links(workspace: &TestWorkspace<'_>) -> (u64, u64) {
    let (db, id) = (workspace.app.app.db.read(), workspace.id.uuid());
    let sessions = entity::sessions::in_workspace(id).count(db).await.unwrap();
    (sessions, entity::password_links::in_workspace(id).count(db).await.unwrap())
}

#[tokio::test]
async fn a_link_used_during_the_removal_of_its_user_is_invalid() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.add_user(ADA).await;
    let link = acme.password_link_token(ADA).await;
    let write = app.begin_write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let set = spawn_set_password(&app, &link, "a new long password");
    wait_until_blocked(&app, &set).await;
    write.commit().await.unwrap();
    assert_eq!(set.await.unwrap(), None);
    for password in [PASSWORD, "a new long password"] {
        Browser::new(&app).sign_in(ADA, password).await.assert_status(422);
    }
    assert_eq!(remaining_sessions_and_links(&acme).await, (0, 0));
}

#[tokio::test]
async fn signing_in_during_a_removal_leaves_no_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let password = SecretString::from(PASSWORD);
    let verified =
        async || users::verify_login(&app.app, ADA, &password).await.unwrap().expect("the password is right");

    // The removal begins first, and the creation of the session waits for it.
    let ada = acme.add_user(ADA).await;
    let login = verified().await;
    let write = app.begin_write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let started = tokio::spawn({
        let app = app.app.clone();
        async move {
            let mut write = app.begin_write().await.unwrap();
            let started = sessions::create(&app, &mut write, &login, client()).await.unwrap();
            write.commit().await.unwrap();
            started.is_some()
        }
    });
    wait_until_blocked(&app, &started).await;
    write.commit().await.unwrap();
    assert!(!started.await.unwrap());

    // The creation of the session begins first. The removal waits for it, and ends the session.
    let ada = acme.add_user(ADA).await;
    let login = verified().await;
    let mut write = app.begin_write().await;
    let (_, token) = sessions::create(&app.app, &mut write, &login, client()).await.unwrap().unwrap();
    let removed = spawn_removal(&app, &ada);
    wait_until_blocked(&app, &removed).await;
    write.commit().await.unwrap();
    assert!(matches!(removed.await.unwrap(), Ok(UserRemoval::Removed(_))));
    assert!(viewer(&app, &token).await.is_none());
    assert_eq!(remaining_sessions_and_links(&acme).await, (0, 0));
}

#[tokio::test]
async fn a_session_that_switches_workspace_during_a_removal_ends() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    beta.add_user(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let ada = acme.add_user(ADA).await;
    let password = SecretString::from(PASSWORD);
    let begin_session = async || {
        let login = users::verify_login(&app.app, ADA, &password).await.unwrap().unwrap();
        let mut write = app.begin_write().await;
        let (_, token) = sessions::create(&app.app, &mut write, &login, client()).await.unwrap().unwrap();
        write.commit().await.unwrap();
        (viewer(&app, &token).await.unwrap(), token)
    };
    let (current_viewer, _) = begin_session().await;
    let mut write = app.begin_write().await;
    let (_, _, token) =
        sessions::switch_workspace(&app.app, &mut write, &current_viewer, acme.id).await.unwrap();
    let removed = spawn_removal(&app, &ada);
    wait_until_blocked(&app, &removed).await;
    write.commit().await.unwrap();
    assert!(matches!(removed.await.unwrap(), Ok(UserRemoval::Removed(_))));
    assert!(viewer(&app, &token).await.is_none());

    // In the opposite order, the workspace to switch to is not accessible.
    let ada = acme.add_user(ADA).await;
    let (current_viewer, token) = begin_session().await;
    let write = app.begin_write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let changed = tokio::spawn({
        let (app, target) = (app.app.clone(), acme.id);
        async move {
            let mut write = app.begin_write().await.unwrap();
            sessions::switch_workspace(&app, &mut write, &current_viewer, target).await.map(|_| ())
        }
    });
    wait_until_blocked(&app, &changed).await;
    write.commit().await.unwrap();
    assert!(matches!(changed.await.unwrap(), Err(Error::NotFound(_))));
    assert!(viewer(&app, &token).await.is_some(), "the session stays in its workspace");
}

#[tokio::test]
async fn of_two_concurrent_removals_one_succeeds() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.add_user(ADA).await;
    let (first, second) = (spawn_removal(&app, &ada), spawn_removal(&app, &ada));
    let outcomes = [first.await.unwrap(), second.await.unwrap()];
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Ok(UserRemoval::Removed(_)))).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::NotFound(_)))).count(), 1);
}

#[tokio::test]
async fn of_two_users_who_remove_each_other_one_remains() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    for _ in 0..5 {
        let mut members = Vec::new();
        for email in [ADA, EVE] {
            let user = acme.add_user(email).await;
            let write = app.begin_write().await;
            users::set_roles(&write, acme.id, user.id, Roles::OWNER).await.unwrap();
            write.commit().await.unwrap();
            let browser = Browser::new(&app);
            browser.sign_in(email, PASSWORD).await.assert_status(303);
            let token = csrf_token(&browser.get(MEMBERS).await);
            members.push((user, browser, token));
        }
        let [(ada, ada_browser, ada_token), (eve, eve_browser, eve_token)] = &members[..] else {
            panic!("two members")
        };
        let (remove_eve, remove_ada) =
            (format!("{MEMBERS}/{}/remove", eve.id), format!("{MEMBERS}/{}/remove", ada.id));
        let (first, second) = tokio::join!(
            ada_browser.post(&remove_eve, ada_token, &[]),
            eve_browser.post(&remove_ada, eve_token, &[]),
        );
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 403], "{} {}", first.header("location"), second.header("location"));
        assert_eq!(user_emails(&acme).await.len(), 2);
    }
}

#[tokio::test]
async fn a_user_made_owner_during_a_removal_has_access() {
    let app = TestApp::start().await;
    for (name, removal_first) in [("acme", true), ("beta", false)] {
        let workspace = app.workspace(name).await;
        let ada = workspace.add_user(ADA).await;
        let (domain_app, id) = (app.app.clone(), workspace.id);
        let set_owner = async move || {
            let mut write = domain_app.begin_write().await.unwrap();
            let actor = Actor::operator();
            let set = workspaces::set_owner(&domain_app, &mut write, id, ADA, &actor).await.unwrap();
            assert!(set.is_some());
            write
        };
        if removal_first {
            let write = app.begin_write().await;
            users::remove(&write, workspace.id, ada.id).await.unwrap();
            let owner_task = tokio::spawn(async move { set_owner().await.commit().await.unwrap() });
            wait_until_blocked(&app, &owner_task).await;
            write.commit().await.unwrap();
            owner_task.await.unwrap();
        } else {
            let write = set_owner().await;
            let removed = spawn_removal(&app, &ada);
            wait_until_blocked(&app, &removed).await;
            write.commit().await.unwrap();
            assert!(matches!(removed.await.unwrap(), Ok(UserRemoval::Owner(_))));
        }
        assert_eq!(user_emails(&workspace).await, [ADA], "{name}");
    }
}

#[tokio::test]
async fn swapping_the_owners_of_two_workspaces_does_not_deadlock() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let mut owners = [(acme.id, "owner@acme.example"), (beta.id, "owner@beta.example")];
    for _ in 0..20 {
        owners = [(owners[0].0, owners[1].1), (owners[1].0, owners[0].1)];
        let set = owners.map(|(workspace, email)| {
            let app = app.app.clone();
            tokio::spawn(async move {
                let mut write = app.begin_write().await?;
                let actor = Actor::operator();
                workspaces::set_owner(&app, &mut write, workspace, email, &actor).await?;
                write.commit().await.map_err(Error::from)
            })
        });
        for set in set {
            set.await.unwrap().expect("neither fails");
        }
    }
}

#[tokio::test]
async fn a_user_added_while_setting_a_password_has_the_new_password() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let ada = acme.add_user(ADA).await;
    let link = acme.password_link_token(ADA).await;
    let mut write = app.begin_write().await;
    users::add(&app.app, &mut write, beta.id, ADA, Roles::DEFAULT).await.unwrap();
    let set = spawn_set_password(&app, &link, "a new long password");
    wait_until_blocked(&app, &set).await;
    write.commit().await.unwrap();
    assert!(set.await.unwrap().is_some());
    // After the removal from the first workspace, the new password is still valid.
    remove_user(&app.app, &ada).await.unwrap();
    Browser::new(&app).sign_in(ADA, PASSWORD).await.assert_status(422);
    Browser::new(&app).sign_in(ADA, "a new long password").await.assert_status(303);
}
