"""What knows that there is a server."""
