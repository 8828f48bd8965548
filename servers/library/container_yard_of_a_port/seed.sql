INSERT INTO container_kinds (id, name, free_days, daily_cents) VALUES
  ('dry', 'Dry', 5, 15000),
  ('reefer', 'Reefer', 5, 40000),
  ('hazardous', 'Hazardous', 5, 25000);

INSERT INTO shipping_lines (id, name, contact_email, status) VALUES
  ('line_nordhav', 'Nordhav Line', 'bookings.nordhav@example.org', 'active'),
  ('line_atlas', 'Atlas Feeder Service', 'ops.atlas@example.org', 'active'),
  ('line_meridian', 'Meridian Shipping', 'yard.meridian@example.org', 'active'),
  ('line_meridian_box', 'Meridian Box Carriers', 'accounts.mbc@example.org', 'credit_stopped');

INSERT INTO blocks (id, name, kind_id, plugs) VALUES
  ('blk_alder', 'Alder', 'dry', 0),
  ('blk_birch', 'Birch', 'dry', 0),
  ('blk_cedar', 'Cedar', 'dry', 0),
  ('blk_frost_north', 'Frost North', 'reefer', 2),
  ('blk_frost_south', 'Frost South', 'reefer', 3),
  ('blk_hawthorn', 'Hawthorn', 'hazardous', 0);

INSERT INTO stacks (id, block_id, height) VALUES
  ('stk_a1', 'blk_alder', 4),
  ('stk_a2', 'blk_alder', 3),
  ('stk_b1', 'blk_birch', 4),
  ('stk_b2', 'blk_birch', 2),
  ('stk_b3', 'blk_birch', 3),
  ('stk_c1', 'blk_cedar', 3),
  ('stk_c2', 'blk_cedar', 4),
  ('stk_c3', 'blk_cedar', 3),
  ('stk_n1', 'blk_frost_north', 3),
  ('stk_n2', 'blk_frost_north', 2),
  ('stk_s1', 'blk_frost_south', 2),
  ('stk_s2', 'blk_frost_south', 3),
  ('stk_h1', 'blk_hawthorn', 2),
  ('stk_h2', 'blk_hawthorn', 2);

INSERT INTO ship_calls (id, ship, voyage, line_id, cutoff_at, arrives_at, sails_at, container_limit, status) VALUES
  ('call_isfjell_340', 'Isfjell', '340W', 'line_meridian', '2026-03-08 12:00:00', '2026-03-09 06:00:00', '2026-03-09 22:00:00', 3, 'sailed'),
  ('call_sula_611', 'Sula', '611N', 'line_nordhav', '2026-03-10 18:00:00', '2026-03-11 06:00:00', '2026-03-11 20:00:00', 6, 'sailed'),
  ('call_sula_612', 'Sula', '612N', 'line_nordhav', '2026-03-17 18:00:00', '2026-03-18 06:00:00', '2026-03-18 22:00:00', 5, 'working'),
  ('call_brisling_071', 'Brisling', '071S', 'line_atlas', '2026-03-17 12:00:00', '2026-03-18 04:00:00', '2026-03-18 18:00:00', 4, 'working'),
  ('call_isfjell_341', 'Isfjell', '341W', 'line_meridian', '2026-03-19 15:00:00', '2026-03-20 07:00:00', '2026-03-20 21:00:00', 3, 'expected'),
  ('call_brisling_072', 'Brisling', '072S', 'line_atlas', '2026-03-20 12:00:00', '2026-03-21 05:00:00', '2026-03-21 19:00:00', 2, 'expected'),
  ('call_tern_018', 'Arctic Tern', '018E', 'line_meridian_box', '2026-03-21 16:00:00', '2026-03-22 08:00:00', '2026-03-22 23:00:00', 3, 'expected'),
  ('call_sula_613', 'Sula', '613N', 'line_nordhav', '2026-03-24 18:00:00', '2026-03-25 06:00:00', '2026-03-25 20:00:00', 4, 'expected'),
  ('call_brisling_073', 'Brisling', '073S', 'line_atlas', '2026-03-27 12:00:00', '2026-03-28 05:00:00', '2026-03-28 19:00:00', 4, 'expected'),
  ('call_sula_614', 'Sula', '614N', 'line_nordhav', '2026-03-31 18:00:00', '2026-04-01 06:00:00', '2026-04-01 20:00:00', 6, 'expected');

