//! A record as one page that needs nothing but itself: no network, no font, and no script but for filters.

mod every_size;
mod frame;
mod matrix;
mod museum;
mod picture;
mod rooms;
mod summary;
mod survivors;
#[cfg(test)]
mod tests;
mod text;
mod words;

use spinpark_verification::record::Record;

/// The record as a page, for people.
pub(crate) fn page(record: &Record) -> String {
    let mut drawings = picture::Drawings::default();
    let mut main = String::new();
    summary::write(&mut main, record);
    rooms::write(&mut main, record, &mut drawings);
    every_size::write(&mut main);
    matrix::write(&mut main, record);
    survivors::write(&mut main, record);
    museum::write(&mut main, record, &mut drawings);
    matrix::write_pictures(&mut main, record, &mut drawings);
    frame::framed(record, &main)
}
