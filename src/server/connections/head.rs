//! Validates a request head (RFC 9112) before the HTTP library parses it.
//!
//! The validation is stricter than that of the library, for two reasons: the library never has to write an error
//! response of its own, and a proxy in front of the server cannot interpret the end of a request differently.

use std::mem::MaybeUninit;
use std::net::Ipv6Addr;

use httparse::{Error, Header, ParserConfig, Request, Status};
use poem::http::StatusCode;
use poem::http::uri::{PathAndQuery, Uri};

use web::rejection::Rejection;

/// The maximum size of a request head.
pub(super) const MAX_HEAD_BYTES: usize = 64 * 1024;
/// The maximum number of header fields of a request.
const MAX_HEADERS: usize = 100;
/// The maximum size of a request target: the longest that the HTTP library can store.
const MAX_TARGET_BYTES: usize = (u16::MAX - 1) as usize;
/// The largest `Content-Length` that the HTTP library represents.
const MAX_LENGTH: u64 = u64::MAX - 2;

/// How the body of a request is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// A body of this many bytes; zero without `Content-Length`.
    Sized(u64),
    /// A chunked body.
    Chunked,
}

/// The result of validating the bytes received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadValidation {
    /// More bytes are needed.
    Partial,
    /// A valid head of this many bytes, and the kind of body that follows.
    Valid(usize, BodyKind),
    /// These bytes cannot start a valid head.
    Rejected(Rejection),
}

const HEAD_TOO_LARGE: Rejection = Rejection::new(
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "The request line and headers are larger than 65536 bytes.",
);
const TOO_MANY_HEADERS: Rejection = Rejection::new(
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    "The request has more than 100 header fields.",
);
const TARGET_TOO_LONG: Rejection =
    Rejection::new(StatusCode::URI_TOO_LONG, "The request target is longer than 65534 bytes.");
const BODY_TOO_LARGE: Rejection =
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, "The declared length of the body is too large.");
const UNKNOWN_VERSION: Rejection = Rejection::new(
    StatusCode::HTTP_VERSION_NOT_SUPPORTED,
    "This server supports HTTP/1.1 and HTTP/1.0 only.",
);
const UNKNOWN_CODING: Rejection = Rejection::new(
    StatusCode::NOT_IMPLEMENTED,
    "The only transfer coding that this server supports is `chunked`.",
);

/// Validates the head at the beginning of `bytes`.
pub(super) fn validate(bytes: &[u8]) -> HeadValidation {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = Request::new(&mut []);
    let parsed = ParserConfig::default().parse_request_with_uninit_headers(&mut request, bytes, &mut headers);
    match parsed {
        Ok(Status::Complete(length)) if length > MAX_HEAD_BYTES => {
            HeadValidation::Rejected(size_rejection(bytes))
        }
        Ok(Status::Complete(length)) => match check(&request, &bytes[..length]) {
            Ok(body) => HeadValidation::Valid(length, body),
            Err(rejection) => HeadValidation::Rejected(rejection),
        },
        Ok(Status::Partial) if bytes.len() >= MAX_HEAD_BYTES => {
            HeadValidation::Rejected(size_rejection(bytes))
        }
        Ok(Status::Partial) => HeadValidation::Partial,
        Err(error) => HeadValidation::Rejected(syntax_rejection(error, bytes)),
    }
}

/// Returns the rejection of a head that exceeds [`MAX_HEAD_BYTES`], depending on whether its first line alone does.
fn size_rejection(bytes: &[u8]) -> Rejection {
    let has_complete_line = bytes[..MAX_HEAD_BYTES].contains(&b'\n');
    if has_complete_line { HEAD_TOO_LARGE } else { TARGET_TOO_LONG }
}