INSERT INTO containers (id, number, line_id, kind_id, feet, direction, laden, weight_kg, arrives_by_call_id, status, stack_id, tier, came_in_at, left_at) VALUES
  ('ct_nrh_9183', 'NRHU4409183', 'line_nordhav', 'dry', 40, 'export', 1, 22400, NULL, 'loaded', NULL, NULL, '2026-03-08 09:20:00', '2026-03-11 10:05:00'),
  ('ct_atf_0947', 'ATFU2210947', 'line_atlas', 'dry', 20, 'export', 1, 17250, NULL, 'loaded', NULL, NULL, '2026-03-16 13:40:00', '2026-03-18 07:30:00'),
  ('ct_nrh_8836', 'NRHU4408836', 'line_nordhav', 'dry', 20, 'import', 1, 12800, 'call_sula_611', 'gated_out', NULL, NULL, '2026-03-11 08:10:00', '2026-03-14 10:25:00'),
  ('ct_mrs_0312', 'MRSU7750312', 'line_meridian', 'dry', 40, 'import', 1, 25100, 'call_isfjell_340', 'gated_out', NULL, NULL, '2026-03-09 09:45:00', '2026-03-17 11:35:00'),
  ('ct_nrh_0271', 'NRHU4410271', 'line_nordhav', 'dry', 40, 'export', 1, 26000, NULL, 'in_yard', 'stk_a1', 1, '2026-03-13 11:05:00', NULL),
  ('ct_nrh_0217', 'NRHU4410217', 'line_nordhav', 'dry', 40, 'export', 1, 24000, NULL, 'in_yard', 'stk_a1', 2, '2026-03-14 10:40:00', NULL),
  ('ct_atf_1356', 'ATFU2211356', 'line_atlas', 'dry', 20, 'export', 1, 18000, NULL, 'in_yard', 'stk_a2', 1, '2026-03-12 15:30:00', NULL),
  ('ct_atf_1365', 'ATFU2211365', 'line_atlas', 'dry', 20, 'export', 1, 12000, NULL, 'in_yard', 'stk_a2', 2, '2026-03-17 11:20:00', NULL),
  ('ct_nrh_5520', 'NRHU4405520', 'line_nordhav', 'dry', 20, 'import', 1, 22000, 'call_sula_611', 'in_yard', 'stk_b1', 1, '2026-03-11 09:00:00', NULL),
  ('ct_nrh_5541', 'NRHU4405541', 'line_nordhav', 'dry', 20, 'import', 1, 20000, 'call_sula_611', 'in_yard', 'stk_b1', 2, '2026-03-11 09:25:00', NULL),
  ('ct_atf_4408', 'ATFU2214408', 'line_atlas', 'dry', 20, 'import', 1, 14000, 'call_brisling_071', 'in_yard', 'stk_b1', 3, '2026-03-18 05:50:00', NULL),
  ('ct_mrs_1190', 'MRSU7751190', 'line_meridian', 'dry', 40, 'import', 1, 28000, 'call_isfjell_340', 'in_yard', 'stk_b2', 1, '2026-03-09 10:30:00', NULL),
  ('ct_nrh_6677', 'NRHU4406677', 'line_nordhav', 'dry', 40, 'import', 1, 21000, 'call_sula_611', 'in_yard', 'stk_b2', 2, '2026-03-11 12:15:00', NULL),
  ('ct_atf_4482', 'ATFU2214482', 'line_atlas', 'dry', 40, 'import', 1, 19000, 'call_brisling_071', 'in_yard', 'stk_b3', 1, '2026-03-18 06:20:00', NULL),
  ('ct_mrs_3068', 'MRSU7753068', 'line_meridian', 'dry', 20, 'export', 1, 16000, NULL, 'in_yard', 'stk_c1', 1, '2026-03-16 08:50:00', NULL),
  ('ct_nrh_4012', 'NRHU4404012', 'line_nordhav', 'dry', 20, 'export', 1, 9000, NULL, 'in_yard', 'stk_c3', 1, '2026-03-07 14:10:00', NULL),
  ('ct_atf_1127', 'ATFU9901127', 'line_atlas', 'reefer', 40, 'import', 1, 27000, 'call_brisling_071', 'in_yard', 'stk_n1', 1, '2026-03-18 06:45:00', NULL),
  ('ct_nrh_2238', 'NRHU9902238', 'line_nordhav', 'reefer', 40, 'export', 1, 25000, NULL, 'in_yard', 'stk_n1', 2, '2026-03-18 08:05:00', NULL),
  ('ct_atf_1640', 'ATFU9901640', 'line_atlas', 'reefer', 40, 'export', 0, 4500, NULL, 'in_yard', 'stk_n2', 1, '2026-03-15 09:30:00', NULL),
  ('ct_mrs_3311', 'MRSU9903311', 'line_meridian', 'reefer', 20, 'import', 1, 15000, 'call_isfjell_340', 'in_yard', 'stk_s1', 1, '2026-03-09 11:10:00', NULL),
  ('ct_nrh_2905', 'NRHU9902905', 'line_nordhav', 'reefer', 20, 'import', 1, 12000, 'call_sula_611', 'in_yard', 'stk_s1', 2, '2026-03-11 13:00:00', NULL),
  ('ct_nrh_0154', 'NRHU6600154', 'line_nordhav', 'hazardous', 20, 'import', 1, 11000, 'call_sula_611', 'in_yard', 'stk_h1', 1, '2026-03-11 14:20:00', NULL),
  ('ct_mbc_0871', 'MBCU6600871', 'line_meridian_box', 'hazardous', 20, 'export', 1, 13000, NULL, 'in_yard', 'stk_h1', 2, '2026-03-13 16:00:00', NULL),
  ('ct_nrh_1702', 'NRHU4411702', 'line_nordhav', 'dry', 20, 'export', 1, 15000, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_mrs_3925', 'MRSU7753925', 'line_meridian', 'dry', 40, 'export', 1, 23000, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_atf_5019', 'ATFU2215019', 'line_atlas', 'dry', 20, 'export', 1, 10400, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_mrs_4004', 'MRSU7754004', 'line_meridian', 'dry', 40, 'export', 0, 3900, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_nrh_1838', 'NRHU4411838', 'line_nordhav', 'dry', 20, 'export', 1, 19600, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_atf_5233', 'ATFU2215233', 'line_atlas', 'dry', 40, 'export', 1, 20750, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_nrh_2260', 'NRHU4412260', 'line_nordhav', 'dry', 20, 'import', 1, 13300, 'call_sula_612', 'announced', NULL, NULL, NULL, NULL),
  ('ct_atf_4576', 'ATFU9904576', 'line_atlas', 'reefer', 40, 'import', 1, 24000, 'call_brisling_071', 'announced', NULL, NULL, NULL, NULL),
  ('ct_mrs_5581', 'MRSU7755581', 'line_meridian', 'dry', 20, 'import', 1, 17900, 'call_isfjell_341', 'announced', NULL, NULL, NULL, NULL),
  ('ct_mbc_0418', 'MBCU3300418', 'line_meridian_box', 'dry', 20, 'export', 1, 14700, NULL, 'announced', NULL, NULL, NULL, NULL),
  ('ct_nrh_2599', 'NRHU4412599', 'line_nordhav', 'dry', 40, 'import', 1, 22850, 'call_sula_612', 'announced', NULL, NULL, NULL, NULL);

