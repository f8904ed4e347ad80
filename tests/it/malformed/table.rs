//! The table of malformed requests: each kind of error, for each part of the server.

/// The part of the server that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerPart {
    /// The API, which responds with a JSON error.
    Api,
    /// All other paths, which respond with plain text.
    Pages,
}

/// A malformed request and the expected status.
#[derive(Debug)]
pub struct MalformedRequest {
    pub name: String,
    pub bytes: Vec<u8>,
    pub server_part: ServerPart,
    pub status: u16,
    /// Whether the client closes its sending side after these bytes.
    pub is_truncated: bool,
}

/// Paths of different parts of the server.
const PATHS: [&str; 4] = ["/api/v1/courses", "/dashboard", "/docs/", "/healthz"];

/// Returns all cases.
pub fn cases() -> Vec<MalformedRequest> {
    let mut cases = Vec::new();
    for path in PATHS {
        let server_part = if path.starts_with("/api/") { ServerPart::Api } else { ServerPart::Pages };
        let mut add = |name: &str, bytes: Vec<u8>, status: u16| {
            let is_truncated = name.starts_with("truncated");
            cases.push(MalformedRequest {
                name: format!("{path}: {name}"),
                bytes,
                server_part,
                status,
                is_truncated,
            });
        };
        request_lines(path, &mut add);
        hosts(path, &mut add);
        headers(path, &mut add);
        lengths(path, &mut add);
    }
    let api = |name: &str, bytes: &[u8], status| MalformedRequest {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        server_part: ServerPart::Api,
        status,
        is_truncated: name.starts_with("truncated"),
    };
    cases.extend(requests_without_path().into_iter().map(|(name, bytes, status)| api(name, &bytes, status)));
    cases.extend(chunks().into_iter().map(|body| {
        let head = "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nTransfer-Encoding: chunked\r\n\r\n";
        let name = format!("/api/v1/students: chunked body {:?}", beginning(body));
        api(&name, format!("{head}{body}").as_bytes(), 422)
    }));
    cases
}

/// Returns the first 40 bytes of a string.
fn beginning(text: &str) -> &str {
    &text[..text.len().min(40)]
}

/// Adds a case with this name, these bytes and this expected status. A name that begins with `truncated` means that
/// the client closes its sending side after these bytes.
type Add<'a> = dyn FnMut(&str, Vec<u8>, u16) + 'a;

fn request_lines(path: &str, add: &mut Add<'_>) {
    let mut line = |text: String, status: u16| {
        let name = format!("line {:?}", beginning(&text.replace(path, "PATH")));
        add(&name, format!("{text}\r\nHost: api\r\n\r\n").into_bytes(), status);
    };
    for version in ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/9.9"] {
        line(format!("GET {path} {version}"), 505);
    }
    for version in [
        "http/1.1",
        "HTTP/1",
        "HTTP/11",
        "HTTPS/1.1",
        "HTTP/1.1x",
        "HTTP/1.10",
        "HTTP /1.1",
        "HTTP/a.b",
        "1.1",
    ] {
        line(format!("GET {path} {version}"), 400);
    }
    for text in [
        format!("GET {path}"),
        format!("GET {path} "),
        format!("GET  {path} HTTP/1.1"),
        format!("GET {path}  HTTP/1.1"),
        format!("GET\t{path} HTTP/1.1"),
        format!("GET {path}\tHTTP/1.1"),
        format!("GET {path} HTTP/1.1 "),
        format!("GET {path} HTTP/1.1 more"),
        format!("GET {path} more HTTP/1.1"),
        format!(" GET {path} HTTP/1.1"),
        format!("G\0T {path} HTTP/1.1"),
        format!("GET: {path} HTTP/1.1"),
        format!("(GET) {path} HTTP/1.1"),
        format!("GÉT {path} HTTP/1.1"),
        format!("CONNECT {path} HTTP/1.1"),
        format!("GET {path}\0 HTTP/1.1"),
        format!("GET {path}\u{1} HTTP/1.1"),
        format!("GET {path}\u{7f} HTTP/1.1"),
        format!("GET {path}\r HTTP/1.1"),
        format!("GET {path}#part HTTP/1.1"),
        format!("GET {path}?a=<b> HTTP/1.1"),
        format!("GET {path}?a=\"b\" HTTP/1.1"),
        format!("GET http://other{path} HTTP/1.1"),
        format!("GET http://api@api{path} HTTP/1.1"),
        format!("GET http://api:x{path} HTTP/1.1"),
        format!("GET ftp://api{path} HTTP/1.1"),
        format!("GET ://api{path} HTTP/1.1"),
    ] {
        line(text, 400);
    }
    for length in [65_600, 66_000, 200_000] {
        line(format!("GET {path}?a={} HTTP/1.1", "x".repeat(length)), 414);
    }
    let mut not_utf8 = format!("GET {path}?a=").into_bytes();
    not_utf8.extend_from_slice(b"\xff HTTP/1.1\r\nHost: api\r\n\r\n");
    add("line with a byte that is not UTF-8", not_utf8, 400);
    add("line ending with LF", format!("GET {path} HTTP/1.1\nHost: api\r\n\r\n").into_bytes(), 400);
    add("truncated line", format!("GET {path}? HTT").into_bytes(), 400);
    add("truncated after the line", format!("GET {path} HTTP/1.1\r\n").into_bytes(), 400);
    add("truncated header", format!("GET {path} HTTP/1.1\r\nHost: a").into_bytes(), 400);
}

