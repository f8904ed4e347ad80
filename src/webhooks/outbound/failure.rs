//! Why an attempt had no answer: a closed list, told from what the client's layers say.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

use rustix::io::Errno;

use super::resolver::{Nowhere, Refused};

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The address is no `http` or `https` URL that can be called: it carries credentials, a fragment or port 0.
    BadUrl,
    /// No secret of the subscription can be opened, so that nothing could be signed.
    NoSecret,
    /// The address, or one behind the name, may not be called.
    ForbiddenAddress,
    /// The name leads to no address.
    Dns,
    /// Nobody took the connection.
    Connect,
    /// TLS could not be agreed upon, or the certificate is not to be believed.
    Tls,
    /// The connection was reset.
    Reset,
    /// The connection was closed before the head of an answer was there.
    Closed,
    /// What came is no HTTP answer.
    Protocol,
    /// The deadline passed before the head of an answer was there.
    Timeout,
    /// This machine had nothing left to make a connection with: no file, no memory, no turn to look up a name. It is not the
    /// receiver's fault, and never recorded.
    Exhausted,
}

impl Failure {
    /// Every one.
    pub const ALL: &[Self] = &[
        Self::BadUrl,
        Self::NoSecret,
        Self::ForbiddenAddress,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Reset,
        Self::Closed,
        Self::Protocol,
        Self::Timeout,
        Self::Exhausted,
    ];

    /// Its name in the log of deliveries and on pages, where [`Self::Exhausted`] never stands; never changed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadUrl => "bad_url",
            Self::NoSecret => "no_secret",
            Self::ForbiddenAddress => "forbidden_address",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::Protocol => "protocol",
            Self::Timeout => "timeout",
            Self::Exhausted => "exhausted",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tells the failure from the client's error: the innermost cause that is known decides.
pub(super) fn of(error: &reqwest::Error) -> Failure {
    if error.is_builder() {
        return Failure::BadUrl;
    }
    if error.is_timeout() {
        return Failure::Timeout;
    }
    let mut told = if error.is_dns() {
        Failure::Dns
    } else if error.is_connect() {
        Failure::Connect
    } else {
        Failure::Protocol
    };
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        told = cause_of(cause, error.is_connect()).unwrap_or(told);
        // An I/O error does not show what it wraps as its source.
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| cause.source());
    }
    told
}

fn cause_of(cause: &(dyn Error + 'static), connecting: bool) -> Option<Failure> {
    if cause.is::<Refused>() {
        return Some(Failure::ForbiddenAddress);
    }
    if cause.is::<rustls::Error>() {
        return Some(Failure::Tls);
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        let closed = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
        return closed.then_some(Failure::Closed);
    }
    if cause.downcast_ref::<Nowhere>().is_some_and(|nowhere| nowhere.exhausted) {
        return Some(Failure::Exhausted);
    }
    let error = cause.downcast_ref::<io::Error>()?;
    if is_exhausted(error) {
        return Some(Failure::Exhausted);
    }
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            Some(Failure::Reset)
        }
        ErrorKind::TimedOut => Some(Failure::Timeout),
        // The connection stands, but the handshake ends early.
        ErrorKind::UnexpectedEof if connecting => Some(Failure::Tls),
        ErrorKind::UnexpectedEof => Some(Failure::Closed),
        _ => None,
    }
}

/// Whether it tells of this machine that it has nothing left: no file, no memory.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].contains(&errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_has_no_file_left_is_told_from_a_receiver_that_is_not_there() {
        let told = |errno: Errno| cause_of(&io::Error::from(errno), true);
        assert_eq!(told(Errno::MFILE), Some(Failure::Exhausted));
        assert_eq!(told(Errno::NOBUFS), Some(Failure::Exhausted));
        assert_eq!((told(Errno::CONNREFUSED), told(Errno::CONNRESET)), (None, Some(Failure::Reset)));
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = Failure::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(names.len(), Failure::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'))));
    }
}
