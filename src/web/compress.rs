//! Compresses responses according to `Accept-Encoding`.
//!
//! This module negotiates the content coding, because the middleware of the web framework does not recognize `zstd` and
//! uses codings that the client excludes with `q=0`.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use poem::http::{HeaderMap, header};
use poem::web::{Compress, CompressionAlgo, CompressionLevel};
use poem::{IntoResponse, Response};

/// Minimum size of a body to compress, in bytes. For smaller bodies, compression costs more than it saves.
const MIN_BYTES: usize = 1024;

/// A content coding. If the client has no preference, the first of these that it accepts is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Zstandard.
    Zstd,
    /// Brotli.
    Brotli,
    /// Gzip.
    Gzip,
}

impl Coding {
    const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    /// Returns the name in HTTP headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the coding that the client prefers. Returns `None` if the client accepts none of them or prefers an
    /// uncompressed body.
    pub fn negotiate(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(header::ACCEPT_ENCODING);
        let preferences: Vec<(&str, u16)> = lines
            .iter()
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','))
            .filter_map(parse_element)
            .collect();
        if preferences.is_empty() {
            return None;
        }
        let weight = |name: &str| {
            let exact = preferences.iter().find(|(coding, _)| coding.eq_ignore_ascii_case(name));
            exact
                .or_else(|| preferences.iter().find(|(coding, _)| *coding == "*"))
                .map_or(0, |(_, weight)| *weight)
        };
        // The body is sent uncompressed if the client prefers that.
        let identity = preferences.iter().find(|(name, _)| name.eq_ignore_ascii_case("identity"));
        let identity_weight = identity.map_or(0, |(_, weight)| *weight);
        // `max_by_key` returns the last maximum, so in reverse order, the first coding in `ALL` wins a tie.
        let weighted = Self::ALL.iter().map(|coding| (*coding, weight(coding.name())));
        let (best, weight) = weighted.rev().max_by_key(|(_, weight)| *weight)?;
        (weight > 0 && weight >= identity_weight).then_some(best)
    }

    /// Compresses a body. Returns `None` when the body is too small or compression fails or does not make it smaller.
    pub async fn compress(self, body: &Bytes) -> Option<Bytes> {
        if body.len() < MIN_BYTES {
            return None;
        }
        let (algorithm, level) = match self {
            Self::Zstd => (CompressionAlgo::ZSTD, CompressionLevel::Fastest),
            Self::Brotli => (CompressionAlgo::BR, CompressionLevel::Precise(4)),
            Self::Gzip => (CompressionAlgo::GZIP, CompressionLevel::Default),
        };
        let plain = Response::builder().body(body.clone());
        let compressed = Compress::new(plain, algorithm).with_quality(level).into_response();
        compressed.into_body().into_bytes().await.ok().filter(|compressed| compressed.len() < body.len())
    }
}

/// A response body that may be compressed: whether its compressed forms are cached.
#[derive(Debug)]
pub enum Compressible {
    /// It is compressed for this response only.
    Once,
    /// It is compressed once per coding, because the same body is sent repeatedly. The cached body must be the body of
    /// the response.
    Cached(Arc<CachedBody>),
}

/// A body that is sent repeatedly. It is compressed once per coding, on first use.
#[derive(Debug)]
pub struct CachedBody {
    plain: Bytes,
    /// The result of [`Coding::compress`] for each coding, in the order of [`Coding::ALL`]. Unset until first use.
    compressed: [OnceLock<Option<Bytes>>; Coding::ALL.len()],
}

impl CachedBody {
    /// Creates a cached body without compressing it.
    pub fn new(plain: Bytes) -> Self {
        Self { plain, compressed: Default::default() }
    }

    /// Returns the uncompressed body.
    pub fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// Returns the body in a coding, or `None` when the body is too small or compression fails or does not make it
    /// smaller.
    pub async fn compressed(&self, coding: Coding) -> Option<Bytes> {
        let cached = &self.compressed[coding as usize];
        if let Some(compressed) = cached.get() {
            return compressed.clone();
        }
        let compressed = coding.compress(&self.plain).await;
        cached.get_or_init(|| compressed).clone()
    }
}

/// Parses an element of `Accept-Encoding`, such as `gzip;q=0.5`, into the coding and its weight in thousandths. Returns
/// `None` if the coding is missing or the weight is not a number.
fn parse_element(element: &str) -> Option<(&str, u16)> {
    let mut parts = element.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = match parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="))) {
        None => 1000,
        Some(text) => (text.trim().parse::<f32>().ok()?.clamp(0.0, 1.0) * 1000.0) as u16,
    };
    Some((name, weight))
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn negotiate(line: &'static str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
        Coding::negotiate(&headers).map(Coding::name)
    }

    #[test]
    fn the_client_chooses_the_coding() {
        assert_eq!(negotiate("gzip, deflate, br, zstd"), Some("zstd"));
        assert_eq!(negotiate("gzip, br"), Some("br"));
        assert_eq!(negotiate("gzip;q=1.0, zstd;q=0.5"), Some("gzip"));
        assert_eq!(negotiate("*"), Some("zstd"));
        assert_eq!(negotiate("*, zstd;q=0"), Some("br"));
        assert_eq!(negotiate("GZip"), Some("gzip"));
    }

    #[test]
    fn excluded_and_unknown_codings_are_not_used() {
        for line in ["", "identity", "gzip;q=0", "deflate", "identity, gzip;q=0.5", "*;q=0", "gzip;q=x"] {
            assert_eq!(negotiate(line), None, "{line}");
        }
        assert_eq!(Coding::negotiate(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn small_bodies_are_not_compressed() {
        for coding in Coding::ALL {
            assert_eq!(coding.compress(&Bytes::from(vec![b'a'; 1023])).await, None);
            let compressed = coding.compress(&Bytes::from(vec![b'a'; 4096])).await.unwrap();
            assert!(compressed.len() < 100, "{coding:?}: {}", compressed.len());
        }
    }
}
