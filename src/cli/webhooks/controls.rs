//! Shows and changes the delivery controls of a subscription, and lists and rotates the signing keys of a workspace.

use std::io::Read as _;
use std::path::PathBuf;

use jiff::Span;
use serde_json::json;

use super::super::outcome::CommandError;
use super::super::{audited, output, workspaces};
use super::find;
use super::subscriptions::{parse_overlap, seal};
use domain::WriteOutcome;
use domain::app::App;
use domain::audit::Action;
use domain::webhooks::controls::{self, ControlsChange};
use domain::webhooks::signing_keys::{self, Replacement};
use domain::webhooks::{Subscription, headers::MASK};
use foundation::id::SubscriptionId;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ControlsArgs {
    /// Id of the subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// Condition that events of its type must meet, such as `order.paid /total_amount gte 10000`; repeat for several
    ///
    /// Operators: eq, in, exists, gt, gte, lt, lte, starts_with, contains. The conditions replace the previous ones.
    #[arg(long, value_name = "CONDITION")]
    filter: Vec<String>,
    /// Remove all conditions
    #[arg(long, conflicts_with = "filter")]
    no_filter: bool,
    /// Request header, such as `X-Team: billing`; repeat for several. The headers replace the previous ones; with the
    /// value `****`, a header keeps its value
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// File with one header per line, or `-` for stdin, so that other users do not see values in the list of processes
    #[arg(long, value_name = "FILE", conflicts_with = "headers")]
    headers_from: Option<PathBuf>,
    /// Remove all headers
    #[arg(long, conflicts_with_all = ["headers", "headers_from"])]
    no_headers: bool,
    /// Maximum number of deliveries per second, from 1 to 1000, or `none`
    #[arg(long, value_name = "NUMBER")]
    rate: Option<String>,
    /// Whether to add Ed25519 signatures with the workspace's key
    #[arg(long, value_name = "BOOLEAN")]
    ed25519: Option<bool>,
    /// Change nothing; print which events of the last 30 days the filter matches
    #[arg(long, conflicts_with_all = ["headers", "headers_from", "no_headers", "rate", "ed25519", "no_filter"])]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RotateSigningKeyArgs {
    /// Key of the workspace, such as `acme`; `workspaces list` shows it
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// How long requests also have a signature of the previous key after the new one begins to sign, up to 7d
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    overlap: Span,
    /// Delete all previous keys and sign with the new one at once, for a private key that may have leaked. Receivers
    /// reject signatures until they load the new public key
    #[arg(long, conflicts_with = "overlap")]
    immediately: bool,
}

pub(super) async fn run(app: &App, args: ControlsArgs) -> Result<(), CommandError> {
    let subscription = find(app, args.subscription).await?;
    if args.dry_run {
        let filter =
            if args.filter.is_empty() { subscription.filter.clone() } else { args.filter.join("\n") };
        return dry_run(app, &subscription, &filter, args.json).await;
    }
    let change = ControlsChange {
        filter: (args.no_filter || !args.filter.is_empty()).then(|| args.filter.join("\n")),
        headers: headers(&args)?,
        rate: args.rate.map(|rate| if rate == "none" { String::new() } else { rate }),
        ed25519: args.ed25519,
    };
    if change == ControlsChange::default() {
        return show(&subscription, args.json);
    }
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let (workspace, id) = (subscription.workspace, subscription.id);
    let WriteOutcome { record: edited, changed } =
        controls::change(app, &mut write, &seal, workspace, id, change).await?;
    if changed {
        let detail = controls::describe(&edited);
        audited::commit(app, write, workspace, (Action::WebhookControlsChanged, id, &detail)).await?;
    }
    show(&edited, args.json)
}

/// Returns the new headers, if they are to be changed.
fn headers(args: &ControlsArgs) -> Result<Option<Vec<String>>, CommandError> {
    let Some(path) = &args.headers_from else {
        return Ok((args.no_headers || !args.headers.is_empty()).then(|| args.headers.clone()));
    };
    let mut text = String::new();
    let read = match path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text),
        _ => std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|error| CommandError::new(format!("--headers-from {}: {error}", path.display())))?;
    Ok(Some(text.lines().map(str::to_owned).collect()))
}

