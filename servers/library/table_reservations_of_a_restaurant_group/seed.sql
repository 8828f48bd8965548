INSERT INTO restaurants (id, name, pacing_limit, reset_minutes) VALUES
  ('rest_linde', 'Zur Linde', 14, 15),
  ('rest_nord', 'Brasserie Nord', 16, 15),
  ('rest_garten', 'Gartenhaus', 12, 15);

INSERT INTO managers (id, restaurant_id, name) VALUES
  ('mgr_renate', 'rest_linde', 'Renate Vogelsang'),
  ('mgr_mathieu', 'rest_nord', 'Mathieu Carpentier'),
  ('mgr_zeynep', 'rest_garten', 'Zeynep Aksoy');

INSERT INTO guest_tiers (id, upcoming_limit) VALUES
  ('regular', 2),
  ('standing', 4);

INSERT INTO party_bands (id, min_guests, max_guests, stay_minutes, deposit_per_head_cents) VALUES
  ('band_1_4', 1, 4, 105, 0),
  ('band_5_6', 5, 6, 135, 0),
  ('band_7_8', 7, 8, 135, 2000),
  ('band_9_12', 9, 12, 165, 2000);

INSERT INTO areas (id, restaurant_id, name) VALUES
  ('area_stube', 'rest_linde', 'Stube'),
  ('area_innenhof', 'rest_linde', 'Innenhof'),
  ('area_saal', 'rest_nord', 'Saal'),
  ('area_pavillon', 'rest_garten', 'Pavillon');

INSERT INTO dining_tables (id, area_id, label, min_guests, max_guests, status, out_reason) VALUES
  ('tbl_l1', 'area_stube', 'L1 window', 1, 2, 'in_use', NULL),
  ('tbl_l2', 'area_stube', 'L2', 2, 4, 'in_use', NULL),
  ('tbl_l3', 'area_stube', 'L3', 2, 4, 'in_use', NULL),
  ('tbl_l4', 'area_stube', 'L4 tiled stove', 4, 6, 'in_use', NULL),
  ('tbl_l5', 'area_innenhof', 'L5 under the arch', 2, 4, 'in_use', NULL),
  ('tbl_l6', 'area_innenhof', 'L6 long table', 6, 10, 'in_use', NULL),
  ('tbl_n1', 'area_saal', 'N1 bar side', 1, 2, 'in_use', NULL),
  ('tbl_n2', 'area_saal', 'N2', 2, 4, 'in_use', NULL),
  ('tbl_n3', 'area_saal', 'N3', 2, 4, 'out_of_order', 'broken leg, joiner comes on Monday'),
  ('tbl_n4', 'area_saal', 'N4 round', 4, 8, 'in_use', NULL),
  ('tbl_n5', 'area_saal', 'N5 banquet', 6, 12, 'in_use', NULL),
  ('tbl_g1', 'area_pavillon', 'G1', 2, 4, 'in_use', NULL),
  ('tbl_g2', 'area_pavillon', 'G2 pond', 2, 4, 'out_of_order', 'roof above it leaks'),
  ('tbl_g3', 'area_pavillon', 'G3', 4, 6, 'in_use', NULL),
  ('tbl_g4', 'area_pavillon', 'G4 rose wall', 6, 10, 'in_use', NULL);

INSERT INTO table_joins (table_a, table_b, min_guests, max_guests) VALUES
  ('tbl_l2', 'tbl_l3', 5, 8),
  ('tbl_g1', 'tbl_g3', 7, 10);

