//! The speeds on the first page are those of the page that measured them.

use super::{quoted, read};

/// The first figure of `contender` in the table `row` of the document on performance.
fn measured<'a>(document: &'a str, row: &str, contender: &str) -> Option<&'a str> {
    let table = document.split(&format!("<!-- peers: {row} -->")).nth(1)?.split("<!-- /peers -->").next()?;
    let cells = |line: &'a str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let mut rows = table.lines().map(cells).filter(|cells| cells.len() > 3);
    // may is there as one of several, if its row says with what.
    rows.find(|cells| cells[1] == contender || cells[1] == format!("{contender}-mpsc")).map(|cells| cells[2])
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
