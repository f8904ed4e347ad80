//! The URL of the server.

use super::settings::ServerConfig;

impl ServerConfig {
    /// Returns the URL of the server without a trailing slash: the public URL, or `http://` and the listen address.
    pub fn base_url(&self) -> String {
        match &self.public_url {
            Some(url) => url.base().to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// Returns the URL of the server for links in mail, without testing whether it can be reached. Returns `None` if
    /// there is no public URL and the listen address cannot be used in a URL, since its port is 0 or its IP address is
    /// unspecified (`0.0.0.0`, `::`).
    pub fn url_for_links(&self) -> Option<String> {
        let is_usable = self.listen.port() != 0 && !self.listen.ip().is_unspecified();
        (self.public_url.is_some() || is_usable).then(|| self.base_url())
    }
}