INSERT INTO holds (id, container_id, put_by, reason, status, put_at, lifted_at) VALUES
  ('hold_501', 'ct_nrh_5520', 'customs', 'Declaration incomplete, invoice missing', 'lifted', '2026-03-12 09:15:00', '2026-03-13 14:30:00'),
  ('hold_502', 'ct_nrh_2238', 'customs', 'Selected for veterinary inspection of fish', 'active', '2026-03-18 08:40:00', NULL),
  ('hold_503', 'ct_nrh_5541', 'line', 'Original bill of lading not presented', 'active', '2026-03-11 15:00:00', NULL),
  ('hold_504', 'ct_mrs_3068', 'shift_leader', 'Dent in the left side wall near the corner post', 'active', '2026-03-16 09:10:00', NULL),
  ('hold_505', 'ct_nrh_0154', 'customs', 'Papers on the dangerous goods are being checked', 'active', '2026-03-17 10:05:00', NULL),
  ('hold_506', 'ct_nrh_2905', 'line', 'Freight is unpaid by the consignee', 'active', '2026-03-14 11:45:00', NULL),
  ('hold_507', 'ct_atf_4482', 'shift_leader', 'Door seal looked loose, found in order', 'lifted', '2026-03-18 06:30:00', '2026-03-18 07:15:00');

