//! The second factor: set up, used, lost and recovered.

use std::time::Duration;

use domain::master_key;
use domain::roles::Role;
use entity::people;
use foundation::secret::{MasterKeys, Purpose, Seal};

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::members::{audit_entries, member_browser};
use crate::support::platform::sign_in_link;
use crate::support::program::TestProgram;
use crate::support::second_factor::{Factor, SECURITY, set_up};
use crate::support::{Browser, TestApp, TestResponse, TestWorkspace};

const ADA: &str = "ada@acme.example";
const CODE: &str = "/sign-in/code";

/// Signs in with the password, and returns a browser that is asked for a code.
async fn after_password<'a>(app: &'a TestApp) -> Browser<'a> {
    let browser = Browser::new(app);
    let asked = browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    assert_eq!(asked.header("location"), CODE);
    assert_eq!(browser.cookie("session"), None);
    browser
}

/// Like [`after_password`], in a browser that signed in before as this one did.
async fn after_password_again<'a>(app: &'a TestApp, known: &Browser<'_>) -> Browser<'a> {
    let browser = Browser::new(app);
    browser.set_cookie("device", &known.cookie("device").expect("a known device"));
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    browser
}

async fn submit_code(browser: &Browser<'_>, code: &str) -> TestResponse {
    browser.submit(CODE, CODE, &[("code", code)]).await
}

/// Returns the subjects of the mails about Ada's account, oldest first.
async fn notices(workspace: &TestWorkspace<'_>) -> Vec<String> {
    let mut mails = workspace.mails().await;
    mails.retain(|mail| mail.kind == "account_event" && mail.recipient == ADA);
    mails.sort_by_key(|mail| mail.id);
    mails.into_iter().map(|mail| mail.subject).collect()
}

/// Starts a server with the member Ada, who has a second factor.
async fn with_factor(app: &TestApp) -> (TestWorkspace<'_>, Browser<'_>, Factor) {
    let acme = app.workspace("acme").await;
    acme.add_user(ADA).await;
    let browser = Browser::new(app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let factor = set_up(app, &browser).await;
    (acme, browser, factor)
}

async fn is_signed_in(browser: &Browser<'_>) -> bool {
    browser.get("/dashboard").await.status == 200
}

#[tokio::test]
async fn a_member_sets_up_a_second_factor_and_signs_in_with_it() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    acme.add_user(ADA).await;
    let other = Browser::new(&app);
    other.sign_in(ADA, PASSWORD).await.assert_status(303);
    let browser = Browser::new(&app);
    browser.sign_in(ADA, PASSWORD).await.assert_status(303);
    let copied = Browser::new(&app);
    copied.set_cookie("session", &browser.cookie("session").expect("a session"));
    assert!(is_signed_in(&copied).await);
    let factor = set_up(&app, &browser).await;
    assert!(is_signed_in(&browser).await && !is_signed_in(&other).await, "other sessions end");
    assert!(!is_signed_in(&copied).await, "the old token of the session is not valid any longer");
    assert!(audit_entries(&acme).await[0].starts_with("ada@acme.example Set up a second factor"));
    assert_eq!(notices(&acme).await, ["A second factor was set up for your dashboard account"]);
    let page = html(&browser.get(SECURITY).await);
    assert!(page.contains("Unused recovery codes") && page.contains("<dd>10</dd>"), "{page}");

    let phone = after_password(&app).await;
    phone.get("/dashboard").await.assert_status(303);
    submit_code(&phone, "000000").await.assert_status(422);
    let code = factor.code(&app, 0);
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    assert_eq!(submit_code(&phone, &spaced).await.assert_status(303).header("location"), "/dashboard");
    assert!(is_signed_in(&phone).await);
    // The used code is refused in the same step, and so is the cookie of the first step without a code.
    submit_code(&after_password(&app).await, &code).await.assert_status(422);
    assert_eq!(Browser::new(&app).get(CODE).await.assert_status(303).header("location"), "/login");
}

#[tokio::test]
async fn the_clock_of_the_device_may_differ_by_half_a_minute() {
    let app = TestApp::start().await;
    let (_, _, factor) = with_factor(&app).await;
    for (offset_s, status) in [(-61, 422), (61, 422), (-29, 303), (29, 303)] {
        app.clock.advance(Duration::from_secs(120));
        let browser = after_password(&app).await;
        submit_code(&browser, &factor.code(&app, offset_s)).await.assert_status(status);
    }
}

