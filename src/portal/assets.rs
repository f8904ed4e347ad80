//! Static files of the pages, embedded in the binary.
//!
//! All files are in one folder, whose name is a digest of all of them. Browsers can cache them for a year, and a page never
//! combines files of two versions.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use poem::http::header;
use poem::{Request, Response};
use sha2::{Digest, Sha256};
use utoipa_swagger_ui::SwaggerFile;
use web::compress::{CachedBody, Compressible};
use web::public_response::{FILE_POLICY, with_security_headers};

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The folder of all static files: `/docs/static/` and a digest of the files.
pub(crate) static FOLDER: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in &*ASSETS {
        let bytes = asset.body.plain();
        digest.update((asset.name.len() as u64).to_be_bytes());
        digest.update(asset.name);
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    }
    format!("/docs/static/{}", hex::encode(&digest.finalize()[..8]))
});

/// The files: name, media type and content.
const OWN_FILES: &[(&str, &str, &[u8])] = &[
    ("portal.css", CSS, STYLE.as_bytes()),
    ("icon.svg", "image/svg+xml", include_bytes!("../ui/icon.svg")),
    ("theme.js", SCRIPT, include_bytes!("../ui/theme.js")),
    ("portal.js", SCRIPT, include_bytes!("static/portal.js")),
    ("search.js", SCRIPT, include_bytes!("static/search.js")),
    ("samples.js", SCRIPT, include_bytes!("static/samples.js")),
    ("snippets.mjs", SCRIPT, include_bytes!("static/snippets.mjs")),
    ("highlight.js", SCRIPT, include_bytes!("static/highlight.js")),
    ("prism.js", SCRIPT, include_bytes!("static/prism.js")),
    ("minisearch.js", SCRIPT, include_bytes!("static/minisearch.js")),
    ("reference/reference.css", CSS, include_bytes!("static/reference/reference.css")),
    ("reference/initializer.js", SCRIPT, include_bytes!("static/reference/initializer.js")),
    ("reference/accessibility.js", SCRIPT, include_bytes!("static/reference/accessibility.js")),
    ("reference/address.js", SCRIPT, include_bytes!("static/reference/address.js")),
    ("reference/authorization.js", SCRIPT, include_bytes!("static/reference/authorization.js")),
    ("reference/filter.js", SCRIPT, include_bytes!("static/reference/filter.js")),
    ("reference/layout.js", SCRIPT, include_bytes!("static/reference/layout.js")),
    ("reference/limits.js", SCRIPT, include_bytes!("static/reference/limits.js")),
    ("reference/samples.js", SCRIPT, include_bytes!("static/reference/samples.js")),
    ("reference/scope.js", SCRIPT, include_bytes!("static/reference/scope.js")),
    ("reference/schemas.js", SCRIPT, include_bytes!("static/reference/schemas.js")),
];

/// The files of Swagger UI that the reference uses.
const SWAGGER_UI_FILES: [&str; 2] = ["swagger-ui-bundle.js", "swagger-ui.css"];

const STYLE: &str = concat!(
    include_str!("../ui/tokens.css"),
    include_str!("static/portal.css"),
    include_str!("static/widgets.css")
);

/// A file with its compressed forms.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    body: Arc<CachedBody>,
}

/// All files.
static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let own = OWN_FILES
        .iter()
        .map(|(name, media_type, bytes)| Asset::new(name, media_type, Bytes::from_static(bytes)));
    let swagger_ui = SWAGGER_UI_FILES.into_iter().filter_map(|name| {
        let bytes = match swagger_ui(name)?.bytes {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Some(Asset::new(name, if name.ends_with(".css") { CSS } else { SCRIPT }, bytes))
    });
    own.chain(swagger_ui).collect()
});

impl Asset {
    fn new(name: &'static str, media_type: &'static str, bytes: Bytes) -> Self {
        Self { name, media_type, body: Arc::new(CachedBody::new(bytes)) }
    }
}

/// Returns the response to a request for the static file with this path. Paths of earlier versions are not found.
pub(crate) fn response(request: &Request) -> Option<Response> {
    let asset = find(request.uri().path())?;
    web::request_context::of(request).allow_compression(Compressible::Cached(Arc::clone(&asset.body)));
    let response = Response::builder()
        .content_type(asset.media_type)
        .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
        .body(asset.body.plain().clone());
    Some(with_security_headers(response, FILE_POLICY))
}

fn find(path: &str) -> Option<&'static Asset> {
    let name = path.strip_prefix(FOLDER.as_str())?.strip_prefix('/')?;
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Returns a file of Swagger UI.
fn swagger_ui(name: &str) -> Option<SwaggerFile<'static>> {
    utoipa_swagger_ui::serve(name, Arc::default())
        .inspect_err(|error| tracing::error!(%error, name, "failed to read a file of Swagger UI"))
        .ok()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_served_in_the_folder_of_this_version_only() {
        for name in OWN_FILES.iter().map(|(name, ..)| *name).chain(SWAGGER_UI_FILES) {
            assert!(find(&format!("{}/{name}", *FOLDER)).is_some(), "{name}");
            assert!(find(&format!("/docs/static/0123456789abcdef/{name}")).is_none());
        }
        assert!(find(&format!("{}/Cargo.toml", *FOLDER)).is_none());
    }
}
