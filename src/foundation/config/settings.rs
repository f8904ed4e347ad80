//! The declaration of every setting.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::Timestamp;
use lettre::message::Mailbox;

use super::database::DatabaseUrl;
use super::given::Given;
use super::log::{Filter, Format};
use super::mail::SmtpUrl;
use super::network::Network;
use super::value::{Field, Secret, Shape, WebUrl};

/// What is declared of one setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its heading in `--help` and `config check`.
    pub(super) heading: &'static str,
    /// Its key in the file; its flag is the same with dashes.
    pub(super) key: &'static str,
    /// Its environment variable.
    pub(super) variable: &'static str,
    /// For a secret: the key and the variable that name a file which holds the value.
    pub(super) file: Option<(&'static str, &'static str)>,
    /// The placeholder for its value in a usage line.
    pub(super) value_name: &'static str,
    /// The text of `--help`: what it is, with its unit.
    pub(super) help: &'static str,
    pub(super) default: Option<&'static str>,
    pub(super) shape: Shape,
    /// True when the whole value is secret, so that no flag takes it.
    pub(super) hidden: bool,
}

/// One way to name a setting: its own key, or the key of the file that holds its value.
pub(super) struct Name {
    pub(super) setting: &'static Setting,
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    pub(super) is_file: bool,
}

/// Every name of every setting.
pub(super) fn names() -> impl Iterator<Item = Name> {
    SETTINGS.iter().flat_map(|setting| {
        let file = setting.file.map(|(key, variable)| Name { setting, key, variable, is_file: true });
        let own = Name { setting, key: setting.key, variable: setting.variable, is_file: false };
        [Some(own), file].into_iter().flatten()
    })
}

/// Makes the structs of the typed values and the table of all settings from their declarations.
///
/// A line is: documentation (which becomes the flag's help), key and type, default, variable, name of the value.
macro_rules! settings {
    ($(
        $(#[doc = $about:literal])+
        $field:ident: $name:ident, $heading:literal {
            $(
                $(#[doc = $help:literal])+
                $key:ident: $kind:ty = $default:expr, $variable:literal, $value_name:literal;
            )+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone)]
            pub struct $name {
                $(
                    $(#[doc = $help])+
                    #[doc = concat!("\n\nVariable `", $variable, "`; the flag and the key of the file are the field's name.")]
                    pub $key: $kind,
                )+
            }
        )+

        /// The value of every setting.
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $about])+ pub $field: $name,)+
        }

        /// Every setting, in the order in which they are shown.
        pub(super) const SETTINGS: &[Setting] = &[$($(
            Setting {
                heading: $heading,
                key: stringify!($key),
                variable: $variable,
                file: if <$kind as Field>::SECRET {
                    Some((concat!(stringify!($key), "_file"), concat!($variable, "_FILE")))
                } else {
                    None
                },
                value_name: $value_name,
                help: concat!($($help),+).trim_ascii(),
                default: $default,
                shape: <$kind as Field>::SHAPE,
                hidden: <$kind as Field>::HIDDEN,
            },
        )+)+];

        impl Config {
            /// Parses the given texts. `None` when a value is missing or wrong; the faults go to `given`.
            pub(super) fn fields(given: &mut Given) -> Option<Self> {
                $($(let $key = given.field(stringify!($key));)+)+
                Some(Self { $($field: $name { $($key: $key?),+ }),+ })
            }
        }
    };
}

