//! The address under which the server is reached.

use super::settings::Server;

impl Server {
    /// The address under which browsers reach the server, as far as the configuration tells; no slash at its end.
    pub fn address(&self) -> String {
        match &self.public_url {
            Some(url) => url.base().to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// The same, where a browser can go there: neither any port nor any address of a machine.
    pub fn known_address(&self) -> Option<String> {
        let is_one = self.listen.port() != 0 && !self.listen.ip().is_unspecified();
        (self.public_url.is_some() || is_one).then(|| self.address())
    }
}
