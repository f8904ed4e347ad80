//! The declaration of every setting.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::Timestamp;
use lettre::message::Mailbox;

use super::database::{DatabaseReadUrl, DatabaseUrl};
use super::limits::LimitStoreSetting;
use super::log::{LogFilter, LogFormat};
use super::mail::SmtpUrl;
use super::network::Network;
use super::raw_settings::RawSettings;
use super::sign_in::{ClientSecret, EmailDomain, IssuerUrl, SingleLine};
use super::value::{HexSecret, SettingValue, TomlType, WebUrl};

/// The declaration of one setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// The heading above the setting in `--help` and `config check`.
    pub(super) heading: &'static str,
    /// The key in the configuration file. The flag is the key with dashes instead of underscores.
    pub(super) key: &'static str,
    /// The environment variable.
    pub(super) variable: &'static str,
    /// For a secret, the key and the variable that specify a file with the value.
    pub(super) file: Option<(&'static str, &'static str)>,
    /// The placeholder for the value in `--help`.
    pub(super) value_name: &'static str,
    /// The description in `--help`, with the unit. A single sentence has no period at the end.
    pub(super) help: &'static str,
    /// The default in the format of the flag. `None` for an optional setting or a list.
    pub(super) default: Option<&'static str>,
    /// The type of the value in the configuration file.
    pub(super) toml_type: TomlType,
    /// Whether the value can be given as a flag. For a secret, the path of its file always can.
    pub(super) has_flag: bool,
}

/// The key and the variable that specify the value of a setting, or a file that contains the value.
pub(super) struct SettingName {
    pub(super) setting: &'static Setting,
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    /// Whether the key and the variable specify a file.
    pub(super) is_file: bool,
}

/// Returns the names of all settings, in display order.
pub(super) fn setting_names() -> impl Iterator<Item = SettingName> {
    SETTINGS.iter().flat_map(|setting| {
        let file = setting.file.map(|(key, variable)| SettingName { setting, key, variable, is_file: true });
        let value = SettingName { setting, key: setting.key, variable: setting.variable, is_file: false };
        [Some(value), file].into_iter().flatten()
    })
}

/// Generates the configuration structs and the table of settings from the declarations.
///
/// A declaration consists of documentation (also used for `--help` and README.md), key, type, default, variable and
/// value placeholder.
macro_rules! settings {
    ($(
        $(#[doc = $group_doc:literal])+
        $group:ident: $group_type:ident, $heading:literal {
            $(
                $(#[doc = $help:literal])+
                $key:ident: $value_type:ty = $default:expr, $variable:literal, $value_name:literal;
            )+
        }
    )+) => {
        $(
            $(#[doc = $group_doc])+
            #[derive(Debug, Clone)]
            pub struct $group_type {
                $(
                    $(#[doc = $help])+
                    #[doc = concat!("\n\nEnvironment variable: `", $variable, "`.")]
                    pub $key: $value_type,
                )+
            }
        )+

        /// The configuration: the values of all settings.
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $group_doc])+ pub $group: $group_type,)+
        }

        /// All settings, in display order.
        pub(super) const SETTINGS: &[Setting] = &[$($(
            Setting {
                heading: $heading,
                key: stringify!($key),
                variable: $variable,
                file: if <$value_type as SettingValue>::SECRET {
                    Some((concat!(stringify!($key), "_file"), concat!($variable, "_FILE")))
                } else {
                    None
                },
                value_name: $value_name,
                help: concat!($($help),+).trim_ascii(),
                default: $default,
                toml_type: <$value_type as SettingValue>::TOML_TYPE,
                has_flag: <$value_type as SettingValue>::HAS_FLAG,
            },
        )+)+];

        impl Config {
            /// Parses all settings. Returns `None` if a value is invalid; the errors are recorded in `settings`.
            pub(super) fn parse_fields(settings: &mut RawSettings) -> Option<Self> {
                $($(let $key = settings.parse(stringify!($key));)+)+
                Some(Self { $($group: $group_type { $($key: $key?),+ }),+ })
            }
        }
    };
}

