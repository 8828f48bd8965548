"""Files whose text goes into what is exported. They stand alone; nothing here imports them."""
