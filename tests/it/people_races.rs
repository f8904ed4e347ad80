//! Removals and changes of the owner that meet other changes of the same people.

use domain::app::App;
use domain::audit::Actor;
use domain::sessions::{self, Origin, Viewer};
use domain::users::{self, Removal, User};
use domain::{Error, workspaces};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use tokio::task::JoinHandle;

use crate::people::addresses;
use crate::support::browser::{PASSWORD, csrf};
use crate::support::{Browser, TestApp, Workspace};

const ADA: &str = "ada@acme.example";
const EVE: &str = "eve@acme.example";
const PEOPLE: &str = "/dashboard/settings/people";

fn origin() -> Origin<'static> {
    Origin { address: [127, 0, 0, 1].into(), agent: "story" }
}

/// Waits until this task waits for a lock of the database, or has ended. On SQLite, where a write waits for its turn before it
/// reads anything, it only lets the task begin.
async fn waits<T>(app: &TestApp, task: &JoinHandle<T>) {
    tokio::task::yield_now().await;
    if !app.has_many_writers() {
        return;
    }
    let waits =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waits = sea_orm::Statement::from_string(app.app.db.backend(), waits);
    while !task.is_finished()
        && sea_orm::ConnectionTrait::query_one_raw(app.app.db.read(), waits.clone()).await.unwrap().is_none()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Removes a person in a write of its own.
async fn removes(app: &App, person: &User) -> Result<Removal, Error> {
    let write = app.begin_write().await?;
    let removal = users::remove(&write, person.workspace, person.id).await?;
    write.commit().await?;
    Ok(removal)
}

fn removing(app: &TestApp, person: &User) -> JoinHandle<Result<Removal, Error>> {
    let (app, person) = (app.app.clone(), person.clone());
    tokio::spawn(async move { removes(&app, &person).await })
}

fn setting(app: &TestApp, token: &str, password: &'static str) -> JoinHandle<Option<User>> {
    let (app, token) = (app.app.clone(), token.to_owned());
    tokio::spawn(async move {
        let password = SecretString::from(password);
        users::set_password(&app, &token, &password, |_| Actor::operator()).await.unwrap()
    })
}

async fn viewer(app: &TestApp, token: &SecretString) -> Option<Viewer> {
    sessions::resume(&app.app, token.expose_secret(), true).await.unwrap()
}

/// The sessions and links of a workspace.
async fn left(workspace: &Workspace<'_>) -> (u64, u64) {
    let (db, id) = (workspace.app.app.db.read(), workspace.id.uuid());
    let sessions = entity::sessions::in_workspace(id).count(db).await.unwrap();
    (sessions, entity::password_links::in_workspace(id).count(db).await.unwrap())
}

#[tokio::test]
async fn a_link_that_is_used_while_its_person_is_removed_opens_nothing() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.person(ADA).await;
    let link = acme.link(ADA).await;
    let write = app.write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let set = setting(&app, &link, "a new long password");
    waits(&app, &set).await;
    write.commit().await.unwrap();
    assert_eq!(set.await.unwrap(), None);
    for password in [PASSWORD, "a new long password"] {
        Browser::new(&app).sign_in(ADA, password).await.assert_status(422);
    }
    assert_eq!(left(&acme).await, (0, 0));
}

#[tokio::test]
async fn who_signs_in_while_being_removed_has_no_session() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let password = SecretString::from(PASSWORD);
    let recognised =
        async || users::recognise(&app.app, ADA, &password).await.unwrap().expect("the password is right");

    // The removal comes first: the session waits for it.
    let ada = acme.person(ADA).await;
    let known = recognised().await;
    let write = app.write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let begun = tokio::spawn({
        let app = app.app.clone();
        async move {
            let mut write = app.begin_write().await.unwrap();
            let begun = sessions::begin(&app, &mut write, &known, origin()).await.unwrap();
            write.commit().await.unwrap();
            begun.is_some()
        }
    });
    waits(&app, &begun).await;
    write.commit().await.unwrap();
    assert!(!begun.await.unwrap());

    // The session comes first: the removal waits for it, and ends it.
    let ada = acme.person(ADA).await;
    let known = recognised().await;
    let mut write = app.write().await;
    let (_, token) = sessions::begin(&app.app, &mut write, &known, origin()).await.unwrap().unwrap();
    let removed = removing(&app, &ada);
    waits(&app, &removed).await;
    write.commit().await.unwrap();
    assert!(matches!(removed.await.unwrap(), Ok(Removal::Removed(_))));
    assert!(viewer(&app, &token).await.is_none());
    assert_eq!(left(&acme).await, (0, 0));
}

