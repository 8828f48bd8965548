"""What a run says: tables, statistics, one HTML page. It plays nothing."""