INSERT INTO load_entries (id, container_id, ship_call_id, rolled_from_entry_id, status, listed_at, closed_at) VALUES
  ('ld_201', 'ct_nrh_9183', 'call_sula_611', NULL, 'loaded', '2026-03-08 10:00:00', '2026-03-11 10:05:00'),
  ('ld_202', 'ct_nrh_4012', 'call_sula_611', NULL, 'rolled', '2026-03-08 10:15:00', '2026-03-10 19:30:00'),
  ('ld_203', 'ct_nrh_4012', 'call_sula_612', 'ld_202', 'rolled', '2026-03-10 19:30:00', '2026-03-17 16:45:00'),
  ('ld_204', 'ct_nrh_4012', 'call_sula_613', 'ld_203', 'listed', '2026-03-17 16:45:00', NULL),
  ('ld_205', 'ct_nrh_0271', 'call_sula_612', NULL, 'listed', '2026-03-13 11:30:00', NULL),
  ('ld_206', 'ct_nrh_0217', 'call_sula_612', NULL, 'listed', '2026-03-14 11:00:00', NULL),
  ('ld_207', 'ct_nrh_2238', 'call_sula_612', NULL, 'listed', '2026-03-16 15:10:00', NULL),
  ('ld_208', 'ct_atf_0947', 'call_brisling_071', NULL, 'loaded', '2026-03-16 14:00:00', '2026-03-18 07:30:00'),
  ('ld_209', 'ct_atf_1356', 'call_brisling_071', NULL, 'listed', '2026-03-12 16:00:00', NULL),
  ('ld_210', 'ct_atf_1365', 'call_brisling_071', NULL, 'listed', '2026-03-17 11:50:00', NULL),
  ('ld_211', 'ct_atf_5019', 'call_brisling_072', NULL, 'withdrawn', '2026-03-15 08:30:00', '2026-03-16 09:05:00'),
  ('ld_212', 'ct_atf_1640', 'call_brisling_072', NULL, 'listed', '2026-03-16 10:20:00', NULL),
  ('ld_213', 'ct_atf_5233', 'call_brisling_072', NULL, 'listed', '2026-03-17 08:55:00', NULL),
  ('ld_214', 'ct_nrh_1702', 'call_sula_613', NULL, 'listed', '2026-03-17 13:25:00', NULL),
  ('ld_215', 'ct_mrs_3925', 'call_isfjell_341', NULL, 'listed', '2026-03-17 14:40:00', NULL);

INSERT INTO truck_windows (id, starts_at, quota) VALUES
  ('win_mar14_10', '2026-03-14 10:00:00', 4),
  ('win_mar17_11', '2026-03-17 11:00:00', 4),
  ('win_mar18_08', '2026-03-18 08:00:00', 3),
  ('win_mar18_09', '2026-03-18 09:00:00', 3),
  ('win_mar18_10', '2026-03-18 10:00:00', 3),
  ('win_mar18_11', '2026-03-18 11:00:00', 2),
  ('win_mar18_12', '2026-03-18 12:00:00', 3),
  ('win_mar18_13', '2026-03-18 13:00:00', 2),
  ('win_mar18_14', '2026-03-18 14:00:00', 3),
  ('win_mar18_15', '2026-03-18 15:00:00', 1),
  ('win_mar19_08', '2026-03-19 08:00:00', 3);