/// Returns the rejection of a head that the parser does not accept.
fn syntax_rejection(error: Error, bytes: &[u8]) -> Rejection {
    match error {
        Error::TooManyHeaders => TOO_MANY_HEADERS,
        Error::Version if has_well_formed_version(bytes) => UNKNOWN_VERSION,
        Error::HeaderName => Rejection::malformed("A header name is malformed, or a header line is folded."),
        Error::HeaderValue => Rejection::malformed("A header value contains control characters."),
        Error::NewLine => Rejection::malformed("A line of the request head does not end with CRLF."),
        _ => Rejection::malformed("The request line is malformed: expected `METHOD /path HTTP/1.1`."),
    }
}

/// Returns whether the request line ends with a well-formed version, such as `HTTP/2.0`.
fn has_well_formed_version(bytes: &[u8]) -> bool {
    let line =
        bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let line = line.trim_ascii_end();
    let has_three_words = line.split(|byte| *byte == b' ').count() == 3;
    has_three_words
        && matches!(line.last_chunk(), Some([b' ', b'H', b'T', b'T', b'P', b'/', major, b'.', minor])
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// Performs the checks that the parser does not. Returns the kind of body that follows the head.
fn check(request: &Request<'_, '_>, head: &[u8]) -> Result<BodyKind, Rejection> {
    let lacks_cr = |line: &[u8]| !line.is_empty() && line.last() != Some(&b'\r');
    if head.split(|byte| *byte == b'\n').any(lacks_cr) || head.starts_with(b"\n") {
        return Err(Rejection::malformed("A line of the request head does not end with CRLF."));
    }
    let is_http_11 = request.version == Some(1);
    let Declared { host, body } = check_headers(request.headers, is_http_11)?;
    if host.is_none() && is_http_11 {
        return Err(Rejection::malformed("An HTTP/1.1 request needs a `Host` header."));
    }
    check_target(request.method.unwrap_or_default(), request.path.unwrap_or_default(), host)?;
    Ok(body)
}

/// The host and the body that the headers declare.
struct Declared<'a> {
    host: Option<&'a [u8]>,
    body: BodyKind,
}

fn check_headers<'a>(headers: &[Header<'a>], is_http_11: bool) -> Result<Declared<'a>, Rejection> {
    let (mut host, mut length, mut coding) = (None, None, None);
    for header in headers {
        let has_name = |name: &str| header.name.eq_ignore_ascii_case(name);
        let (found_value, repeated) = match header.name.len() {
            4 if has_name("host") => (&mut host, "The request has more than one `Host` header."),
            14 if has_name("content-length") => {
                (&mut length, "The request has more than one `Content-Length` header.")
            }
            17 if has_name("transfer-encoding") => {
                (&mut coding, "The request has more than one `Transfer-Encoding` header.")
            }
            _ => continue,
        };
        if found_value.replace(header.value).is_some() {
            return Err(Rejection::malformed(repeated));
        }
    }
    if host.is_some_and(|host| !is_host(host)) {
        return Err(Rejection::malformed("The `Host` header is not a host with an optional port."));
    }
    let body = match (length, coding) {
        (None, None) => BodyKind::Sized(0),
        (Some(length), None) => BodyKind::Sized(parse_content_length(length)?),
        (None, Some(_)) if !is_http_11 => {
            return Err(Rejection::malformed(
                "An HTTP/1.0 request must not have a `Transfer-Encoding` header.",
            ));
        }
        (None, Some(coding)) => check_transfer_coding(coding).map(|()| BodyKind::Chunked)?,
        (Some(_), Some(_)) => {
            return Err(Rejection::malformed(
                "The request has both a `Content-Length` and a `Transfer-Encoding` header; send one of them.",
            ));
        }
    };
    Ok(Declared { host, body })
}

fn parse_content_length(value: &[u8]) -> Result<u64, Rejection> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Rejection::malformed("The `Content-Length` header is not a number of bytes."));
    }
    let digits = std::str::from_utf8(value).unwrap_or_default();
    digits.parse().ok().filter(|length| *length <= MAX_LENGTH).ok_or(BODY_TOO_LARGE)
}

