INSERT INTO agencies (id, name, monthly_vouchers, status) VALUES
('agc_harbour', 'Harbour Street Shelter', 10, 'active'),
('agc_school', 'Eastgate Primary School', 3, 'active'),
('agc_clinic', 'Canal Side Clinic', 8, 'active'),
('agc_parish', 'Saint Brigid Parish', 6, 'paused');

INSERT INTO staff (id, name, role, hygiene_until, is_active) VALUES
('stf_marit', 'Marit Sorensen', 'coordinator', '2027-02-28', 1),
('stf_tomasz', 'Tomasz Zielinski', 'volunteer', '2026-11-30', 1),
('stf_aisha', 'Aisha Rahman', 'volunteer', '2026-05-20', 1),
('stf_peter', 'Peter Oduya', 'volunteer', '2026-04-30', 1),
('stf_lidia', 'Lidia Ferrante', 'volunteer', NULL, 0);

INSERT INTO households (id, name, adults, children, diet, status, blocked_on) VALUES
('hh_amari', 'Amari', 2, 1, 'any', 'active', NULL),
('hh_bello', 'Bello', 1, 0, 'vegetarian', 'active', NULL),
('hh_castro', 'Castro', 1, 2, 'halal', 'active', NULL),
('hh_dahl', 'Dahl', 2, 0, 'any', 'active', NULL),
('hh_dahlin', 'Dahlin', 1, 1, 'any', 'active', NULL),
('hh_eriksen', 'Eriksen', 1, 0, 'any', 'active', NULL),
('hh_farah', 'Farah', 1, 0, 'halal', 'active', NULL),
('hh_gomes', 'Gomes', 2, 3, 'any', 'active', NULL),
('hh_horvat', 'Horvat', 1, 0, 'any', 'active', NULL),
('hh_ito', 'Ito', 1, 1, 'vegetarian', 'active', NULL),
('hh_kowal', 'Kowal', 3, 0, 'any', 'active', NULL),
('hh_lund', 'Lund', 1, 0, 'any', 'active', NULL),
('hh_mbeki', 'Mbeki', 2, 1, 'any', 'active', NULL),
('hh_nair', 'Nair', 2, 2, 'vegetarian', 'active', NULL),
('hh_okoro', 'Okoro', 1, 3, 'any', 'active', NULL),
('hh_pereira', 'Pereira', 2, 0, 'any', 'active', NULL);

INSERT INTO vouchers (id, household_id, agency_id, issued_on, expires_on, status, approved_by) VALUES
('vou_0711', 'hh_ito', 'agc_clinic', '2026-01-20', '2026-02-03', 'used', NULL),
('vou_0734', 'hh_ito', 'agc_harbour', '2026-03-03', '2026-03-17', 'used', NULL),
('vou_0752', 'hh_gomes', 'agc_harbour', '2026-04-01', '2026-04-15', 'used', 'stf_marit'),
('vou_0758', 'hh_kowal', 'agc_clinic', '2026-04-08', '2026-04-22', 'expired', NULL),
('vou_0763', 'hh_ito', 'agc_clinic', '2026-04-14', '2026-04-28', 'used', NULL),
('vou_0770', 'hh_eriksen', 'agc_parish', '2026-04-21', '2026-05-05', 'expired', NULL),
('vou_0781', 'hh_mbeki', 'agc_clinic', '2026-05-04', '2026-05-18', 'cancelled', NULL),
('vou_0786', 'hh_horvat', 'agc_harbour', '2026-05-08', '2026-05-22', 'issued', NULL),
('vou_0790', 'hh_dahl', 'agc_school', '2026-05-11', '2026-05-25', 'issued', NULL),
('vou_0792', 'hh_farah', 'agc_clinic', '2026-05-12', '2026-05-26', 'issued', NULL),
('vou_0795', 'hh_amari', 'agc_harbour', '2026-05-13', '2026-05-27', 'issued', NULL),
('vou_0797', 'hh_bello', 'agc_clinic', '2026-05-14', '2026-05-28', 'issued', NULL),
('vou_0799', 'hh_castro', 'agc_harbour', '2026-05-15', '2026-05-29', 'issued', NULL),
('vou_0803', 'hh_dahlin', 'agc_school', '2026-05-18', '2026-06-01', 'issued', NULL),
('vou_0804', 'hh_lund', 'agc_clinic', '2026-05-18', '2026-06-01', 'issued', NULL),
('vou_0806', 'hh_gomes', 'agc_school', '2026-05-19', '2026-06-02', 'issued', NULL),
('vou_0807', 'hh_mbeki', 'agc_harbour', '2026-05-19', '2026-06-02', 'issued', NULL),
('vou_0808', 'hh_pereira', 'agc_clinic', '2026-05-19', '2026-06-02', 'issued', NULL);

INSERT INTO slots (id, starts_at, capacity, status) VALUES
('slt_0422', '2026-04-22 10:00:00', 6, 'open'),
('slt_0429', '2026-04-29 10:00:00', 6, 'open'),
('slt_0505', '2026-05-05 14:00:00', 5, 'open'),
('slt_0512', '2026-05-12 10:00:00', 6, 'open'),
('slt_0519', '2026-05-19 10:00:00', 5, 'open'),
('slt_0520a', '2026-05-20 11:30:00', 4, 'open'),
('slt_0520b', '2026-05-20 14:00:00', 3, 'open'),
('slt_0521', '2026-05-21 10:00:00', 2, 'open'),
('slt_0522', '2026-05-22 10:00:00', 4, 'open'),
('slt_0525', '2026-05-25 14:00:00', 5, 'closed'),
('slt_0527', '2026-05-27 10:00:00', 6, 'open'),
('slt_0605', '2026-06-05 10:00:00', 6, 'open');

