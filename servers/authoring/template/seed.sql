-- The first rows of every instance. A scenario's `setup` (SQL, in scenarios.jsonl) runs on top of them.

INSERT INTO games (id, title, players) VALUES
  ('game_azul', 'Azul', 4),
  ('game_carcassonne', 'Carcassonne', 5),
  ('game_catan', 'Catan', 4),
  ('game_codenames', 'Codenames', 8),
  ('game_hanabi', 'Hanabi', 5),
  ('game_pandemic', 'Pandemic', 4);

INSERT INTO loans (id, game_id, member, lent_on, due_on, returned_on) VALUES
  ('loan_1', 'game_catan', 'Mira Okafor', '2026-02-06', '2026-02-20', '2026-02-19'),
  ('loan_2', 'game_carcassonne', 'Jonas Lind', '2026-02-26', '2026-03-12', NULL),
  ('loan_3', 'game_hanabi', 'Jonas Lind', '2026-03-05', '2026-03-19', NULL),
  ('loan_4', 'game_pandemic', 'Elif Demir', '2026-03-09', '2026-03-23', NULL);