fn hosts(path: &str, add: &mut Add<'_>) {
    add("no Host", format!("GET {path} HTTP/1.1\r\n\r\n").into_bytes(), 400);
    for hosts in [["api", "api"], ["api", "other"], ["api", ""]] {
        for version in ["1.1", "1.0"] {
            let headers = hosts.map(|host| format!("Host: {host}\r\n")).concat();
            let name = format!("HTTP/{version} with Host {hosts:?}");
            add(&name, format!("GET {path} HTTP/{version}\r\n{headers}\r\n").into_bytes(), 400);
        }
    }
    for host in [
        "", "a b", "a,b c", "a/b", "user@a", "a:b", "a:99999", ":80", "a:80:80", "::1", "[::1", "[::1]x",
        "[x]", "a%zz", "a%4", "http://a", "a?b", "a#b", "a\\b", "\"a\"", "<a>", "é",
    ] {
        let name = format!("Host {host:?}");
        add(&name, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), 400);
    }
    add("HTTP/1.0 with Host \"a b\"", format!("GET {path} HTTP/1.0\r\nHost: a b\r\n\r\n").into_bytes(), 400);
}

fn headers(path: &str, add: &mut Add<'_>) {
    let mut header = |text: &str, status: u16| {
        let name = format!("header {:?}", beginning(text));
        add(&name, format!("GET {path} HTTP/1.1\r\nHost: api\r\n{text}\r\n\r\n").into_bytes(), status);
    };
    for text in [
        "X",
        ": x",
        "X : y",
        "X\t: y",
        "X y: z",
        "X\0: y",
        "X(: y",
        "\"X\": y",
        "É: y",
        " X: y",
        "X: y\r\n folded",
        "X: y\r\n\tfolded",
        "X: \0",
        "X: \u{1}",
        "X: \u{7f}",
        "X: y\rz",
        "X: y\r\r\nZ: y",
        "X: y\nZ: y",
        "X: y\n",
        "X\r: y",
        "X: y\r\nContent-Length : 5",
        "Host : other",
    ] {
        header(text, 400);
    }
    let extra_headers = |count: usize| "X: y\r\n".repeat(count);
    for count in [100, 101, 1_000] {
        let name = format!("{} headers", count + 1);
        let bytes = format!("GET {path} HTTP/1.1\r\nHost: api\r\n{}\r\n", extra_headers(count)).into_bytes();
        add(&name, bytes, 431);
    }
    let value = "x".repeat(66_000);
    let large = |header: String| format!("GET {path} HTTP/1.1\r\nHost: api\r\n{header}\r\n\r\n").into_bytes();
    add("a value of 66,000 bytes", large(format!("X: {value}")), 431);
    add("a name of 66,000 bytes", large(format!("{value}: x")), 431);
    add("values of 80,000 bytes", large(format!("X: {0}\r\nY: {0}", &value[..40_000])), 431);
    let folded = format!("GET {path} HTTP/1.1\r\n Host: api\r\n\r\n").into_bytes();
    add("the first header folded", folded, 400);
}

