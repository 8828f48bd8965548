INSERT INTO terms (id, name, status, registration_from, add_until, drop_until, withdraw_until, payment_due_on, credit_price_cents) VALUES
('trm_2026_spring', 'Spring 2026', 'closed', '2025-11-03', '2026-01-30', '2026-02-06', '2026-04-10', '2026-02-20', 32000),
('trm_2026_summer', 'Summer 2026', 'open', '2026-04-13', '2026-06-12', '2026-06-19', '2026-07-17', '2026-06-30', 32000),
('trm_2026_fall', 'Fall 2026', 'open', '2026-04-20', '2026-09-11', '2026-09-18', '2026-11-20', '2026-09-30', 32000),
('trm_2027_spring', 'Spring 2027', 'open', '2026-11-02', '2027-01-29', '2027-02-05', '2027-04-09', '2027-02-19', 32000),
('trm_2027_summer', 'Summer 2027', 'planned', '2027-04-12', '2027-06-11', '2027-06-18', '2027-07-16', '2027-06-30', 32000);

INSERT INTO student_kinds (id, credit_limit, overload_limit, waitlist_limit, withdrawal_limit, overdue_limit_cents) VALUES
('full_time', 18, 21, 3, 4, 50000),
('part_time', 9, 12, 2, 4, 50000);

INSERT INTO staff (id, name, email, role) VALUES
('stf_oduya', 'Grace Oduya', 'grace.oduya@example.org', 'bursar'),
('stf_lindqvist', 'Henrik Lindqvist', 'henrik.lindqvist@example.org', 'dean'),
('stf_marchetti', 'Paola Marchetti', 'paola.marchetti@example.org', 'advisor'),
('stf_haddad', 'Samir Haddad', 'samir.haddad@example.org', 'advisor'),
('stf_tanaka', 'Reiko Tanaka', 'reiko.tanaka@example.org', 'instructor'),
('stf_novak', 'Petr Novak', 'petr.novak@example.org', 'instructor'),
('stf_obrien', 'Maeve O''Brien', 'maeve.obrien@example.org', 'instructor');

INSERT INTO courses (id, title, credits, level, coordinator_id, needs_consent) VALUES
('crs_math101', 'Calculus I', 4, 100, 'stf_tanaka', 0),
('crs_math201', 'Linear Algebra', 3, 200, 'stf_tanaka', 0),
('crs_cs110', 'Programming Fundamentals', 4, 100, 'stf_novak', 0),
('crs_cs210', 'Data Structures', 4, 200, 'stf_novak', 0),
('crs_phys120', 'Mechanics Laboratory', 2, 100, 'stf_tanaka', 0),
('crs_eng330', 'Materials Engineering', 5, 300, 'stf_obrien', 0),
('crs_cs490', 'Research Seminar in Robotics', 6, 400, 'stf_novak', 1);

INSERT INTO prerequisites (course_id, required_course_id, min_grade) VALUES
('crs_math201', 'crs_math101', 'C'),
('crs_cs210', 'crs_cs110', 'B'),
('crs_phys120', 'crs_math101', 'D'),
('crs_cs490', 'crs_cs210', 'A');

