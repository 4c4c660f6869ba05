//! A WebSocket whose writes take only so long, and whose end the client hears.

use async_tungstenite::WebSocketStream;
use async_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use async_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use async_tungstenite::tungstenite::{Bytes, Error, Message};
use futures_lite::{AsyncReadExt, AsyncWriteExt, StreamExt};
use spinpark::net::TcpStream;
use spinpark::time::timeout;
use std::time::Duration;

/// So long it is waited for a client's answer to the end.
const FAREWELL: Duration = Duration::from_secs(2);

pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// So long a client may take nothing.
    patience: Duration,
}

/// The client is gone, or takes nothing.
#[derive(Debug)]
pub(crate) struct Gone;

impl Socket {
    /// Of a connection on which so much was read already.
    pub(crate) async fn new(stream: TcpStream, read: Vec<u8>, max_message: usize, patience: Duration) -> Socket {
        let config = WebSocketConfig::default()
            .max_message_size(Some(max_message))
            .max_frame_size(Some(max_message))
            .read_buffer_size(4096)
            .write_buffer_size(0);
        let stream = WebSocketStream::from_partially_read(stream, read, Role::Server, Some(config)).await;
        Socket { stream, patience }
    }

    /// The next message. A future that is dropped has lost none.
    pub(crate) async fn next(&mut self) -> Option<Result<Message, Error>> {
        self.stream.next().await
    }

    pub(crate) async fn text(&mut self, text: &str) -> Result<(), Gone> {
        self.send(Message::text(text)).await
    }

    /// Is anybody there? An answer is a message.
    pub(crate) async fn ping(&mut self) -> Result<(), Gone> {
        self.send(Message::Ping(Bytes::new())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        match timeout(self.patience, self.stream.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    /// Says why it is over, and reads until the client has closed: if a connection is dropped while something on it is unread, the
    /// system takes back what was written last.
    pub(crate) async fn close(mut self, code: CloseCode, reason: &'static str) {
        let farewell = async {
            let frame = CloseFrame { code, reason: reason.into() };
            let _ = self.stream.close(Some(frame)).await;
            let stream = self.stream.get_mut();
            let _ = stream.close().await;
            let mut unread = [0; 4096];
            while matches!(stream.read(&mut unread).await, Ok(1..)) {}
        };
        let _ = timeout(FAREWELL, farewell).await;
    }
}