fn lengths(path: &str, add: &mut Add<'_>) {
    let mut header = |version: &str, text: &str, status: u16| {
        let name = format!("HTTP/{version} with {:?}", beginning(text));
        let head = format!("POST {path} HTTP/{version}\r\nHost: api\r\n{text}\r\n\r\n");
        add(
            &name,
            format!("{head}5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api\r\n\r\n").into_bytes(),
            status,
        );
    };
    for length in ["-1", "+1", "1 1", "1,1", "1, 2", "0x1", "1.0", "1e3", "", "a", "١", "1;x", "\"1\""] {
        header("1.1", &format!("Content-Length: {length}"), 400);
    }
    for length in ["18446744073709551614", "18446744073709551616", "99999999999999999999999999"] {
        header("1.1", &format!("Content-Length: {length}"), 413);
    }
    for values in ["5\r\nContent-Length: 5", "5\r\nContent-Length: 6", "5\r\ncontent-length: -5"] {
        header("1.1", &format!("Content-Length: {values}"), 400);
    }
    for coding in [
        "gzip",
        "identity",
        "xchunked",
        "chunked, gzip",
        "chunked, chunked",
        ", chunked",
        "chunked,",
        "",
        "\"chunked\"",
        "chunked;q=1",
        "chunked\r\nTransfer-Encoding: chunked",
        "chunked\r\nTransfer-Encoding: identity",
        "\u{b}chunked",
        "chunked chunked",
    ] {
        header("1.1", &format!("Transfer-Encoding: {coding}"), 400);
    }
    for coding in ["gzip, chunked", "identity,chunked", "gzip, deflate, chunked"] {
        header("1.1", &format!("Transfer-Encoding: {coding}"), 501);
    }
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: gzip, chunked\r\nContent-Length: 0",
    ] {
        header("1.1", headers, 400);
    }
    header("1.0", "Transfer-Encoding: chunked", 400);
}

/// Returns requests whose target has no path, and bytes that are no HTTP request, each with a name and the expected
/// status.
fn requests_without_path() -> Vec<(&'static str, Vec<u8>, u16)> {
    let text = |text: &str| format!("{text}\r\nHost: api\r\n\r\n").into_bytes();
    vec![
        ("OPTIONS *", text("OPTIONS * HTTP/1.1"), 400),
        ("GET *", text("GET * HTTP/1.1"), 400),
        ("CONNECT api:443", text("CONNECT api:443 HTTP/1.1"), 400),
        ("a target without a slash", text("GET api/v1/courses HTTP/1.1"), 400),
        ("a query alone", text("GET ?a=b HTTP/1.1"), 400),
        ("a fragment alone", text("GET #a HTTP/1.1"), 400),
        ("a host alone", text("GET api HTTP/1.1"), 400),
        ("no target", text("GET HTTP/1.1"), 400),
        ("a method alone", b"GET\r\n\r\n".to_vec(), 400),
        ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 505),
        ("TLS ClientHello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), 400),
        ("zeros", vec![0; 64], 400),
        ("a CR alone", b"\rGET * HTTP/1.1\r\nHost: api\r\n\r\n".to_vec(), 400),
        ("SSH", b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), 400),
        ("SMTP", b"EHLO example.com\r\n".to_vec(), 400),
        ("RTSP", b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n".to_vec(), 400),
        ("Redis", b"*1\r\n$4\r\nPING\r\n".to_vec(), 400),
        ("memcached", b"stats\r\n".to_vec(), 400),
        ("SOCKS", b"\x05\x01\x00".to_vec(), 400),
        ("PROXY protocol", b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n\r\n".to_vec(), 400),
        ("PROXY protocol 2", b"\r\n\r\n\0\r\nQUIT\n".to_vec(), 400),
        ("JSON", b"{\"a\": 1}\r\n".to_vec(), 400),
        ("XML", b"<?xml version=\"1.0\"?>\r\n".to_vec(), 400),
        ("truncated method", b"GE".to_vec(), 400),
        ("an endless word", vec![b'A'; 70_000], 414),
    ]
}

/// Returns bodies that are not a valid sequence of chunks. The operation responds that it cannot read the body.
fn chunks() -> Vec<&'static str> {
    vec![
        "\r\n",
        "x\r\n",
        "-1\r\n\r\n",
        "0x1\r\na\r\n0\r\n\r\n",
        " 1\r\na\r\n0\r\n\r\n",
        "1 1\r\na\r\n0\r\n\r\n",
        "1\na\r\n0\r\n\r\n",
        "1\ra\r\n0\r\n\r\n",
        "1\r\na\n0\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n",
        "1\r\na0\r\n\r\n",
        "1;\0\r\na\r\n0\r\n\r\n",
        "1;a\nb\r\na\r\n0\r\n\r\n",
        "1;a\rb\r\na\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\n",
        "1\r\na\r\n0\r\nTrailer: x\n\r\n",
        "1\r\na\r\n0\r\nTrailer: \0\r\n\r\n",
        "1\r\na\r\n0\r\n\rx",
    ]
}