INSERT INTO students (id, name, email, kind_id, class_year, status, advisor_id) VALUES
('stu_adaeze', 'Adaeze Nwosu', 'adaeze.nwosu@example.org', 'full_time', 2, 'active', 'stf_marchetti'),
('stu_bruno', 'Bruno Castellano', 'bruno.castellano@example.org', 'part_time', 3, 'active', 'stf_marchetti'),
('stu_chen_wei', 'Chen Wei', 'chen.wei@example.org', 'full_time', 2, 'active', 'stf_marchetti'),
('stu_chen_wen', 'Chen Wen', 'chen.wen@example.org', 'full_time', 4, 'active', 'stf_haddad'),
('stu_dilara', 'Dilara Yildiz', 'dilara.yildiz@example.org', 'full_time', 2, 'active', 'stf_marchetti'),
('stu_emre', 'Emre Aksoy', 'emre.aksoy@example.org', 'part_time', 1, 'active', 'stf_marchetti'),
('stu_farah', 'Farah Rahimi', 'farah.rahimi@example.org', 'full_time', 1, 'active', 'stf_haddad'),
('stu_goran', 'Goran Petrovic', 'goran.petrovic@example.org', 'full_time', 3, 'active', 'stf_haddad'),
('stu_hyejin', 'Hye-jin Park', 'hyejin.park@example.org', 'full_time', 1, 'active', 'stf_haddad'),
('stu_ines', 'Ines Carvalho', 'ines.carvalho@example.org', 'full_time', 1, 'active', 'stf_haddad'),
('stu_joao', 'Joao Carvalho', 'joao.carvalho@example.org', 'part_time', 1, 'active', 'stf_haddad'),
('stu_liam', 'Liam McAllister', 'liam.mcallister@example.org', 'full_time', 2, 'suspended', 'stf_haddad'),
('stu_mira', 'Mira Vasquez', 'mira.vasquez@example.org', 'full_time', 3, 'on_leave', 'stf_marchetti'),
('stu_noor', 'Noor Siddiqui', 'noor.siddiqui@example.org', 'full_time', 4, 'graduated', 'stf_marchetti');

INSERT INTO sections (id, course_id, term_id, label, instructor_id, capacity, waitlist_places, status) VALUES
('sec_math101_26sp_a', 'crs_math101', 'trm_2026_spring', 'A', 'stf_tanaka', 30, 10, 'closed'),
('sec_cs110_26sp_a', 'crs_cs110', 'trm_2026_spring', 'A', 'stf_novak', 28, 10, 'closed'),
('sec_eng330_26sp_a', 'crs_eng330', 'trm_2026_spring', 'A', 'stf_obrien', 24, 8, 'closed'),
('sec_phys120_26sp_a', 'crs_phys120', 'trm_2026_spring', 'A', 'stf_tanaka', 16, 6, 'closed'),
('sec_math101_26su_a', 'crs_math101', 'trm_2026_summer', 'A', 'stf_tanaka', 20, 10, 'closed'),
('sec_cs110_26fa_a', 'crs_cs110', 'trm_2026_fall', 'A', 'stf_novak', 32, 10, 'closed'),
('sec_math101_27sp_a', 'crs_math101', 'trm_2027_spring', 'A', 'stf_tanaka', 2, 10, 'open'),
('sec_cs110_27sp_a', 'crs_cs110', 'trm_2027_spring', 'A', 'stf_novak', 3, 2, 'open'),
('sec_cs110_27sp_b', 'crs_cs110', 'trm_2027_spring', 'B', 'stf_obrien', 18, 10, 'cancelled'),
('sec_math201_27sp_a', 'crs_math201', 'trm_2027_spring', 'A', 'stf_tanaka', 25, 10, 'open'),
('sec_cs210_27sp_a', 'crs_cs210', 'trm_2027_spring', 'A', 'stf_novak', 2, 5, 'open'),
('sec_phys120_27sp_a', 'crs_phys120', 'trm_2027_spring', 'A', 'stf_tanaka', 12, 4, 'open'),
('sec_eng330_27sp_a', 'crs_eng330', 'trm_2027_spring', 'A', 'stf_obrien', 4, 10, 'open'),
('sec_eng330_27sp_b', 'crs_eng330', 'trm_2027_spring', 'B', 'stf_obrien', 15, 10, 'closed'),
('sec_cs490_27sp_a', 'crs_cs490', 'trm_2027_spring', 'A', 'stf_obrien', 6, 0, 'open');

