//! The speeds on the first page are those of the page that measured them.

use super::{quoted, read};

/// The figure of `contender` in the first line of this row of the document on performance.
fn measured<'a>(document: &'a str, row: &str, contender: &str) -> Option<&'a str> {
    let line = document.lines().find(|line| line.starts_with(&format!("| {row} | ")))?;
    let mut cells = line.split(" | ").skip(2);
    if contender == "spinpark" {
        // The figure of its tasks has no name.
        let mut ours = cells.next()?.split(", ").map(|cell| cell.split(" ±").next().unwrap_or(cell));
        return ours.find(|figure| !figure.contains(' '));
    }
    // may is there as one of several, if its row says with what.
    let peers = cells.nth(1)?.split(", ").filter_map(|cell| cell.split_once(' '));
    let named = [contender.to_owned(), format!("{contender}-mpsc")];
    peers.filter(|(name, _)| named.iter().any(|named| named == name)).find_map(|(_, figure)| figure.split(' ').next())
}

#[test]
fn of_the_first_page_are_those_that_were_measured() {
    let (first, document) = (read("README.md"), read("docs/evidence/performance.md"));
    let table = first.split("| nanoseconds").nth(1).expect("there is a table of speeds");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with("| ")).collect();
    assert!(rows.len() >= 5, "only {rows:?}");
    for row in rows {
        let name = quoted(row).next().expect("each row has its name");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for (contender, said) in ["spinpark", "tokio", "smol", "may"].iter().zip(&cells[2..]) {
            let measured = measured(&document, name, contender).unwrap_or("-");
            assert_eq!(*said, measured, "README.md: {name} of {contender}, as docs/evidence/performance.md has it");
        }
    }
}
