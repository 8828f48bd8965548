"""What an audit runs in a guest beside imported code. It judges nothing."""
