//! The demo's login: the owner of its workspace, with a password kept in the data folder.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use crate::cli::failure::Failure;
use crate::cli::workspaces::find;
use domain::app::App;
use domain::audit::Actor;
use domain::{token, users};
use feed::demo;
use foundation::secret::write_private;

/// The password in the data folder.
const FILE: &str = "demo.password";
/// Characters of it: some 95 random bits.
const LENGTH: usize = 16;

/// Who signs in to the demo's dashboard.
pub(super) struct Login {
    pub(super) email: String,
    pub(super) password: SecretString,
}

/// The login of the last run while it still opens, or a new one.
pub(super) async fn ready(app: &App, data_dir: &Path) -> Result<Login, Failure> {
    let workspace = find(app, demo::WORKSPACE).await?;
    let email = workspace.owner_email;
    let path = data_dir.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let password = SecretString::from(text.trim());
            if users::recognise(app, &email, &password).await?.is_some() {
                return Ok(Login { email, password });
            }
            fs::remove_file(&path)?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Failure::new(format!("cannot read {}: {error}; make it readable", path.display())));
        }
    }
    let random = token::generate()?;
    let letters = random.expose_secret().chars().filter(char::is_ascii_alphanumeric);
    let password: SecretString = letters.take(LENGTH).collect::<String>().into();
    let mut write = app.begin_write().await?;
    let user = users::ensure(app, &mut write, workspace.id, &email).await?;
    let link = users::link(app, &mut write, &user, &Actor::operator()).await?;
    write_private(&path, password.expose_secret().as_bytes())?;
    write.commit().await?;
    users::set_password(app, link.expose_secret(), &password, |_| Actor::operator()).await?;
    Ok(Login { email, password })
}
