INSERT INTO components (id, name, group_rule, special_needs_apply, price_cents, urgent_fee_cents, return_minutes, sample_hours, approval_hb, approval_units, uncrossmatched_limit, o_negative_reserve) VALUES
('red_cells', 'Red cells', 'cells', 1, 18000, 8500, 30, 72, 80, 4, 4, 4),
('platelets', 'Platelets', 'plasma', 1, 42000, 8500, 60, NULL, NULL, NULL, 0, 0),
('plasma', 'Plasma', 'plasma', 0, 6000, 8500, 30, NULL, NULL, NULL, 0, 0);

INSERT INTO wards (id, name, cost_code, monthly_budget_cents) VALUES
('ward_surgery', 'General Surgery', 'SB-4110', 400000),
('ward_ed', 'Emergency Department', 'SB-4020', 600000),
('ward_icu', 'Intensive Care', 'SB-4035', 35000),
('ward_haem', 'Haematology Ward', 'SB-4260', 65000),
('ward_maternity', 'Maternity', 'SB-4310', 150000),
('ward_ortho', 'Orthopaedics', 'SB-4125', 250000),
('ward_cardio', 'Cardiology', 'SB-4240', 200000),
('ward_genmed', 'General Medicine', 'SB-4205', 120000);

INSERT INTO staff (id, name, role, ward_id) VALUES
('stf_sorensen', 'Dr Ingrid Sørensen', 'haematologist', NULL),
('stf_adeyemi', 'Dr Folake Adeyemi', 'haematologist', NULL),
('stf_barros', 'Miguel Barros', 'technician', NULL),
('stf_whelan', 'Aoife Whelan', 'technician', NULL),
('stf_ferrari', 'Dr Paola Ferrari', 'doctor', 'ward_surgery'),
('stf_ito', 'Haruka Ito', 'nurse', 'ward_surgery'),
('stf_haddad', 'Dr Samir Haddad', 'doctor', 'ward_ed'),
('stf_novak', 'Dr Petr Novák', 'doctor', 'ward_icu'),
('stf_berg', 'Linnea Berg', 'nurse', 'ward_haem'),
('stf_mbeki', 'Dr Thandi Mbeki', 'doctor', 'ward_maternity'),
('stf_tanaka', 'Dr Kenji Tanaka', 'doctor', 'ward_ortho'),
('stf_kowalski', 'Dr Zofia Kowalska', 'doctor', 'ward_cardio');

INSERT INTO patients (id, name, sex, born_on, ward_id, needs_irradiated, needs_cmv_negative) VALUES
('pat_petrova', 'Elena Petrova', 'female', '1968-04-11', 'ward_surgery', 0, 0),
('pat_petrovic', 'Elena Petrovic', 'female', '1999-09-23', 'ward_maternity', 0, 0),
('pat_hughes', 'Gareth Hughes', 'male', '1954-11-30', 'ward_ortho', 0, 0),
('pat_huang', 'Mei Huang', 'female', '1986-02-17', 'ward_haem', 0, 0),
('pat_diallo', 'Ibrahima Diallo', 'male', '1971-07-05', 'ward_haem', 1, 1),
('pat_kaur', 'Simran Kaur', 'female', '2001-01-28', 'ward_icu', 0, 0),
('pat_varga', 'Bence Varga', 'male', '1989-08-14', 'ward_ed', 0, 0),
('pat_lindholm', 'Maja Lindholm', 'female', '1975-03-12', 'ward_cardio', 0, 1),
('pat_moreau', 'Luc Moreau', 'male', '1939-05-19', 'ward_genmed', 0, 0);

INSERT INTO patient_antibodies (patient_id, antigen, found_at) VALUES
('pat_huang', 'K', '2023-10-06 10:15:00'),
('pat_huang', 'Jka', '2025-06-19 14:40:00'),
('pat_lindholm', 'E', '2024-01-22 09:05:00'),
('pat_petrovic', 'K', '2026-03-10 13:20:00'),
('pat_moreau', 'Fya', '2019-11-27 16:30:00');

