//! What a run leaves for others to read: a record, which shards of a run add up to, and pages made from it.

pub mod record;
