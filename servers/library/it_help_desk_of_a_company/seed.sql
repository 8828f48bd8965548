INSERT INTO priorities (id, meaning, hours) VALUES
  ('P1', 'A fault that stops five or more people', 4),
  ('P2', 'One person or a small group cannot work', 8),
  ('P3', 'Work is hindered', 24),
  ('P4', 'A wish, an order or a question', 72);

INSERT INTO device_kinds (id, name, permanent_limit) VALUES
  ('kind_laptop', 'Laptop', 1),
  ('kind_monitor', 'Monitor', 2),
  ('kind_phone', 'Phone', 1),
  ('kind_tablet', 'Tablet', 1),
  ('kind_projector', 'Projector', 0);

INSERT INTO device_models (id, name, kind_id, price_cents) VALUES
  ('mod_book14', 'Veltra Book 14', 'kind_laptop', 104900),
  ('mod_book14_pro', 'Veltra Book 14 Pro', 'kind_laptop', 289000),
  ('mod_kestrel15', 'Kestrel Go 15', 'kind_laptop', 68900),
  ('mod_lumen27', 'Lumen 27Q', 'kind_monitor', 32900),
  ('mod_pictel', 'Pictel X4', 'kind_phone', 45900),
  ('mod_slatewing', 'Slatewing 11', 'kind_tablet', 80000),
  ('mod_beamline', 'Beamline 3000', 'kind_projector', 119900);

INSERT INTO departments (id, name, budget_year, budget_cents) VALUES
  ('dep_management', 'Management', 2026, 60000),
  ('dep_it', 'IT', 2026, 450000),
  ('dep_structural', 'Structural design', 2026, 620000),
  ('dep_services', 'Building services', 2026, 150000),
  ('dep_finance', 'Finance and administration', 2026, 200000);

INSERT INTO employees (id, name, email, job_title, department_id, manager_id, is_head_of_it, status, last_day) VALUES
  ('emp_brandt', 'Ilse Brandt', 'ilse.brandt@example.org', 'Managing director', 'dep_management', NULL, 0, 'active', NULL),
  ('emp_okafor', 'Chidi Okafor', 'chidi.okafor@example.org', 'Head of IT', 'dep_it', 'emp_brandt', 1, 'active', NULL),
  ('emp_demir', 'Yusuf Demir', 'yusuf.demir@example.org', 'Senior support technician', 'dep_it', 'emp_okafor', 0, 'active', NULL),
  ('emp_lindqvist', 'Jonas Lindqvist', 'jonas.lindqvist@example.org', 'Network technician', 'dep_it', 'emp_okafor', 0, 'active', NULL),
  ('emp_popescu', 'Mirela Popescu', 'mirela.popescu@example.org', 'Workplace technician', 'dep_it', 'emp_okafor', 0, 'active', NULL),
  ('emp_tanabe', 'Aiko Tanabe', 'aiko.tanabe@example.org', 'Applications technician', 'dep_it', 'emp_okafor', 0, 'active', NULL),
  ('emp_zielinski', 'Piotr Zielinski', 'piotr.zielinski@example.org', 'Printing and plotting technician', 'dep_it', 'emp_okafor', 0, 'on_leave', NULL),
  ('emp_keller', 'Ruth Keller', 'ruth.keller@example.org', 'Head of structural design', 'dep_structural', 'emp_brandt', 0, 'active', NULL),
  ('emp_castellano', 'Marco Castellano', 'marco.castellano@example.org', 'Head of building services', 'dep_services', 'emp_brandt', 0, 'active', NULL),
  ('emp_schmidt', 'Anna Schmidt', 'anna.schmidt@example.org', 'Bridge engineer', 'dep_structural', 'emp_keller', 0, 'active', NULL),
  ('emp_schmitt', 'Anna Schmitt', 'anna.schmitt@example.org', 'Payroll accountant', 'dep_finance', 'emp_brandt', 0, 'active', NULL),
  ('emp_haddad', 'Leila Haddad', 'leila.haddad@example.org', 'Structural engineer', 'dep_structural', 'emp_keller', 0, 'active', NULL),
  ('emp_oyelaran', 'Tunde Oyelaran', 'tunde.oyelaran@example.org', 'Ventilation engineer', 'dep_services', 'emp_castellano', 0, 'active', NULL),
  ('emp_vega', 'Carmen Vega', 'carmen.vega@example.org', 'Energy consultant', 'dep_services', 'emp_castellano', 0, 'leaving', '2026-05-29'),
  ('emp_novak', 'Petr Novak', 'petr.novak@example.org', 'Sanitary planner', 'dep_services', 'emp_castellano', 0, 'left', '2026-04-30');

