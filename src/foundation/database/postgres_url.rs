//! PostgreSQL URLs, which can list several hosts as libpq allows: `postgres://user@host1:5432,host2:5433/name`.

use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::{self, ConnectOptions as _};
use url::{Position, Url};

/// A valid PostgreSQL URL with one or more hosts. Can contain a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    /// The scheme, the user and the password.
    before_hosts: String,
    /// The hosts, each with its port if it has one.
    hosts: Vec<String>,
    /// The database name and the parameters.
    after_hosts: String,
}

/// Why a PostgreSQL URL is invalid, as the rest of a sentence that begins with the name of the URL. Does not contain the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPostgresUrl(&'static str);

/// The number of prepared statements cached by each connection: more than the server has distinct queries.
pub(super) const STATEMENT_CACHE_CAPACITY: usize = 512;

/// Parameters that specify the host or the port.
const HOST_PARAMETERS: [&str; 3] = ["host", "hostaddr", "port"];

/// The parameter of libpq that selects hosts.
const SESSION_PARAMETER: &str = "target_session_attrs";

impl PostgresUrl {
    /// Parses a URL. A host is a name, an IPv4 address, an IPv6 address in brackets, or the percent-encoded path of the folder
    /// of a Unix socket.
    ///
    /// # Errors
    /// Returns an error when the URL is not a PostgreSQL URL, when a host or a port of a list is invalid, or when hosts are
    /// specified in two places.
    pub fn parse(text: &str) -> Result<Self, InvalidPostgresUrl> {
        let schemes = ["postgres://", "postgresql://"];
        let scheme = schemes.into_iter().find(|scheme| text.starts_with(scheme));
        let scheme = scheme.ok_or(InvalidPostgresUrl("does not start with postgres://"))?;
        let authority_end =
            text[scheme.len()..].find(['/', '?', '#']).map_or(text.len(), |end| scheme.len() + end);
        let hosts_start =
            text[..authority_end].rfind('@').map_or(scheme.len(), |at| at + 1).max(scheme.len());
        let hosts: Vec<String> = text[hosts_start..authority_end].split(',').map(str::to_owned).collect();
        let mut url = Self {
            before_hosts: text[..hosts_start].to_owned(),
            hosts,
            after_hosts: text[authority_end..].to_owned(),
        };
        url.check_hosts()?;
        url.remove_session_parameter()?;
        // Parsing connects to nothing, but reads the password file.
        if url.host_urls().any(|url| url.parse::<PgConnectOptions>().is_err()) {
            return Err(InvalidPostgresUrl("has an invalid parameter, or an invalid user or password"));
        }
        Ok(url)
    }

    fn check_hosts(&self) -> Result<(), InvalidPostgresUrl> {
        let is_list = self.has_several_hosts();
        let name = |host: &str| host.rsplit_once(':').map_or(host.len(), |(name, _)| name.len());
        if is_list && self.hosts.iter().any(|host| name(host) == 0) {
            return Err(InvalidPostgresUrl("lists a host without a name before, after or between commas"));
        }
        if self.host_urls().any(|url| url.parse::<Url>().is_err()) {
            return Err(InvalidPostgresUrl(
                "has an invalid host or port, or an invalid user or password; percent-encode special characters in both",
            ));
        }
        for (name, value) in self.parameters() {
            let specifies_hosts = HOST_PARAMETERS.contains(&name.as_str());
            if is_list && specifies_hosts {
                return Err(InvalidPostgresUrl(
                    "lists hosts, and also has the parameter host, hostaddr or port; specify hosts and ports in one place",
                ));
            }
            if specifies_hosts && value.contains(',') {
                return Err(InvalidPostgresUrl(
                    "lists hosts or ports in a parameter; list them before the name of the database, as in \
                     postgres://USER@HOST1:5432,HOST2:5432/NAME",
                ));
            }
        }
        Ok(())
    }

    /// Removes the parameter that makes libpq choose the host that accepts writes. This program does so without it.
    fn remove_session_parameter(&mut self) -> Result<(), InvalidPostgresUrl> {
        let mut parameters = self.parameters();
        let is_session = |(name, _): &(String, String)| name == SESSION_PARAMETER;
        if !self.has_several_hosts() || !parameters.iter().any(is_session) {
            return Ok(());
        }
        parameters.retain(|(name, value)| {
            name != SESSION_PARAMETER || !matches!(value.as_str(), "read-write" | "primary")
        });
        if parameters.iter().any(is_session) {
            return Err(InvalidPostgresUrl(
                "has a target_session_attrs other than read-write; of several hosts, the one that accepts writes is used",
            ));
        }
        if let Some(mut url) = self.first_host() {
            match parameters.is_empty() {
                true => url.set_query(None),
                false => {
                    url.query_pairs_mut().clear().extend_pairs(parameters);
                }
            }
            url[Position::AfterPort..].clone_into(&mut self.after_hosts);
        }
        Ok(())
    }

    /// Returns the URL of the first host.
    fn first_host(&self) -> Option<Url> {
        self.host_urls().next()?.parse().ok()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        self.first_host().map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
    }

    /// Returns whether the URL lists several hosts.
    pub fn has_several_hosts(&self) -> bool {
        self.hosts.len() > 1
    }

    /// Returns a URL for each host, in their order. Can contain the password.
    pub fn host_urls(&self) -> impl Iterator<Item = String> {
        let Self { before_hosts, hosts, after_hosts } = self;
        hosts.iter().map(move |host| format!("{before_hosts}{host}{after_hosts}"))
    }

