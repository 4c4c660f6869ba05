//! A client of PostgreSQL, tokio-postgres, over streams of ours, and by tokio's runtime; against a real server.

mod server;

use super::run;
use futures_lite::future;
use server::Server;
use spinpark::net::unix::UnixStream;
use spinpark::sync::oneshot;
use spinpark::tokio_compat::{CompatExt, Io};
use spinpark::{JoinHandle, join, spawn, time};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};

/// The server of all tests that do it no harm, as long as one of them runs.
fn shared() -> Option<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(Server::start()?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

/// A client, and the task of its connection.
type Connected = (Client, JoinHandle<Result<(), Error>>);

async fn try_connect(socket: PathBuf) -> Result<Connected, Box<dyn std::error::Error + Send + Sync>> {
    let stream = Io::new(UnixStream::connect(socket).await?);
    let mut config = Config::new();
    let (client, connection) = config.user("postgres").dbname("postgres").connect_raw(stream, NoTls).await?;
    Ok((client, spawn(connection)))
}

/// Connects, if need be as soon as the server has begun.
async fn connect(server: &Server) -> Connected {
    let until = Instant::now() + Duration::from_secs(40);
    loop {
        match try_connect(server.socket()).await {
            Ok(connected) => return connected,
            Err(_) if Instant::now() < until => time::sleep(Duration::from_millis(20)).await,
            Err(error) => panic!("{error}: {}", server.log()),
        }
    }
}

/// What `select count(*)` says.
async fn count(client: &Client, table: &str) -> i64 {
    client.query_one(&format!("select count(*) from {table}"), &[]).await.expect("a count").get(0)
}

mod queries {
    use super::*;

    /// All of them on one connection: none waits for the answer of another, and each is given its own.
    #[test]
    fn of_thirty_two_tasks_are_answered_to_who_asked() {
        let Some(server) = shared() else { return };
        run(async {
            let (client, connection) = connect(&server).await;
            let client = Arc::new(client);
            let tasks: Vec<_> = (0..32i64)
                .map(|n| {
                    let client = client.clone();
                    spawn(async move {
                        let statement = client.prepare("select $1::int8 * 2, repeat('x', $2::int4)").await?;
                        for round in 0..20i64 {
                            let length = ((n * 97 + round * 31) % 3000) as i32;
                            let (one, other) = join!(
                                async { client.query_one(&statement, &[&(n * 1000 + round), &length]).await },
                                async { client.query_one("select $1::int8", &[&n]).await },
                            );
                            let (row, other) = (one?, other?);
                            assert_eq!(row.get::<_, i64>(0), (n * 1000 + round) * 2);
                            assert_eq!(row.get::<_, &str>(1).len(), length as usize);
                            assert_eq!(other.get::<_, i64>(0), n);
                        }
                        Ok::<_, Error>(())
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("no panic").expect("no error");
            }
            drop(client);
            connection.await.expect("no panic").expect("the connection ends well");
        });
    }

    #[test]
    fn that_are_wrong_say_why_and_the_next_is_answered() {
        let Some(server) = shared() else { return };
        run(async {
            let (client, _connection) = connect(&server).await;
            let error = client.query("select * from there_is_none", &[]).await.expect_err("there is none");
            assert_eq!(error.code(), Some(&SqlState::UNDEFINED_TABLE), "{error}");
            client.query_one("select 1", &[]).await.expect("an answer");
        });
    }

    /// They wait for the server, not for its socket: that goes on.
    #[test]
    fn that_are_cancelled_end_with_an_error_and_the_connection_is_good() {
        let Some(server) = shared() else { return };
        run(async {
            let (client, _connection) = connect(&server).await;
            let cancel = client.cancel_token();
            let socket = server.socket();
            // One that comes before the query has begun cancels nothing: so again and again.
            let cancels = async {
                loop {
                    time::sleep(Duration::from_millis(50)).await;
                    let stream = UnixStream::connect(&socket).await.expect("connected");
                    cancel.cancel_query_raw(Io::new(stream), NoTls).await.expect("sent");
                }
            };
            let cancelled = future::or(client.query("select pg_sleep(50)", &[]), cancels).await;
            let error = cancelled.expect_err("it was cancelled");
            assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED), "{error}");
            client.query_one("select 1", &[]).await.expect("an answer");
        });
    }

    /// tokio-postgres connects by itself: with a socket of tokio's.
    #[test]
    fn over_a_socket_of_tokios_are_answered_in_its_context() {
        let Some(server) = shared() else { return };
        run(async {
            drop(connect(&server).await); // it has begun
            let config = format!("host={} user=postgres dbname=postgres", server.folder().display());
            let (client, connection) =
                tokio_postgres::connect(&config, NoTls).compat().await.expect("connected by tokio's sockets");
            let connection = spawn(connection.compat());
            let row = client.query_one("select 6 * 7", &[]).await.expect("an answer");
            assert_eq!(row.get::<_, i32>(0), 42);
            drop(client);
            connection.await.expect("no panic").expect("the connection ends well");
        });
    }
}

mod a_transaction {
    use super::*;

    /// 32 tasks, each with a connection, move money between eight accounts: none is lost, and none seen twice.
    #[test]
    fn is_all_or_nothing_beside_thirty_one_others() {
        let Some(server) = shared() else { return };
        run(async {
            let (client, _connection) = connect(&server).await;
            let table = "create table accounts as select id, 100 as balance from generate_series(0, 7) id";
            client.batch_execute(table).await.expect("a table");
            let tasks: Vec<_> = (0..32)
                .map(|n| {
                    let server = server.clone();
                    spawn(async move {
                        let (mut client, _connection) = connect(&server).await;
                        for round in 0..10 {
                            transfer(&mut client, n, round).await.expect("no error");
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("no panic");
            }
            let row = client.query_one("select sum(balance), count(*) from accounts", &[]).await.expect("a sum");
            assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (800, 8));
        });
    }

    /// Rows are locked in the order of their numbers, so that the server has no deadlock to end. Each third time it is undone.
    async fn transfer(client: &mut Client, task: i32, round: i32) -> Result<(), Error> {
        let (from, to) = ((task + round) % 8, (task * 3 + round * 5 + 1) % 8);
        let (low, high) = (from.min(to), from.max(to));
        let transaction = client.transaction().await?;
        for id in [low, high] {
            transaction.execute("select from accounts where id = $1 for update", &[&id]).await?;
        }
        transaction.execute("update accounts set balance = balance - 1 where id = $1", &[&from]).await?;
        if round % 3 == 0 {
            return transaction.rollback().await;
        }
        transaction.execute("update accounts set balance = balance + 1 where id = $1", &[&to]).await?;
        transaction.commit().await
    }

    async fn begins_and_never_ends(client: &mut Client, table: &str, begun: oneshot::Sender<()>) {
        let transaction = client.transaction().await.expect("a transaction");
        transaction.batch_execute(&format!("insert into {table} values (1)")).await.expect("inserted");
        let seen = transaction.query_one(&format!("select count(*) from {table}"), &[]).await.expect("a count");
        assert_eq!(seen.get::<_, i64>(0), 1, "it sees what it does itself");
        begun.send(()).expect("it is awaited");
        future::pending().await
    }

    #[test]
    fn is_rolled_back_if_its_future_is_dropped() {
        let Some(server) = shared() else { return };
        run(async {
            let (mut client, _connection) = connect(&server).await;
            client.batch_execute("create table dropped (n int)").await.expect("a table");
            let (begun, begins) = oneshot::channel();
            let begins = async { begins.await.expect("it begins") };
            future::or(begins_and_never_ends(&mut client, "dropped", begun), begins).await;
            assert_eq!(count(&client, "dropped").await, 0);
            // The same connection has no transaction any more.
            client.batch_execute("insert into dropped values (2)").await.expect("inserted");
            let (other, _connection) = connect(&server).await;
            assert_eq!(count(&other, "dropped").await, 1);
        });
    }

    #[test]
    fn is_rolled_back_if_its_task_is_aborted() {
        let Some(server) = shared() else { return };
        run(async {
            let (client, _connection) = connect(&server).await;
            client.batch_execute("create table aborted (n int)").await.expect("a table");
            let (mut other, connection) = connect(&server).await;
            let (begun, begins) = oneshot::channel();
            let task = spawn(async move { begins_and_never_ends(&mut other, "aborted", begun).await });
            begins.await.expect("it begins");
            task.abort();
            task.await.expect_err("it was aborted");
            // The client went with its task, so the connection ends, and the table is free: else this would wait for ever.
            connection.await.expect("no panic").expect("the connection ends well");
            client.batch_execute("begin; lock table aborted; commit").await.expect("it is free");
            assert_eq!(count(&client, "aborted").await, 0);
        });
    }
}

mod a_server_that_ends {
    use super::*;

    /// One process of it is killed; it ends the others, and begins anew.
    #[test]
    fn amid_queries_gives_errors_to_all_and_serves_again() {
        let Some(mut server) = Server::start() else { return };
        run(async {
            let mut tasks = Vec::new();
            let mut victim = 0;
            for _ in 0..8 {
                let (client, connection) = connect(&server).await;
                victim = client.query_one("select pg_backend_pid()", &[]).await.expect("an answer").get(0);
                tasks.push(spawn(async move {
                    let error = client.query("select pg_sleep(50)", &[]).await.expect_err("it ends before");
                    let _ = connection.await.expect("no panic");
                    assert!(client.is_closed());
                    let next = client.query("select 1", &[]).await.expect_err("it is closed");
                    assert!(next.is_closed(), "{next}");
                    error
                }));
            }
            time::sleep(Duration::from_millis(100)).await;
            let victim = rustix::process::Pid::from_raw(victim).expect("a process");
            rustix::process::kill_process(victim, rustix::process::Signal::KILL).expect("it is ours");
            for task in tasks {
                let error = task.await.expect("no panic");
                let crash = error.code() == Some(&SqlState::CRASH_SHUTDOWN);
                assert!(crash || error.is_closed() || std::error::Error::source(&error).is_some(), "{error:?}");
            }
            let (client, _connection) = connect(&server).await;
            client.query_one("select 1", &[]).await.expect("it serves again");

            let asks = spawn(async move { client.query("select pg_sleep(50)", &[]).await.map(drop) });
            time::sleep(Duration::from_millis(100)).await;
            let socket = server.socket();
            spinpark::blocking(|| server.stop());
            let error = asks.await.expect("no panic").expect_err("it has ended");
            assert!(!error.to_string().is_empty(), "{error:?}");
            assert!(try_connect(socket).await.is_err(), "no socket listens");
        });
    }
}
