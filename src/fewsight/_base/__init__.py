"""What every other folder may use: errors, checks, shared types, the array archive, progress and parallel work."""