INSERT INTO meetings (section_id, day, starts, ends, room) VALUES
('sec_math101_27sp_a', 'Wed', '09:00', '10:40', 'Tyndall 104'),
('sec_cs110_27sp_a', 'Thu', '09:00', '10:40', 'Noether 210'),
('sec_math201_27sp_a', 'Mon', '09:30', '11:00', 'Tyndall 107'),
('sec_cs210_27sp_a', 'Mon', '10:00', '11:40', 'Noether 212'),
('sec_phys120_27sp_a', 'Fri', '14:00', '17:00', 'Mechanics Lab 1'),
('sec_eng330_27sp_a', 'Tue', '13:00', '15:30', 'Foundry Hall 3'),
('sec_eng330_27sp_a', 'Thu', '10:40', '12:10', 'Foundry Hall 5');

INSERT INTO permissions (id, kind, student_id, term_id, course_id, section_id, reason, status, requested_at, decided_at, decided_by) VALUES
('prm_0001', 'overload', 'stu_mira', 'trm_2026_fall', NULL, NULL, 'Wanted to catch up before going on leave', 'denied', '2026-05-06 09:40:00', '2026-05-08 14:15:00', 'stf_marchetti'),
('prm_0002', 'prerequisite_waiver', 'stu_bruno', 'trm_2027_spring', 'crs_cs210', NULL, 'Six years of work as a software tester', 'used', '2026-10-26 11:05:00', '2026-10-28 16:30:00', 'stf_novak'),
('prm_0003', 'overload', 'stu_bruno', 'trm_2027_spring', NULL, NULL, 'Employer grants study leave until May', 'requested', '2026-11-09 08:55:00', NULL, NULL),
('prm_0004', 'prerequisite_waiver', 'stu_chen_wei', 'trm_2027_spring', 'crs_cs210', NULL, 'Passed an online programming certificate over the summer', 'requested', '2026-11-06 13:20:00', NULL, NULL),
('prm_0005', 'instructor_consent', 'stu_adaeze', 'trm_2027_spring', NULL, 'sec_cs490_27sp_a', 'Member of the rover team since last year', 'approved', '2026-11-03 10:10:00', '2026-11-04 09:00:00', 'stf_obrien'),
('prm_0006', 'prerequisite_waiver', 'stu_adaeze', 'trm_2027_spring', 'crs_cs490', NULL, 'Takes data structures alongside the seminar', 'approved', '2026-11-03 10:12:00', '2026-11-05 15:45:00', 'stf_novak'),
('prm_0007', 'instructor_consent', 'stu_chen_wen', 'trm_2027_spring', NULL, 'sec_cs490_27sp_a', 'Final project on gripper control', 'requested', '2026-11-09 16:40:00', NULL, NULL);

INSERT INTO holds (id, student_id, kind, reason, status, placed_at, placed_by, released_at, released_by) VALUES
('hld_0001', 'stu_emre', 'financial', 'Summer tuition unpaid after the second reminder', 'released', '2026-07-15 09:00:00', 'stf_oduya', '2026-08-20 15:10:00', 'stf_oduya'),
('hld_0002', 'stu_liam', 'disciplinary', 'Conduct board decision of September', 'active', '2026-09-22 11:30:00', 'stf_lindqvist', NULL, NULL),
('hld_0003', 'stu_ines', 'financial', 'Fall tuition not received by the payment date', 'active', '2026-10-15 09:05:00', 'stf_oduya', NULL, NULL),
('hld_0004', 'stu_farah', 'financial', 'Tuition of two terms outstanding', 'active', '2026-10-15 09:10:00', 'stf_oduya', NULL, NULL),
('hld_0005', 'stu_hyejin', 'advising', 'Has not yet met the advisor about the study plan', 'active', '2026-11-06 10:00:00', 'stf_haddad', NULL, NULL);

