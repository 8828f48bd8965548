"""What running an imported environment shows."""