INSERT INTO services (id, restaurant_id, service_date, meal, first_arrival_at, last_arrival_at, cover_limit, status) VALUES
  ('svc_nord_0425_dinner', 'rest_nord', '2026-04-25', 'dinner', '2026-04-25 18:00:00', '2026-04-25 21:30:00', 60, 'closed'),
  ('svc_linde_0514_dinner', 'rest_linde', '2026-05-14', 'dinner', '2026-05-14 17:30:00', '2026-05-14 21:00:00', 44, 'closed'),
  ('svc_nord_0520_dinner', 'rest_nord', '2026-05-20', 'dinner', '2026-05-20 18:00:00', '2026-05-20 21:30:00', 56, 'open'),
  ('svc_linde_0521_lunch', 'rest_linde', '2026-05-21', 'lunch', '2026-05-21 11:30:00', '2026-05-21 14:15:00', 36, 'open'),
  ('svc_nord_0521_lunch', 'rest_nord', '2026-05-21', 'lunch', '2026-05-21 12:00:00', '2026-05-21 14:30:00', 40, 'open'),
  ('svc_garten_0521_lunch', 'rest_garten', '2026-05-21', 'lunch', '2026-05-21 12:00:00', '2026-05-21 14:00:00', 28, 'open'),
  ('svc_linde_0521_dinner', 'rest_linde', '2026-05-21', 'dinner', '2026-05-21 17:30:00', '2026-05-21 21:00:00', 44, 'open'),
  ('svc_nord_0521_dinner', 'rest_nord', '2026-05-21', 'dinner', '2026-05-21 18:00:00', '2026-05-21 21:30:00', 56, 'open'),
  ('svc_garten_0521_dinner', 'rest_garten', '2026-05-21', 'dinner', '2026-05-21 17:30:00', '2026-05-21 20:45:00', 24, 'open'),
  ('svc_linde_0522_dinner', 'rest_linde', '2026-05-22', 'dinner', '2026-05-22 17:30:00', '2026-05-22 21:00:00', 48, 'open'),
  ('svc_nord_0522_dinner', 'rest_nord', '2026-05-22', 'dinner', '2026-05-22 18:00:00', '2026-05-22 22:00:00', 62, 'open'),
  ('svc_garten_0523_dinner', 'rest_garten', '2026-05-23', 'dinner', '2026-05-23 17:30:00', '2026-05-23 21:00:00', 20, 'open'),
  ('svc_linde_0528_dinner', 'rest_linde', '2026-05-28', 'dinner', '2026-05-28 17:30:00', '2026-05-28 21:00:00', 46, 'planned'),
  ('svc_garten_0530_lunch', 'rest_garten', '2026-05-30', 'lunch', '2026-05-30 12:00:00', '2026-05-30 14:00:00', 30, 'planned');

INSERT INTO guests (id, name, email, phone, tier_id, assistant, registered_on) VALUES
  ('gst_nowak', 'Marta Nowak', 'marta.nowak@example.org', '0151 5550142', 'regular', NULL, '2025-08-19'),
  ('gst_novak', 'Martha Novak', 'm.novak@example.org', '0160 5550177', 'regular', NULL, '2024-11-02'),
  ('gst_halvorsen', 'Ingrid Halvorsen', 'ingrid.halvorsen@example.org', '0172 5550119', 'standing', NULL, '2023-05-30'),
  ('gst_bellini', 'Chiara Bellini', 'chiara.bellini@example.org', NULL, 'regular', NULL, '2026-02-14'),
  ('gst_adeyemi', 'Oluwaseun Adeyemi', 'o.adeyemi@example.org', '0176 5550108', 'standing', 'Birgit Paulsen', '2022-09-12'),
  ('gst_hartmann_fr', 'Friedrich Hartmann', 'friedrich.hartmann@example.org', '07531 555020', 'regular', 'Nadia Benali', '2024-03-07'),
  ('gst_hartmann_fk', 'Friederike Hartmann', 'friederike.hartmann@example.org', '0157 5550163', 'regular', NULL, '2025-01-21'),
  ('gst_oconnell', 'Siobhán O''Connell', 'siobhan.oconnell@example.org', '0162 5550131', 'regular', 'Declan Rooney', '2025-06-16'),
  ('gst_nguyen', 'Nguyễn Thị Lan', 'lan.nguyen@example.org', '0170 5550185', 'regular', NULL, '2024-07-28'),
  ('gst_herrera', 'Tomás Herrera', 'tomas.herrera@example.org', NULL, 'regular', NULL, '2026-05-18'),
  ('gst_farahani', 'Leila Farahani', 'leila.farahani@example.org', '0151 5550196', 'standing', 'Anton Brückner', '2021-12-03'),
  ('gst_raman', 'Priya Raman', 'priya.raman@example.org', '0173 5550154', 'regular', NULL, '2025-10-09'),
  ('gst_dvorak', 'Karel Dvořák', 'karel.dvorak@example.org', '0159 5550127', 'regular', NULL, '2025-04-25'),
  ('gst_petrov', 'Dimitri Petrov', 'dimitri.petrov@example.org', '0163 5550112', 'regular', NULL, '2025-11-30'),
  ('gst_weiss', 'Samuel Weiss', 'samuel.weiss@example.org', '0171 5550148', 'regular', NULL, '2023-10-18'),
  ('gst_okafor', 'Beatrice Okafor', 'beatrice.okafor@example.org', NULL, 'standing', 'Emeka Okafor', '2024-01-11');

