//! Where each request of a connection begins and ends, as far as its bytes have arrived.

use super::chunks::Chunks;
use super::head::{self, BodyKind, Verdict};
use web::rejection::Rejection;

/// The position in the sequence of requests of one connection.
#[derive(Debug)]
pub(super) struct Framing {
    state: State,
    heads: u64,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Head,
    Body(u64),
    Chunks(Chunks),
}

/// Why the bytes after the accepted ones were not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// All bytes were accepted.
    Nowhere,
    /// They begin a head that is not complete.
    Partial,
    /// They begin a request that is refused.
    Refused(Rejection),
    /// They are not a continuation of the chunked body.
    MalformedBody,
}

impl Framing {
    /// The beginning of a connection.
    pub(super) const START: Self = Self { state: State::Head, heads: 0 };

    /// How many heads were accepted.
    pub(super) fn heads(&self) -> u64 {
        self.heads
    }

    /// Whether the next byte begins a request.
    pub(super) fn is_between_requests(&self) -> bool {
        matches!(self.state, State::Head)
    }

    /// Accepts bytes from the beginning on; returns how many, and why not more.
    pub(super) fn accept(&mut self, bytes: &[u8]) -> (usize, Stop) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match &mut self.state {
                State::Head => match head::validate(rest) {
                    Verdict::Partial => return (at, Stop::Partial),
                    Verdict::Refused(rejection) => return (at, Stop::Refused(rejection)),
                    Verdict::Valid(length, body) => {
                        at += length;
                        self.heads += 1;
                        self.state = match body {
                            BodyKind::Sized(0) => State::Head,
                            BodyKind::Sized(length) => State::Body(length),
                            BodyKind::Chunked => State::Chunks(Chunks::START),
                        };
                    }
                },
                State::Body(left) => {
                    let taken = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                    at += taken;
                    *left -= taken as u64;
                    if *left == 0 {
                        self.state = State::Head;
                    }
                }
                State::Chunks(chunks) => match chunks.advance(rest) {
                    Ok(taken) => {
                        at += taken;
                        if chunks.is_end() {
                            self.state = State::Head;
                        }
                    }
                    Err((taken, _)) => return (at + taken, Stop::MalformedBody),
                },
            }
        }
        (at, Stop::Nowhere)
    }
}
