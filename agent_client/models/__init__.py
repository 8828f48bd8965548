"""Models behind endpoints, as agents and as simulated users. How an episode is played lives outside."""