settings! {
    /// The data folder and the master key.
    storage: StorageConfig, "Data" {
        /// Data folder: the SQLite database, the master key, mail files, and the demo's credentials
        data_dir: PathBuf = Some("./data"), "CREATOR_API_DATA_DIR", "DIR";
        /// Master key of the server, 64 hexadecimal digits, or several, separated by line breaks or commas: the first
        /// encrypts, all decrypt. By default, the key is stored in the data folder, where it is created on the first start.
        master_key: Option<HexSecret> = None, "CREATOR_API_MASTER_KEY", "KEY";
    }

    /// The database connection.
    database: DatabaseConfig, "Database" {
        /// Database URL, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`. By default, SQLite in the data folder. Of
        /// several PostgreSQL servers, `postgres://USER:PASSWORD@HOST1:5432,HOST2:5432/NAME`, the one that accepts writes is used.
        database_url: Option<DatabaseUrl> = None, "DATABASE_URL", "URL";
        /// URL of a PostgreSQL standby, `postgres://USER:PASSWORD@HOST/NAME`, for reads of the API that may lag by up to 10
        /// seconds: analytics, and lists of students and orders by creation time. It must lead to exactly one standby.
        database_read_url: Option<DatabaseReadUrl> = None, "CREATOR_API_DATABASE_READ_URL", "URL";
        /// Maximum number of PostgreSQL connections of this process, besides up to three for heartbeats, rate
        /// limits and notifications. A server has as many to the standby.
        database_max_connections: NonZeroU32 = Some("16"), "CREATOR_API_DATABASE_MAX_CONNECTIONS", "CONNECTIONS";
    }

    /// The log on stderr.
    log: LogConfig, "Log" {
        /// Format of log lines: pretty or json
        log_format: LogFormat = Some("pretty"), "CREATOR_API_LOG_FORMAT", "FORMAT";
        /// Log level, or levels by target, such as `info,webhooks=debug`
        log_filter: LogFilter = Some("info,sqlx::postgres::notice=warn"), "CREATOR_API_LOG_FILTER", "FILTER";
    }

    /// The HTTP server.
    server: ServerConfig, "Server" {
        /// IP address and port on which the server listens; port 0 chooses a free port. A socket that systemd passes is used
        /// instead.
        listen: SocketAddr = Some("127.0.0.1:8080"), "CREATOR_API_LISTEN", "ADDR";
        /// IP address and port on which the Platform API is served. By default, it is served on --listen.
        platform_listen: Option<SocketAddr> = None, "CREATOR_API_PLATFORM_LISTEN", "ADDR";
        /// URL of the server, if clients do not reach it at the listen address. Links in mail and in responses start
        /// with it.
        public_url: Option<WebUrl> = None, "CREATOR_API_PUBLIC_URL", "URL";
        /// Networks of proxies whose headers `X-Forwarded-For` and `traceparent` are trusted, in CIDR notation, such as
        /// `10.0.0.0/8,::1`
        trusted_proxies: Vec<Network> = None, "CREATOR_API_TRUSTED_PROXIES", "CIDR,...";
        /// Maximum number of open connections per client IP address. Does not apply to `--trusted-proxies`.
        max_connections_per_address: NonZeroU32 = Some("256"), "CREATOR_API_MAX_CONNECTIONS_PER_ADDRESS", "CONNECTIONS";
        /// Number of seconds to continue serving at shutdown while `/readyz` fails, so that a load balancer can stop
        /// sending requests
        drain_seconds: u16 = Some("0"), "CREATOR_API_DRAIN_SECONDS", "SECONDS";
        /// Maximum number of seconds to wait at shutdown for requests, webhooks and mail in flight. Webhooks and mail
        /// have at least 4 seconds.
        shutdown_seconds: NonZeroU32 = Some("30"), "CREATOR_API_SHUTDOWN_SECONDS", "SECONDS";
        /// Whether to keep a log of the requests that use an API key for seven days and show it in the dashboard: on or
        /// off. Requests are counted in either case.
        request_log: bool = Some("on"), "CREATOR_API_REQUEST_LOG", "ON_OR_OFF";
        /// Draft of the next contract, in YAML or JSON, at most 2 MiB. The requests that v1 accepts are compared with it in the
        /// background; `creator-api candidate report` lists what it would reject.
        candidate_contract: Option<PathBuf> = None, "CREATOR_API_CANDIDATE_CONTRACT", "FILE";
    }

    /// Signing in to the dashboard: passwords, and an OpenID Connect provider.
    sign_in: SignInConfig, "Sign-in" {
        /// Whether members can sign in with a password: on or off. `off` requires `--oidc-issuer`.
        password_sign_in: bool = Some("on"), "CREATOR_API_PASSWORD_SIGN_IN", "ON_OR_OFF";
        /// Issuer URL of an OpenID Connect provider with which members can sign in, with `https` unless the provider is on this
        /// machine. The provider must allow the redirect to `/sign-in/provider/callback` of this server.
        oidc_issuer: Option<IssuerUrl> = None, "CREATOR_API_OIDC_ISSUER", "URL";
        /// Id of this server at the OpenID Connect provider
        oidc_client_id: Option<SingleLine> = None, "CREATOR_API_OIDC_CLIENT_ID", "ID";
        /// Secret of this server at the OpenID Connect provider. By default, this server is a public client, which PKCE alone
        /// protects.
        oidc_client_secret: Option<ClientSecret> = None, "CREATOR_API_OIDC_CLIENT_SECRET", "SECRET";
        /// Name of the OpenID Connect provider on the sign-in page
        oidc_name: SingleLine = Some("single sign-on"), "CREATOR_API_OIDC_NAME", "NAME";
        /// Domains of the email addresses with which members can sign in with the provider, such as
        /// `example.com,example.org`. By default, all.
        oidc_email_domains: Vec<EmailDomain> = None, "CREATOR_API_OIDC_EMAIL_DOMAINS", "DOMAIN,...";
        /// Networks in which the OpenID Connect provider can be reached in addition to public addresses, in CIDR notation,
        /// such as `10.0.0.0/8,::1`. Addresses in these networks are reached over `https` or `http`, public addresses over
        /// `https` only.
        oidc_allow: Vec<Network> = None, "CREATOR_API_OIDC_ALLOW", "CIDR,...";
    }

    /// Rate limits: where requests are counted, and the default quota of API keys.
    limits: LimitsConfig, "Limits" {
        /// Where requests are counted: `memory` (each process counts alone), `database` (exact over all processes, on
        /// PostgreSQL), or the URL of a Valkey or Redis server, `redis://USER:PASSWORD@HOST`, or `rediss://` for TLS. By
        /// default, `database` on PostgreSQL and `memory` on SQLite.
        limit_store: Option<LimitStoreSetting> = None, "CREATOR_API_LIMIT_STORE", "STORE";
        /// Maximum number of milliseconds to wait for the limit store. Then each server admits its share of the limits, without
        /// waiting, until the store responds in time again.
        limit_store_timeout_ms: NonZeroU32 = Some("300"), "CREATOR_API_LIMIT_STORE_TIMEOUT_MS", "MILLISECONDS";
        /// Maximum number of requests per API key and clock minute, unless the key or its workspace has a quota
        default_per_minute: NonZeroU32 = Some("60"), "CREATOR_API_DEFAULT_PER_MINUTE", "REQUESTS";
        /// Maximum number of requests per API key and UTC day, unless the key or its workspace has a quota
        default_per_day: NonZeroU32 = Some("1000"), "CREATOR_API_DEFAULT_PER_DAY", "REQUESTS";
    }

    /// Webhook endpoints and subscriptions.
    webhooks: WebhooksConfig, "Webhooks" {
        /// Networks that webhooks can reach in addition to public addresses, in CIDR notation, such as
        /// `10.0.0.0/8,::1`. Addresses in these networks are reached over `https` or `http`, public addresses over
        /// `https` only.
        webhook_allow: Vec<Network> = None, "CREATOR_API_WEBHOOK_ALLOW", "CIDR,...";
        /// Maximum number of webhook subscriptions per workspace. Existing subscriptions beyond the limit are kept.
        max_subscriptions_per_workspace: NonZeroU32 = Some("50"), "CREATOR_API_MAX_SUBSCRIPTIONS_PER_WORKSPACE", "SUBSCRIPTIONS";
    }

    /// Sending mail.
    mail: MailConfig, "Mail" {
        /// Mail server: `smtps://USER:PASSWORD@HOST`, `smtp+starttls://USER:PASSWORD@HOST`, or without encryption
        /// `smtp://HOST` for this machine and `smtp://HOST?tls=none` for others. By default, mail is written to files
        /// in the folder `mail` of the data folder.
        smtp_url: Option<SmtpUrl> = None, "CREATOR_API_SMTP_URL", "URL";
        /// Sender of all mail
        mail_from: Mailbox = Some("creator-api <no-reply@localhost>"), "CREATOR_API_MAIL_FROM", "MAILBOX";
    }

    /// Monitoring of a worker.
    worker: WorkerConfig, "Worker" {
        /// IP address and port on which `worker` serves `/metrics`, `/healthz` and `/readyz`. By default, it does not
        /// listen.
        metrics_listen: Option<SocketAddr> = None, "CREATOR_API_METRICS_LISTEN", "ADDR";
    }

    /// The deprecation headers of v1 responses (RFC 9745, RFC 8594), sent if `deprecation_at` is set.
    deprecation: DeprecationConfig, "Deprecation of v1" {
        /// Time at which v1 becomes deprecated, in RFC 3339 format, such as `2027-01-31T00:00:00Z`
        deprecation_at: Option<Timestamp> = None, "CREATOR_API_DEPRECATION_AT", "TIME";
        /// Announced time at which v1 is shut down, in RFC 3339 format, at least 6 months after `--deprecation-at`. The
        /// server continues to serve v1 after this time.
        sunset_at: Option<Timestamp> = None, "CREATOR_API_SUNSET_AT", "TIME";
        /// URL of a migration guide
        deprecation_link: Option<WebUrl> = None, "CREATOR_API_DEPRECATION_LINK", "URL";
    }
}
