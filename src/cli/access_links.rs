//! Password links, which commands print to give users access.

use super::outcome::CommandError;
use super::output;
use domain::app::App;
use domain::audit::Actor;
use domain::users::{self, LINK_HOURS, User};
use domain::workspaces::Workspace;
use foundation::database::Write;

/// Prints how long a link of [`create`] is valid, and what to do if it is only a path, without the server's URL. Without a link, prints
/// why there is none.
pub(super) fn explain(app: &App) {
    if !app.config.sign_in.password_sign_in {
        output::eprint(format_args!(
            "password sign-in is switched off: members sign in with {} at {}/login",
            app.config.sign_in.oidc_name.as_str(),
            app.config.server.url_for_links().unwrap_or_default()
        ));
        return;
    }
    output::eprint(format_args!("the link can be used once, within {LINK_HOURS} hours"));
    if app.config.server.url_for_links().is_none() {
        output::eprint(
            "--public-url is not set: prepend the server's URL to the link; the link was not mailed",
        );
    }
}

/// Creates a password link for a user, and mails it if a mail server is configured. If the server's URL is not known,
/// the link is only a path, and it is not mailed. Returns `None` if password sign-in is switched off.
pub(super) async fn create(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    user: &User,
) -> Result<Option<String>, CommandError> {
    if !app.config.sign_in.password_sign_in {
        return Ok(None);
    }
    let token = users::create_link(app, write, user, &Actor::operator()).await?;
    if app.config.server.url_for_links().is_some() && app.config.mail.smtp_url.is_some() {
        users::queue_link(app, write, workspace, user, &token).await?;
    }
    Ok(Some(users::link_url(app, &token)))
}

/// Creates a password link for a user who has just been given access and has no password. If the user has a password,
/// returns `None` and, if a mail server is configured, notifies the user by mail.
pub(super) async fn create_unless_password(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    user: &User,
) -> Result<Option<String>, CommandError> {
    if !user.has_password {
        return create(app, write, workspace, user).await;
    }
    if app.config.mail.smtp_url.is_some() {
        users::invite(app, write, workspace, user).await?;
    }
    Ok(None)
}
