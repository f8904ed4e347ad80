//! Where the server listens and how it is reached.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use super::concern::concern;
use super::network::Network;
use super::value::{Switch, WebUrl};

concern! {
    /// The listening address and what stands before it.
    Server, "Server" {
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
        request_log: Switch = Some("on"), "CREATOR_API_REQUEST_LOG", "ON_OR_OFF";
    }
}

impl Server {
    /// The address under which browsers reach the server, as far as the configuration tells; no slash at its end.
    pub fn address(&self) -> String {
        match &self.public_url {
            Some(url) => url.base().trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// The same, where a browser can go there: neither any port nor any address of a machine.
    pub fn known_address(&self) -> Option<String> {
        let is_one = self.listen.port() != 0 && !self.listen.ip().is_unspecified();
        (self.public_url.is_some() || is_one).then(|| self.address())
    }
}