    /// Returns the URL with its password masked.
    pub fn masked(&self) -> String {
        let Some(mut url) = self.first_host() else { return "****".to_owned() };
        if url.password().is_some() {
            // Fails only without a host, and then there is no password.
            let _ = url.set_password(Some("****"));
        }
        let is_secret = |name: &str| name == "password";
        let parameters = self.parameters();
        if parameters.iter().any(|(name, _)| is_secret(name)) {
            let masked =
                parameters.iter().map(|(name, value)| (name, if is_secret(name) { "****" } else { value }));
            url.query_pairs_mut().clear().extend_pairs(masked);
        }
        if !self.has_several_hosts() {
            return url.to_string();
        }
        format!("{}{}{}", &url[..Position::BeforeHost], self.hosts.join(","), &url[Position::AfterPort..])
    }

    /// Returns the hosts, their ports and the name of the database, for messages.
    pub fn location(&self) -> String {
        let options = self.host_urls().filter_map(|url| url.parse::<PgConnectOptions>().ok());
        let options: Vec<PgConnectOptions> = options.collect();
        let hosts: Vec<String> = options.iter().map(host_and_port).collect();
        let database = options.first().map(|server| server.get_database().unwrap_or(server.get_username()));
        format!("{}/{}", hosts.join(","), database.unwrap_or_default())
    }
}

/// Returns the driver's options for the server of a URL with one host.
pub(super) fn server_options(url: &str) -> Result<PgConnectOptions, sqlx::Error> {
    Ok(with_server_options(url.parse::<PgConnectOptions>()?).disable_statement_logging())
}

/// Sets the options that all connections share.
pub(super) fn with_server_options(server: PgConnectOptions) -> PgConnectOptions {
    // The driver does not remove the brackets of an IPv6 address.
    let host = server.get_host().trim_matches(['[', ']']).to_owned();
    let is_socket = server.get_socket().is_some();
    let server = if is_socket { server } else { server.host(&host) };
    server.application_name("creator-api").statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
}

/// Returns the host and the port of a server, or the path of its Unix socket, for messages.
pub(super) fn host_and_port(server: &PgConnectOptions) -> String {
    match server.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", server.get_host(), server.get_port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(url: &str) -> &'static str {
        PostgresUrl::parse(url).err().unwrap_or_else(|| panic!("{url} is valid")).0
    }

    #[test]
    fn a_url_can_list_hosts_of_every_kind() {
        let url = "postgres://ada:a%2Cb@db1,[::1]:5433,%2Frun%2Fpg:5434,192.0.2.7/school?sslmode=require";
        let parsed = PostgresUrl::parse(url).unwrap();
        assert!(parsed.has_several_hosts());
        let servers: Vec<PgConnectOptions> = parsed.host_urls().map(|url| url.parse().unwrap()).collect();
        let found: Vec<String> = servers.iter().map(host_and_port).collect();
        assert_eq!(found, ["db1:5432", "[::1]:5433", "/run/pg", "192.0.2.7:5432"]);
        assert_eq!(servers[2].get_port(), 5434);
        assert!(servers.iter().all(|server| server.get_username() == "ada"));
        assert!(servers.iter().all(|server| server.get_database() == Some("school")));
        assert_eq!(parsed.location(), "db1:5432,[::1]:5433,/run/pg,192.0.2.7:5432/school");
    }

    #[test]
    fn the_password_is_masked() {
        let masked = |url| PostgresUrl::parse(url).unwrap().masked();
        assert_eq!(
            masked("postgres://ada:love@db/app?sslmode=require"),
            "postgres://ada:****@db/app?sslmode=require"
        );
        assert_eq!(masked("postgres://ada:lo@ve@db1:1,[::1]/app"), "postgres://ada:****@db1:1,[::1]/app");
        assert_eq!(
            masked("postgresql://db1,db2/?user=ada&password=love"),
            "postgresql://db1,db2/?user=ada&password=****"
        );
    }

    #[test]
    fn the_parameter_of_libpq_that_selects_the_primary_is_accepted() {
        let url =
            PostgresUrl::parse("postgres://a,b/app?target_session_attrs=read-write&sslmode=disable").unwrap();
        let urls: Vec<String> = url.host_urls().collect();
        assert_eq!(urls, ["postgres://a/app?sslmode=disable", "postgres://b/app?sslmode=disable"]);
        let url = PostgresUrl::parse("postgres://a,b/app?target_session_attrs=primary").unwrap();
        assert_eq!(url.host_urls().next().unwrap(), "postgres://a/app");
    }

    #[test]
    fn an_invalid_url_is_rejected_with_the_reason() {
        assert!(problem("mysql://a,b/app").contains("postgres://"));
        for url in ["postgres://a,/app", "postgres://ada@,b", "postgres://a,:5433/app", "postgres://a,,b/app"]
        {
            assert!(problem(url).contains("without a name"), "{url}");
        }
        for url in [
            "postgres://a,b:port/app",
            "postgres://a,b:70000/app",
            "postgres://a,::1/app",
            "postgres://a,[::1/app",
        ] {
            assert!(problem(url).contains("invalid host"), "{url}");
        }
        for url in
            ["postgres://a,b/app?port=5433", "postgres://a,b/app?host=c", "postgres://a,b/app?hostaddr=::1"]
        {
            assert!(problem(url).contains("in one place"), "{url}");
        }
        for url in ["postgres:///app?host=a,b", "postgres:///app?host=a&port=1,2"] {
            assert!(problem(url).contains("HOST1:5432,HOST2:5432"), "{url}");
        }
        assert!(problem("postgres://a,b/app?target_session_attrs=any").contains("accepts writes"));
        assert!(problem("postgres://a,b/app?sslmode=maybe").contains("invalid parameter"));
    }
}