INSERT INTO technicians (id, employee_id, since_on) VALUES
  ('tec_demir', 'emp_demir', '2018-04-01'),
  ('tec_lindqvist', 'emp_lindqvist', '2020-09-15'),
  ('tec_popescu', 'emp_popescu', '2022-02-01'),
  ('tec_tanabe', 'emp_tanabe', '2023-11-06'),
  ('tec_zielinski', 'emp_zielinski', '2016-07-18');

INSERT INTO technician_skills (technician_id, category) VALUES
  ('tec_demir', 'software'),
  ('tec_demir', 'accounts'),
  ('tec_demir', 'hardware'),
  ('tec_lindqvist', 'network'),
  ('tec_popescu', 'hardware'),
  ('tec_popescu', 'network'),
  ('tec_tanabe', 'software'),
  ('tec_tanabe', 'printing'),
  ('tec_zielinski', 'printing');

INSERT INTO tickets (id, requester_id, category, summary, priority_id, affected_people, status, technician_id, opened_at, deadline_at, waiting_for, reopened, resolved_at, resolution, closed_at) VALUES
  ('tic_0987', 'emp_haddad', 'hardware', 'Laptop too weak for the finite element models of the station hall', 'P4', 1, 'closed', 'tec_popescu', '2026-01-19 09:00:00', '2026-01-22 09:00:00', NULL, 0, '2026-02-10 11:30:00', 'A Veltra Book 14 Pro was set up and handed out', '2026-02-18 10:00:00'),
  ('tic_1009', 'emp_novak', 'software', 'Would like ThermoPlan for the last weeks of the hospital project', 'P4', 1, 'cancelled', NULL, '2026-04-20 14:00:00', '2026-04-23 14:00:00', NULL, 0, NULL, NULL, '2026-04-22 09:10:00'),
  ('tic_1012', 'emp_schmidt', 'hardware', 'Left monitor flickers when the desk is raised', 'P3', 1, 'resolved', 'tec_popescu', '2026-05-07 09:00:00', '2026-05-08 09:00:00', NULL, 0, '2026-05-08 10:00:00', 'A worn display cable was replaced', NULL),
  ('tic_1018', 'emp_castellano', 'printing', 'Plotter on the second floor stops after every third A0 sheet', 'P3', 4, 'resolved', 'tec_tanabe', '2026-05-11 10:20:00', '2026-05-12 10:20:00', NULL, 2, '2026-05-18 16:00:00', 'Paper sensor cleaned and firmware updated', NULL),
  ('tic_1025', 'emp_haddad', 'printing', 'Prints of section drawings show a black bar at the right edge', 'P3', 2, 'resolved', 'tec_tanabe', '2026-05-15 08:30:00', '2026-05-16 08:30:00', NULL, 0, '2026-05-15 15:10:00', 'Margins set anew in the plot profile', NULL),
  ('tic_1029', 'emp_haddad', 'software', 'Needs a seat of LoadCalc Pro for the footbridge tender', 'P4', 1, 'assigned', 'tec_demir', '2026-04-28 09:40:00', '2026-05-01 09:40:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1031', 'emp_castellano', 'software', 'ThermoPlan wanted for checking the heat pump quotes', 'P4', 1, 'assigned', 'tec_demir', '2026-05-04 16:00:00', '2026-05-07 16:00:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1033', 'emp_vega', 'software', 'Project archive cannot be exported before she leaves', 'P3', 1, 'waiting', 'tec_demir', '2026-05-14 11:30:00', '2026-05-15 11:30:00', 'List of the projects that are to be exported', 1, NULL, NULL, NULL),
  ('tic_1035', 'emp_oyelaran', 'hardware', 'Has worked on a pool computer so far and asks for a Veltra Book 14', 'P4', 1, 'assigned', 'tec_demir', '2026-05-15 10:05:00', '2026-05-18 10:05:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1036', 'emp_keller', 'hardware', 'Asks for a Veltra Book 14 Pro to review large models on site', 'P4', 1, 'waiting', 'tec_demir', '2026-05-18 09:15:00', '2026-05-21 09:15:00', 'Her word on which programs must be moved over', 0, NULL, NULL, NULL),
  ('tic_1037', 'emp_oyelaran', 'software', 'Cannot mark up the duct plans, asks for Paperclip PDF Editor', 'P4', 1, 'resolved', 'tec_tanabe', '2026-05-18 09:40:00', '2026-05-21 09:40:00', NULL, 1, '2026-05-18 13:25:00', 'Seat granted, program installed and tried out together', NULL),
  ('tic_1038', 'emp_schmitt', 'accounts', 'Cannot open the shared mailbox for supplier invoices', 'P3', 1, 'assigned', 'tec_demir', '2026-05-18 14:20:00', '2026-05-19 14:20:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1039', 'emp_okafor', 'hardware', 'Notebook for the on-call rota, a Veltra Book 14 Pro if possible', 'P4', 1, 'assigned', 'tec_demir', '2026-05-18 16:45:00', '2026-05-21 16:45:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1040', 'emp_schmitt', 'network', 'Everybody who works from home is thrown out of the VPN', 'P1', 6, 'assigned', 'tec_lindqvist', '2026-05-19 06:50:00', '2026-05-19 10:50:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1041', 'emp_schmidt', 'software', 'AutoFrame crashes as soon as the viaduct model is saved', 'P2', 2, 'assigned', 'tec_demir', '2026-05-19 08:10:00', '2026-05-19 16:10:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1042', 'emp_castellano', 'network', 'Whole third floor without network since the power cut', 'P1', 14, 'assigned', 'tec_lindqvist', '2026-05-19 07:45:00', '2026-05-19 11:45:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1043', 'emp_keller', 'network', 'Drawing server cannot be reached from the meeting wing', 'P1', 9, 'new', NULL, '2026-05-19 09:05:00', '2026-05-19 13:05:00', NULL, 0, NULL, NULL, NULL),
  ('tic_1044', 'emp_schmidt', 'software', 'Seat of LoadCalc Pro for the proof of the bridge bearings', 'P4', 1, 'new', NULL, '2026-05-18 13:30:00', '2026-05-21 13:30:00', NULL, 0, NULL, NULL, NULL);