INSERT INTO samples (id, patient_id, taken_by, taken_at, received_at, status, closed_at, abo, rh_d, reject_reason) VALUES
('smp_5101', 'pat_huang', 'stf_berg', '2026-03-04 07:20:00', '2026-03-04 08:05:00', 'tested', '2026-03-04 10:10:00', 'O', 'positive', NULL),
('smp_5108', 'pat_hughes', 'stf_tanaka', '2026-03-08 17:30:00', '2026-03-08 17:55:00', 'tested', '2026-03-08 19:40:00', 'A', 'positive', NULL),
('smp_5112', 'pat_huang', 'stf_sorensen', '2026-03-09 08:50:00', '2026-03-09 09:20:00', 'tested', '2026-03-09 11:00:00', 'O', 'positive', NULL),
('smp_5114', 'pat_hughes', 'stf_whelan', '2026-03-09 12:00:00', '2026-03-09 12:15:00', 'tested', '2026-03-09 13:30:00', 'A', 'positive', NULL),
('smp_5117', 'pat_petrova', 'stf_ito', '2026-03-09 18:40:00', '2026-03-09 19:10:00', 'tested', '2026-03-09 21:10:00', 'A', 'positive', NULL),
('smp_5119', 'pat_petrova', 'stf_ferrari', '2026-03-10 06:30:00', '2026-03-10 06:45:00', 'tested', '2026-03-10 07:40:00', 'A', 'positive', NULL),
('smp_5122', 'pat_petrovic', 'stf_mbeki', '2026-03-10 10:05:00', '2026-03-10 10:50:00', 'tested', '2026-03-10 13:15:00', 'A', 'negative', NULL),
('smp_5127', 'pat_petrovic', 'stf_barros', '2026-03-11 08:25:00', '2026-03-11 08:40:00', 'tested', '2026-03-11 10:30:00', 'A', 'negative', NULL),
('smp_5130', 'pat_diallo', 'stf_berg', '2026-03-11 13:45:00', '2026-03-11 14:20:00', 'tested', '2026-03-11 16:00:00', 'AB', 'positive', NULL),
('smp_5131', 'pat_moreau', 'stf_sorensen', '2026-03-11 15:10:00', '2026-03-11 15:50:00', 'rejected', '2026-03-11 16:05:00', NULL, NULL, 'Tube label shows another birth date'),
('smp_5134', 'pat_kaur', 'stf_barros', '2026-03-12 03:10:00', '2026-03-12 03:25:00', 'tested', '2026-03-12 04:30:00', 'B', 'positive', NULL),
('smp_5139', 'pat_kaur', 'stf_novak', '2026-03-12 11:00:00', '2026-03-12 11:18:00', 'received', NULL, NULL, NULL, NULL),
('smp_5140', 'pat_varga', 'stf_haddad', '2026-03-12 11:25:00', '2026-03-12 11:33:00', 'received', NULL, NULL, NULL, NULL);

INSERT INTO devices (id, name, component_id, places) VALUES
('dev_fridge_a', 'Blood refrigerator A, issue room', 'red_cells', 12),
('dev_fridge_b', 'Blood refrigerator B, back corridor', 'red_cells', 5),
('dev_fridge_ed', 'Satellite refrigerator, resuscitation bay', 'red_cells', 4),
('dev_agitator', 'Platelet agitator by the window', 'platelets', 4),
('dev_freezer', 'Plasma freezer, minus 30', 'plasma', 6);

