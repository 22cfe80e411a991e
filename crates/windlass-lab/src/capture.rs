//! Packet captures: pcapng files that Wireshark reads.