INSERT INTO devices (id, model_id, serial, bought_on, warranty_until, status, reserved_for, reserved_on, reserved_until) VALUES
  ('dev_lt_099', 'mod_book14', 'VB14-19C7730', '2019-08-12', '2022-08-11', 'retired', NULL, NULL, NULL),
  ('dev_lt_101', 'mod_book14', 'VB14-24A0118', '2024-02-26', '2027-02-25', 'handed_out', NULL, NULL, NULL),
  ('dev_lt_102', 'mod_book14_pro', 'VBP-26B4402', '2026-01-30', '2029-01-29', 'handed_out', NULL, NULL, NULL),
  ('dev_lt_103', 'mod_book14', 'VB14-23A5561', '2023-01-16', '2026-01-15', 'in_stock', NULL, NULL, NULL),
  ('dev_lt_104', 'mod_kestrel15', 'KG15-88213', '2026-03-23', '2028-03-22', 'in_stock', NULL, NULL, NULL),
  ('dev_lt_105', 'mod_book14_pro', 'VBP-26D1097', '2026-04-13', '2029-04-12', 'in_stock', NULL, NULL, NULL),
  ('dev_lt_106', 'mod_book14', 'VB14-25F9034', '2025-09-08', '2028-09-07', 'in_repair', NULL, NULL, NULL),
  ('dev_mn_201', 'mod_lumen27', 'LQ27-440191', '2024-02-26', '2027-02-25', 'handed_out', NULL, NULL, NULL),
  ('dev_mn_202', 'mod_lumen27', 'LQ27-451277', '2025-01-07', '2028-01-06', 'handed_out', NULL, NULL, NULL),
  ('dev_mn_203', 'mod_lumen27', 'LQ27-398820', '2022-06-01', '2025-05-31', 'in_stock', NULL, NULL, NULL),
  ('dev_ph_301', 'mod_pictel', 'PX4-60018', '2024-10-14', '2026-10-13', 'handed_out', NULL, NULL, NULL),
  ('dev_ph_302', 'mod_pictel', 'PX4-60019', '2024-10-14', '2026-10-13', 'handed_out', NULL, NULL, NULL),
  ('dev_ph_303', 'mod_pictel', 'PX4-41752', '2023-04-17', '2025-04-16', 'in_repair', NULL, NULL, NULL),
  ('dev_tb_401', 'mod_slatewing', 'SW11-7730K', '2025-06-02', '2027-06-01', 'handed_out', NULL, NULL, NULL),
  ('dev_tb_402', 'mod_slatewing', 'SW11-7731K', '2025-06-02', '2027-06-01', 'reserved', 'emp_vega', '2026-05-18', '2026-05-21'),
  ('dev_pj_501', 'mod_beamline', 'BL3-00527', '2024-05-06', '2026-05-05', 'handed_out', NULL, NULL, NULL),
  ('dev_pj_502', 'mod_beamline', 'BL3-00914', '2025-11-17', '2027-11-16', 'reserved', 'emp_keller', '2026-05-13', '2026-05-16');