INSERT INTO reservations (id, guest_id, service_id, party_size, band_id, starts_at, table_id, joined_table_id, status, note, made_at, agreed_at, seated_at, closed_at, cancel_reason, called_off_by) VALUES
  ('res_0962', 'gst_nowak', 'svc_nord_0425_dinner', 3, 'band_1_4', '2026-04-25 19:30:00', 'tbl_n3', NULL, 'no_show', 'asked for a quiet corner', '2026-04-16 09:12:00', '2026-04-16 09:12:00', NULL, '2026-04-25 20:05:00', NULL, NULL),
  ('res_0971', 'gst_nguyen', 'svc_nord_0425_dinner', 8, 'band_7_8', '2026-04-25 20:00:00', 'tbl_n5', NULL, 'cancelled', 'called off: oven failure that morning', '2026-04-07 18:20:00', '2026-04-07 18:20:00', NULL, '2026-04-25 11:20:00', 'house', 'mgr_mathieu'),
  ('res_0981', 'gst_halvorsen', 'svc_linde_0514_dinner', 4, 'band_1_4', '2026-05-14 19:00:00', 'tbl_l4', NULL, 'completed', 'one guest with coeliac disease', '2026-05-03 12:44:00', '2026-05-09 08:31:00', '2026-05-14 19:05:00', '2026-05-14 20:48:00', NULL, NULL),
  ('res_0983', 'gst_nowak', 'svc_linde_0514_dinner', 2, 'band_1_4', '2026-05-14 20:15:00', 'tbl_l1', NULL, 'no_show', '', '2026-05-12 21:03:00', '2026-05-12 21:03:00', NULL, '2026-05-14 20:41:00', NULL, NULL),
  ('res_0990', 'gst_adeyemi', 'svc_nord_0520_dinner', 9, 'band_9_12', '2026-05-20 19:00:00', 'tbl_n5', NULL, 'completed', 'supplier dinner, invoice to the office', '2026-04-30 10:10:00', '2026-04-30 10:10:00', '2026-05-20 18:56:00', '2026-05-20 22:07:00', NULL, NULL),
  ('res_0992', 'gst_hartmann_fr', 'svc_nord_0520_dinner', 7, 'band_7_8', '2026-05-20 18:30:00', 'tbl_n4', NULL, 'cancelled', 'choir board', '2026-05-09 14:25:00', '2026-05-09 14:25:00', NULL, '2026-05-20 08:15:00', 'guest', NULL),
  ('res_0993', 'gst_dvorak', 'svc_nord_0520_dinner', 8, 'band_7_8', '2026-05-20 20:30:00', 'tbl_n4', NULL, 'cancelled', 'never paid, mailbox unanswered', '2026-05-14 22:15:00', '2026-05-14 22:15:00', NULL, '2026-05-17 10:30:00', 'released', NULL),
  ('res_0995', 'gst_raman', 'svc_garten_0521_lunch', 8, 'band_7_8', '2026-05-21 12:30:00', 'tbl_g4', NULL, 'no_show', 'team lunch', '2026-05-10 16:48:00', '2026-05-10 16:48:00', NULL, '2026-05-21 13:02:00', NULL, NULL),
  ('res_1001', 'gst_halvorsen', 'svc_linde_0521_lunch', 2, 'band_1_4', '2026-05-21 12:45:00', 'tbl_l2', NULL, 'seated', 'pram beside the table', '2026-05-18 10:12:00', '2026-05-18 10:12:00', '2026-05-21 12:52:00', NULL, NULL, NULL),
  ('res_1003', 'gst_nowak', 'svc_linde_0521_lunch', 3, 'band_1_4', '2026-05-21 13:45:00', 'tbl_l3', NULL, 'confirmed', '', '2026-05-19 17:36:00', '2026-05-19 17:36:00', NULL, NULL, NULL, NULL),
  ('res_1004', 'gst_bellini', 'svc_linde_0521_lunch', 2, 'band_1_4', '2026-05-21 14:15:00', 'tbl_l1', NULL, 'confirmed', 'must leave by a quarter to four', '2026-05-20 19:50:00', '2026-05-21 09:05:00', NULL, NULL, NULL, NULL),
  ('res_1005', 'gst_adeyemi', 'svc_nord_0521_lunch', 7, 'band_7_8', '2026-05-21 13:00:00', 'tbl_n4', NULL, 'seated', 'two vegetarians', '2026-05-11 09:40:00', '2026-05-11 09:40:00', '2026-05-21 13:04:00', NULL, NULL, NULL),
  ('res_1006', 'gst_hartmann_fr', 'svc_nord_0521_lunch', 8, 'band_7_8', '2026-05-21 13:30:00', 'tbl_n5', NULL, 'confirmed', 'farewell of a colleague', '2026-05-15 15:05:00', '2026-05-15 15:05:00', NULL, NULL, NULL, NULL),
  ('res_1007', 'gst_hartmann_fk', 'svc_nord_0521_lunch', 2, 'band_1_4', '2026-05-21 14:00:00', 'tbl_n1', NULL, 'confirmed', '', '2026-05-21 08:22:00', '2026-05-21 08:22:00', NULL, NULL, NULL, NULL),
  ('res_1008', 'gst_oconnell', 'svc_linde_0521_dinner', 9, 'band_9_12', '2026-05-21 18:00:00', 'tbl_l6', NULL, 'confirmed', 'sixtieth birthday, cake brought along', '2026-05-12 12:30:00', '2026-05-12 12:30:00', NULL, NULL, NULL, NULL),
  ('res_1009', 'gst_novak', 'svc_linde_0521_dinner', 4, 'band_1_4', '2026-05-21 19:30:00', 'tbl_l4', NULL, 'confirmed', 'high chair', '2026-05-10 11:17:00', '2026-05-16 20:40:00', NULL, NULL, NULL, NULL),
  ('res_1010', 'gst_nguyen', 'svc_linde_0521_dinner', 7, 'band_7_8', '2026-05-21 20:00:00', 'tbl_l2', 'tbl_l3', 'confirmed', 'one wheelchair', '2026-05-13 17:50:00', '2026-05-13 17:50:00', NULL, NULL, NULL, NULL),
  ('res_1011', 'gst_herrera', 'svc_nord_0521_dinner', 8, 'band_7_8', '2026-05-21 19:00:00', 'tbl_n5', NULL, 'held', 'thesis defence', '2026-05-18 16:40:00', '2026-05-18 16:40:00', NULL, NULL, NULL, NULL),
  ('res_1012', 'gst_farahani', 'svc_garten_0521_dinner', 6, 'band_5_6', '2026-05-21 18:30:00', 'tbl_g3', NULL, 'confirmed', 'no pork', '2026-05-02 13:29:00', '2026-05-02 13:29:00', NULL, NULL, NULL, NULL),
  ('res_1013', 'gst_hartmann_fk', 'svc_garten_0521_dinner', 4, 'band_1_4', '2026-05-21 18:30:00', 'tbl_g1', NULL, 'confirmed', 'came from the waiting list', '2026-05-20 10:40:00', '2026-05-20 10:40:00', NULL, NULL, NULL, NULL),
  ('res_1014', 'gst_raman', 'svc_linde_0522_dinner', 10, 'band_9_12', '2026-05-22 19:00:00', 'tbl_l6', NULL, 'held', 'parents visit from Chennai', '2026-05-20 11:25:00', '2026-05-20 11:25:00', NULL, NULL, NULL, NULL),
  ('res_1015', 'gst_novak', 'svc_linde_0522_dinner', 4, 'band_1_4', '2026-05-22 19:00:00', 'tbl_l4', NULL, 'confirmed', 'would like the stove bench', '2026-05-10 11:21:00', '2026-05-10 11:21:00', NULL, NULL, NULL, NULL),
  ('res_1016', 'gst_farahani', 'svc_nord_0522_dinner', 12, 'band_9_12', '2026-05-22 20:00:00', 'tbl_n5', NULL, 'confirmed', 'family council', '2026-05-04 10:55:00', '2026-05-04 10:55:00', NULL, NULL, NULL, NULL),
  ('res_1017', 'gst_dvorak', 'svc_nord_0522_dinner', 7, 'band_7_8', '2026-05-22 18:30:00', 'tbl_n4', NULL, 'held', 'after the handball match', '2026-05-17 19:05:00', '2026-05-17 19:05:00', NULL, NULL, NULL, NULL),
  ('res_1018', 'gst_oconnell', 'svc_garten_0523_dinner', 8, 'band_7_8', '2026-05-23 19:00:00', 'tbl_g4', NULL, 'confirmed', 'first booked for nine', '2026-05-06 13:15:00', '2026-05-19 07:42:00', NULL, NULL, NULL, NULL),
  ('res_1019', 'gst_petrov', 'svc_garten_0523_dinner', 6, 'band_5_6', '2026-05-23 19:15:00', 'tbl_g3', NULL, 'confirmed', '', '2026-05-08 23:01:00', '2026-05-08 23:01:00', NULL, NULL, NULL, NULL),
  ('res_1020', 'gst_bellini', 'svc_garten_0523_dinner', 4, 'band_1_4', '2026-05-23 18:30:00', 'tbl_g1', NULL, 'confirmed', 'nut allergy', '2026-05-15 12:08:00', '2026-05-15 12:08:00', NULL, NULL, NULL, NULL);