#[tokio::test]
async fn a_session_that_just_comes_from_another_workspace_ends_with_the_removal() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    beta.person(ADA).await;
    app.clock.advance(Duration::from_secs(1));
    let ada = acme.person(ADA).await;
    let password = SecretString::from(PASSWORD);
    let begins = async || {
        let known = users::recognise(&app.app, ADA, &password).await.unwrap().unwrap();
        let mut write = app.write().await;
        let (_, token) = sessions::begin(&app.app, &mut write, &known, origin()).await.unwrap().unwrap();
        write.commit().await.unwrap();
        (viewer(&app, &token).await.unwrap(), token)
    };
    let (here, _) = begins().await;
    let mut write = app.write().await;
    let (_, _, token) = sessions::change(&app.app, &mut write, &here, acme.id).await.unwrap();
    let removed = removing(&app, &ada);
    waits(&app, &removed).await;
    write.commit().await.unwrap();
    assert!(matches!(removed.await.unwrap(), Ok(Removal::Removed(_))));
    assert!(viewer(&app, &token).await.is_none());

    // The other way round, there is nowhere to go.
    let ada = acme.person(ADA).await;
    let (here, token) = begins().await;
    let write = app.write().await;
    users::remove(&write, acme.id, ada.id).await.unwrap();
    let changed = tokio::spawn({
        let (app, to) = (app.app.clone(), acme.id);
        async move {
            let mut write = app.begin_write().await.unwrap();
            sessions::change(&app, &mut write, &here, to).await.map(|_| ())
        }
    });
    waits(&app, &changed).await;
    write.commit().await.unwrap();
    assert!(matches!(changed.await.unwrap(), Err(Error::NotFound(_))));
    assert!(viewer(&app, &token).await.is_some(), "it stays where it was");
}

#[tokio::test]
async fn of_two_removals_one_finds_nobody() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.person(ADA).await;
    let (one, other) = (removing(&app, &ada), removing(&app, &ada));
    let outcomes = [one.await.unwrap(), other.await.unwrap()];
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Ok(Removal::Removed(_)))).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::NotFound(_)))).count(), 1);
}

#[tokio::test]
async fn two_people_who_remove_each_other_are_not_both_removed() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    for _ in 0..5 {
        let mut people = Vec::new();
        for email in [ADA, EVE] {
            let person = acme.person(email).await;
            let browser = Browser::new(&app);
            browser.sign_in(email, PASSWORD).await.assert_status(303);
            let token = csrf(&browser.get(PEOPLE).await);
            people.push((person, browser, token));
        }
        let [(ada, adas, adas_token), (eve, eves, eves_token)] = &people[..] else { panic!("two people") };
        let (of_eve, of_ada) = (format!("{PEOPLE}/{}/remove", eve.id), format!("{PEOPLE}/{}/remove", ada.id));
        let (one, other) =
            tokio::join!(adas.post(&of_eve, adas_token, &[]), eves.post(&of_ada, eves_token, &[]),);
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 403], "{} {}", one.header("location"), other.header("location"));
        assert_eq!(addresses(&acme).await.len(), 2);
    }
}

#[tokio::test]
async fn who_is_made_the_owner_while_being_removed_has_access() {
    let app = TestApp::start().await;
    for (name, removal_first) in [("acme", true), ("beta", false)] {
        let workspace = app.workspace(name).await;
        let ada = workspace.person(ADA).await;
        let (other, id) = (app.app.clone(), workspace.id);
        let own = async move || {
            let mut write = other.begin_write().await.unwrap();
            let actor = Actor::operator();
            let set = workspaces::set_owner(&other, &mut write, id, ADA, &actor).await.unwrap();
            assert!(set.is_some());
            write
        };
        if removal_first {
            let write = app.write().await;
            users::remove(&write, workspace.id, ada.id).await.unwrap();
            let owning = tokio::spawn(async move { own().await.commit().await.unwrap() });
            waits(&app, &owning).await;
            write.commit().await.unwrap();
            owning.await.unwrap();
        } else {
            let write = own().await;
            let removed = removing(&app, &ada);
            waits(&app, &removed).await;
            write.commit().await.unwrap();
            assert!(matches!(removed.await.unwrap(), Ok(Removal::Owner(_))));
        }
        assert_eq!(addresses(&workspace).await, [ADA], "{name}");
    }
}

#[tokio::test]
async fn owners_who_change_places_do_not_wait_for_each_other() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let mut turns = [(acme.id, "owner@acme.example"), (beta.id, "owner@beta.example")];
    for _ in 0..20 {
        turns = [(turns[0].0, turns[1].1), (turns[1].0, turns[0].1)];
        let set = turns.map(|(workspace, email)| {
            let app = app.app.clone();
            tokio::spawn(async move {
                let mut write = app.begin_write().await?;
                let actor = Actor::operator();
                workspaces::set_owner(&app, &mut write, workspace, email, &actor).await?;
                write.commit().await.map_err(Error::from)
            })
        });
        for set in set {
            set.await.unwrap().expect("neither is given up");
        }
    }
}

#[tokio::test]
async fn who_is_added_while_setting_a_password_has_the_new_one() {
    let app = TestApp::start().await;
    let (acme, beta) = (app.workspace("acme").await, app.workspace("beta").await);
    let ada = acme.person(ADA).await;
    let link = acme.link(ADA).await;
    let mut write = app.write().await;
    users::add(&app.app, &mut write, beta.id, ADA).await.unwrap();
    let set = setting(&app, &link, "a new long password");
    waits(&app, &set).await;
    write.commit().await.unwrap();
    assert!(set.await.unwrap().is_some());
    // What is left when the first workspace is gone is the new password too.
    removes(&app.app, &ada).await.unwrap();
    Browser::new(&app).sign_in(ADA, PASSWORD).await.assert_status(422);
    Browser::new(&app).sign_in(ADA, "a new long password").await.assert_status(303);
}
