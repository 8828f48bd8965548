INSERT INTO care_classes (id, name, most_days, rest_days, needs_courier) VALUES
  ('cls_robust', 'Robust', 365, 14, 0),
  ('cls_fragile', 'Fragile', 240, 60, 1),
  ('cls_light', 'Light-sensitive', 120, 365, 0);

INSERT INTO objects (id, name, maker, class_id, value_cents, status) VALUES
  ('obj_astrolabe', 'Brass astrolabe with four plates', 'Joost Verhaegen', 'cls_robust', 18000000, 'out'),
  ('obj_bell', 'Ship''s bell of the Aurora', NULL, 'cls_robust', 2200000, 'available'),
  ('obj_chalice', 'Silver chalice of Saint Odo', 'Matthis Rehlen', 'cls_robust', 9500000, 'out'),
  ('obj_chest', 'Oak guild chest of the coopers', NULL, 'cls_robust', 3500000, 'out'),
  ('obj_clock', 'Longcase clock with moon dial', 'Elias Thorne', 'cls_robust', 6400000, 'available'),
  ('obj_globe', 'Terrestrial globe of 1694', 'Caterina Bellomo', 'cls_robust', 16000000, 'out'),
  ('obj_reliquary', 'Reliquary of Saint Odo', NULL, 'cls_robust', 51000000, 'barred'),
  ('obj_drum', 'Painted regimental drum', NULL, 'cls_fragile', 1500000, 'in_conservation'),
  ('obj_goblet_lid', 'Emerald goblet with lid', 'Glassworks of Ruhnau', 'cls_fragile', 9000000, 'available'),
  ('obj_goblet_plain', 'Emerald goblet without lid', 'Ruhnau workshop', 'cls_fragile', 4800000, 'available'),
  ('obj_mask', 'Alabaster portrait mask', NULL, 'cls_fragile', 12000000, 'available'),
  ('obj_tureen', 'Faience tureen in the shape of a boar', 'Paul Hannert', 'cls_fragile', 7500000, 'out'),
  ('obj_vase', 'Celadon vase with peonies', NULL, 'cls_fragile', 31000000, 'available'),
  ('obj_atlas', 'Hand-coloured sea atlas in two volumes', 'Pieter van Loon', 'cls_light', 28000000, 'available'),
  ('obj_pastel', 'Pastel of a girl with a lute', 'Rosalba Conti', 'cls_light', 14000000, 'available'),
  ('obj_print', 'Woodcut of the flooded mill', 'Ono Shunzan', 'cls_light', 950000, 'available'),
  ('obj_quilt', 'Wedding quilt from Solberg', 'Marit Solberg', 'cls_light', 1800000, 'available');

INSERT INTO borrowers (id, name, city, registrar, status, facility_until, ceiling_cents) VALUES
  ('bor_ahlen', 'Ahlenburg City Museum', 'Ahlenburg', 'Dorothea Finck', 'approved', '2027-06-30', 60000000),
  ('bor_castellara', 'Castellara Museum of Ceramics', 'Castellara', 'Bruno Salvetti', 'approved', '2027-12-31', 25000000),
  ('bor_castelmare', 'Castelmare Museum of Applied Art', 'Castelmare', 'Giulia Ferrante', 'approved', '2026-08-31', 90000000),
  ('bor_lindvara', 'Lindvara Art Hall', 'Lindvara', 'Oskar Niemelä', 'approved', '2028-03-31', 120000000),
  ('bor_norvik', 'Norvik Maritime Museum', 'Norvik', 'Tuva Hagen', 'approved', '2026-12-31', 40000000),
  ('bor_tessaro', 'Tessaro House of Textiles', 'Tessaro', 'Ines Cardoso', 'suspended', '2026-10-31', 15000000);