INSERT INTO deposits (id, reservation_id, amount_cents, status, asked_at, due_by, paid_at, settled_at, refunded_cents) VALUES
  ('dep_0971', 'res_0971', 16000, 'refunded', '2026-04-07 18:20:00', '2026-04-09 18:20:00', '2026-04-08 07:45:00', '2026-04-25 11:20:00', 16000),
  ('dep_0990', 'res_0990', 18000, 'credited', '2026-04-30 10:10:00', '2026-05-02 10:10:00', '2026-04-30 15:32:00', '2026-05-20 22:07:00', 0),
  ('dep_0992', 'res_0992', 14000, 'part_refunded', '2026-05-09 14:25:00', '2026-05-11 14:25:00', '2026-05-10 19:14:00', '2026-05-20 08:15:00', 7000),
  ('dep_0993', 'res_0993', 16000, 'void', '2026-05-14 22:15:00', '2026-05-16 22:15:00', NULL, '2026-05-17 10:30:00', 0),
  ('dep_0995', 'res_0995', 16000, 'forfeited', '2026-05-10 16:48:00', '2026-05-12 16:48:00', '2026-05-11 12:20:00', '2026-05-21 13:02:00', 0),
  ('dep_1005', 'res_1005', 14000, 'paid', '2026-05-11 09:40:00', '2026-05-13 09:40:00', '2026-05-12 08:15:00', NULL, 0),
  ('dep_1006', 'res_1006', 16000, 'paid', '2026-05-15 15:05:00', '2026-05-17 15:05:00', '2026-05-16 10:02:00', NULL, 0),
  ('dep_1008', 'res_1008', 18000, 'paid', '2026-05-12 12:30:00', '2026-05-14 12:30:00', '2026-05-12 20:47:00', NULL, 0),
  ('dep_1010', 'res_1010', 14000, 'paid', '2026-05-13 17:50:00', '2026-05-15 17:50:00', '2026-05-15 09:33:00', NULL, 0),
  ('dep_1011', 'res_1011', 16000, 'due', '2026-05-18 16:40:00', '2026-05-20 16:40:00', NULL, NULL, 0),
  ('dep_1014', 'res_1014', 20000, 'due', '2026-05-20 11:25:00', '2026-05-22 11:25:00', NULL, NULL, 0),
  ('dep_1016', 'res_1016', 24000, 'paid', '2026-05-04 10:55:00', '2026-05-06 10:55:00', '2026-05-04 14:20:00', NULL, 0),
  ('dep_1017', 'res_1017', 14000, 'due', '2026-05-17 19:05:00', '2026-05-19 19:05:00', NULL, NULL, 0),
  ('dep_1018', 'res_1018', 18000, 'paid', '2026-05-06 13:15:00', '2026-05-08 13:15:00', '2026-05-07 07:58:00', NULL, 0);

