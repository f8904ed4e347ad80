//! `creator-api listen`: sends the events of a workspace to servers on this machine. A client of `streamEvents`, without a database.

mod event;
mod forward;
mod stream;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use reqwest::Url;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use self::event::{Event, EventPattern};
use self::forward::{Forwarder, Route};
use self::stream::EventStream;
use super::outcome::{CommandError, CommandOutcome};
use super::{output, signals};
use foundation::clock::Clock;
use foundation::config::CLIENT_KEY_VARIABLE;

/// The longest `--since`: how long events are stored.
const MAX_SINCE: Duration = Duration::from_hours(30 * 24);

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("target").required(true).multiple(true).args(["forward_to", "routes", "print_only"])))]
pub(super) struct ListenArgs {
    /// URL of the server, such as https://api.example.com
    #[arg(long, value_name = "URL", value_parser = parse_url, required_unless_present = "example")]
    api: Option<Url>,
    /// File that contains an API key with the scope `read:events` [variable for the key: CREATOR_API_KEY]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// URL to which events are sent, unless a route matches
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    forward_to: Option<Url>,
    /// URL for the events of a type, such as `order.paid=http://localhost:3000/orders`, or of several, such as `order.*=URL`. The
    /// first route that matches is used
    #[arg(long = "route", value_name = "TYPE=URL")]
    routes: Vec<Route>,
    /// One or more event types, such as `order.paid` or `order.*`; by default, all
    #[arg(long = "event", value_name = "TYPE", num_args = 1.., value_delimiter = ',')]
    event_types: Vec<EventPattern>,
    /// Also send the events of this time before the start, rounded up to seconds, such as 1h, up to 30d
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    since: Span,
    /// End after the first event. Exits with code 0 if the response was 2xx, 4 if it was not, and 5 if no event happened in time
    #[arg(long)]
    once: bool,
    /// With --once: how long to wait for the event, such as 60s. Without a limit by default
    #[arg(long, value_name = "DURATION", requires = "once")]
    timeout: Option<Span>,
    /// Print the body of each event, and send nothing
    #[arg(long, conflicts_with_all = ["forward_to", "routes"])]
    print_only: bool,
    /// Send the contract's example of this event type, and end. Needs no server and no key
    #[arg(long, value_name = "TYPE", conflicts_with_all = ["api", "event_types", "since", "once"])]
    example: Option<String>,
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handled {
    /// It was printed, or answered with 2xx.
    Accepted,
    /// It was sent, but not answered with 2xx.
    Failed,
    /// No route matches it.
    NotForwarded,
}

pub(super) async fn run(args: ListenArgs) -> Result<CommandOutcome, CommandError> {
    let clock = Clock::system();
    let key = read_key(args.key_file.as_deref())?;
    let forwarder = match args.print_only {
        true => None,
        false => Some(Forwarder::new(&clock, key.as_ref(), args.routes, args.forward_to)?),
    };
    if let Some(forwarder) = &forwarder {
        output::print(format_args!("signing secret: {}", forwarder.secret().expose_secret()))?;
    }
    if let Some(event_type) = &args.example {
        let event = Event::example(&clock, event_type)?;
        let handled = handle(forwarder.as_ref(), &event).await?;
        return Ok(if handled == Handled::Accepted {
            CommandOutcome::Done
        } else {
            CommandOutcome::NotAccepted
        });
    }
    let since = duration("--since", args.since, MAX_SINCE)?;
    let wait = args.timeout.map(|span| duration("--timeout", span, Duration::MAX)).transpose()?;
    let (Some(api), Some(key)) = (args.api, key) else {
        let message = format!("there is no API key; specify --key-file, or set {CLIENT_KEY_VARIABLE}");
        return Err(CommandError::usage(message));
    };
    let stop = signals::listen("waiting for the request in flight")?;
    let mut stream = EventStream::new(&api, &key, since)?;
    output::eprint(format_args!("listening to the events of {api}"));
    // Prints the message also while a request is in flight, and lets a second signal end the process.
    tokio::spawn(stop.clone());
    let end = WaitEnd { stop, wait };
    listen(&mut stream, forwarder.as_ref(), &args.event_types, args.once, end).await
}

/// When the wait for events ends.
struct WaitEnd {
    stop: signals::StopSignal,
    /// The maximum time.
    wait: Option<Duration>,
}

/// Handles events until a signal arrives or, with `once`, one was handled. A request in flight is not interrupted.
async fn listen(
    stream: &mut EventStream,
    forwarder: Option<&Forwarder>,
    event_types: &[EventPattern],
    once: bool,
    end: WaitEnd,
) -> Result<CommandOutcome, CommandError> {
    let deadline = async {
        match end.wait {
            Some(wait) => tokio::time::sleep(wait).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(deadline);
    loop {
        let event = tokio::select! {
            biased;
            () = end.stop.clone() => {
                return Ok(if once { CommandOutcome::Interrupted } else { CommandOutcome::Done });
            }
            () = &mut deadline => return Ok(CommandOutcome::TimedOut),
            event = stream.next() => event?,
        };
        let is_selected = event_types.iter().any(|pattern| pattern.matches(&event.event_type));
        if !is_selected && !event_types.is_empty() {
            continue;
        }
        match handle(forwarder, &event).await? {
            Handled::Accepted if once => return Ok(CommandOutcome::Done),
            Handled::Failed if once => return Ok(CommandOutcome::NotAccepted),
            _ => {}
        }
    }
}

/// Prints an event, or sends it and prints the response.
async fn handle(forwarder: Option<&Forwarder>, event: &Event) -> Result<Handled, CommandError> {
    let Some(forwarder) = forwarder else {
        output::print(output::json_line(&String::from_utf8_lossy(&event.body)))?;
        return Ok(Handled::Accepted);
    };
    let name = format!("{:<22} {}", output::plain_text(&event.event_type), output::plain_text(&event.id));
    let Some(sent) = forwarder.send(event).await else {
        output::print(format_args!("{name}  not forwarded"))?;
        return Ok(Handled::NotForwarded);
    };
    output::print(format_args!("{name}  {}  {} ms  {}", sent.result, sent.duration.as_millis(), sent.url))?;
    Ok(if sent.is_accepted { Handled::Accepted } else { Handled::Failed })
}

/// Returns the API key of the file or, without one, of the environment variable.
fn read_key(file: Option<&Path>) -> Result<Option<SecretString>, CommandError> {
    let text = match file {
        Some(path) => std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| {
            CommandError::usage(format!("--key-file: cannot read {}: {error}", path.display()))
        })?,
        None => match std::env::var(CLIENT_KEY_VARIABLE) {
            Ok(text) => Zeroizing::new(text),
            Err(_) => return Ok(None),
        },
    };
    let key = text.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(CommandError::usage("the API key is empty, or contains other characters than a key"));
    }
    Ok(Some(key.into()))
}

/// Parses the URL of a server.
fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("expected a URL that starts with https:// or http://".to_owned());
    }
    // The output contains the URL.
    match url.username().is_empty() && url.password().is_none() {
        true => Ok(url),
        false => Err("must not contain a user or a password".to_owned()),
    }
}

/// Converts the value of a flag that is a duration.
fn duration(flag: &str, span: Span, max: Duration) -> Result<Duration, CommandError> {
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok();
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration.filter(|duration| *duration <= max).ok_or_else(|| {
        let limit = if max == Duration::MAX { "" } else { " of at most 30d" };
        CommandError::usage(format!("{flag}: expected a duration{limit}, such as 1h"))
    })
}

#[cfg(test)]
mod tests;
