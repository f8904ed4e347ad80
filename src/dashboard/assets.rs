//! Static files, embedded in the binary: style sheet, scripts and icon, from the folder `static`.
//!
//! Each URL contains a digest of the content, so that browsers can cache the file for a year.

use std::sync::LazyLock;

use poem::http::{HeaderValue, header};
use poem::{Body, Response};
use sha2::{Digest, Sha256};

/// URL prefix of all static files.
const URL_PREFIX: &str = "/dashboard/static/";

/// The name of the favicon.
const ICON: &str = "icon.svg";

/// A static file.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
    url: String,
}

/// The URLs of the static files, for templates.
#[derive(Debug)]
pub(crate) struct AssetUrls {
    /// The style sheet.
    pub style: &'static str,
    /// The theme, applied before the page is shown.
    pub theme: &'static str,
    /// htmx, for partial updates.
    pub htmx: &'static str,
    /// Local times, copy buttons, double submissions, and live updates.
    pub script: &'static str,
    /// The favicon.
    pub icon: &'static str,
}

/// The visual tokens that the documentation also uses, and the rules of the dashboard.
const STYLE: &str = concat!(include_str!("../ui/tokens.css"), include_str!("static/style.css"));

static ASSETS: LazyLock<[Asset; 5]> = LazyLock::new(|| {
    [
        Asset::new("style.css", "text/css; charset=utf-8", STYLE.as_bytes()),
        Asset::new("theme.js", "text/javascript; charset=utf-8", include_bytes!("../ui/theme.js")),
        Asset::new("htmx.js", "text/javascript; charset=utf-8", include_bytes!("static/htmx.min.js")),
        Asset::new("script.js", "text/javascript; charset=utf-8", include_bytes!("static/script.js")),
        Asset::new(ICON, "image/svg+xml", include_bytes!("../ui/icon.svg")),
    ]
});

/// The URLs of all static files.
pub(crate) static ASSET_URLS: LazyLock<AssetUrls> = LazyLock::new(|| {
    let url = |name| asset(name).url.as_str();
    AssetUrls {
        style: url("style.css"),
        theme: url("theme.js"),
        htmx: url("htmx.js"),
        script: url("script.js"),
        icon: url(ICON),
    }
});

impl Asset {
    fn new(name: &'static str, media_type: &'static str, bytes: &'static [u8]) -> Self {
        let url = format!("{URL_PREFIX}{}/{name}", hex::encode(&Sha256::digest(bytes)[..8]));
        Self { name, media_type, bytes, url }
    }
}

/// Returns the static file with this name.
fn asset(name: &str) -> &'static Asset {
    ASSETS.iter().find(|asset| asset.name == name).expect("a static file has this name")
}

/// Returns the icon for browsers that request it at a fixed path.
pub(super) fn icon() -> Response {
    let icon = asset(ICON);
    let response = Response::builder().content_type(icon.media_type);
    response.header(header::CACHE_CONTROL, "public, max-age=86400").body(Body::from(icon.bytes))
}

/// Returns the response for the static file with this path. URLs of earlier versions are not found.
pub(super) fn find(path: &str) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.url == path)?;
    let mut response = Response::builder().content_type(asset.media_type).body(Body::from(asset.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_file_contains_a_digest_of_its_content() {
        for asset in &*ASSETS {
            assert!(find(&asset.url).is_some(), "{}", asset.url);
            assert!(find(&asset.url.replace(URL_PREFIX, "/dashboard/static/0")).is_none());
        }
        assert!(ASSET_URLS.style.ends_with("/style.css"));
    }

    #[test]
    fn the_script_writes_no_inline_style_or_script() {
        let script = include_str!("static/script.js");
        for forbidden in ["innerHTML", "eval(", ".style", "document.write"] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
