"""What the doors have in common, below the protocol's SDK: messages, headers, standard input and output."""
