//! What several sockets have in common, written once.

/// A socket from std's and back, as the system's handle, and as text.
macro_rules! socket {
    ($name:ident, $std:ty) => {
        /// ```
        /// use spinpark::net::TcpListener; // the other sockets have the same two
        ///
        /// # spinpark::run(async {
        /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// let listener = TcpListener::from_std(listener)?;
        /// let _of_std = listener.into_std()?;
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Makes it of std's, which is set to non-blocking mode. It belongs to the caller's runtime from now on.
            ///
            /// # Errors
            /// If the caller is no task, its runtime was shut down, or the system takes no more.
            pub fn from_std(socket: $std) -> io::Result<Self> {
                let netpoll = around::netpoll(concat!(stringify!($name), "::from_std was called"))?;
                socket.set_nonblocking(true)?;
                Registered::new(netpoll, socket).map(Self)
            }

            /// Makes it std's, which is set to blocking mode.
            ///
            /// # Errors
            /// If the system does not set the mode.
            pub fn into_std(self) -> io::Result<$std> {
                let socket = self.0.into_inner();
                socket.set_nonblocking(false)?;
                Ok(socket)
            }
        }

        impl TryFrom<$std> for $name {
            type Error = io::Error;

            /// See [`from_std`](Self::from_std).
            fn try_from(socket: $std) -> io::Result<Self> {
                Self::from_std(socket)
            }
        }

        impl TryFrom<$name> for $std {
            type Error = io::Error;

            /// See `into_std`.
            fn try_from(socket: $name) -> io::Result<Self> {
                socket.into_std()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $name {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.0.get().as_fd()
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $name {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                self.0.get().as_raw_fd()
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsSocket for $name {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                self.0.get().as_socket()
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawSocket for $name {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                self.0.get().as_raw_socket()
            }
        }

        static_assertions::assert_impl_all!($name: Send, Sync, Unpin);
        static_assertions::assert_impl_all!($name: core::panic::UnwindSafe, core::panic::RefUnwindSafe);
    };
}

/// What streams and datagram sockets have: waiting until something can be done.
macro_rules! readiness {
    ($name:ident) => {
        /// # Cancel safety
        /// A wait of these that is dropped has changed nothing.
        ///
        /// ```
        /// use spinpark::io::Interest;
        /// use spinpark::net::unix::UnixStream; // the others have the same
        /// use std::io::Read;
        ///
        /// # spinpark::run(async {
        /// let (one, two) = UnixStream::pair()?;
        /// one.writable().await?;
        /// assert!(one.ready(Interest::WRITABLE).await?.is_writable());
        /// one.write_all(b"hello").await?;
        /// two.readable().await?;
        /// let mut word = [0; 5];
        /// let std = std::os::fd::AsFd::as_fd(&two).try_clone_to_owned()?;
        /// let mut std = std::os::unix::net::UnixStream::from(std);
        /// two.async_io(Interest::READABLE, || std.read(&mut word)).await?;
        /// assert!(two.try_io(Interest::READABLE, || std.read(&mut word)).is_err(), "nothing is left");
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Waits until there may be something to receive. It may turn out that there is not: another task may be
            /// faster.
            ///
            /// # Errors
            /// If the runtime was shut down.
            pub async fn readable(&self) -> io::Result<()> {
                self.0.ready(Direction::Read).await
            }

            /// Waits until there may be room for something to send. It may turn out that there is not: another task
            /// may be faster.
            ///
            /// # Errors
            /// If the runtime was shut down.
            pub async fn writable(&self) -> io::Result<()> {
                self.0.ready(Direction::Write).await
            }

            /// Waits until it is ready for some of what is asked for, and says for what. It may turn out that it is not: another task
            /// else may be faster.
            ///
            /// # Errors
            /// If the runtime was shut down.
            #[cfg(unix)]
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                let directions = (interest.is_readable(), interest.is_writable());
                self.0.io_for(directions, |socket| now(socket, interest)).await
            }

            /// Calls `f` until it does not say [`WouldBlock`](io::ErrorKind::WouldBlock), and waits meanwhile: for system calls
            /// that are not here.
            ///
            /// # Errors
            /// Those of `f`; and if the runtime was shut down.
            ///
            /// # Cancel safety
            /// Dropped before it is ready, `f` has not succeeded: its last call, if there was one, would have blocked.
            #[cfg(unix)]
            pub async fn async_io<R>(&self, interest: Interest, mut f: impl FnMut() -> io::Result<R>) -> io::Result<R> {
                self.0.io_for((interest.is_readable(), interest.is_writable()), |_| f()).await
            }

            /// Calls `f` if it is ready. From any thread.
            ///
            /// # Errors
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if it is not; those of `f`.
            #[cfg(unix)]
            pub fn try_io<R>(&self, interest: Interest, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
                now(self.0.get(), interest)?;
                f()
            }
        }
    };
    ($name:ident, $reads:ident, $writes:ident) => {
        readiness!($name);

        /// ```
        /// # spinpark::run(async {
        /// let (one, _two) = spinpark::net::unix::UnixStream::pair()?;
        /// std::future::poll_fn(|cx| one.poll_write_ready(cx)).await?; // and `poll_read_ready`
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        #[cfg(unix)]
        impl $name {
            /// As [`readable`](Self::readable), for futures written by hand.
            ///
            /// # Errors
            /// If the runtime was shut down.
            pub fn $reads(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.0.poll_io(Direction::Read, cx, |socket| now(socket, Interest::READABLE).map(drop))
            }

            /// As [`writable`](Self::writable), for futures written by hand.
            ///
            /// # Errors
            /// If the runtime was shut down.
            pub fn $writes(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.0.poll_io(Direction::Write, cx, |socket| now(socket, Interest::WRITABLE).map(drop))
            }
        }
    };
}

/// What can be read from: bytes in order.
macro_rules! reads {
    ($name:ident) => {
        /// ```
        /// use std::io::IoSliceMut;
        ///
        /// # spinpark::run(async {
        /// let (reader, writer) = spinpark::io::pipe()?; // sockets have the same
        /// writer.write_all(b"hello, world").await?;
        /// let (mut one, mut two) = ([0; 3], [0; 4]);
        /// reader.read_exact(&mut two).await?;
        /// reader.read_vectored(&mut [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)]).await?;
        /// assert_eq!((&one, &two), (b"o, ", b"worl"));
        /// assert_eq!(reader.read(&mut two).await?, 1);
        /// assert!(reader.try_read(&mut two).is_err(), "nothing is left");
        /// assert!(reader.try_read_vectored(&mut [IoSliceMut::new(&mut one)]).is_err());
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Reads what has come, at least one byte; 0: the peer sends no more, or `buffer` is empty.
            ///
            /// # Errors
            /// Those of the connection; and if the runtime was shut down.
            ///
            /// # Cancel safety
            /// A read that is dropped has read nothing, and `buffer` is as it was.
            pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.stream(Direction::Read, buffer.len(), |mut socket| socket.read(buffer)).await
            }

            /// As [`read`](Self::read), into one buffer after the other.
            ///
            /// # Errors
            /// Those of [`read`](Self::read).
            ///
            /// # Cancel safety
            /// As [`read`](Self::read)'s.
            pub async fn read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                let wanted = at_once(buffers.iter().map(|buffer| buffer.len()));
                self.0.stream(Direction::Read, wanted, |mut socket| socket.read_vectored(buffers)).await
            }

            /// Reads as many bytes as fit `buffer`.
            ///
            /// # Errors
            /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if fewer come; those of [`read`](Self::read).
            ///
            /// # Cancel safety
            /// Dropped before it is ready, what it has read is at the front of `buffer`, and the rest of that is as it was; how
            /// much that is, is lost.
            pub async fn read_exact(&self, mut buffer: &mut [u8]) -> io::Result<()> {
                if buffer.is_empty() {
                    proceed().await;
                }
                while !buffer.is_empty() {
                    match self.read(buffer).await? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        n => buffer = &mut buffer[n..],
                    }
                }
                Ok(())
            }

            /// Reads what has come; 0: the peer sends no more, or `buffer` is empty. Does not wait. From any thread.
            ///
            /// # Errors
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if nothing has come; those of the connection.
            pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.try_io(|mut socket| socket.read(buffer))
            }

            /// As [`try_read`](Self::try_read), into one buffer after the other.
            ///
            /// # Errors
            /// Those of [`try_read`](Self::try_read).
            pub fn try_read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                self.0.try_io(|mut socket| socket.read_vectored(buffers))
            }
        }

        async_read!($name);
        async_read!(&$name);
    };
}

