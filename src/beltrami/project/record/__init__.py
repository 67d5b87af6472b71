"""What happened in a project: events enter, the state they amount to leaves."""