INSERT INTO collections (id, voucher_id, slot_id, status, moves, packed_by, packed_at, closed_at) VALUES
('col_0611', 'vou_0763', 'slt_0422', 'collected', 0, 'stf_tomasz', '2026-04-22 09:10:00', '2026-04-22 10:12:00'),
('col_0612', 'vou_0758', 'slt_0422', 'missed', 1, NULL, NULL, '2026-04-23 09:00:00'),
('col_0619', 'vou_0770', 'slt_0429', 'missed', 0, NULL, NULL, '2026-04-30 09:05:00'),
('col_0624', 'vou_0770', 'slt_0505', 'missed', 0, NULL, NULL, '2026-05-06 09:02:00'),
('col_0630', 'vou_0781', 'slt_0512', 'cancelled', 0, NULL, NULL, '2026-05-11 15:40:00'),
('col_0631', 'vou_0786', 'slt_0512', 'missed', 0, NULL, NULL, '2026-05-13 09:10:00'),
('col_0638', 'vou_0786', 'slt_0519', 'booked', 0, NULL, NULL, NULL),
('col_0639', 'vou_0806', 'slt_0519', 'booked', 0, NULL, NULL, NULL),
('col_0641', 'vou_0790', 'slt_0520a', 'booked', 0, NULL, NULL, NULL),
('col_0642', 'vou_0795', 'slt_0520b', 'packed', 0, 'stf_tomasz', '2026-05-20 09:40:00', NULL),
('col_0643', 'vou_0797', 'slt_0520b', 'packed', 1, 'stf_aisha', '2026-05-20 09:55:00', NULL),
('col_0644', 'vou_0799', 'slt_0520b', 'booked', 0, NULL, NULL, NULL),
('col_0646', 'vou_0792', 'slt_0521', 'booked', 0, NULL, NULL, NULL),
('col_0647', 'vou_0803', 'slt_0521', 'booked', 1, NULL, NULL, NULL),
('col_0649', 'vou_0804', 'slt_0522', 'booked', 0, NULL, NULL, NULL);

UPDATE slots SET status = 'closed' WHERE id IN ('slt_0422', 'slt_0429', 'slt_0505', 'slt_0512', 'slt_0519');

UPDATE households SET status = 'blocked', blocked_on = '2026-05-06' WHERE id = 'hh_eriksen';

UPDATE households SET status = 'blocked', blocked_on = '2026-04-23' WHERE id = 'hh_kowal';

INSERT INTO food_groups (id, name, units_an_adult, units_a_child, is_perishable) VALUES
('fgr_staples', 'Pasta, rice and flour', 4, 2, 0),
('fgr_tins', 'Tins and jars', 5, 3, 0),
('fgr_fresh', 'Bread and dairy', 3, 3, 1),
('fgr_cereals', 'Cereals and snacks', 1, 2, 0);

INSERT INTO lots (id, food_group_id, description, units, received_on, best_before, is_vegetarian, is_halal, status) VALUES
('lot_301', 'fgr_staples', 'long-grain rice, 1 kg bags', 120, '2026-03-09', '2026-11-30', 1, 1, 'available'),
('lot_308', 'fgr_staples', 'spelt pasta, 500 g', 40, '2026-04-02', '2026-07-15', 1, 1, 'available'),
('lot_312', 'fgr_tins', 'chickpeas in tins', 90, '2026-04-10', '2027-03-31', 1, 1, 'available'),
('lot_315', 'fgr_tins', 'pork luncheon meat', 60, '2026-04-14', '2026-12-31', 0, 0, 'available'),
('lot_318', 'fgr_cereals', 'rolled oats, 500 g', 70, '2026-04-20', '2026-10-31', 1, 1, 'available'),
('lot_322', 'fgr_tins', 'peach halves, dented tins', 24, '2026-04-27', '2027-01-31', 1, 1, 'blocked'),
('lot_325', 'fgr_fresh', 'UHT cream left from winter', 0, '2026-04-28', '2026-05-15', 1, 0, 'used_up'),
('lot_330', 'fgr_fresh', 'whole milk, glass bottles', 12, '2026-05-12', '2026-05-19', 1, 1, 'available'),
('lot_333', 'fgr_fresh', 'sliced rye bread', 60, '2026-05-18', '2026-05-21', 1, 1, 'available'),
('lot_334', 'fgr_fresh', 'plain yoghurt, 500 g', 40, '2026-05-18', '2026-05-26', 1, 1, 'available'),
('lot_336', 'fgr_cereals', 'fruit gums from a school fair', 30, '2026-05-19', '2026-09-30', 0, 0, 'quarantine'),
('lot_337', 'fgr_tins', 'strawberry jam in jars', 48, '2026-05-19', '2027-05-31', 1, 1, 'quarantine');

INSERT INTO packed_units (collection_id, lot_id, units) VALUES
('col_0642', 'lot_308', 10),
('col_0642', 'lot_315', 13),
('col_0642', 'lot_333', 9),
('col_0642', 'lot_318', 4),
('col_0643', 'lot_308', 4),
('col_0643', 'lot_312', 5),
('col_0643', 'lot_333', 3),
('col_0643', 'lot_318', 1);