INSERT INTO enrollments (id, student_id, section_id, status, enrolled_at, ended_at, grade) VALUES
('enr_0001', 'stu_adaeze', 'sec_math101_26sp_a', 'completed', '2025-11-04 09:15:00', '2026-05-18 10:00:00', 'B'),
('enr_0002', 'stu_adaeze', 'sec_cs110_26sp_a', 'completed', '2025-11-04 09:20:00', '2026-05-19 11:30:00', 'A'),
('enr_0003', 'stu_chen_wei', 'sec_cs110_26sp_a', 'completed', '2025-11-10 14:02:00', '2026-05-19 11:32:00', 'D'),
('enr_0004', 'stu_dilara', 'sec_math101_26sp_a', 'completed', '2025-11-12 10:48:00', '2026-05-18 10:05:00', 'C'),
('enr_0005', 'stu_emre', 'sec_math101_26sp_a', 'completed', '2026-01-20 16:30:00', '2026-05-18 10:07:00', 'F'),
('enr_0006', 'stu_noor', 'sec_eng330_26sp_a', 'completed', '2025-11-03 08:40:00', '2026-05-20 09:25:00', 'C'),
('enr_0007', 'stu_goran', 'sec_math101_26sp_a', 'withdrawn', '2025-11-17 13:00:00', '2026-03-12 09:30:00', NULL),
('enr_0008', 'stu_goran', 'sec_cs110_26sp_a', 'withdrawn', '2025-11-17 13:05:00', '2026-03-12 09:32:00', NULL),
('enr_0009', 'stu_goran', 'sec_eng330_26sp_a', 'withdrawn', '2025-11-18 11:10:00', '2026-03-16 14:20:00', NULL),
('enr_0010', 'stu_goran', 'sec_phys120_26sp_a', 'withdrawn', '2026-01-26 10:25:00', '2026-03-16 14:22:00', NULL),
('enr_0011', 'stu_farah', 'sec_math101_26su_a', 'enrolled', '2026-05-11 15:00:00', NULL, NULL),
('enr_0012', 'stu_emre', 'sec_math101_26su_a', 'enrolled', '2026-06-01 12:20:00', NULL, NULL),
('enr_0013', 'stu_farah', 'sec_cs110_26fa_a', 'enrolled', '2026-05-04 09:35:00', NULL, NULL),
('enr_0014', 'stu_goran', 'sec_cs110_26fa_a', 'enrolled', '2026-08-24 10:15:00', NULL, NULL),
('enr_0015', 'stu_ines', 'sec_cs110_26fa_a', 'enrolled', '2026-09-09 16:05:00', NULL, NULL),
('enr_0016', 'stu_adaeze', 'sec_cs210_27sp_a', 'enrolled', '2026-11-02 08:35:00', NULL, NULL),
('enr_0017', 'stu_bruno', 'sec_cs210_27sp_a', 'enrolled', '2026-11-02 08:52:00', NULL, NULL),
('enr_0018', 'stu_bruno', 'sec_eng330_27sp_a', 'enrolled', '2026-11-02 08:55:00', NULL, NULL),
('enr_0019', 'stu_joao', 'sec_math101_27sp_a', 'enrolled', '2026-11-02 11:40:00', NULL, NULL),
('enr_0020', 'stu_chen_wen', 'sec_math101_27sp_a', 'dropped', '2026-11-03 09:25:00', '2026-11-05 13:50:00', NULL),
('enr_0021', 'stu_emre', 'sec_cs110_27sp_a', 'enrolled', '2026-11-04 16:45:00', NULL, NULL);

