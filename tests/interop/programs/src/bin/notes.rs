//! Notes in a database: axum and sqlx (SQLite), as their users write them. SIGTERM ends it when the requests of then are answered.
//!
//! `notes FILE` prints where it listens.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[derive(Deserialize)]
struct New {
    text: String,
}

#[derive(Serialize, sqlx::FromRow)]
struct Note {
    id: i64,
    text: String,
}

type Answer<T> = Result<T, (StatusCode, String)>;

fn failed(error: sqlx::Error) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

async fn add(State(pool): State<SqlitePool>, Json(new): Json<New>) -> Answer<(StatusCode, Json<Note>)> {
    let mut transaction = pool.begin().await.map_err(failed)?;
    let inserts = sqlx::query_as("insert into notes (text) values (?) returning id, text").bind(new.text);
    let note: Note = inserts.fetch_one(&mut *transaction).await.map_err(failed)?;
    // A little work in the middle of the transaction.
    tokio::time::sleep(Duration::from_micros(200)).await;
    transaction.commit().await.map_err(failed)?;
    Ok((StatusCode::CREATED, Json(note)))
}

async fn show(State(pool): State<SqlitePool>, Path(id): Path<i64>) -> Answer<Json<Note>> {
    let selects = sqlx::query_as("select id, text from notes where id = ?").bind(id);
    let note: Option<Note> = selects.fetch_optional(&pool).await.map_err(failed)?;
    note.map(Json).ok_or((StatusCode::NOT_FOUND, format!("no note has the number {id}")))
}

#[cfg_attr(not(feature = "on-tokio"), spinpark::main(tokio))]
#[cfg_attr(feature = "on-tokio", tokio::main)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("say in which file the notes are")?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(30));
    let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
    sqlx::query("create table if not exists notes (id integer primary key, text text not null)").execute(&pool).await?;

    let routes = Router::new().route("/notes", post(add)).route("/notes/{id}", get(show)).with_state(pool.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);
    let mut terminated = signal(SignalKind::terminate())?;
    axum::serve(listener, routes)
        .with_graceful_shutdown(async move {
            terminated.recv().await;
        })
        .await?;
    pool.close().await;
    println!("ended");
    Ok(())
}