INSERT INTO requests (id, patient_id, ward_id, component_id, units, haemoglobin, urgency, requested_by, requested_at, needed_at, status, decided_by, decided_at, closed_at) VALUES
('req_2589', 'pat_hughes', 'ward_ortho', 'red_cells', 1, 82, 'routine', 'stf_tanaka', '2026-03-09 12:50:00', '2026-03-09 15:00:00', 'completed', 'stf_sorensen', '2026-03-09 13:25:00', '2026-03-09 17:40:00'),
('req_2590', 'pat_moreau', 'ward_genmed', 'red_cells', 1, 95, 'routine', 'stf_sorensen', '2026-03-10 14:20:00', '2026-03-11 09:00:00', 'refused', 'stf_adeyemi', '2026-03-10 15:10:00', '2026-03-10 15:10:00'),
('req_2591', 'pat_petrova', 'ward_surgery', 'red_cells', 2, 70, 'routine', 'stf_ferrari', '2026-03-10 07:50:00', '2026-03-10 12:00:00', 'cancelled', NULL, NULL, '2026-03-10 10:05:00'),
('req_2593', 'pat_hughes', 'ward_ortho', 'red_cells', 2, 76, 'routine', 'stf_tanaka', '2026-03-10 09:30:00', '2026-03-11 11:00:00', 'open', NULL, NULL, NULL),
('req_2597', 'pat_huang', 'ward_haem', 'red_cells', 2, 68, 'routine', 'stf_sorensen', '2026-03-11 16:00:00', '2026-03-12 14:00:00', 'open', NULL, NULL, NULL),
('req_2598', 'pat_kaur', 'ward_icu', 'red_cells', 1, 61, 'urgent', 'stf_novak', '2026-03-12 04:40:00', '2026-03-12 06:15:00', 'open', NULL, NULL, NULL),
('req_2601', 'pat_petrova', 'ward_surgery', 'red_cells', 4, 72, 'urgent', 'stf_ferrari', '2026-03-12 08:10:00', '2026-03-12 12:30:00', 'open', NULL, NULL, NULL),
('req_2602', 'pat_diallo', 'ward_haem', 'platelets', 2, NULL, 'urgent', 'stf_sorensen', '2026-03-12 08:25:00', '2026-03-12 13:00:00', 'open', NULL, NULL, NULL),
('req_2603', 'pat_petrovic', 'ward_maternity', 'platelets', 1, NULL, 'urgent', 'stf_mbeki', '2026-03-12 09:30:00', '2026-03-12 11:30:00', 'open', NULL, NULL, NULL),
('req_2604', 'pat_lindholm', 'ward_cardio', 'red_cells', 2, 86, 'routine', 'stf_kowalski', '2026-03-12 09:40:00', '2026-03-12 18:00:00', 'awaiting_approval', NULL, NULL, NULL),
('req_2605', 'pat_moreau', 'ward_genmed', 'red_cells', 5, 64, 'routine', 'stf_sorensen', '2026-03-12 10:05:00', '2026-03-13 10:00:00', 'awaiting_approval', NULL, NULL, NULL),
('req_2606', 'pat_varga', 'ward_ed', 'red_cells', 4, NULL, 'emergency', 'stf_haddad', '2026-03-12 11:32:00', '2026-03-12 11:45:00', 'open', NULL, NULL, NULL);

INSERT INTO supply_orders (id, component_id, abo, rh_d, quantity, kind, request_id, placed_at, status, closed_at) VALUES
('ord_880', 'red_cells', 'O', 'negative', 2, 'routine', NULL, '2026-03-09 09:15:00', 'delivered', '2026-03-10 08:30:00'),
('ord_881', 'plasma', 'A', 'positive', 4, 'routine', NULL, '2026-03-11 09:10:00', 'cancelled', '2026-03-11 11:05:00'),
('ord_882', 'red_cells', 'O', 'negative', 3, 'routine', NULL, '2026-03-12 08:50:00', 'placed', NULL),
('ord_883', 'plasma', 'AB', 'positive', 2, 'routine', NULL, '2026-03-12 09:20:00', 'placed', NULL),
('ord_884', 'platelets', 'AB', 'positive', 1, 'urgent', 'req_2602', '2026-03-12 10:50:00', 'placed', NULL);

