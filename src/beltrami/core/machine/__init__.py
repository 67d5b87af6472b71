"""What computes, and what it has: devices, threads, memory, compiled loops over sparse rows."""
