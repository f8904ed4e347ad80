//! The URL of the server.

use super::settings::ServerConfig;

impl ServerConfig {
    /// Returns the URL of the server without a trailing slash: the public URL, or the listen address.
    pub fn base_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.base().to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// Returns the URL of the server if a browser can open it: neither port 0 nor an unspecified address.
    pub fn reachable_url(&self) -> Option<String> {
        let is_specific = self.listen.port() != 0 && !self.listen.ip().is_unspecified();
        (self.public_url.is_some() || is_specific).then(|| self.base_url())
    }
}