INSERT INTO units (id, component_id, abo, rh_d, irradiated, cmv_negative, received_on, expires_on, supply_order_id, status, device_id, quarantined_by, quarantine_reason, discard_reason) VALUES
('unit_r101', 'red_cells', 'O', 'negative', 0, 0, '2026-02-24', '2026-03-16', NULL, 'available', 'dev_fridge_a', NULL, NULL, NULL),
('unit_r102', 'red_cells', 'O', 'negative', 0, 1, '2026-02-26', '2026-03-21', NULL, 'available', 'dev_fridge_ed', NULL, NULL, NULL),
('unit_r103', 'red_cells', 'O', 'negative', 0, 0, '2026-03-02', '2026-03-27', NULL, 'available', 'dev_fridge_ed', NULL, NULL, NULL),
('unit_r104', 'red_cells', 'O', 'negative', 0, 0, '2026-03-10', '2026-04-02', 'ord_880', 'available', 'dev_fridge_a', NULL, NULL, NULL),
('unit_r105', 'red_cells', 'O', 'negative', 1, 1, '2026-03-10', '2026-04-05', 'ord_880', 'available', 'dev_fridge_a', NULL, NULL, NULL),
('unit_r106', 'red_cells', 'O', 'negative', 0, 0, '2026-02-12', '2026-03-10', NULL, 'available', 'dev_fridge_b', NULL, NULL, NULL),
('unit_r107', 'red_cells', 'A', 'positive', 0, 1, '2026-03-05', '2026-03-18', NULL, 'available', 'dev_fridge_b', NULL, NULL, NULL),
('unit_r108', 'red_cells', 'A', 'positive', 0, 0, '2026-03-05', '2026-03-30', NULL, 'available', 'dev_fridge_b', NULL, NULL, NULL),
('unit_r110', 'red_cells', 'A', 'positive', 0, 0, '2026-03-11', '2026-03-17', NULL, 'reserved', 'dev_fridge_b', NULL, NULL, NULL),
('unit_r111', 'red_cells', 'A', 'positive', 0, 0, '2026-03-11', '2026-03-15', NULL, 'issued', NULL, NULL, NULL, NULL),
('unit_r112', 'red_cells', 'O', 'positive', 0, 1, '2026-03-06', '2026-03-24', NULL, 'available', 'dev_fridge_b', NULL, NULL, NULL),
('unit_r113', 'red_cells', 'O', 'positive', 0, 0, '2026-03-06', '2026-03-22', NULL, 'reserved', 'dev_fridge_a', NULL, NULL, NULL),
('unit_r115', 'red_cells', 'A', 'positive', 0, 0, '2026-03-10', '2026-03-13', NULL, 'reserved', 'dev_fridge_a', NULL, NULL, NULL),
('unit_r116', 'red_cells', 'A', 'positive', 0, 0, '2026-03-11', '2026-03-14', NULL, 'issued', NULL, NULL, NULL, NULL),
('unit_r117', 'red_cells', 'B', 'positive', 0, 0, '2026-03-07', '2026-04-01', NULL, 'quarantined', 'dev_fridge_a', 'stf_whelan', 'Donation number smudged, second reading asked for', NULL),
('unit_r118', 'red_cells', 'A', 'positive', 0, 0, '2026-02-18', '2026-03-11', NULL, 'transfused', NULL, NULL, NULL, NULL),
('unit_r119', 'red_cells', 'O', 'negative', 0, 0, '2026-02-20', '2026-03-14', NULL, 'discarded', NULL, NULL, NULL, 'wasted'),
('unit_r120', 'red_cells', 'AB', 'negative', 0, 0, '2026-02-03', '2026-03-06', NULL, 'discarded', NULL, NULL, NULL, 'expired'),
('unit_p201', 'platelets', 'A', 'negative', 0, 0, '2026-03-11', '2026-03-13', NULL, 'issued', NULL, NULL, NULL, NULL),
('unit_p202', 'platelets', 'A', 'positive', 0, 1, '2026-03-11', '2026-03-14', NULL, 'available', 'dev_agitator', NULL, NULL, NULL),
('unit_p203', 'platelets', 'AB', 'positive', 1, 1, '2026-03-11', '2026-03-15', NULL, 'reserved', 'dev_agitator', NULL, NULL, NULL),
('unit_p204', 'platelets', 'B', 'positive', 0, 0, '2026-03-07', '2026-03-11', NULL, 'discarded', NULL, NULL, NULL, 'quarantine'),
('unit_f301', 'plasma', 'AB', 'negative', 0, 0, '2025-11-20', '2027-11-03', NULL, 'available', 'dev_freezer', NULL, NULL, NULL),
('unit_f302', 'plasma', 'A', 'positive', 0, 0, '2025-08-14', '2027-07-29', NULL, 'quarantined', 'dev_freezer', 'stf_adeyemi', 'Hairline crack suspected along the lower seam', NULL);