INSERT INTO waiting_entries (id, guest_id, service_id, party_size, joined_at, status, offered_table_id, offered_for, offered_at, offer_until, closed_at, reservation_id) VALUES
  ('wait_201', 'gst_herrera', 'svc_garten_0521_dinner', 4, '2026-05-19 09:15:00', 'waiting', NULL, NULL, NULL, NULL, NULL, NULL),
  ('wait_202', 'gst_bellini', 'svc_garten_0521_dinner', 2, '2026-05-20 18:22:00', 'waiting', NULL, NULL, NULL, NULL, NULL, NULL),
  ('wait_203', 'gst_dvorak', 'svc_garten_0523_dinner', 2, '2026-05-20 20:05:00', 'waiting', NULL, NULL, NULL, NULL, NULL, NULL),
  ('wait_205', 'gst_halvorsen', 'svc_linde_0521_dinner', 2, '2026-05-20 21:48:00', 'offered', 'tbl_l1', '2026-05-21 19:00:00', '2026-05-21 13:05:00', '2026-05-21 15:05:00', NULL, NULL),
  ('wait_206', 'gst_hartmann_fr', 'svc_nord_0522_dinner', 2, '2026-05-18 11:02:00', 'offered', 'tbl_n1', '2026-05-22 19:30:00', '2026-05-21 12:40:00', '2026-05-21 14:40:00', NULL, NULL),
  ('wait_207', 'gst_nowak', 'svc_nord_0521_dinner', 2, '2026-05-20 14:33:00', 'offered', 'tbl_n1', '2026-05-21 20:00:00', '2026-05-21 10:20:00', '2026-05-21 12:20:00', NULL, NULL),
  ('wait_208', 'gst_nguyen', 'svc_linde_0522_dinner', 3, '2026-05-17 08:57:00', 'offered', 'tbl_l3', '2026-05-22 18:30:00', '2026-05-21 09:45:00', '2026-05-21 11:45:00', NULL, NULL),
  ('wait_209', 'gst_hartmann_fk', 'svc_garten_0521_dinner', 4, '2026-05-18 07:26:00', 'accepted', 'tbl_g1', '2026-05-21 18:30:00', '2026-05-20 10:00:00', '2026-05-20 12:00:00', '2026-05-20 10:40:00', 'res_1013'),
  ('wait_210', 'gst_oconnell', 'svc_nord_0520_dinner', 4, '2026-05-19 15:11:00', 'expired', 'tbl_n4', '2026-05-20 20:45:00', '2026-05-20 12:05:00', '2026-05-20 14:05:00', '2026-05-20 14:20:00', NULL),
  ('wait_211', 'gst_petrov', 'svc_linde_0522_dinner', 5, '2026-05-12 16:39:00', 'withdrawn', NULL, NULL, NULL, NULL, '2026-05-16 17:30:00', NULL);

INSERT INTO blocks (id, guest_id, reason, blocked_on, blocked_by, lifted_on, lifted_by) VALUES
  ('blk_11', 'gst_weiss', 'conduct', '2025-03-03', 'mgr_renate', '2025-06-10', 'mgr_renate'),
  ('blk_14', 'gst_nguyen', 'no_shows', '2025-09-12', NULL, '2025-12-20', 'mgr_mathieu'),
  ('blk_17', 'gst_weiss', 'no_shows', '2026-01-30', NULL, NULL, NULL),
  ('blk_18', 'gst_okafor', 'conduct', '2026-02-20', 'mgr_zeynep', NULL, NULL),
  ('blk_20', 'gst_petrov', 'conduct', '2026-05-16', 'mgr_mathieu', NULL, NULL);