/// Accepts only `chunked`. If `chunked` is not the last coding, the end of the body is undefined (RFC 9112, 6.3).
fn check_transfer_coding(value: &[u8]) -> Result<(), Rejection> {
    let is_chunked = |coding: &[u8]| coding.trim_ascii().eq_ignore_ascii_case(b"chunked");
    let mut codings = value.rsplit(|byte| *byte == b',');
    if !codings.next().is_some_and(is_chunked) {
        return Err(Rejection::malformed(
            "The last coding of the `Transfer-Encoding` header must be `chunked`.",
        ));
    }
    let mut is_alone = true;
    for coding in codings {
        is_alone = false;
        if is_chunked(coding) || coding.trim_ascii().is_empty() {
            return Err(Rejection::malformed("The `Transfer-Encoding` header is malformed."));
        }
    }
    if is_alone { Ok(()) } else { Err(UNKNOWN_CODING) }
}

/// The bytes that need no further validation in a target. Other targets are validated by the library's parser.
const PLAIN_BYTES: [bool; 256] = {
    let mut plain = [false; 256];
    let mut rest: &[u8] =
        b"/-._~?%=&:@!$'()*+,;0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    while let [byte, after @ ..] = rest {
        plain[*byte as usize] = true;
        rest = after;
    }
    plain
};

/// Accepts a path, or an `http` or `https` URL whose authority matches the `Host` header.
fn check_target(method: &str, target: &str, host: Option<&[u8]>) -> Result<(), Rejection> {
    if method == "CONNECT" {
        return Err(Rejection::malformed("This server is not a proxy: it does not support `CONNECT`."));
    }
    if target.len() > MAX_TARGET_BYTES {
        return Err(TARGET_TOO_LONG);
    }
    if target.starts_with('/') && target.bytes().all(|byte| PLAIN_BYTES[usize::from(byte)]) {
        return Ok(());
    }
    if target.contains('#') {
        return Err(Rejection::malformed("The request target contains a fragment (`#`)."));
    }
    if target.starts_with('/') {
        return if PathAndQuery::try_from(target).is_ok() {
            Ok(())
        } else {
            Err(Rejection::malformed("The request target contains characters that must be percent-encoded."))
        };
    }
    match Uri::try_from(target) {
        Ok(uri) if has_same_authority(&uri, host) => Ok(()),
        _ => Err(Rejection::malformed(
            "The request target must be a path that begins with `/`, or an `http` URL of the same host as the \
             `Host` header.",
        )),
    }
}

/// Returns whether an absolute target has the scheme `http` or `https` and the same authority as the `Host`
/// header, if there is one.
fn has_same_authority(uri: &Uri, host: Option<&[u8]>) -> bool {
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
    is_http
        && authority.is_some_and(|authority| {
            is_host(authority) && host.is_none_or(|host| host.eq_ignore_ascii_case(authority))
        })
}

/// Returns whether a value is `uri-host [ ":" port ]` (RFC 9110, 7.2) with a host that is not empty.
fn is_host(value: &[u8]) -> bool {
    let (host, port) = match value {
        [b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(|byte| *byte == b']') else { return false };
            let address = std::str::from_utf8(&rest[..end]).unwrap_or_default();
            if address.parse::<Ipv6Addr>().is_err() {
                return false;
            }
            (&b"ipv6"[..], &rest[end + 1..])
        }
        _ => value.split_at(value.iter().position(|byte| *byte == b':').unwrap_or(value.len())),
    };
    let is_port = match port {
        [] => true,
        [b':', digits @ ..] => {
            let text = std::str::from_utf8(digits).unwrap_or("-");
            digits.iter().all(u8::is_ascii_digit) && (text.is_empty() || text.parse::<u16>().is_ok())
        }
        _ => false,
    };
    is_port && is_registered_name(host)
}

/// Returns whether a name is a `reg-name` (RFC 3986, 3.2.2) that is not empty.
fn is_registered_name(name: &[u8]) -> bool {
    let mut remaining = name;
    while let [first, after @ ..] = remaining {
        remaining = match (first, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => after,
            (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9', _) => after,
            (byte, _) if b"-._~!$&'()*+,;=".contains(byte) => after,
            _ => return false,
        };
    }
    !name.is_empty()
}
