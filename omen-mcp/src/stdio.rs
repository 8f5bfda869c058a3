//! Standard streams of a client, read and written without additional threads where the system allows it.
//!
//! tokio uses one thread to read standard input, another to write, and a third to flush: every message wakes threads, which takes
//! longer than judging a call. Pipes and sockets can be polled instead. Neither approach changes flags that other processes share
//! with this one: on Linux a pipe is reopened, and a socket is asked not to block for each operation. Everything else, such as a
//! terminal or a file, is left to tokio.

use tokio::io::{AsyncRead, AsyncWrite};

/// Stream that a client writes.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;

/// Stream that a client reads.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns the standard streams. Must be called within a tokio runtime with I/O enabled.
#[must_use]
pub fn stdio() -> (Input, Output) {
    let input = direct::input().unwrap_or_else(|| Box::new(tokio::io::stdin()));
    let output = direct::output().unwrap_or_else(|| Box::new(tokio::io::stdout()));
    (input, output)
}

#[cfg(target_os = "linux")]
mod direct {
    use std::fs::OpenOptions;
    use std::os::fd::AsFd;
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::{FileType, OFlags, fstat};
    use tokio::net::unix::pipe;

    use super::socket::Socket;
    use super::{Input, Output};

    pub(super) fn input() -> Option<Input> {
        let stream = rustix::stdio::stdin();
        Some(match kind(stream)? {
            FileType::Fifo => {
                let again = nonblocking().read(true).open("/proc/self/fd/0").ok()?;
                Box::new(pipe::Receiver::from_file(again).ok()?)
            }
            FileType::Socket => Box::new(socket(stream)?),
            _ => return None,
        })
    }

    pub(super) fn output() -> Option<Output> {
        let stream = rustix::stdio::stdout();
        Some(match kind(stream)? {
            // This fails if nobody reads any more.
            FileType::Fifo => {
                let again = nonblocking().write(true).open("/proc/self/fd/1").ok()?;
                Box::new(pipe::Sender::from_file(again).ok()?)
            }
            FileType::Socket => Box::new(socket(stream)?),
            _ => return None,
        })
    }

    fn kind(stream: impl AsFd) -> Option<FileType> {
        Some(FileType::from_raw_mode(fstat(stream).ok()?.st_mode))
    }

    fn socket(stream: impl AsFd) -> Option<Socket> {
        Socket::new(stream.as_fd().try_clone_to_owned().ok()?).ok()
    }

    fn nonblocking() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        options
    }
}

#[cfg(not(target_os = "linux"))]
mod direct {
    use super::{Input, Output};

    pub(super) fn input() -> Option<Input> {
        None
    }

    pub(super) fn output() -> Option<Output> {
        None
    }
}

#[cfg(target_os = "linux")]
mod socket {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use rustix::net::{RecvFlags, SendFlags, recv, send};
    use tokio::io::unix::AsyncFd;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

    /// Socket whose operations never block, whatever its flags say.
    #[derive(Debug)]
    pub(super) struct Socket(AsyncFd<OwnedFd>);

    impl Socket {
        #[expect(
            deprecated,
            reason = "unsound only for types that can lose their descriptor; the replacement is unsafe"
        )]
        pub(super) fn new(file: OwnedFd) -> io::Result<Self> {
            AsyncFd::new(file).map(Self)
        }
    }

    impl AsyncRead for Socket {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.0.poll_read_ready(cx))?;
                let read =
                    ready.try_io(|file| Ok(recv(file.get_ref(), buffer.initialize_unfilled(), RecvFlags::DONTWAIT)?.0));
                if let Ok(read) = read {
                    return Poll::Ready(read.map(|bytes| buffer.advance(bytes)));
                }
            }
        }
    }

    impl AsyncWrite for Socket {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            loop {
                let mut ready = ready!(self.0.poll_write_ready(cx))?;
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                if let Ok(written) = ready.try_io(|file| Ok(send(file.get_ref(), bytes, flags)?)) {
                    return Poll::Ready(written);
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        /// Does nothing: a standard stream is closed when the process ends.
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
