//! Streams and sinks as futures 0.3 has them: the ends of channels, [`Interval`](crate::time::Interval), and
//! [`Incoming`](crate::net::Incoming).

mod channels;
mod endless;

pub use channels::{ReceiverStream, SenderSink};