INSERT INTO truck_bookings (id, container_id, truck_window_id, purpose, haulier, plate, status, booked_at, closed_at) VALUES
  ('trk_801', 'ct_nrh_8836', 'win_mar14_10', 'collect', 'Berg Transport', 'SK 41 207', 'done', '2026-03-12 13:00:00', '2026-03-14 10:25:00'),
  ('trk_802', 'ct_nrh_0217', 'win_mar14_10', 'deliver', 'Lindqvist Logistik', 'SK 38 550', 'done', '2026-03-13 08:30:00', '2026-03-14 10:40:00'),
  ('trk_803', 'ct_mrs_0312', 'win_mar17_11', 'collect', 'Kowalczyk Trucking', 'GD 77 613', 'done', '2026-03-16 09:10:00', '2026-03-17 11:35:00'),
  ('trk_804', 'ct_mrs_1190', 'win_mar17_11', 'collect', 'Haugen og Dahl', 'SK 52 118', 'cancelled', '2026-03-13 15:20:00', '2026-03-16 10:00:00'),
  ('trk_805', 'ct_nrh_5541', 'win_mar17_11', 'collect', 'Bergh Transporter', 'HN 20 946', 'missed', '2026-03-15 12:00:00', '2026-03-17 12:45:00'),
  ('trk_806', 'ct_mrs_4004', 'win_mar17_11', 'deliver', 'Osman Spedition', 'SK 66 031', 'cancelled', '2026-03-14 16:35:00', '2026-03-17 09:30:00'),
  ('trk_807', 'ct_atf_5233', 'win_mar18_08', 'deliver', 'Vestkyst Fragt', 'VF 18 402', 'booked', '2026-03-16 11:15:00', NULL),
  ('trk_808', 'ct_atf_1127', 'win_mar18_08', 'collect', 'Polar Kyl', 'PK 90 275', 'booked', '2026-03-17 15:05:00', NULL),
  ('trk_809', 'ct_mrs_3925', 'win_mar18_09', 'deliver', 'Osman Spedition', 'SK 66 039', 'booked', '2026-03-17 14:45:00', NULL),
  ('trk_810', 'ct_atf_4482', 'win_mar18_09', 'collect', 'Da Silva Haulage', 'DS 33 871', 'booked', '2026-03-17 10:10:00', NULL),
  ('trk_811', 'ct_nrh_1702', 'win_mar18_10', 'deliver', 'Berg Transport', 'SK 41 270', 'booked', '2026-03-17 13:30:00', NULL),
  ('trk_812', 'ct_atf_4408', 'win_mar18_10', 'collect', 'Ferreira e Filhos', 'FF 05 164', 'booked', '2026-03-17 16:20:00', NULL),
  ('trk_813', 'ct_nrh_6677', 'win_mar18_11', 'collect', 'Nguyen Freight', 'NF 47 788', 'booked', '2026-03-16 14:00:00', NULL),
  ('trk_814', 'ct_nrh_5520', 'win_mar18_12', 'collect', 'Bergh Transporter', 'HN 20 964', 'booked', '2026-03-16 08:25:00', NULL),
  ('trk_815', 'ct_nrh_2905', 'win_mar18_13', 'collect', 'Polar Kyl', 'PK 90 281', 'booked', '2026-03-17 09:00:00', NULL),
  ('trk_816', 'ct_nrh_1838', 'win_mar18_15', 'deliver', 'Lindqvist Logistik', 'SK 38 505', 'booked', '2026-03-17 11:40:00', NULL),
  ('trk_817', 'ct_nrh_0154', 'win_mar19_08', 'collect', 'Adeyemi Chemical Haulage', 'AC 12 659', 'booked', '2026-03-17 12:10:00', NULL);

INSERT INTO charges (id, container_id, reason, days, truck_booking_id, amount_cents, status, charged_at, settled_at, waived_by, waive_reason) VALUES
  ('chg_301', 'ct_mrs_0312', 'storage', 4, NULL, 60000, 'paid', '2026-03-17 08:40:00', '2026-03-17 09:55:00', NULL, NULL),
  ('chg_302', 'ct_nrh_5520', 'storage', 3, NULL, 45000, 'paid', '2026-03-18 08:10:00', '2026-03-18 09:20:00', NULL, NULL),
  ('chg_303', 'ct_nrh_5541', 'storage', 2, NULL, 30000, 'due', '2026-03-17 08:15:00', NULL, NULL, NULL),
  ('chg_304', 'ct_mrs_1190', 'storage', 5, NULL, 75000, 'due', '2026-03-18 08:20:00', NULL, NULL, NULL),
  ('chg_305', 'ct_mrs_3311', 'storage', 3, NULL, 120000, 'waived', '2026-03-16 08:05:00', '2026-03-16 15:50:00', 'shift_leader', 'Plug of the terminal failed and the goods spoiled'),
  ('chg_306', 'ct_mrs_3311', 'storage', 1, NULL, 40000, 'due', '2026-03-17 08:25:00', NULL, NULL, NULL),
  ('chg_307', 'ct_nrh_2905', 'storage', 3, NULL, 120000, 'due', '2026-03-18 08:30:00', NULL, NULL, NULL),
  ('chg_308', 'ct_nrh_0154', 'storage', 3, NULL, 75000, 'waived', '2026-03-18 08:35:00', '2026-03-18 09:05:00', 'desk', 'Customs took a week to look at the papers'),
  ('chg_309', 'ct_nrh_5541', 'truck', NULL, 'trk_805', 60000, 'due', '2026-03-17 12:45:00', NULL, NULL, NULL),
  ('chg_310', 'ct_mrs_4004', 'truck', NULL, 'trk_806', 60000, 'paid', '2026-03-17 09:30:00', '2026-03-17 16:10:00', NULL, NULL);
