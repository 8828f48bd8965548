INSERT INTO plans (id, name, level, monthly_cents, min_term_months, freeze_months_a_year, book_days_ahead, sessions_a_week, guests_a_month) VALUES
('plan_flex', 'Flex', 1, 4900, 1, 1, 7, 2, 0),
('plan_standard', 'Standard', 2, 3900, 12, 2, 7, 4, 1),
('plan_premium', 'Premium', 3, 5900, 12, 4, 10, 8, 2);

INSERT INTO staff (id, name, role) VALUES
('stf_mara', 'Mara Eichinger', 'manager'),
('stf_tomas', 'Tomás Vidal', 'trainer'),
('stf_yuki', 'Yuki Hanada', 'trainer'),
('stf_ola', 'Ola Brandvik', 'trainer');

INSERT INTO members (id, name, email, phone, born_on, guardian_name) VALUES
('mem_deniz', 'Deniz Arslan', 'deniz.arslan@example.org', '+49 176 5550301', '1990-04-17', NULL),
('mem_denise', 'Denise Arslan', 'd.arslan@example.org', '+49 176 5550302', '1987-12-05', NULL),
('mem_chidi', 'Chidi Okeke', 'chidi.okeke@example.org', '+49 151 5550303', '2009-11-02', 'Ngozi Okeke'),
('mem_signe', 'Signe Berg', 'signe.berg@example.org', NULL, '1978-06-23', NULL),
('mem_julien', 'Julien Moreau', 'julien.moreau@example.org', '+49 160 5550305', '1995-01-30', NULL),
('mem_carmen', 'Carmen López', 'carmen.lopez@example.org', '+49 152 5550306', '1983-09-11', NULL),
('mem_petr', 'Petr Novák', 'petr.novak@example.org', '+49 157 5550307', '1969-02-14', NULL),
('mem_harpreet', 'Harpreet Singh', 'harpreet.singh@example.org', '+49 170 5550308', '1992-08-08', NULL),
('mem_amina', 'Amina Tariq', 'amina.tariq@example.org', '+49 171 5550309', '2001-05-19', NULL),
('mem_linh', 'Tran Linh', 'tran.linh@example.org', NULL, '1998-10-27', NULL),
('mem_oskar', 'Oskar Weiss', 'oskar.weiss@example.org', '+49 172 5550311', '1986-03-03', NULL),
('mem_giulia', 'Giulia Rossi', 'giulia.rossi@example.org', '+49 173 5550312', '1974-07-16', NULL),
('mem_selam', 'Selam Haile', 'selam.haile@example.org', '+49 174 5550313', '2008-12-21', 'Abeba Haile'),
('mem_bram', 'Bram Jansen', 'bram.jansen@example.org', '+49 175 5550314', '1999-11-09', NULL);

INSERT INTO memberships (id, member_id, plan_id, signed_on, starts_on, status, notice_on, ends_on, next_plan_id, next_plan_from) VALUES
('ms_deniz', 'mem_deniz', 'plan_premium', '2024-02-20', '2024-03-01', 'active', NULL, NULL, NULL, NULL),
('ms_denise', 'mem_denise', 'plan_standard', '2026-01-28', '2026-02-01', 'active', NULL, NULL, NULL, NULL),
('ms_chidi', 'mem_chidi', 'plan_flex', '2026-05-20', '2026-06-01', 'active', NULL, NULL, NULL, NULL),
('ms_signe', 'mem_signe', 'plan_standard', '2025-08-25', '2025-09-01', 'active', NULL, NULL, 'plan_premium', '2026-10-01'),
('ms_julien', 'mem_julien', 'plan_premium', '2025-12-15', '2026-01-01', 'active', NULL, NULL, NULL, NULL),
('ms_carmen', 'mem_carmen', 'plan_flex', '2025-03-27', '2025-04-01', 'cancelled', '2026-08-11', '2026-09-30', NULL, NULL),
('ms_petr', 'mem_petr', 'plan_standard', '2025-10-19', '2025-11-01', 'active', NULL, NULL, NULL, NULL),
('ms_harpreet', 'mem_harpreet', 'plan_standard', '2025-04-30', '2025-05-01', 'active', NULL, NULL, NULL, NULL),
('ms_amina', 'mem_amina', 'plan_flex', '2026-09-10', '2026-10-01', 'active', NULL, NULL, NULL, NULL),
('ms_linh', 'mem_linh', 'plan_standard', '2026-09-03', '2026-09-01', 'active', NULL, NULL, NULL, NULL),
('ms_oskar', 'mem_oskar', 'plan_premium', '2026-02-12', '2026-03-01', 'active', NULL, NULL, NULL, NULL),
('ms_giulia', 'mem_giulia', 'plan_flex', '2025-12-29', '2026-01-01', 'ended', '2026-05-06', '2026-06-30', NULL, NULL),
('ms_selam_1', 'mem_selam', 'plan_standard', '2026-07-02', '2026-07-01', 'withdrawn', NULL, '2026-07-10', NULL, NULL),
('ms_selam_2', 'mem_selam', 'plan_flex', '2026-07-28', '2026-08-01', 'active', NULL, NULL, NULL, NULL),
('ms_bram', 'mem_bram', 'plan_flex', '2026-06-22', '2026-07-01', 'active', NULL, NULL, NULL, NULL);