INSERT INTO unit_negatives (unit_id, antigen) VALUES
('unit_r112', 'K'),
('unit_r112', 'Jka'),
('unit_r112', 'E'),
('unit_r113', 'K'),
('unit_r113', 'Jka');

INSERT INTO allocations (id, request_id, unit_id, sample_id, status, reserved_at, issued_at, collected_by, seal_intact, ended_at) VALUES
('alc_7001', 'req_2589', 'unit_r118', 'smp_5114', 'transfused', '2026-03-09 14:20:00', '2026-03-09 15:05:00', 'stf_tanaka', NULL, '2026-03-09 17:40:00'),
('alc_7002', 'req_2591', 'unit_r108', 'smp_5119', 'returned', '2026-03-10 08:20:00', '2026-03-10 09:30:00', 'stf_ito', 1, '2026-03-10 09:50:00'),
('alc_7003', 'req_2591', 'unit_r107', 'smp_5119', 'released', '2026-03-10 08:18:00', NULL, NULL, NULL, '2026-03-10 10:05:00'),
('alc_7004', 'req_2593', 'unit_r115', 'smp_5114', 'reserved', '2026-03-10 15:00:00', NULL, NULL, NULL, NULL),
('alc_7005', 'req_2597', 'unit_r113', 'smp_5112', 'reserved', '2026-03-11 16:35:00', NULL, NULL, NULL, NULL),
('alc_7006', 'req_2598', 'unit_r119', 'smp_5134', 'wasted', '2026-03-12 05:10:00', '2026-03-12 06:20:00', 'stf_novak', 1, '2026-03-12 07:10:00'),
('alc_7007', 'req_2601', 'unit_r116', 'smp_5119', 'issued', '2026-03-12 08:40:00', '2026-03-12 10:40:00', 'stf_ito', NULL, NULL),
('alc_7008', 'req_2601', 'unit_r111', 'smp_5119', 'issued', '2026-03-12 08:42:00', '2026-03-12 11:20:00', 'stf_ito', NULL, NULL),
('alc_7009', 'req_2601', 'unit_r110', 'smp_5119', 'reserved', '2026-03-12 08:45:00', NULL, NULL, NULL, NULL),
('alc_7010', 'req_2602', 'unit_p203', NULL, 'reserved', '2026-03-12 08:55:00', NULL, NULL, NULL, NULL),
('alc_7011', 'req_2603', 'unit_p201', NULL, 'issued', '2026-03-12 10:00:00', '2026-03-12 11:05:00', 'stf_mbeki', NULL, NULL);

INSERT INTO ward_charges (id, request_id, allocation_id, supply_order_id, kind, amount_cents, charged_at) VALUES
('chg_3301', 'req_2589', 'alc_7001', NULL, 'unit', 18000, '2026-03-09 15:05:00'),
('chg_3302', 'req_2591', 'alc_7002', NULL, 'unit', 18000, '2026-03-10 09:30:00'),
('chg_3303', 'req_2591', 'alc_7002', NULL, 'credit', -18000, '2026-03-10 09:50:00'),
('chg_3304', 'req_2598', 'alc_7006', NULL, 'unit', 18000, '2026-03-12 06:20:00'),
('chg_3305', 'req_2601', 'alc_7007', NULL, 'unit', 18000, '2026-03-12 10:40:00'),
('chg_3306', 'req_2602', NULL, 'ord_884', 'delivery', 8500, '2026-03-12 10:50:00'),
('chg_3307', 'req_2603', 'alc_7011', NULL, 'unit', 42000, '2026-03-12 11:05:00'),
('chg_3308', 'req_2601', 'alc_7008', NULL, 'unit', 18000, '2026-03-12 11:20:00');
