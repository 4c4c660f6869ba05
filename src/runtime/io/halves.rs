//! The two directions of a stream, each with an owner of its own. tokio: `TcpStream::into_split`.

/// The halves of a stream, written once.
macro_rules! halves {
    ($name:ident) => {
        /// What `into_split` returns of a stream: the end that reads.
        #[derive(Debug)]
        pub struct OwnedReadHalf(Arc<$name>);

        /// What `into_split` returns of a stream: the end that writes. Dropped, it tells the peer that no more will come.
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<$name>,
            closes: bool,
        }

        /// Two halves that are not of one stream. They come back.
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl core::error::Error for ReuniteError {}

        /// ```
        /// use spinpark::net::unix::UnixStream; // a `TcpStream` has the same
        ///
        /// # spinpark::run(async {
        /// let (one, two) = UnixStream::pair()?;
        /// let (reader, writer) = one.into_split();
        /// spinpark::spawn(async move { two.write_all(b"hello").await });
        /// let mut word = [0; 5];
        /// reader.read_exact(&mut word).await?;
        /// let stream: UnixStream = reader.reunite(writer).expect("of one stream");
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// One half to read, and one to write: for two tasks, or for what wants to own a stream. Tasks may as well share the
            /// stream itself, in an [`Arc`], as all its methods take `&self`.
            pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
                let stream = Arc::new(self);
                (OwnedReadHalf(Arc::clone(&stream)), OwnedWriteHalf { stream, closes: true })
            }
        }

        /// ```
        /// # spinpark::run(async {
        /// let (one, two) = spinpark::net::unix::UnixStream::pair()?;
        /// let (reader, writer) = one.into_split();
        /// two.write_all(b"hello").await?;
        /// assert_eq!(reader.read(&mut [0; 2]).await?, 2);
        /// reader.read_exact(&mut [0; 3]).await?;
        /// let (_other, of_another) = two.into_split();
        /// assert!(reader.reunite(of_another).is_err());
        /// drop(writer);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl OwnedReadHalf {
            /// The stream again.
            ///
            /// # Errors
            /// With both, if the other is of another stream.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$name, ReuniteError> {
                if !Arc::ptr_eq(&self.0, &other.stream) {
                    return Err(ReuniteError(self, other));
                }
                let OwnedReadHalf(stream) = self;
                other.forget();
                Ok(Arc::into_inner(stream).expect("net: a stream has two halves"))
            }
        }

        /// ```
        /// # spinpark::run(async {
        /// let (one, _two) = spinpark::net::unix::UnixStream::pair()?;
        /// let (reader, writer) = one.into_split();
        /// assert_eq!(writer.write(b"hello").await?, 5);
        /// writer.write_all(b", world").await?;
        /// let (reader, writer) = writer.reunite(reader).expect("of one stream").into_split();
        /// writer.forget(); // the peer is not told
        /// drop(reader);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl OwnedWriteHalf {
            /// The stream again.
            ///
            /// # Errors
            /// With both, if the other is of another stream.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$name, ReuniteError> {
                other.reunite(self)
            }

            /// Drops it, and does not tell the peer: the stream is closed with the other half.
            pub fn forget(mut self) {
                self.closes = false;
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.closes {
                    // One that has ended already needs not be told.
                    let _ = self.stream.shutdown(Shutdown::Write);
                }
            }
        }

        /// The stream, with all that it can do but to be ended or given away.
        impl AsRef<$name> for OwnedReadHalf {
            fn as_ref(&self) -> &$name {
                &self.0
            }
        }

        /// The stream, with all that it can do but to be ended or given away.
        impl AsRef<$name> for OwnedWriteHalf {
            fn as_ref(&self) -> &$name {
                &self.stream
            }
        }

        impl OwnedReadHalf {
            /// As the stream's.
            ///
            /// # Errors
            /// As the stream's.
            ///
            /// # Cancel safety
            /// As the stream's.
            pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.read(buffer).await
            }

            /// As the stream's.
            ///
            /// # Errors
            /// As the stream's.
            ///
            /// # Cancel safety
            /// As the stream's.
            pub async fn read_exact(&self, buffer: &mut [u8]) -> io::Result<()> {
                self.0.read_exact(buffer).await
            }
        }

        impl OwnedWriteHalf {
            /// As the stream's.
            ///
            /// # Errors
            /// As the stream's.
            ///
            /// # Cancel safety
            /// As the stream's.
            pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
                self.stream.write(bytes).await
            }

            /// As the stream's.
            ///
            /// # Errors
            /// As the stream's.
            ///
            /// # Cancel safety
            /// As the stream's.
            pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
                self.stream.write_all(bytes).await
            }
        }

        impl AsyncRead for OwnedReadHalf {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.0).poll_read(cx, buffer)
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.0).poll_read_vectored(cx, buffers)
            }
        }

        impl AsyncWrite for OwnedWriteHalf {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.stream).poll_write(cx, bytes)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.stream).poll_write_vectored(cx, slices)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut &*self.stream).poll_flush(cx)
            }

            /// Tells the peer that no more will come, now and not again when this is dropped.
            fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let closed = Pin::new(&mut &*self.stream).poll_close(cx);
                self.closes &= !matches!(closed, Poll::Ready(Ok(())));
                closed
            }
        }

        static_assertions::assert_impl_all!(OwnedReadHalf: Send, Sync, Unpin);
        static_assertions::assert_impl_all!(OwnedWriteHalf: Send, Sync, Unpin);
    };
}
