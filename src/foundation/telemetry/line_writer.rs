//! Writes the lines of the log in batches, by a thread of its own.
//!
//! A thread that is woken for each line, as that of `tracing-appender`, takes a quarter of the processor time of a busy server.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of bytes that wait to be written.
const MAX_QUEUED_BYTES: usize = 8 * 1024 * 1024;
/// The capacity that a buffer keeps after a burst, in bytes.
const KEPT_BYTES: usize = 64 * 1024;
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
    /// Notified when the first line is queued, when lines are written, and at the end.
    changed: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Whether the thread is writing lines that it has taken.
    is_writing: bool,
    /// Whether no further lines are accepted.
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
            shared.lock().is_closed = true;
        }
        (Self { shared: Arc::clone(&shared) }, LogGuard { shared, ended })
    }

    /// Waits until all queued lines are written, for at most a second.
    pub(super) fn wait_until_written(&self) {
        let is_pending =
            |queue: &mut Queue| !queue.is_closed && (queue.is_writing || !queue.bytes.is_empty());
        drop(self.shared.changed.wait_timeout_while(self.shared.lock(), CLOSE_TIMEOUT, is_pending));
    }

    /// Returns the number of lines that were dropped because the output was too slow or failed.
    pub(super) fn dropped_lines(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }
}

impl Write for LineWriter {
    /// Queues a line, or drops it when too many are queued.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut queue = self.shared.lock();
        if queue.is_closed || queue.bytes.len() + line.len() > MAX_QUEUED_BYTES {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            if queue.bytes.is_empty() {
                self.shared.changed.notify_all();
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

    /// Writes all lines until the queue is closed.
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
            queue.is_writing = true;
            std::mem::swap(&mut queue.bytes, &mut batch);
            drop(queue);
            self.write_batch(&mut output, &batch);
            batch.clear();
            // After a burst, the buffers would otherwise stay large.
            batch.shrink_to(KEPT_BYTES);
            self.lock().is_writing = false;
            self.changed.notify_all();
            if is_closed {
                return;
            }
        }
    }

    /// Writes lines. Waits while a pipe that does not block is full. Lines that cannot be written are counted as dropped.
    fn write_batch(&self, output: &mut impl Write, mut batch: &[u8]) {
        while !batch.is_empty() {
            match output.write(batch) {
                Ok(written) if written > 0 => batch = &batch[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(COLLECT_WINDOW),
                Ok(_) | Err(_) => {
                    let lines = batch.iter().filter(|byte| **byte == b'\n').count();
                    self.dropped.fetch_add(lines as u64, Ordering::Relaxed);
                    return;
                }
            }
        }
        let _ = output.flush();
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
    fn a_slow_output_delays_nobody_and_lines_beyond_the_limit_are_dropped() {
        let (mut writer, guard, permit, written) = start();
        let mut line = [b'x'; 1_024];
        line[1_023] = b'\n';
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

    /// Fails after the first three bytes.
    struct BrokenOutput(usize);

    impl Write for BrokenOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Ok(3.min(bytes.len())),
                2 => Err(ErrorKind::WouldBlock.into()),
                _ => Err(ErrorKind::StorageFull.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_cannot_be_written_and_lines_after_the_end_are_counted_as_dropped() {
        let (mut writer, guard) = LineWriter::start(BrokenOutput(0));
        writer.write_all(b"1\n").unwrap();
        writer.write_all(b"2\n").unwrap();
        writer.wait_until_written();
        assert_eq!(writer.dropped_lines(), 1, "the first line was written");
        drop(guard);
        writer.write_all(b"3\n").unwrap();
        assert_eq!(writer.dropped_lines(), 2);
    }
}
