//! A configuration on this machine: kernel sockets in network namespaces, joined by the simulator.
