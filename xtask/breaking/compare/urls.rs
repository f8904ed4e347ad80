//! The meaning of URLs: which texts are the same URL.

/// The schemes with a default port.
const DEFAULT_PORTS: [(&str, &str); 4] = [("http", ":80"), ("https", ":443"), ("ws", ":80"), ("wss", ":443")];

/// Returns a URL in a notation that is the same for equal URLs (RFC 3986, section 6.2): the scheme and the host are in lowercase,
/// the default port is left out, and an empty path is `/`. The names of server variables (`{name}`) are kept. Relative URLs are
/// returned unchanged, except that the host of those that begin with `//` is converted.
pub(super) fn normalized_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("//").unwrap_or(("", url));
    let name = scheme.strip_suffix(':').unwrap_or_default();
    // A relative URL can contain `//` in its path.
    let is_absolute = !name.is_empty() && !name.contains(['/', '?', '#', ':']);
    if !is_absolute && !url.starts_with("//") {
        return url.to_owned();
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.split_at(authority.rfind('@').map_or(0, |index| index + 1));
    let (scheme, host) = (lowercase_outside_braces(scheme), lowercase_outside_braces(host));
    let default_port = DEFAULT_PORTS.iter().find(|(name, _)| scheme.strip_suffix(':') == Some(name));
    let host = default_port
        .and_then(|(_, port)| host.strip_suffix(port))
        .or_else(|| host.strip_suffix(':'))
        .unwrap_or(&host);
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("{scheme}//{user}{host}{root}{path}")
}

/// Converts a text to lowercase, except for what is between braces.
fn lowercase_outside_braces(text: &str) -> String {
    let mut is_inside = false;
    let convert = |letter: char| {
        is_inside = letter == '{' || (is_inside && letter != '}');
        if is_inside { letter } else { letter.to_ascii_lowercase() }
    };
    text.chars().map(convert).collect()
}