/// What can be written to: bytes in order. `$close` ends the writing.
macro_rules! writes {
    ($name:ident, $close:expr) => {
        /// ```
        /// use std::io::IoSlice;
        ///
        /// # spinpark::run(async {
        /// let (reader, writer) = spinpark::io::pipe()?; // sockets have the same
        /// assert_eq!(writer.write(b"hello").await?, 5);
        /// writer.write_vectored(&[IoSlice::new(b", "), IoSlice::new(b"world")]).await?;
        /// writer.write_all(b"!").await?;
        /// writer.try_write(b"!")?;
        /// writer.try_write_vectored(&[IoSlice::new(b"!")])?;
        /// drop(reader);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Writes some of `bytes`, at least one; how many it returns.
            ///
            /// # Errors
            /// Those of the connection; and if the runtime was shut down.
            ///
            /// # Cancel safety
            /// A write that is dropped has written nothing.
            pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
                self.0.stream(Direction::Write, bytes.len(), |mut socket| socket.write(bytes)).await
            }

            /// As [`write`](Self::write), of one slice after the other, in one system call.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            ///
            /// # Cancel safety
            /// As [`write`](Self::write)'s.
            pub async fn write_vectored(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
                let wanted = at_once(slices.iter().map(|slice| slice.len()));
                self.0.stream(Direction::Write, wanted, |mut socket| socket.write_vectored(slices)).await
            }

            /// Writes all of `bytes`.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            ///
            /// # Cancel safety
            /// Dropped before it is ready, it may have written the front of `bytes`; how much, is lost.
            pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
                if bytes.is_empty() {
                    proceed().await;
                }
                while !bytes.is_empty() {
                    match self.write(bytes).await? {
                        0 => return Err(io::ErrorKind::WriteZero.into()),
                        n => bytes = &bytes[n..],
                    }
                }
                Ok(())
            }

            /// Writes as much of `bytes` as there is room for; how many it returns. Does not wait. From any thread.
            ///
            /// # Errors
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room; those of the connection.
            pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
                self.0.try_io(|mut socket| socket.write(bytes))
            }

            /// As [`try_write`](Self::try_write), of one slice after the other, in one system call.
            ///
            /// # Errors
            /// Those of [`try_write`](Self::try_write).
            pub fn try_write_vectored(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
                self.0.try_io(|mut socket| socket.write_vectored(slices))
            }
        }

        async_write!($name, $close);
        async_write!(&$name, $close);
    };
}

/// A stream: bytes in order, both ways.
macro_rules! stream {
    ($name:ident) => {
        readiness!($name, poll_read_ready, poll_write_ready);
        reads!($name);
        writes!($name, |stream: &$name| match stream.0.get().shutdown(Shutdown::Write) {
            // The peer was faster.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        });

        /// ```
        /// # spinpark::run(async {
        /// let (one, two) = spinpark::net::unix::UnixStream::pair()?;
        /// one.shutdown(std::net::Shutdown::Write)?;
        /// assert_eq!(two.read(&mut [0; 8]).await?, 0);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Ends the connection, or one direction of it: at once, nothing waits.
            ///
            /// # Errors
            /// [`NotConnected`](io::ErrorKind::NotConnected) if it has ended already.
            pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                self.0.get().shutdown(how)
            }
        }
    };
}
