"""Reports on runs: tables, statistics, one HTML page. They play nothing."""