INSERT INTO couriers (id, name, profession) VALUES
  ('cou_abara', 'Ngozi Abara', 'Glass conservator'),
  ('cou_lunde', 'Peder Lunde', 'Object conservator'),
  ('cou_lindner', 'Petra Lindner', 'Registrar'),
  ('cou_soares', 'Miguel Soares', 'Curator of prints');

INSERT INTO loans (id, borrower_id, exhibition, requested_on, first_day, last_day, status, extended_days, dispatched_on, returned_on, reason) VALUES
  ('loa_2502', 'bor_norvik', 'Sailors'' Wives', '2025-01-15', '2025-05-10', '2025-08-31', 'returned', 0, '2025-05-02', '2025-09-02', NULL),
  ('loa_2505', 'bor_castellara', 'Fire and Glaze', '2025-04-10', '2025-08-15', '2026-02-28', 'out', 0, '2025-08-08', NULL, NULL),
  ('loa_2507', 'bor_lindvara', 'Measuring the World', '2025-06-01', '2025-10-01', '2026-04-30', 'out', 0, '2025-09-24', NULL, NULL),
  ('loa_2509', 'bor_ahlen', 'Silver and Faith', '2025-07-10', '2025-11-20', '2026-05-15', 'out', 0, '2025-11-12', NULL, NULL),
  ('loa_2510', 'bor_castelmare', 'Hands That Make', '2025-05-05', '2025-09-15', '2026-04-20', 'out', 40, '2025-09-09', NULL, NULL),
  ('loa_2512', 'bor_tessaro', 'Threads of the Valley', '2025-09-01', '2026-02-01', '2026-05-15', 'refused', 0, NULL, NULL, 'The quilt still has to rest after its last loan'),
  ('loa_2514', 'bor_norvik', 'Northern Light', '2025-08-20', '2026-01-15', '2026-04-15', 'cancelled', 0, NULL, NULL, 'The borrower put off its exhibition'),
  ('loa_2601', 'bor_norvik', 'The Aurora Sails Again', '2025-10-20', '2026-03-16', '2026-08-31', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2602', 'bor_castelmare', 'Green Glass', '2025-11-03', '2026-03-20', '2026-07-31', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2603', 'bor_lindvara', 'Portraits in Stone', '2025-11-25', '2026-03-18', '2026-09-30', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2604', 'bor_ahlen', 'Hours and Minutes', '2025-12-01', '2026-03-22', '2026-10-31', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2605', 'bor_lindvara', 'A Toast to the Court', '2025-11-10', '2026-03-19', '2026-06-30', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2606', 'bor_ahlen', 'Letters and Maps', '2026-01-12', '2026-06-01', '2026-09-20', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2607', 'bor_castelmare', 'Chalk and Colour', '2025-11-28', '2026-03-15', '2026-06-30', 'agreed', 0, NULL, NULL, NULL),
  ('loa_2611', 'bor_norvik', 'Salt and Rope', '2026-02-02', '2026-07-01', '2026-11-30', 'requested', 0, NULL, NULL, NULL),
  ('loa_2612', 'bor_lindvara', 'Rivers in Flood', '2026-02-16', '2026-09-05', '2026-12-20', 'requested', 0, NULL, NULL, NULL),
  ('loa_2613', 'bor_castelmare', 'Peonies', '2026-02-20', '2026-08-20', '2027-01-31', 'requested', 0, NULL, NULL, NULL),
  ('loa_2614', 'bor_castelmare', 'The Winter Table', '2026-02-24', '2026-09-15', '2027-01-15', 'requested', 0, NULL, NULL, NULL),
  ('loa_2615', 'bor_castellara', 'Clay Today', '2025-12-15', '2026-06-10', '2026-09-30', 'requested', 0, NULL, NULL, NULL),
  ('loa_2616', 'bor_ahlen', 'Home and Hearth', '2026-03-02', '2026-10-01', '2027-03-31', 'requested', 0, NULL, NULL, NULL);