INSERT INTO assignments (id, device_id, employee_id, ticket_id, kind, handed_out_on, due_on, extensions, charged_cents, status, returned_on) VALUES
  ('asg_0412', 'dev_lt_101', 'emp_schmidt', NULL, 'permanent', '2024-03-11', NULL, 0, 104900, 'open', NULL),
  ('asg_0413', 'dev_mn_201', 'emp_schmidt', NULL, 'permanent', '2024-03-12', NULL, 0, 32900, 'open', NULL),
  ('asg_0502', 'dev_mn_202', 'emp_schmidt', NULL, 'permanent', '2025-01-20', NULL, 0, 32900, 'open', NULL),
  ('asg_0509', 'dev_lt_103', 'emp_novak', NULL, 'permanent', '2023-02-03', NULL, 0, 104900, 'returned', '2026-04-30'),
  ('asg_0588', 'dev_lt_102', 'emp_haddad', 'tic_0987', 'permanent', '2026-02-10', NULL, 0, 289000, 'open', NULL),
  ('asg_0598', 'dev_tb_402', 'emp_keller', NULL, 'loan', '2026-03-02', '2026-03-13', 0, 0, 'returned', '2026-03-12'),
  ('asg_0611', 'dev_ph_301', 'emp_schmitt', NULL, 'loan', '2026-04-27', '2026-05-11', 0, 0, 'open', NULL),
  ('asg_0617', 'dev_tb_401', 'emp_castellano', NULL, 'loan', '2026-05-04', '2026-05-25', 1, 0, 'open', NULL),
  ('asg_0622', 'dev_ph_302', 'emp_oyelaran', NULL, 'loan', '2026-05-12', '2026-05-22', 0, 0, 'open', NULL),
  ('asg_0623', 'dev_pj_501', 'emp_oyelaran', NULL, 'loan', '2026-05-13', '2026-05-26', 0, 0, 'open', NULL);

