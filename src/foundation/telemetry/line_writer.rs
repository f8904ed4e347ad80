//! Writes the lines of the log in batches, by a thread of its own.
//!
//! A thread that is woken for each line, as that of `tracing-appender`, takes a quarter of the processor time of a busy server.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of bytes that wait to be written.
const MAX_QUEUED_BYTES: usize = 8 * 1024 * 1024;
/// How long the thread collects lines before it writes them.
const COLLECT_WINDOW: Duration = Duration::from_millis(20);
/// How long the end of the process waits until the remaining lines are written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Queues lines. Never waits for the output. Clones share the queue.
#[derive(Clone, Debug)]
pub(super) struct LineWriter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when the first line is queued, and at the end.
    changed: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    is_closed: bool,
}

/// Writes the queued lines on drop, for at most a second.
#[derive(Debug)]
pub struct LogGuard {
    shared: Arc<Shared>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl LineWriter {
    /// Starts the thread that writes to this output.
    pub(super) fn start(output: impl Write + Send + 'static) -> (Self, LogGuard) {
        let shared = Arc::new(Shared::default());
        let (end, ended) = channel();
        let thread_state = Arc::clone(&shared);
        let write_all = move || {
            thread_state.write_batches(output);
            drop(end);
        };
        if let Err(error) = thread::Builder::new().name("log".to_owned()).spawn(write_all) {
            eprintln!("error: the thread that writes the log cannot be started: {error}");
        }
        (Self { shared: Arc::clone(&shared) }, LogGuard { shared, ended })
    }

    /// Returns the number of lines that were dropped because the output was too slow.
    pub(super) fn dropped_lines(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }
}

impl Write for LineWriter {
    /// Queues a line, or drops it when too many are queued.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut queue = self.shared.lock();
        if queue.bytes.len() + line.len() > MAX_QUEUED_BYTES {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            if queue.bytes.is_empty() {
                self.shared.changed.notify_one();
            }
            queue.bytes.extend_from_slice(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code panics while it holds the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all lines until the queue is closed. A line that cannot be written is lost.
    fn write_batches(&self, mut output: impl Write) {
        let mut batch = Vec::new();
        loop {
            let is_empty = |queue: &mut Queue| queue.bytes.is_empty() && !queue.is_closed;
            let queue =
                self.changed.wait_while(self.lock(), is_empty).unwrap_or_else(PoisonError::into_inner);
            let is_open = |queue: &mut Queue| !queue.is_closed;
            let (mut queue, _) = self
                .changed
                .wait_timeout_while(queue, COLLECT_WINDOW, is_open)
                .unwrap_or_else(PoisonError::into_inner);
            let is_closed = queue.is_closed;
            std::mem::swap(&mut queue.bytes, &mut batch);
            drop(queue);
            let _ = output.write_all(&batch).and_then(|()| output.flush());
            batch.clear();
            if is_closed {
                return;
            }
        }
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        // Fails when the thread has ended, which is what this waits for, or after the timeout.
        let _ = self.ended.recv_timeout(CLOSE_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;
    use std::time::Instant;

    use super::*;

    /// Sends each batch to the test. Waits before each until the test permits it.
    struct Batches {
        permits: Receiver<()>,
        batches: Sender<Vec<u8>>,
    }

    impl Write for Batches {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.permits.recv();
            let _ = self.batches.send(bytes.to_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn start() -> (LineWriter, LogGuard, Sender<()>, Receiver<Vec<u8>>) {
        let ((permit, permits), (batches, written)) = (channel(), channel());
        let (writer, guard) = LineWriter::start(Batches { permits, batches });
        (writer, guard, permit, written)
    }

    #[test]
    fn lines_are_written_in_order_and_the_rest_at_the_end() {
        let (mut writer, guard, permit, written) = start();
        writer.write_all(b"1\n").unwrap();
        permit.send(()).unwrap();
        let mut text = written.recv().unwrap();
        for number in 2..=1_000 {
            writeln!(writer, "{number}").unwrap();
        }
        drop(permit);
        drop(guard);
        text.extend(written.iter().flatten());
        let expected: String = (1..=1_000).map(|number| format!("{number}\n")).collect();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
        assert_eq!(writer.dropped_lines(), 0);
    }

    #[test]
    fn a_slow_output_delays_nobody_and_costs_the_lines_that_are_too_many() {
        let (mut writer, guard, permit, written) = start();
        let line = [b'x'; 1_024];
        let started = Instant::now();
        let lines = 3 * MAX_QUEUED_BYTES / line.len();
        (0..lines).for_each(|_| writer.write_all(&line).unwrap());
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
        let dropped = usize::try_from(writer.dropped_lines()).unwrap();
        // One batch is being written, and another one is queued.
        assert!((lines / 3..=2 * lines / 3).contains(&dropped), "{dropped}");
        drop(permit);
        drop(guard);
        assert_eq!(written.iter().map(|batch| batch.len()).sum::<usize>(), (lines - dropped) * line.len());
    }
}