INSERT INTO items (id, loan_id, object_id, value_cents, status, director_agreed) VALUES
  ('itm_021', 'loa_2502', 'obj_quilt', 1700000, 'agreed', 0),
  ('itm_025', 'loa_2505', 'obj_tureen', 7500000, 'agreed', 0),
  ('itm_027', 'loa_2507', 'obj_astrolabe', 18000000, 'agreed', 0),
  ('itm_028', 'loa_2507', 'obj_globe', 16000000, 'agreed', 0),
  ('itm_029', 'loa_2509', 'obj_chalice', 9500000, 'agreed', 0),
  ('itm_030', 'loa_2510', 'obj_chest', 3400000, 'agreed', 0),
  ('itm_032', 'loa_2512', 'obj_quilt', 1800000, 'declined', 0),
  ('itm_034', 'loa_2514', 'obj_print', 900000, 'agreed', 0),
  ('itm_041', 'loa_2601', 'obj_bell', 2200000, 'agreed', 0),
  ('itm_042', 'loa_2602', 'obj_goblet_lid', 9000000, 'agreed', 0),
  ('itm_043', 'loa_2603', 'obj_mask', 12000000, 'agreed', 0),
  ('itm_044', 'loa_2604', 'obj_clock', 6400000, 'agreed', 0),
  ('itm_045', 'loa_2605', 'obj_goblet_plain', 4800000, 'agreed', 0),
  ('itm_046', 'loa_2606', 'obj_atlas', 28000000, 'agreed', 1),
  ('itm_047', 'loa_2607', 'obj_pastel', 14000000, 'agreed', 0),
  ('itm_051', 'loa_2611', 'obj_chest', 3500000, 'agreed', 0),
  ('itm_052', 'loa_2611', 'obj_vase', 31000000, 'declined', 0),
  ('itm_053', 'loa_2612', 'obj_print', 950000, 'agreed', 0),
  ('itm_054', 'loa_2613', 'obj_vase', 31000000, 'proposed', 0),
  ('itm_055', 'loa_2613', 'obj_goblet_plain', 4800000, 'proposed', 0),
  ('itm_056', 'loa_2614', 'obj_globe', 16000000, 'agreed', 0),
  ('itm_057', 'loa_2615', 'obj_chalice', 9500000, 'agreed', 0),
  ('itm_058', 'loa_2615', 'obj_astrolabe', 18000000, 'proposed', 0),
  ('itm_061', 'loa_2616', 'obj_tureen', 7500000, 'proposed', 0),
  ('itm_062', 'loa_2616', 'obj_bell', 2200000, 'proposed', 0),
  ('itm_063', 'loa_2616', 'obj_clock', 6400000, 'proposed', 0),
  ('itm_064', 'loa_2616', 'obj_drum', 1500000, 'proposed', 0),
  ('itm_065', 'loa_2616', 'obj_chest', 3500000, 'proposed', 0),
  ('itm_066', 'loa_2616', 'obj_goblet_lid', 9000000, 'proposed', 0),
  ('itm_067', 'loa_2616', 'obj_mask', 12000000, 'proposed', 0),
  ('itm_068', 'loa_2616', 'obj_vase', 31000000, 'proposed', 0);

INSERT INTO certificates (id, loan_id, insurer, covers_cents, valid_from, valid_until) VALUES
  ('cer_105', 'loa_2505', 'Adriatica Fine Art', 8000000, '2025-08-01', '2026-03-31'),
  ('cer_107', 'loa_2507', 'Polaris Versicherung', 40000000, '2025-09-15', '2026-07-31'),
  ('cer_109', 'loa_2509', 'Havel Mutual', 10000000, '2025-11-01', '2026-05-31'),
  ('cer_110', 'loa_2510', 'Adriatica Transit', 3500000, '2025-09-01', '2026-05-31'),
  ('cer_121', 'loa_2601', 'Nordsjø Marine', 3000000, '2026-03-01', '2026-09-30'),
  ('cer_122', 'loa_2602', 'Lagoon and Partners', 9500000, '2026-03-05', '2026-08-15'),
  ('cer_123', 'loa_2603', 'Polaris Kunstschutz', 12500000, '2026-03-01', '2026-10-31'),
  ('cer_124', 'loa_2604', 'Havel Mutual', 5000000, '2026-03-01', '2026-11-30'),
  ('cer_125', 'loa_2605', 'Court and Crown', 4800000, '2026-03-02', '2026-07-15'),
  ('cer_127', 'loa_2607', 'Lagoon Fine Art', 15000000, '2026-03-01', '2026-09-30');