#[tokio::test]
async fn guessed_codes_are_limited() {
    let app = TestApp::start().await;
    let (acme, known, factor) = with_factor(&app).await;
    app.clock.advance(Duration::from_secs(15 * 60));
    let browser = after_password(&app).await;
    let token = csrf_token(&browser.get(CODE).await);
    for guess in 0..4 {
        browser.post(CODE, &token, &[("code", &format!("{guess:06}"))]).await.assert_status(422);
    }
    assert_eq!(notices(&acme).await.len(), 1, "four wrong codes can be mistakes");
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    for guess in 4..1000 {
        let guess = format!("{guess:06}");
        let status = browser.post(CODE, &token, &[("code", guess.as_str())]).await.status;
        *statuses.entry(status).or_default() += 1;
    }
    assert_eq!(statuses, [(422, 6), (429, 990)].into());
    assert_eq!(notices(&acme).await[1..], ["Sign-in attempts with wrong codes at your dashboard account"]);
    let entries = audit_entries(&acme).await;
    let is_wrong_code = |entry: &&String| entry.contains("Entered an incorrect code of the second factor");
    assert_eq!(entries.iter().filter(is_wrong_code).count(), 10);
    let page = html(
        &browser.post(CODE, &token, &[("code", factor.code(&app, 0).as_str())]).await.assert_status(429),
    );
    assert!(page.contains("Too many attempts. Try again in 15 minutes."), "{page}");
    // The browser that signed in before has codes of its own.
    submit_code(&after_password_again(&app, &known).await, &factor.code(&app, 0)).await.assert_status(303);
    app.clock.advance(Duration::from_secs(15 * 60));
    let browser = after_password(&app).await;
    submit_code(&browser, &factor.code(&app, 0)).await.assert_status(303);
}

#[tokio::test]
async fn an_account_has_fifty_codes_per_day() {
    let app = TestApp::start().await;
    let (acme, known, factor) = with_factor(&app).await;
    for _ in 0..5 {
        app.clock.advance(Duration::from_secs(15 * 60));
        let browser = after_password(&app).await;
        for _ in 0..10 {
            submit_code(&browser, "000000").await.assert_status(422);
        }
    }
    app.clock.advance(Duration::from_secs(15 * 60));
    let page = html(&submit_code(&after_password(&app).await, &factor.code(&app, 0)).await);
    assert!(page.contains("Too many attempts. Try again in 23 hours."), "{page}");
    submit_code(&after_password_again(&app, &known).await, &factor.code(&app, 0)).await.assert_status(303);
    assert_eq!(notices(&acme).await.len(), 2, "one notice per day");
    app.clock.advance(Duration::from_secs(24 * 60 * 60));
    submit_code(&after_password(&app).await, &factor.code(&app, 0)).await.assert_status(303);
}

#[tokio::test]
async fn browsers_that_set_a_password_have_fifty_codes_per_day_together() {
    let app = TestApp::start().await;
    let (acme, _, factor) = with_factor(&app).await;
    let set_password = async || {
        let browser = Browser::new(&app);
        let token = acme.password_link_token(ADA).await;
        browser.get(&format!("/set-password?token={token}")).await.assert_status(303);
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        browser.submit("/login", "/set-password", &fields).await.assert_status(303);
        browser.sign_in(ADA, PASSWORD).await.assert_status(303);
        browser
    };
    // Two codes were used to set the factor up, a wrong one and a right one.
    for count in [10, 10, 10, 10, 8] {
        let browser = set_password().await;
        for _ in 0..count {
            submit_code(&browser, "000000").await.assert_status(422);
        }
    }
    submit_code(&set_password().await, &factor.code(&app, 0)).await.assert_status(429);
}

#[tokio::test]
async fn wrong_codes_in_settings_are_noticed() {
    let app = TestApp::start().await;
    let (acme, owner, _) = with_factor(&app).await;
    for form in ["codes", "codes", "remove", "remove"] {
        owner.submit(SECURITY, &format!("{SECURITY}/{form}"), &[("code", "000000")]).await.assert_status(422);
    }
    let confirm = "/dashboard/confirm";
    let fields = [("password", PASSWORD), ("code", "000000")];
    owner.submit(confirm, confirm, &fields).await.assert_status(422);
    assert_eq!(notices(&acme).await[1..], ["Sign-in attempts with wrong codes at your dashboard account"]);
}

