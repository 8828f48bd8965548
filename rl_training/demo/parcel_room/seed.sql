INSERT INTO shelves (id, item, stock) VALUES
    ('A1', 'bolts', 20), ('A2', 'glue', 20), ('B1', 'nails', 20), ('B2', 'paint', 20),
    ('C1', 'rope', 20), ('C2', 'screws', 20), ('D1', 'tape', 20), ('D2', 'wire', 20);
