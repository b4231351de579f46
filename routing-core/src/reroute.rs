//! reroute
