//! Segments as IPv4 packets: the real wire format, in both directions.