INSERT INTO waitlist_entries (id, student_id, section_id, status, joined_at, offered_at, offer_until, closed_at) VALUES
('wtl_0001', 'stu_hyejin', 'sec_eng330_27sp_a', 'expired', '2026-11-02 09:05:00', '2026-11-03 09:00:00', '2026-11-05 09:00:00', '2026-11-05 09:30:00'),
('wtl_0002', 'stu_emre', 'sec_cs110_27sp_a', 'enrolled', '2026-11-02 09:30:00', '2026-11-03 10:00:00', '2026-11-05 10:00:00', '2026-11-04 16:45:00'),
('wtl_0003', 'stu_mira', 'sec_cs110_27sp_a', 'removed', '2026-11-02 10:20:00', NULL, NULL, '2026-11-03 12:10:00'),
('wtl_0004', 'stu_joao', 'sec_eng330_27sp_a', 'offered', '2026-11-02 11:45:00', '2026-11-06 11:00:00', '2026-11-08 11:00:00', NULL),
('wtl_0005', 'stu_adaeze', 'sec_eng330_27sp_a', 'offered', '2026-11-03 08:30:00', '2026-11-09 09:00:00', '2026-11-11 09:00:00', NULL),
('wtl_0006', 'stu_chen_wen', 'sec_eng330_27sp_a', 'offered', '2026-11-03 09:28:00', '2026-11-09 15:30:00', '2026-11-11 15:30:00', NULL),
('wtl_0007', 'stu_hyejin', 'sec_math101_27sp_a', 'waiting', '2026-11-04 14:20:00', NULL, NULL, NULL),
('wtl_0008', 'stu_goran', 'sec_eng330_27sp_a', 'waiting', '2026-11-05 10:05:00', NULL, NULL, NULL),
('wtl_0009', 'stu_dilara', 'sec_cs110_27sp_a', 'offered', '2026-11-05 15:15:00', '2026-11-07 09:20:00', '2026-11-09 09:20:00', NULL),
('wtl_0010', 'stu_joao', 'sec_cs110_27sp_a', 'waiting', '2026-11-06 08:50:00', NULL, NULL, NULL);

INSERT INTO account_entries (id, student_id, kind, enrollment_id, amount_cents, method, receipt_no, entered_at) VALUES
('acc_0001', 'stu_farah', 'tuition', 'enr_0013', 128000, NULL, NULL, '2026-05-04 09:35:00'),
('acc_0002', 'stu_farah', 'tuition', 'enr_0011', 128000, NULL, NULL, '2026-05-11 15:00:00'),
('acc_0003', 'stu_emre', 'tuition', 'enr_0012', 128000, NULL, NULL, '2026-06-01 12:20:00'),
('acc_0004', 'stu_emre', 'payment', NULL, 128000, 'cash', 'R-26-0417', '2026-08-20 14:55:00'),
('acc_0005', 'stu_goran', 'tuition', 'enr_0014', 128000, NULL, NULL, '2026-08-24 10:15:00'),
('acc_0006', 'stu_ines', 'tuition', 'enr_0015', 128000, NULL, NULL, '2026-09-09 16:05:00'),
('acc_0007', 'stu_goran', 'payment', NULL, 92000, 'card', 'R-26-0466', '2026-09-28 10:40:00'),
('acc_0008', 'stu_adaeze', 'tuition', 'enr_0016', 128000, NULL, NULL, '2026-11-02 08:35:00'),
('acc_0009', 'stu_bruno', 'tuition', 'enr_0017', 128000, NULL, NULL, '2026-11-02 08:52:00'),
('acc_0010', 'stu_bruno', 'tuition', 'enr_0018', 160000, NULL, NULL, '2026-11-02 08:55:00'),
('acc_0011', 'stu_joao', 'tuition', 'enr_0019', 128000, NULL, NULL, '2026-11-02 11:40:00'),
('acc_0012', 'stu_chen_wen', 'tuition', 'enr_0020', 128000, NULL, NULL, '2026-11-03 09:25:00'),
('acc_0013', 'stu_emre', 'tuition', 'enr_0021', 128000, NULL, NULL, '2026-11-04 16:45:00'),
('acc_0014', 'stu_chen_wen', 'refund', 'enr_0020', 128000, NULL, NULL, '2026-11-05 13:50:00'),
('acc_0015', 'stu_farah', 'payment', NULL, 256000, 'transfer', 'R-26-0512', '2026-11-09 11:20:00');