#[tokio::test]
async fn ending_all_other_sessions_ends_an_attempt_that_waits_for_a_code() {
    let app = TestApp::start().await;
    let (_, owner, factor) = with_factor(&app).await;
    let (link, late, second) =
        (sign_in_link(&app, "acme", ADA).await, Browser::new(&app), Browser::new(&app));
    let (one, two) = tokio::join!(late.get(&link), second.get(&link));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 404], "a link is opened once");
    let late = if one.status == 303 { late } else { second };
    late.get(CODE).await.assert_status(200);
    let others = "/dashboard/settings/sessions/end-others";
    owner.submit("/dashboard/settings", others, &[]).await.assert_status(303);
    assert_eq!(late.get(CODE).await.assert_status(303).header("location"), "/login");

    // The wait ends after ten minutes, too.
    let link = sign_in_link(&app, "acme", ADA).await;
    late.get(&link).await.assert_status(303);
    app.clock.advance(Duration::from_secs(9 * 60));
    submit_code(&late, "000000").await.assert_status(422);
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(late.get(CODE).await.assert_status(303).header("location"), "/login");
    late.get(&sign_in_link(&app, "acme", ADA).await).await.assert_status(303);
    submit_code(&late, &factor.code(&app, 0)).await.assert_status(303);
}

#[tokio::test]
async fn a_recovery_code_works_once() {
    let app = TestApp::start().await;
    let (acme, owner, factor) = with_factor(&app).await;
    let code = factor.recovery_codes[3].to_lowercase().replace('-', " ");
    let (first, second) = (after_password(&app).await, after_password(&app).await);
    let (one, two) = tokio::join!(submit_code(&first, &code), submit_code(&second, &code));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 422]);
    let signed_in = if one.status == 303 { &first } else { &second };
    assert!(html(&signed_in.get("/dashboard").await).contains("You used a recovery code; 9 are left."));
    assert!(audit_entries(&acme).await.iter().any(|entry| entry.contains("Used a recovery code")));

    // New codes replace all earlier ones.
    app.clock.advance(Duration::from_secs(30));
    let new = format!("{SECURITY}/codes");
    owner.submit(SECURITY, &new, &[("code", "000000")]).await.assert_status(422);
    let page = html(
        &owner.submit(SECURITY, &new, &[("code", factor.code(&app, 0).as_str())]).await.assert_status(200),
    );
    let new_code = first_match(&page, "[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}");
    submit_code(&after_password(&app).await, &factor.recovery_codes[4]).await.assert_status(422);
    submit_code(&after_password(&app).await, &new_code).await.assert_status(303);

    let remove = format!("{SECURITY}/remove");
    owner.submit(SECURITY, &remove, &[("code", "000000")]).await.assert_status(422);
    app.clock.advance(Duration::from_secs(30));
    let code = factor.code(&app, 0);
    owner.submit(SECURITY, &remove, &[("code", code.as_str())]).await.assert_status(303);
    assert_eq!(
        notices(&acme).await,
        [
            "A second factor was set up for your dashboard account",
            "A recovery code of your dashboard account was used",
            "New recovery codes for your dashboard account",
            "A recovery code of your dashboard account was used",
            "The second factor of your dashboard account was removed",
        ]
    );
}

#[tokio::test]
async fn neither_a_reset_nor_a_link_of_the_platform_skips_it() {
    let app = TestApp::start().await;
    let (acme, _, factor) = with_factor(&app).await;
    acme.add_user(ADA).await;
    assert_eq!(notices(&acme).await[1..], ["Your dashboard password was changed"]);
    after_password(&app).await;

    let link = Browser::new(&app);
    let path = sign_in_link(&app, "acme", ADA).await;
    assert_eq!(link.get(&path).await.assert_status(303).header("location"), CODE);
    assert!(!is_signed_in(&link).await);
    submit_code(&link, &factor.code(&app, 0)).await.assert_status(303);
    assert!(is_signed_in(&link).await);

    // A changed password or a removal ends the attempt between the steps.
    let between = after_password(&app).await;
    let token = csrf_token(&between.get(CODE).await);
    app.clock.advance(Duration::from_secs(30));
    acme.add_user(ADA).await;
    let late = between.post(CODE, &token, &[("code", factor.code(&app, 0).as_str())]).await;
    assert_eq!(late.assert_status(303).header("location"), "/login");
    let path = sign_in_link(&app, "acme", ADA).await;
    let between = Browser::new(&app);
    between.get(&path).await.assert_status(303);
    let ada =
        domain::users::list(&app.app, acme.id).await.unwrap().into_iter().find(|user| user.email == ADA);
    let write = app.begin_write().await;
    domain::users::remove(&write, acme.id, ada.unwrap().id).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(between.get(CODE).await.assert_status(303).header("location"), "/login");

    // After another invitation, the second factor is still there.
    acme.add_user(ADA).await;
    after_password(&app).await;
}

