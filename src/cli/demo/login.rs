//! Dashboard login of the demo: the owner of its workspace, with a password stored in the data folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::{not_read, not_written};
use crate::cli::outcome::CommandError;
use crate::cli::workspaces::find;
use domain::app::App;
use domain::audit::Actor;
use domain::{token, users};
use feed::demo;
use foundation::secret::create_private_file;

/// Name of the password file in the data folder.
const FILE: &str = "demo.password";
/// Length of the password in characters: about 95 random bits.
const PASSWORD_LENGTH: usize = 16;

/// Credentials for the demo's dashboard.
pub(super) struct DemoLogin {
    pub(super) email: String,
    pub(super) password: SecretString,
}

/// Returns the login of the previous run if it is still valid. Otherwise, sets a new password for the owner and stores
/// it.
pub(super) async fn ensure(app: &App, data_dir: &Path) -> Result<DemoLogin, CommandError> {
    let workspace = find(app, demo::WORKSPACE).await?;
    let email = workspace.owner_email;
    let path = data_dir.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let password = SecretString::from(text.trim());
            if users::verify_login(app, &email, &password).await?.is_some() {
                return Ok(DemoLogin { email, password });
            }
            fs::remove_file(&path).map_err(|error| not_written(&path, &error))?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(not_read(&path, &error)),
    }
    let random = token::generate()?;
    let characters = random.expose_secret().chars().filter(char::is_ascii_alphanumeric);
    let password: SecretString = characters.take(PASSWORD_LENGTH).collect::<String>().into();
    let mut write = app.begin_write().await?;
    let user = users::ensure(app, &mut write, workspace.id, &email).await?;
    let link = users::create_link(app, &mut write, &user, &Actor::operator()).await?;
    create_private_file(&path, password.expose_secret().as_bytes())
        .map_err(|error| not_written(&path, &error))?;
    write.commit().await?;
    users::set_password(app, link.expose_secret(), &password, |_| Actor::operator()).await?;
    Ok(DemoLogin { email, password })
}
