//! The runtime on real cores.