#[tokio::test]
async fn an_owner_can_require_it_from_all_members() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let owner = acme.owner_browser().await;
    let require = format!("{SECURITY}/require");
    owner.submit(SECURITY, &require, &[("required", "on")]).await.assert_status(303);
    assert!(html(&owner.get(SECURITY).await).contains("Set up your own second factor first."));
    let factor = set_up(&app, &owner).await;
    let ada = member_browser(&acme, ADA, &[Role::Developer]).await;
    let token = csrf_token(&ada.get("/dashboard/developer/keys/new").await.assert_status(200));
    owner.submit(SECURITY, &require, &[("required", "on")]).await.assert_status(303);
    assert!(audit_entries(&acme).await[0].contains("Changed whether members need a second factor required"));

    let asked = ada.get("/dashboard/developer").await.assert_status(303);
    assert_eq!(asked.header("location"), SECURITY);
    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
    let page = html(&ada.post("/dashboard/developer/keys/new", &token, &fields).await.assert_status(403));
    assert!(page.contains("Second factor required"), "{page}");
    assert!(html(&ada.get(SECURITY).await.assert_status(200)).contains("Set one up to continue."));
    assert!(!html(&ada.get(SECURITY).await).contains("/security/require"), "only owners decide");
    set_up(&app, &ada).await;
    ada.get("/dashboard/developer").await.assert_status(200);
    owner.get("/dashboard/developer").await.assert_status(200);

    // An owner who removes their own second factor needs a new one.
    let fields = [("code", factor.recovery_codes[0].as_str())];
    owner.submit(SECURITY, &format!("{SECURITY}/remove"), &fields).await.assert_status(303);
    owner.get("/dashboard/developer").await.assert_status(303);
}

#[tokio::test]
async fn the_operator_resets_a_lost_second_factor() {
    let mut app = TestApp::start().await;
    let session = with_factor(&app).await.1.cookie("session").expect("a session");
    app.stop().await;
    MasterKeys::create(app.folder()).expect("a master key is created");
    let program = TestProgram { app, database_url: None };
    let reset = ["users", "reset-second-factor", "--workspace", "acme", "--email", ADA];
    let output = program.run(&reset).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
    let again = program.run(&reset).await;
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("ada@acme.example has no second factor"), "{again:?}");

    let app = program.app.restart().await;
    let acme = app.workspace("acme").await;
    assert!(
        audit_entries(&acme).await[0].starts_with("command line Removed a second factor ada@acme.example")
    );
    assert_eq!(notices(&acme).await[1..], ["The second factor of your dashboard account was removed"]);
    let browser = Browser::new(&app);
    browser.set_cookie("session", &session);
    assert!(!is_signed_in(&browser).await, "the sessions end");
    let signed_in = Browser::new(&app).sign_in(ADA, PASSWORD).await.assert_status(303);
    assert_eq!(signed_in.header("location"), "/dashboard");
}

#[tokio::test]
async fn the_secret_is_encrypted_again_when_the_master_key_is_rotated() {
    let app = TestApp::start().await;
    with_factor(&app).await;
    let old = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let new = "02".repeat(32);
    let read = async |key: &str| {
        let row = people::by_email_folded(app.app.db.read(), ADA).await.unwrap().expect("a person");
        let seal = Seal::new(&MasterKeys::parse(key, "the test").unwrap(), Purpose::SecondFactors);
        seal.decrypt(&row.totp_secret.expect("a secret"), row.id.as_bytes()).is_ok()
    };
    assert!(read(old).await && !read(&new).await);
    let both = MasterKeys::parse(&format!("{new}\n{old}"), "the test").unwrap();
    let rotation = master_key::rotate(&app.app, &both).await.unwrap();
    let people = rotation.tables.iter().find(|table| table.table == "people").expect("the table");
    assert_eq!((people.changed, rotation.unreadable.len()), (1, 0));
    assert!(!read(old).await && read(&new).await);
}