INSERT INTO repairs (id, device_id, fault, quote_cents, sent_on, status, back_on) VALUES
  ('rep_071', 'dev_mn_203', 'Power button stuck', 4500, '2023-09-04', 'done', '2023-09-15'),
  ('rep_088', 'dev_mn_203', 'Row of dead pixels along the top', 9800, '2024-11-12', 'done', '2024-12-02'),
  ('rep_102', 'dev_mn_203', 'Backlight goes out when warm', 12000, '2025-10-06', 'done', '2025-10-24'),
  ('rep_117', 'dev_ph_303', 'Glass broken after a fall on site', 14500, '2026-05-06', 'open', NULL),
  ('rep_118', 'dev_lt_106', 'Does not charge any more', 0, '2026-05-11', 'open', NULL);

INSERT INTO products (id, name, yearly_price_cents, paid_seats) VALUES
  ('pro_autoframe', 'AutoFrame', 234000, 3),
  ('pro_loadcalc_pro', 'LoadCalc Pro', 48000, 4),
  ('pro_loadcalc_lite', 'LoadCalc Lite', 19000, 2),
  ('pro_thermoplan', 'ThermoPlan', 64000, 2),
  ('pro_paperclip', 'Paperclip PDF Editor', 9600, 5);

INSERT INTO seats (id, product_id, employee_id, ticket_id, granted_on, status, released_on) VALUES
  ('sea_031', 'pro_autoframe', 'emp_haddad', NULL, '2024-09-02', 'active', NULL),
  ('sea_044', 'pro_loadcalc_pro', 'emp_novak', NULL, '2025-03-17', 'released', '2026-04-30'),
  ('sea_052', 'pro_loadcalc_lite', 'emp_vega', NULL, '2025-06-24', 'active', NULL),
  ('sea_058', 'pro_loadcalc_lite', 'emp_schmitt', NULL, '2025-11-05', 'active', NULL),
  ('sea_063', 'pro_paperclip', 'emp_oyelaran', 'tic_1037', '2026-05-18', 'active', NULL);

INSERT INTO approvals (id, ticket_id, employee_id, approver_id, level, model_id, product_id, asked_on, expires_on, status, decided_on, used_on) VALUES
  ('app_201', 'tic_0987', 'emp_haddad', 'emp_okafor', 'head_of_it', 'mod_book14_pro', NULL, '2026-01-20', '2026-02-03', 'expired', NULL, NULL),
  ('app_205', 'tic_0987', 'emp_haddad', 'emp_keller', 'manager', 'mod_book14_pro', NULL, '2026-02-05', '2026-02-19', 'approved', '2026-02-06', '2026-02-10'),
  ('app_206', 'tic_0987', 'emp_haddad', 'emp_okafor', 'head_of_it', 'mod_book14_pro', NULL, '2026-02-05', '2026-02-19', 'approved', '2026-02-09', '2026-02-10'),
  ('app_214', 'tic_1009', 'emp_novak', 'emp_castellano', 'manager', NULL, 'pro_thermoplan', '2026-04-20', '2026-05-04', 'rejected', '2026-04-22', NULL),
  ('app_217', 'tic_1029', 'emp_haddad', 'emp_keller', 'manager', NULL, 'pro_loadcalc_pro', '2026-04-28', '2026-05-12', 'approved', '2026-05-05', NULL),
  ('app_219', 'tic_1031', 'emp_castellano', 'emp_brandt', 'manager', NULL, 'pro_thermoplan', '2026-05-04', '2026-05-18', 'pending', NULL, NULL),
  ('app_222', 'tic_1035', 'emp_oyelaran', 'emp_castellano', 'manager', 'mod_book14', NULL, '2026-05-15', '2026-05-29', 'approved', '2026-05-18', NULL),
  ('app_223', 'tic_1036', 'emp_keller', 'emp_brandt', 'manager', 'mod_book14_pro', NULL, '2026-05-18', '2026-06-01', 'approved', '2026-05-18', NULL),
  ('app_224', 'tic_1036', 'emp_keller', 'emp_okafor', 'head_of_it', 'mod_book14_pro', NULL, '2026-05-18', '2026-06-01', 'pending', NULL, NULL),
  ('app_225', 'tic_1044', 'emp_schmidt', 'emp_keller', 'manager', NULL, 'pro_loadcalc_pro', '2026-05-18', '2026-06-01', 'pending', NULL, NULL);