fn show(subscription: &Subscription, json: bool) -> Result<(), CommandError> {
    let conditions: Vec<&str> = subscription.filter.lines().collect();
    let headers = &subscription.header_names;
    if json {
        return output::print(output::json_text(&json!({
            "id": subscription.id.to_string(),
            "filter": conditions,
            "headers": headers,
            "rate": subscription.rate,
            "ed25519": subscription.ed25519,
        })));
    }
    let mut lines = vec![format!("subscription  {}", subscription.id)];
    lines.extend(conditions.iter().map(|condition| format!("filter        {condition}")));
    lines.extend(headers.iter().map(|name| format!("header        {name}: {MASK}")));
    let rate = subscription.rate.map_or_else(|| "none".to_owned(), |rate| format!("{rate} per second"));
    lines.push(format!("rate          {rate}"));
    lines.push(format!("ed25519       {}", subscription.ed25519));
    output::print(lines.join("\n"))
}

async fn dry_run(
    app: &App,
    subscription: &Subscription,
    filter: &str,
    json: bool,
) -> Result<(), CommandError> {
    let dry_run = controls::dry_run(app, subscription.workspace, subscription.id, filter).await?;
    if json {
        let count = |(event_type, examined, matched): &(String, u64, u64)| json!({"event_type": event_type, "examined": examined, "matched": matched});
        let example = |example: &controls::DryRunExample| {
            json!({
                "event_id": example.event.to_string(),
                "event_type": example.event_type,
                "created_at": output::format_time(example.created_at),
            })
        };
        return output::print(output::json_text(&json!({
            "is_complete": dry_run.is_complete,
            "counts": dry_run.counts.iter().map(count).collect::<Vec<_>>(),
            "examples": dry_run.examples.iter().map(example).collect::<Vec<_>>(),
        })));
    }
    let rows: Vec<_> = dry_run
        .counts
        .iter()
        .map(|(event_type, examined, matched)| {
            [event_type.clone(), examined.to_string(), matched.to_string()]
        })
        .collect();
    output::print_table(["EVENT", "EXAMINED", "MATCHED"], &rows)?;
    for example in &dry_run.examples {
        let at = output::format_time(example.created_at);
        output::eprint(format_args!("example: {} {} {at}", example.event, example.event_type));
    }
    if !dry_run.is_complete {
        output::eprint("only the newest 10,000 events of the workspace were examined");
    }
    Ok(())
}

pub(super) async fn list_keys(app: &App, workspace: &str, json: bool) -> Result<(), CommandError> {
    let workspace = workspaces::find(app, workspace).await?;
    let keys = signing_keys::list(app, workspace.id).await?;
    let until = |key: &signing_keys::PublicKey| key.signs_until.map(output::format_time);
    if json {
        let keys = keys.iter().map(|key| {
            json!({
                "id": key.id.to_string(),
                "public_key": key.text(),
                "signs_from": output::format_time(key.signs_from),
                "signs_until": until(key),
            })
        });
        return output::print_json(keys.collect());
    }
    let rows = keys.iter().map(|key| {
        let until = until(key).unwrap_or_else(|| "until rotated".to_owned());
        [key.id.to_string(), key.text(), output::format_time(key.signs_from), until]
    });
    output::print_table(["ID", "PUBLIC KEY", "SIGNS FROM", "SIGNS UNTIL"], &Vec::from_iter(rows))
}

pub(super) async fn rotate_key(app: &App, args: &RotateSigningKeyArgs) -> Result<(), CommandError> {
    let replacement = match args.immediately {
        true => Replacement::Immediate,
        false => Replacement::Overlap(parse_overlap(app, args.overlap)?),
    };
    let workspace = workspaces::find(app, &args.workspace).await?;
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let key = signing_keys::rotate(app, &mut write, &seal, workspace.id, replacement).await?;
    let detail = key.text();
    audited::commit(app, write, workspace.id, (Action::SigningKeyRotated, key.id, &detail)).await?;
    output::print(detail)?;
    output::eprint(format_args!(
        "{} is published now, and signs from {}",
        key.id,
        output::format_time(key.signs_from)
    ));
    Ok(())
}
