"""What runs: the command line, the processes, the engines, the HTTP edge, replay and measurements. May import every layer below."""
