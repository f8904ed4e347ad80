//! Why an attempt got no response: a closed list, derived from the errors of the HTTP client.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::sync::Arc;

use hyper_util::client::legacy;
use rustix::io::Errno;

/// Why an attempt got no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFailure {
    /// The URL cannot be called: it is not `http` or `https`, or has credentials, a fragment or port 0.
    BadUrl,
    /// No secret of the subscription can be decrypted and parsed, so nothing can be signed.
    NoSecret,
    /// The IP address, or one that the name resolves to, may not be called.
    ForbiddenAddress,
    /// The name does not resolve.
    Dns,
    /// The connection was refused or could not be made.
    Connect,
    /// The TLS handshake failed, or the certificate is not trusted.
    Tls,
    /// The certificate of the receiver has expired.
    CertificateExpired,
    /// The connection was reset.
    Reset,
    /// The connection was closed before the head of a response arrived.
    Closed,
    /// The response is not valid HTTP, or its head exceeds 16 KiB or 100 headers.
    Protocol,
    /// The receiver sent more interim responses (status 1xx) than allowed.
    InterimResponses,
    /// The attempt's time limit ended before the head of a response arrived.
    Timeout,
    /// This machine lacked the resources for a connection: no file descriptor, no memory, or no free DNS lookup. Not
    /// the receiver's failure, and never recorded.
    Exhausted,
}

impl AttemptFailure {
    /// All failures.
    pub const ALL: &[Self] = &[
        Self::BadUrl,
        Self::NoSecret,
        Self::ForbiddenAddress,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::CertificateExpired,
        Self::Reset,
        Self::Closed,
        Self::Protocol,
        Self::InterimResponses,
        Self::Timeout,
        Self::Exhausted,
    ];

    /// Returns the code that the delivery log and the pages contain. The codes are stable. [`Self::Exhausted`] never
    /// appears there.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadUrl => "bad_url",
            Self::NoSecret => "no_secret",
            Self::ForbiddenAddress => "forbidden_address",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::CertificateExpired => "certificate_expired",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::Protocol => "protocol",
            Self::InterimResponses => "interim_responses",
            Self::Timeout => "timeout",
            Self::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for AttemptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Derives the failure from an error of the HTTP client: from its innermost known cause.
pub(super) fn of(error: &legacy::Error) -> AttemptFailure {
    let mut failure = if error.is_connect() { AttemptFailure::Connect } else { AttemptFailure::Protocol };
    let mut next_cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next_cause {
        failure = of_cause(cause, error.is_connect()).unwrap_or(failure);
        // `io::Error::source` skips the wrapped error itself.
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next_cause = wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| cause.source());
    }
    failure
}

/// Derives the failure from one cause, or returns `None` if the cause says nothing about it.
fn of_cause(cause: &(dyn Error + 'static), is_connecting: bool) -> Option<AttemptFailure> {
    if cause.is::<ForbiddenAddress>() {
        return Some(AttemptFailure::ForbiddenAddress);
    }
    if let Some(error) = cause.downcast_ref::<rustls::Error>() {
        use rustls::{CertificateError, Error};
        return Some(match error {
            Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            ) => AttemptFailure::CertificateExpired,
            _ => AttemptFailure::Tls,
        });
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        let closed = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
        return closed.then_some(AttemptFailure::Closed);
    }
    if let Some(error) = cause.downcast_ref::<LookupError>() {
        return Some(if error.exhausted { AttemptFailure::Exhausted } else { AttemptFailure::Dns });
    }
    let error = cause.downcast_ref::<io::Error>()?;
    if is_exhausted(error) {
        return Some(AttemptFailure::Exhausted);
    }
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            Some(AttemptFailure::Reset)
        }
        ErrorKind::TimedOut => Some(AttemptFailure::Timeout),
        // The connection was made, but the handshake ended early or is too long.
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData if is_connecting => Some(AttemptFailure::Tls),
        ErrorKind::UnexpectedEof => Some(AttemptFailure::Closed),
        _ => None,
    }
}

/// An IP address that may not be called.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForbiddenAddress {
    pub(super) ip: IpAddr,
    pub(super) reason: &'static str,
}

impl fmt::Display for ForbiddenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.ip, self.reason)
    }
}

impl std::error::Error for ForbiddenAddress {}

/// Why a lookup failed. All requests that wait for the lookup receive a clone.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(super) struct LookupError {
    message: Arc<str>,
    /// Whether this machine lacked the resources for the lookup.
    pub(super) exhausted: bool,
}

impl From<io::Error> for LookupError {
    fn from(error: io::Error) -> Self {
        Self { exhausted: is_exhausted(&error), message: error.to_string().into() }
    }
}

/// Returns whether this machine lacks resources: file descriptors or memory.
fn is_exhausted(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].contains(&errno))
}

#[cfg(test)]
mod tests {
    use foundation::telemetry::metrics::{METRICS, Metric};

    use super::*;

    #[test]
    fn exhausted_file_descriptors_are_distinguished_from_an_unreachable_receiver() {
        let failure = |errno: Errno| of_cause(&io::Error::from(errno), true);
        assert_eq!(failure(Errno::MFILE), Some(AttemptFailure::Exhausted));
        assert_eq!(failure(Errno::NOBUFS), Some(AttemptFailure::Exhausted));
        assert_eq!(
            (failure(Errno::CONNREFUSED), failure(Errno::CONNRESET)),
            (None, Some(AttemptFailure::Reset))
        );
    }

    #[test]
    fn the_metric_of_failed_attempts_has_a_label_value_for_each_failure() {
        let is_metric = |metric: &&Metric| metric.name == "webhook_failed_attempts_total";
        let metric = METRICS.iter().find(is_metric).expect("a documented metric");
        let recorded = AttemptFailure::ALL.iter().filter(|failure| **failure != AttemptFailure::Exhausted);
        let values: Vec<&str> =
            ["status"].into_iter().chain(recorded.map(|failure| failure.as_str())).collect();
        assert_eq!(metric.labels, [("reason", &values[..])]);
    }

    #[test]
    fn each_failure_has_a_distinct_code() {
        let codes: std::collections::BTreeSet<_> =
            AttemptFailure::ALL.iter().map(|failure| failure.as_str()).collect();
        assert_eq!(codes.len(), AttemptFailure::ALL.len());
        assert!(codes.iter().all(|code| code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))));
    }
}
