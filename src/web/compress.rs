//! Response compression by `Accept-Encoding`.
//!
//! Negotiates by itself: the framework's own middleware does not know `zstd` by its name and takes a coding that
//! was refused with `q=0`.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use poem::http::{HeaderMap, header};
use poem::web::{Compress, CompressionAlgo, CompressionLevel};
use poem::{IntoResponse, Response};

/// Below this many bytes compression costs more than it saves.
const WORTH_IT: usize = 1024;

/// A coding, in the order of our preference among equals.
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

    /// Its name in headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The coding that the caller prefers, if any.
    pub fn wanted(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(header::ACCEPT_ENCODING);
        let wishes: Vec<(&str, u16)> = lines
            .iter()
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','))
            .filter_map(wish)
            .collect();
        if wishes.is_empty() {
            return None;
        }
        let weight = |name: &str| {
            let named = wishes.iter().find(|(wished, _)| wished.eq_ignore_ascii_case(name));
            named
                .or_else(|| wishes.iter().find(|(wished, _)| *wished == "*"))
                .map_or(0, |(_, weight)| *weight)
        };
        let plain = wishes.iter().find(|(name, _)| name.eq_ignore_ascii_case("identity"));
        let floor = plain.map_or(0, |(_, weight)| *weight);
        // The first of equals wins, so the order of `ALL` decides.
        let (best, weight) =
            Self::ALL.iter().map(|coding| (*coding, weight(coding.name()))).rev().max_by_key(|(_, w)| *w)?;
        (weight > 0 && weight >= floor).then_some(best)
    }

    /// The body in this coding; `None` when it is not worth it.
    pub async fn apply(self, body: &Bytes) -> Option<Bytes> {
        if body.len() < WORTH_IT {
            return None;
        }
        let (algorithm, level) = match self {
            Self::Zstd => (CompressionAlgo::ZSTD, CompressionLevel::Fastest),
            Self::Brotli => (CompressionAlgo::BR, CompressionLevel::Precise(4)),
            Self::Gzip => (CompressionAlgo::GZIP, CompressionLevel::Default),
        };
        let plain = Response::builder().body(body.clone());
        let packed = Compress::new(plain, algorithm).with_quality(level).into_response();
        packed.into_body().into_bytes().await.ok().filter(|packed| packed.len() < body.len())
    }
}

/// A response that may be compressed.
#[derive(Debug)]
pub enum Compressible {
    /// This one time.
    Once,
    /// This body, which is sent again and again.
    Kept(Arc<Packable>),
}

/// A body that is sent again and again: each of its codings is made once, when it is first wanted.
#[derive(Debug)]
pub struct Packable {
    plain: Bytes,
    packed: [OnceLock<Option<Bytes>>; Coding::ALL.len()],
}

impl Packable {
    /// Nothing is packed yet.
    pub fn new(plain: Bytes) -> Self {
        Self { plain, packed: Default::default() }
    }

    /// The body as it is.
    pub fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// The body in a coding; `None` when it is not worth it.
    pub async fn packed(&self, coding: Coding) -> Option<Bytes> {
        let slot = &self.packed[coding as usize];
        if let Some(packed) = slot.get() {
            return packed.clone();
        }
        let packed = coding.apply(&self.plain).await;
        slot.get_or_init(|| packed).clone()
    }
}

/// One element of the list: the coding and its weight in thousandths.
fn wish(element: &str) -> Option<(&str, u16)> {
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

    fn wanted(line: &'static str) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(line));
        Coding::wanted(&headers).map(Coding::name)
    }

    #[test]
    fn the_caller_chooses_the_coding() {
        assert_eq!(wanted("gzip, deflate, br, zstd"), Some("zstd"));
        assert_eq!(wanted("gzip, br"), Some("br"));
        assert_eq!(wanted("gzip;q=1.0, zstd;q=0.5"), Some("gzip"));
        assert_eq!(wanted("*"), Some("zstd"));
        assert_eq!(wanted("*, zstd;q=0"), Some("br"));
        assert_eq!(wanted("GZip"), Some("gzip"));
    }

    #[test]
    fn what_is_refused_or_unknown_is_not_used() {
        for none in ["", "identity", "gzip;q=0", "deflate", "identity, gzip;q=0.5", "*;q=0", "gzip;q=x"] {
            assert_eq!(wanted(none), None, "{none}");
        }
        assert_eq!(Coding::wanted(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn small_bodies_stay_as_they_are() {
        for coding in Coding::ALL {
            assert_eq!(coding.apply(&Bytes::from(vec![b'a'; 1023])).await, None);
            let packed = coding.apply(&Bytes::from(vec![b'a'; 4096])).await.unwrap();
            assert!(packed.len() < 100, "{coding:?}: {}", packed.len());
        }
    }
}
