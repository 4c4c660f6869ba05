//! The checker `rc11`, compared with the reference that enumerates all graphs: it explores every execution of a litmus test
//! once and no other. What needs no litmus tests is in `rc11/tests`.

#[path = "reference/agree.rs"]
mod agree;
#[path = "reference/asymmetric_fences.rs"]
mod asymmetric_fences;
#[path = "reference/each_graph_is_explored_once.rs"]
mod each_graph_is_explored_once;
#[path = "reference/symmetric_threads.rs"]
mod symmetric_threads;