INSERT INTO freezes (id, membership_id, starts_on, months, asked_on, status, withdrawn_on) VALUES
('frz_01', 'ms_deniz', '2025-07-01', 2, '2025-06-10', 'granted', NULL),
('frz_02', 'ms_oskar', '2026-08-01', 1, '2026-07-15', 'withdrawn', '2026-07-25'),
('frz_03', 'ms_harpreet', '2026-09-01', 1, '2026-08-20', 'granted', NULL),
('frz_04', 'ms_julien', '2026-10-01', 1, '2026-09-08', 'granted', NULL),
('frz_05', 'ms_denise', '2026-11-01', 2, '2026-09-01', 'granted', NULL);

INSERT INTO dues (id, membership_id, due_on, amount_cents, status, settled_on, reminded_on, reminder_cents, waived_by) VALUES
('due_0611', 'ms_giulia', '2026-06-03', 4900, 'paid', '2026-06-02', NULL, 0, NULL),
('due_0708', 'ms_harpreet', '2026-07-03', 3900, 'waived', '2026-07-06', NULL, 0, 'stf_mara'),
('due_0803', 'ms_chidi', '2026-08-03', 4900, 'paid', '2026-08-15', '2026-08-13', 500, NULL),
('due_0807', 'ms_petr', '2026-08-03', 3900, 'open', NULL, '2026-08-14', 500, NULL),
('due_0808', 'ms_harpreet', '2026-08-03', 3900, 'waived', '2026-08-05', NULL, 0, 'stf_mara'),
('due_0901', 'ms_deniz', '2026-09-03', 5900, 'paid', '2026-09-02', NULL, 0, NULL),
('due_0902', 'ms_denise', '2026-09-03', 3900, 'open', NULL, NULL, 0, NULL),
('due_0903', 'ms_chidi', '2026-09-03', 4900, 'paid', '2026-09-04', NULL, 0, NULL),
('due_0905', 'ms_julien', '2026-09-03', 5900, 'paid', '2026-09-01', NULL, 0, NULL),
('due_0906', 'ms_carmen', '2026-09-03', 4900, 'open', NULL, NULL, 0, NULL),
('due_0907', 'ms_petr', '2026-09-03', 3900, 'open', NULL, NULL, 0, NULL),
('due_0914', 'ms_bram', '2026-09-03', 4900, 'paid', '2026-09-07', NULL, 0, NULL),
('due_1008', 'ms_harpreet', '2026-10-03', 3900, 'open', NULL, NULL, 0, NULL),
('due_1009', 'ms_amina', '2026-10-03', 4900, 'open', NULL, NULL, 0, NULL),
('due_1010', 'ms_linh', '2026-10-03', 3900, 'open', NULL, NULL, 0, NULL);

INSERT INTO sessions (id, course, trainer_id, room, starts_at, minutes, places, status, call_off_reason) VALUES
('ses_0827_hiit', 'HIIT Forty-Five', 'stf_tomas', 'Cellar', '2026-08-27 19:30:00', 45, 12, 'held', NULL),
('ses_0901_pilates', 'Pilates Core', 'stf_yuki', 'Loft', '2026-09-01 19:00:00', 60, 12, 'held', NULL),
('ses_0908_yoga', 'Noon Yoga', 'stf_yuki', 'Loft', '2026-09-08 12:30:00', 60, 10, 'held', NULL),
('ses_0910_boxing', 'Boxing Circuit', 'stf_tomas', 'Cellar', '2026-09-10 18:00:00', 60, 10, 'called_off', 'The trainer is ill.'),
('ses_0914_kettle', 'Kettlebell Basics', 'stf_ola', 'Cellar', '2026-09-14 18:00:00', 60, 8, 'scheduled', NULL),
('ses_0915_mobility', 'Morning Mobility', 'stf_yuki', 'Loft', '2026-09-15 08:00:00', 45, 10, 'scheduled', NULL),
('ses_0915_spin', 'Spin Intervals', 'stf_ola', 'Cellar', '2026-09-15 09:30:00', 60, 6, 'scheduled', NULL),
('ses_0915_yoga', 'Lunch Yoga', 'stf_yuki', 'Loft', '2026-09-15 12:30:00', 60, 5, 'scheduled', NULL),
('ses_0916_kettle', 'Kettlebell Power', 'stf_ola', 'Cellar', '2026-09-16 18:00:00', 60, 3, 'scheduled', NULL),
('ses_0917_pilates', 'Pilates Evening', 'stf_yuki', 'Loft', '2026-09-17 19:00:00', 60, 12, 'scheduled', NULL),
('ses_0917_hiit', 'HIIT Small Group', 'stf_tomas', 'Cellar', '2026-09-17 19:30:00', 45, 2, 'scheduled', NULL),
('ses_0924_spin', 'Spin Endurance', 'stf_ola', 'Cellar', '2026-09-24 18:00:00', 75, 8, 'scheduled', NULL);

