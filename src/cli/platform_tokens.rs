//! `creator-api platform-tokens`: creates, lists and revokes the tokens with which the platform calls the Platform API.

use jiff::Span;
use secrecy::ExposeSecret;
use serde_json::json;

use super::keys::expiry;
use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::start::{self, DataFolder};
use domain::app::App;
use domain::platform_tokens::{self, NewPlatformToken, PlatformScope, PlatformTokenRecord};
use domain::{Error, WriteOutcome};
use foundation::config::Config;
use foundation::id::PlatformTokenId;

#[derive(Debug, clap::Subcommand)]
pub(super) enum PlatformTokensCommand {
    /// Create a token; the secret is printed to stdout and cannot be shown again
    Create {
        /// Name of the token, such as the system that uses it
        #[arg(long)]
        name: String,
        /// One or more scopes, such as `write:changes`, or `all`
        #[arg(long = "scope", value_name = "SCOPE", required = true, num_args = 1.., value_delimiter = ',')]
        scopes: Vec<String>,
        /// Time until the token expires, such as 90d or 12h; by default it does not expire
        #[arg(long, value_name = "DURATION")]
        expires_in: Option<Span>,
    },
    /// List all tokens, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; the next request with it is rejected
    Revoke {
        /// Id of the token
        #[arg(value_name = "TOKEN_ID")]
        token: PlatformTokenId,
    },
}

pub(super) async fn run(
    config: Config,
    command: PlatformTokensCommand,
) -> Result<CommandOutcome, CommandError> {
    let app = start::open_app(config, DataFolder::MustExist).await?;
    match command {
        PlatformTokensCommand::Create { name, scopes, expires_in } => {
            create(&app, name, &scopes, expires_in).await?;
        }
        PlatformTokensCommand::List { json } => list(&app, json).await?,
        PlatformTokensCommand::Revoke { token } => revoke(&app, token).await?,
    }
    app.db.close().await;
    Ok(CommandOutcome::Done)
}

async fn create(
    app: &App,
    name: String,
    scopes: &[String],
    expires_in: Option<Span>,
) -> Result<(), CommandError> {
    let scopes = scopes.iter().map(|text| parse_scopes(text)).collect::<Result<Vec<_>, _>>()?;
    let expires_at = expires_in.map(|span| expiry(app.clock.now(), span)).transpose()?;
    let new = NewPlatformToken { name, scopes: scopes.into_iter().flatten().collect(), expires_at };
    let mut write = app.begin_write().await?;
    let (token, secret) = platform_tokens::create(app, &mut write, new).await?;
    write.commit().await?;
    output::print(secret.expose_secret())?;
    output::eprint(format_args!("platform token {}: {}", token.id, scope_names(&token).join(" ")));
    if let Some(end) = token.expires_at {
        output::eprint(format_args!("the token expires at {}", output::format_time(end)));
    }
    output::eprint("the secret on stdout cannot be shown again; store it in a secret manager");
    Ok(())
}

/// Parses one value of `--scope`: a scope, or `all`.
fn parse_scopes(text: &str) -> Result<Vec<PlatformScope>, CommandError> {
    if text == "all" {
        return Ok(PlatformScope::ALL.to_vec());
    }
    let scope = text.parse().map_err(|error| CommandError::usage(format!("--scope: {error}")))?;
    Ok(vec![scope])
}

fn scope_names(token: &PlatformTokenRecord) -> Vec<&'static str> {
    token.scopes.iter().map(|scope| scope.as_str()).collect()
}

async fn list(app: &App, json: bool) -> Result<(), CommandError> {
    let tokens = platform_tokens::list(app).await?;
    if json {
        return output::print_json(tokens.iter().map(to_json).collect());
    }
    let now = app.clock.now();
    let rows: Vec<[String; 6]> = tokens
        .into_iter()
        .map(|token| {
            let state = match token.revoked_at {
                Some(_) => "revoked",
                None if token.is_valid(now) => "active",
                None => "expired",
            };
            let last_used = token.last_used_at.map_or_else(|| "never".to_owned(), output::format_time);
            let scopes = scope_names(&token).join(" ");
            let masked = format!("svc_plat_...{}", token.last4);
            [token.id.to_string(), state.to_owned(), token.name, masked, last_used, scopes]
        })
        .collect();
    output::print_table(["ID", "STATE", "NAME", "SECRET", "LAST USED", "SCOPES"], &rows)
}

fn to_json(token: &PlatformTokenRecord) -> serde_json::Value {
    json!({
        "id": token.id.to_string(),
        "name": token.name,
        "scopes": scope_names(token),
        "last4": token.last4,
        "created_at": output::format_time(token.created_at),
        "last_used_at": token.last_used_at.map(output::format_time),
        "expires_at": token.expires_at.map(output::format_time),
        "revoked_at": token.revoked_at.map(output::format_time),
    })
}

async fn revoke(app: &App, token: PlatformTokenId) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    let revoked = platform_tokens::revoke(&mut write, token).await;
    let WriteOutcome { record: revoked, .. } = revoked.map_err(|error| match error {
        Error::NotFound(_) => CommandError::new(format!(
            "platform token {token} not found; `creator-api platform-tokens list` lists all tokens"
        )),
        error => error.into(),
    })?;
    write.commit().await?;
    output::eprint(format_args!("platform token {} ({}) is revoked", revoked.id, revoked.name));
    Ok(())
}