INSERT INTO checks (id, object_id, checked_on, result, note) VALUES
  ('chk_301', 'obj_quilt', '2025-09-04', 'fit', 'Colours unchanged after the return'),
  ('chk_302', 'obj_atlas', '2025-12-11', 'fit', 'Bindings firm, two leaves lightly foxed'),
  ('chk_303', 'obj_drum', '2026-01-20', 'unfit', 'Skin torn near the rim, paint flaking'),
  ('chk_304', 'obj_pastel', '2026-02-10', 'fit', 'No loose pigment under the glass'),
  ('chk_305', 'obj_goblet_lid', '2026-03-02', 'fit', 'Old chip at the foot, stable'),
  ('chk_306', 'obj_clock', '2026-03-03', 'fit', 'Weights and pendulum secured'),
  ('chk_307', 'obj_goblet_plain', '2026-03-04', 'fit', 'No cracks under the lamp'),
  ('chk_308', 'obj_bell', '2026-03-05', 'fit', 'Patina even, clapper tied'),
  ('chk_309', 'obj_mask', '2026-03-06', 'fit', 'Hairline at the chin as before');

INSERT INTO trips (id, courier_id, loan_id, first_day, last_day, status) VALUES
  ('tri_041', 'cou_lunde', 'loa_2505', '2025-08-07', '2025-08-09', 'done'),
  ('tri_055', 'cou_abara', 'loa_2602', '2026-03-09', '2026-03-11', 'planned'),
  ('tri_056', 'cou_lunde', 'loa_2603', '2026-03-10', '2026-03-12', 'planned'),
  ('tri_057', 'cou_lindner', 'loa_2605', '2026-03-17', '2026-03-19', 'called_off'),
  ('tri_058', 'cou_soares', 'loa_2606', '2026-05-27', '2026-05-30', 'planned');

INSERT INTO invoices (id, loan_id, amount_cents, issued_on, status, paid_on) VALUES
  ('inv_202', 'loa_2502', 45000, '2025-02-06', 'paid', '2025-02-27'),
  ('inv_205', 'loa_2505', 45000, '2025-05-12', 'paid', '2025-06-03'),
  ('inv_207', 'loa_2507', 60000, '2025-07-01', 'paid', '2025-07-18'),
  ('inv_209', 'loa_2509', 45000, '2025-08-14', 'paid', '2025-08-29'),
  ('inv_210', 'loa_2510', 45000, '2025-06-10', 'paid', '2025-07-02'),
  ('inv_214', 'loa_2514', 45000, '2025-10-01', 'void', NULL),
  ('inv_221', 'loa_2601', 45000, '2025-12-02', 'paid', '2025-12-19'),
  ('inv_222', 'loa_2602', 45000, '2025-12-09', 'paid', '2026-01-08'),
  ('inv_223', 'loa_2603', 45000, '2026-01-14', 'open', NULL),
  ('inv_224', 'loa_2604', 45000, '2026-01-20', 'paid', '2026-02-05'),
  ('inv_225', 'loa_2605', 45000, '2026-01-07', 'paid', '2026-01-30'),
  ('inv_226', 'loa_2606', 45000, '2026-02-18', 'open', NULL),
  ('inv_227', 'loa_2607', 45000, '2026-01-28', 'paid', '2026-02-16');
