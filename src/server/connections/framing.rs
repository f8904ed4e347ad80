//! Finds where each request of a connection begins and ends in the bytes received so far.

use super::chunks::Chunks;
use super::head::{self, BodyKind, HeadValidation};
use web::rejection::Rejection;

/// The position in the sequence of requests of one connection.
#[derive(Debug)]
pub(super) struct Framing {
    state: FramingState,
    /// The number of accepted request heads.
    heads: u64,
}

#[derive(Debug, Clone, Copy)]
enum FramingState {
    /// At the start of a request.
    Head,
    /// In a body with this number of remaining bytes.
    Body(u64),
    /// In a chunked body.
    Chunks(Chunks),
}

/// Why [`Framing::accept`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    /// All bytes were accepted.
    AllAccepted,
    /// The next bytes start a head that is not complete.
    Partial,
    /// The next bytes start a request that is rejected.
    Rejected(Rejection),
    /// The next bytes do not continue the chunked body.
    MalformedBody,
}

impl Framing {
    /// The position at the start of a connection.
    pub(super) const START: Self = Self { state: FramingState::Head, heads: 0 };

    /// Returns the number of accepted request heads.
    pub(super) fn heads(&self) -> u64 {
        self.heads
    }

    /// Returns whether the next byte starts a request.
    pub(super) fn is_between_requests(&self) -> bool {
        matches!(self.state, FramingState::Head)
    }

    /// Validates bytes. Returns how many bytes at the start are accepted, and why the validation stopped.
    pub(super) fn accept(&mut self, bytes: &[u8]) -> (usize, StopReason) {
        let mut position = 0;
        while position < bytes.len() {
            let remaining = &bytes[position..];
            match &mut self.state {
                FramingState::Head => match head::validate(remaining) {
                    HeadValidation::Partial => return (position, StopReason::Partial),
                    HeadValidation::Rejected(rejection) => {
                        return (position, StopReason::Rejected(rejection));
                    }
                    HeadValidation::Valid(length, body) => {
                        position += length;
                        self.heads += 1;
                        self.state = match body {
                            BodyKind::Sized(0) => FramingState::Head,
                            BodyKind::Sized(length) => FramingState::Body(length),
                            BodyKind::Chunked => FramingState::Chunks(Chunks::START),
                        };
                    }
                },
                FramingState::Body(bytes_left) => {
                    let consumed = usize::try_from(*bytes_left)
                        .map_or(remaining.len(), |left| left.min(remaining.len()));
                    position += consumed;
                    *bytes_left -= consumed as u64;
                    if *bytes_left == 0 {
                        self.state = FramingState::Head;
                    }
                }
                FramingState::Chunks(chunks) => match chunks.advance(remaining) {
                    Ok(consumed) => {
                        position += consumed;
                        if chunks.is_end() {
                            self.state = FramingState::Head;
                        }
                    }
                    Err((consumed, _)) => return (position + consumed, StopReason::MalformedBody),
                },
            }
        }
        (position, StopReason::AllAccepted)
    }
}