INSERT INTO bookings (id, session_id, membership_id, booked_at, status) VALUES
('bkg_100', 'ses_0827_hiit', 'ms_harpreet', '2026-08-24 08:10:00', 'attended'),
('bkg_101', 'ses_0827_hiit', 'ms_oskar', '2026-08-20 21:05:00', 'missed'),
('bkg_102', 'ses_0901_pilates', 'ms_deniz', '2026-08-26 07:45:00', 'attended'),
('bkg_103', 'ses_0901_pilates', 'ms_petr', '2026-08-28 12:00:00', 'attended'),
('bkg_104', 'ses_0901_pilates', 'ms_oskar', '2026-08-25 10:30:00', 'missed'),
('bkg_105', 'ses_0908_yoga', 'ms_deniz', '2026-09-01 09:15:00', 'attended'),
('bkg_106', 'ses_0908_yoga', 'ms_denise', '2026-09-02 18:20:00', 'attended'),
('bkg_107', 'ses_0908_yoga', 'ms_oskar', '2026-09-01 22:40:00', 'missed'),
('bkg_108', 'ses_0910_boxing', 'ms_signe', '2026-09-04 06:50:00', 'cancelled'),
('bkg_109', 'ses_0910_boxing', 'ms_chidi', '2026-09-05 15:12:00', 'cancelled'),
('bkg_110', 'ses_0914_kettle', 'ms_bram', '2026-09-08 17:25:00', 'booked'),
('bkg_111', 'ses_0914_kettle', 'ms_denise', '2026-09-09 20:00:00', 'booked'),
('bkg_112', 'ses_0915_mobility', 'ms_signe', '2026-09-10 07:05:00', 'booked'),
('bkg_113', 'ses_0915_mobility', 'ms_deniz', '2026-09-08 19:30:00', 'booked'),
('bkg_114', 'ses_0915_spin', 'ms_chidi', '2026-09-11 16:45:00', 'booked'),
('bkg_115', 'ses_0915_spin', 'ms_signe', '2026-09-10 07:08:00', 'booked'),
('bkg_116', 'ses_0915_yoga', 'ms_deniz', '2026-09-08 19:33:00', 'booked'),
('bkg_117', 'ses_0915_yoga', 'ms_denise', '2026-09-10 11:11:00', 'booked'),
('bkg_118', 'ses_0916_kettle', 'ms_deniz', '2026-09-07 08:00:00', 'booked'),
('bkg_119', 'ses_0916_kettle', 'ms_julien', '2026-09-08 13:40:00', 'booked'),
('bkg_120', 'ses_0916_kettle', 'ms_bram', '2026-09-09 06:30:00', 'booked'),
('bkg_121', 'ses_0916_kettle', 'ms_carmen', '2026-09-10 14:02:00', 'waiting'),
('bkg_122', 'ses_0916_kettle', 'ms_selam_2', '2026-09-11 09:50:00', 'waiting'),
('bkg_123', 'ses_0917_pilates', 'ms_signe', '2026-09-12 10:20:00', 'booked'),
('bkg_124', 'ses_0924_spin', 'ms_deniz', '2026-09-14 19:02:00', 'booked'),
('bkg_125', 'ses_0917_pilates', 'ms_linh', '2026-09-10 18:00:00', 'cancelled'),
('bkg_126', 'ses_0917_hiit', 'ms_deniz', '2026-09-07 08:04:00', 'booked'),
('bkg_127', 'ses_0917_hiit', 'ms_denise', '2026-09-10 00:20:00', 'booked'),
('bkg_128', 'ses_0917_hiit', 'ms_carmen', '2026-09-10 14:05:00', 'waiting'),
('bkg_129', 'ses_0917_hiit', 'ms_selam_2', '2026-09-11 09:52:00', 'waiting'),
('bkg_130', 'ses_0917_hiit', 'ms_chidi', '2026-09-11 16:50:00', 'waiting'),
('bkg_131', 'ses_0917_hiit', 'ms_julien', '2026-09-11 20:30:00', 'waiting'),
('bkg_132', 'ses_0924_spin', 'ms_julien', '2026-09-14 12:34:00', 'booked');

INSERT INTO guest_visits (id, membership_id, guest_name, visit_on) VALUES
('gst_21', 'ms_denise', 'Lena Hartwig', '2026-05-20'),
('gst_22', 'ms_julien', 'lena hartwig', '2026-07-11'),
('gst_23', 'ms_signe', 'Birte Nolan', '2026-08-02'),
('gst_24', 'ms_deniz', 'Lena Hartwig', '2026-09-05'),
('gst_25', 'ms_julien', 'Inês Caldeira', '2026-09-06'),
('gst_26', 'ms_deniz', 'Omar Saleh', '2026-09-12');
