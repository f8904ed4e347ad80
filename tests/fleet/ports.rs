//! Free local ports.
//!
//! The ports are below the range from which the system assigns ports to outgoing connections, so that a restarted process can
//! listen on its port again.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

const FIRST: u16 = 18_000;
const LAST: u16 = 31_999;

/// Returns a port on which nothing listens. Each call returns another port until all have been returned.
///
/// # Errors
/// Returns an error when no port is free.
pub fn free_port() -> Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let count = LAST - FIRST + 1;
    // Two runs on the same machine start at different ports.
    let start = std::process::id().wrapping_mul(97);
    for _ in 0..count {
        let number = u32::from(NEXT.fetch_add(1, Ordering::Relaxed)).wrapping_add(start) % u32::from(count);
        let port = FIRST + u16::try_from(number)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port from {FIRST} to {LAST} is free")
}
