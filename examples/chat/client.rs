//! One client, from its first message to its end.

use crate::http::Server;
use crate::protocol::{Reply, Request, name};
use crate::rooms::Member;
use crate::socket::{Gone, Socket};
use async_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use async_tungstenite::tungstenite::{Error, Message};
use spinpark::sync::broadcast::{Receiver, RecvError};
use spinpark::{select, time};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long a client may take to come into a room.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why it is over.
enum Over {
    /// The client has closed, or is not there any more.
    Gone,
    /// We close, for this reason.
    Close(CloseCode, &'static str),
}

impl From<Gone> for Over {
    fn from(Gone: Gone) -> Over {
        Over::Gone
    }
}

pub(crate) async fn talk(mut socket: Socket, server: &Server) {
    let over = match enter(&mut socket, server).await {
        Ok((member, said)) => stay(&mut socket, server, member, said).await,
        Err(over) => over,
    };
    if let Over::Close(code, reason) = over {
        socket.close(code, reason).await;
    }
}

/// Until the client is in a room.
async fn enter(socket: &mut Socket, server: &Server) -> Result<(Member, Receiver<Arc<str>>), Over> {
    let until = Instant::now() + PATIENCE;
    loop {
        let message = select! {
            message = socket.next() => message,
            _ = server.ends.cancelled() => return Err(AWAY),
            _ = time::sleep_until(until) => return Err(Over::Close(CloseCode::Policy, "you have not joined a room")),
        };
        let joined = match request(message)? {
            Some(Ok(Request::Join { room, name: person })) => {
                let names = name("the room", &room).and_then(|room| Ok((room, name("the name", &person)?)));
                names.and_then(|(room, person)| Ok(server.rooms.join(room, person)?))
            }
            Some(Ok(Request::Say { .. })) => Err("you are in no room: join one first".into()),
            Some(Err(error)) => Err(error),
            None => continue,
        };
        match joined {
            Ok((member, welcome, said)) => {
                socket.text(&welcome).await?;
                return Ok((member, said));
            }
            Err(text) => socket.text(&Reply::Error { text: &text }.json()).await?,
        }
    }
}

const AWAY: Over = Over::Close(CloseCode::Away, "the server ends");

/// In the room.
async fn stay(socket: &mut Socket, server: &Server, member: Member, mut said: Receiver<Arc<str>>) -> Over {
    let mut pings = time::interval(server.options.ping);
    let mut heard = Instant::now();
    loop {
        let done = select! {
            message = socket.next() => {
                heard = Instant::now();
                hear(socket, &member, message).await
            }
            line = said.recv() => match line {
                Ok(line) => socket.text(&line).await.map_err(Over::from),
                Err(RecvError::Lagged(count)) => socket.text(&member.missed(count)).await.map_err(Over::from),
                // The room lives as long as its members.
                Err(RecvError::Closed) => Err(Over::Gone),
            },
            _ = pings.tick() => match heard.elapsed() > server.options.ping * 2 {
                true => Err(Over::Close(CloseCode::Policy, "you do not answer")),
                false => socket.ping().await.map_err(Over::from),
            },
            _ = server.ends.cancelled() => Err(AWAY),
        };
        if let Err(over) = done {
            return over;
        }
    }
}

async fn hear(socket: &mut Socket, member: &Member, message: Option<Result<Message, Error>>) -> Result<(), Over> {
    let error = match request(message)? {
        Some(Ok(Request::Say { text })) if !text.trim().is_empty() => {
            member.say(text);
            return Ok(());
        }
        Some(Ok(Request::Say { .. })) => "there is nothing in it".into(),
        Some(Ok(Request::Join { .. })) => "you are in a room: connect once more for another".into(),
        Some(Err(error)) => error,
        None => return Ok(()),
    };
    Ok(socket.text(&Reply::Error { text: &error }.json()).await?)
}

/// What a message asks for. `None`: nothing, it is a ping, a pong or a close, which tungstenite answers when it is asked for the next.
fn request(message: Option<Result<Message, Error>>) -> Result<Option<Result<Request, String>>, Over> {
    match message {
        Some(Ok(Message::Text(text))) => {
            Ok(Some(serde_json::from_str(&text).map_err(|error| format!("this cannot be understood: {error}"))))
        }
        Some(Ok(Message::Binary(_))) => Err(Over::Close(CloseCode::Unsupported, "text is wanted")),
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => Ok(None),
        Some(Err(Error::Capacity(_))) => Err(Over::Close(CloseCode::Size, "the message is too long")),
        Some(Err(Error::Utf8(_))) => Err(Over::Close(CloseCode::Invalid, "the text is not UTF-8")),
        Some(Err(Error::Protocol(_))) => Err(Over::Close(CloseCode::Protocol, "this is not the protocol")),
        Some(Err(_)) | None => Err(Over::Gone),
    }
}
