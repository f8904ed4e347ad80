//! `creator-api deprecations`: reports which API keys use deprecated parts of the API.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::candidate;
use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::start::{self, DataFolder};
use domain::app::App;
use domain::deprecations::{self, KeyUses, UsedDeprecation};
use foundation::config::Config;

#[derive(Debug, clap::Subcommand)]
pub(super) enum DeprecationsCommand {
    /// List the deprecated operations, parameters, fields and values that requests used, with the workspaces and API keys
    ///
    /// Uses are stored for 90 days. Parts that are no longer deprecated are not listed. The owners of the workspaces get a mail after
    /// the first such request, and 30, 7 and 1 days before the sunset.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// First day (UTC) of the report, such as 2026-02-14; by default 29 days ago
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,
}

pub(super) async fn run(
    config: Config,
    command: DeprecationsCommand,
) -> Result<CommandOutcome, CommandError> {
    let DeprecationsCommand::Report(args) = command;
    let app = start::open_app(config, DataFolder::MustExist).await?;
    let result = report(&app, &args).await;
    app.db.close().await;
    result
}

async fn report(app: &App, args: &ReportArgs) -> Result<CommandOutcome, CommandError> {
    let since = candidate::first_day(app.clock.now(), args.since)?;
    api::deprecations::declare_v1(app)?;
    let day = since.to_zoned(TimeZone::UTC).map_err(anyhow::Error::from)?.timestamp();
    let used = deprecations::since(app, day.as_millisecond(), None).await?;
    let today = app.clock.now().to_zoned(TimeZone::UTC).date();
    if args.json {
        let used: Vec<Value> = used.iter().map(json).collect();
        output::print(output::json_text(&json!({ "since": since.to_string(), "deprecations": used })))?;
        return Ok(CommandOutcome::Done);
    }
    if used.is_empty() {
        output::print(format_args!("since {since}, no request used a deprecated part of the API"))?;
    }
    for (index, UsedDeprecation { part, announcement, keys }) in used.iter().enumerate() {
        let text = format!("{} {}", part.describe(), announcement.describe(today));
        output::print(format_args!("{}{}", if index == 0 { "" } else { "\n" }, output::plain_text(&text)))?;
        let rows: Vec<[String; 5]> = keys.iter().map(row).collect();
        output::print_table(["WORKSPACE", "KEY NAME", "REQUESTS", "LAST", "LAST REQUEST"], &rows)?;
    }
    Ok(CommandOutcome::Done)
}

fn row(uses: &KeyUses) -> [String; 5] {
    let request = uses.request_id.clone().unwrap_or_else(|| "-".to_owned());
    let last = output::format_time(uses.last_at);
    let (workspace, name) = (output::plain_text(&uses.workspace_key), output::plain_text(&uses.key_name));
    [workspace, name, uses.requests.to_string(), last, output::plain_text(&request)]
}

fn json(used: &UsedDeprecation) -> Value {
    let keys: Vec<Value> = used
        .keys
        .iter()
        .map(|uses| {
            json!({
                "workspace": uses.workspace_key, "key": uses.key.to_string(), "key_name": uses.key_name,
                "requests": uses.requests, "last_at": uses.last_at.to_string(), "request_id": uses.request_id,
            })
        })
        .collect();
    let (part, announcement) = (&used.part, &used.announcement);
    let date = |date: Option<Date>| date.map(|date| date.to_string());
    json!({
        "contract": part.contract, "operation": part.operation, "pointer": part.pointer, "name": part.name,
        "deprecated_at": date(announcement.since), "sunset": date(announcement.sunset),
        "replaced_by": announcement.replacement, "keys": keys,
    })
}

#[cfg(test)]
mod tests {
    use domain::deprecations::{Announcement, DeprecatedPart};
    use foundation::id::{KeyId, WorkspaceId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_report_names_the_part_the_dates_and_the_keys() {
        let uses = KeyUses {
            key: KeyId::from_uuid(Uuid::from_u128(7)),
            key_name: "CRM\u{1b}[2J".to_owned(),
            workspace: WorkspaceId::from_uuid(Uuid::from_u128(9)),
            workspace_key: "acme".to_owned(),
            requests: 3,
            last_at: "2026-03-02T10:00:30Z".parse().unwrap(),
            request_id: None,
        };
        assert_eq!(row(&uses), ["acme", "CRM\\u{1b}[2J", "3", "2026-03-02T10:00:30.000Z", "-"]);
        let part = DeprecatedPart {
            contract: "v1".to_owned(),
            operation: "listA".to_owned(),
            pointer: "/paths/a/get/parameters/0".to_owned(),
            name: "sort".to_owned(),
        };
        let announcement = Announcement {
            since: None,
            sunset: Some("2027-01-31".parse().unwrap()),
            replacement: None,
            is_removed: false,
        };
        insta::assert_json_snapshot!(json(&UsedDeprecation { part, announcement, keys: vec![uses] }), @r#"
        {
          "contract": "v1",
          "deprecated_at": null,
          "keys": [
            {
              "key": "key_00000000000000000000000007",
              "key_name": "CRM\u001b[2J",
              "last_at": "2026-03-02T10:00:30Z",
              "request_id": null,
              "requests": 3,
              "workspace": "acme"
            }
          ],
          "name": "sort",
          "operation": "listA",
          "pointer": "/paths/a/get/parameters/0",
          "replaced_by": null,
          "sunset": "2027-01-31"
        }
        "#);
    }
}