settings! {
    /// The data folder and the key that protects what is in it.
    storage: Storage, "Data" {
        /// Folder of everything that is kept here: the SQLite database, the master key, the demo's key.
        data_dir: PathBuf = Some("./data"), "CREATOR_API_DATA_DIR", "DIR";
        /// The server's master key, 64 hexadecimal digits. Without it, the key of the data folder is used,
        /// which is made on the first start.
        master_key: Option<Secret> = None, "CREATOR_API_MASTER_KEY", "KEY";
    }

    /// Where the database is, and how much of it is used.
    database: Database, "Database" {
        /// The database, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`. Without it, SQLite in the data
        /// folder.
        database_url: Option<DatabaseUrl> = None, "DATABASE_URL", "URL";
        /// Connections this process opens at most.
        database_max_connections: NonZeroU32 = Some("16"), "CREATOR_API_DATABASE_MAX_CONNECTIONS", "CONNECTIONS";
    }

    /// The form and the amount of what is logged on stderr.
    log: Log, "Log" {
        /// Form of the log lines: pretty or json.
        log_format: Format = Some("pretty"), "CREATOR_API_LOG_FORMAT", "FORMAT";
        /// What is logged: a level, or targets with levels as `info,webhooks=debug`.
        log_filter: Filter = Some("info,sqlx::postgres::notice=warn"), "CREATOR_API_LOG_FILTER", "FILTER";
    }

    /// The listening address and what stands before it.
    server: Server, "Server" {
        /// Address to listen on; port 0 takes a free one.
        listen: SocketAddr = Some("127.0.0.1:8080"), "CREATOR_API_LISTEN", "ADDR";
        /// Address by which clients reach the server, when it is another than the one it listens on. Links in mail begin
        /// with it.
        public_url: Option<WebUrl> = None, "CREATOR_API_PUBLIC_URL", "URL";
        /// Proxies whose X-Forwarded-For is believed.
        trusted_proxies: Vec<Network> = None, "CREATOR_API_TRUSTED_PROXIES", "CIDR,...";
        /// Connections that one client address may have open at once; the addresses of `trusted_proxies` may have more.
        max_connections_per_address: NonZeroU32 = Some("256"), "CREATOR_API_MAX_CONNECTIONS_PER_ADDRESS", "CONNECTIONS";
        /// Seconds that running requests, webhooks and mail get to finish when the process stops.
        shutdown_seconds: NonZeroU32 = Some("30"), "CREATOR_API_SHUTDOWN_SECONDS", "SECONDS";
        /// Whether the requests of API keys are kept for seven days, for the dashboard: on or off. They are counted all
        /// the same.
        request_log: bool = Some("on"), "CREATOR_API_REQUEST_LOG", "ON_OR_OFF";
    }

    /// What a key without a quota of its own may do.
    limits: Limits, "Limits" {
        /// Requests a key may make in one clock minute.
        default_per_minute: NonZeroU32 = Some("60"), "CREATOR_API_DEFAULT_PER_MINUTE", "REQUESTS";
        /// Requests a key may make in one UTC day.
        default_per_day: NonZeroU32 = Some("1000"), "CREATOR_API_DEFAULT_PER_DAY", "REQUESTS";
    }

    /// What the worker may call beside public addresses, and the limit of subscriptions.
    webhooks: Webhooks, "Webhooks" {
        /// Addresses that are not public and may be called all the same, by `http` too.
        webhook_allow: Vec<Network> = None, "CREATOR_API_WEBHOOK_ALLOW", "CIDR,...";
        /// Webhook subscriptions a workspace may have. One that has more already keeps them, but cannot add any.
        max_subscriptions_per_workspace: NonZeroU32 = Some("50"), "CREATOR_API_MAX_SUBSCRIPTIONS_PER_WORKSPACE", "SUBSCRIPTIONS";
    }

    /// How mail leaves this server.
    mail: Mail, "Mail" {
        /// Mail server, as `smtps://USER:PASSWORD@HOST`, `smtp+starttls://USER:PASSWORD@HOST`, or without encryption
        /// `smtp://HOST` on this machine, elsewhere `smtp://HOST?tls=none`. Without it, mail is written into the
        /// folder `mail` of the data folder.
        smtp_url: Option<SmtpUrl> = None, "CREATOR_API_SMTP_URL", "URL";
        /// Sender of mail.
        mail_from: Mailbox = Some("creator-api <no-reply@localhost>"), "CREATOR_API_MAIL_FROM", "MAILBOX";
    }

    /// Where a worker that serves nothing else can be looked at.
    worker: Worker, "Worker" {
        /// Address on which `worker` answers `/metrics`, `/healthz` and `/readyz`; without it, it listens nowhere.
        metrics_listen: Option<SocketAddr> = None, "CREATOR_API_METRICS_LISTEN", "ADDR";
    }

    /// What every v1 response says of its end (RFC 9745, RFC 8594); nothing while `deprecation_at` is not set.
    deprecation: Deprecation, "Deprecation of v1" {
        /// Time from which v1 is deprecated.
        deprecation_at: Option<Timestamp> = None, "CREATOR_API_DEPRECATION_AT", "TIME";
        /// Time at which v1 ends, at least 6 months after its deprecation.
        sunset_at: Option<Timestamp> = None, "CREATOR_API_SUNSET_AT", "TIME";
        /// Page that tells how to move on.
        deprecation_link: Option<WebUrl> = None, "CREATOR_API_DEPRECATION_LINK", "URL";
    }
}
