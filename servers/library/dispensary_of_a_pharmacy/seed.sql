INSERT INTO classes (id, valid_days, pickup_days, may_repeat, goes_back, two_hands) VALUES
  ('ordinary', 28, 14, 1, 1, 0),
  ('cold', 28, 3, 1, 0, 0),
  ('controlled', 7, 14, 0, 1, 1);
INSERT INTO substances (id, name) VALUES
  ('sub_amox', 'amoxicillin'), ('sub_metf', 'metformin'), ('sub_ins', 'insulin glargine'), ('sub_morph', 'morphine'),
  ('sub_ibu', 'ibuprofen'), ('sub_levo', 'levothyroxine'), ('sub_mph', 'methylphenidate'), ('sub_lat', 'latanoprost');
INSERT INTO staff (id, name, role) VALUES
  ('stf_maren', 'Maren Holtkamp', 'pharmacist'), ('stf_idris', 'Idris Kamara', 'pharmacist'), ('stf_yuna', 'Yuna Seo', 'pharmacist'),
  ('stf_lotte', 'Lotte Brinkmann', 'technician'), ('stf_pavel', 'Pavel Urban', 'technician');
INSERT INTO patients (id, name, born_on, phone) VALUES
  ('pat_greta', 'Greta Lindholm', '1958-03-14', '01632 550114'),
  ('pat_gretel', 'Gretel Lindhorst', '2009-10-02', '01632 550141'),
  ('pat_omar', 'Omar Benslimane', '1971-07-29', '01632 550177'),
  ('pat_henrik', 'Henrik Aune', '1949-12-05', NULL),
  ('pat_suri', 'Suri Wickramasinghe', '1986-05-21', '01632 550162'),
  ('pat_mira', 'Mira Kostova', '2014-01-17', '01632 550128'),
  ('pat_ana', 'Ana Beltrán', '1993-08-08', '01632 550135'),
  ('pat_bogdan', 'Bogdan Ilić', '1962-11-23', NULL),
  ('pat_lucio', 'Lucio Sant''Anna', '1979-02-26', '01632 550199');
INSERT INTO collectors (patient_id, name) VALUES
  ('pat_mira', 'Desislava Kostova'), ('pat_henrik', 'Solveig Aune'), ('pat_omar', 'Nadia Benslimane'),
  ('pat_gretel', 'Ruth Lindhorst'), ('pat_bogdan', 'Jelena Ilić'), ('pat_greta', 'Arvid Lindholm');
INSERT INTO intolerances (patient_id, substance_id, noted_on) VALUES
  ('pat_henrik', 'sub_amox', '2025-11-04'), ('pat_ana', 'sub_ibu', '2024-06-18'), ('pat_omar', 'sub_morph', '2023-02-09'),
  ('pat_mira', 'sub_amox', '2026-01-09'), ('pat_greta', 'sub_metf', '2025-08-30');
INSERT INTO medicines (id, name, substance_id, class_id, min_packs) VALUES
  ('med_amox', 'Amoxicillin 500 mg capsules', 'sub_amox', 'ordinary', 10),
  ('med_metf', 'Metformin 850 mg tablets', 'sub_metf', 'ordinary', 20),
  ('med_ins', 'Insulin glargine pens', 'sub_ins', 'cold', 6),
  ('med_morph', 'Morphine 10 mg retard tablets', 'sub_morph', 'controlled', 4),
  ('med_ibu', 'Ibuprofen 400 mg tablets', 'sub_ibu', 'ordinary', 15),
  ('med_levo', 'Levothyroxine 75 microgram tablets', 'sub_levo', 'ordinary', 12),
  ('med_mph', 'Methylphenidate 18 mg tablets', 'sub_mph', 'controlled', 3),
  ('med_lat', 'Latanoprost eye drops', 'sub_lat', 'cold', 5);
INSERT INTO batches (id, medicine_id, received_on, expires_on, received_packs, status, status_reason, destroyed_by) VALUES
  ('bat_amox_1', 'med_amox', '2025-09-10', '2026-08-31', 20, 'usable', NULL, NULL),
  ('bat_amox_2', 'med_amox', '2026-02-02', '2027-02-28', 30, 'usable', NULL, NULL),
  ('bat_metf_1', 'med_metf', '2025-05-02', '2026-05-05', 15, 'usable', NULL, NULL),
  ('bat_metf_2', 'med_metf', '2026-01-19', '2026-12-31', 40, 'usable', NULL, NULL),
  ('bat_ins_1', 'med_ins', '2026-02-24', '2026-10-31', 12, 'usable', NULL, NULL),
  ('bat_ins_2', 'med_ins', '2026-03-30', '2026-11-30', 8, 'quarantined', 'fridge alarm on 9 April', NULL),
  ('bat_lat_1', 'med_lat', '2026-03-16', '2026-09-30', 10, 'usable', NULL, NULL),
  ('bat_morph_1', 'med_morph', '2026-01-08', '2027-06-30', 10, 'usable', NULL, NULL),
  ('bat_mph_1', 'med_mph', '2025-12-11', '2026-12-15', 9, 'usable', NULL, NULL),
  ('bat_ibu_1', 'med_ibu', '2026-02-12', '2027-01-31', 25, 'usable', NULL, NULL),
  ('bat_ibu_2', 'med_ibu', '2025-10-27', '2026-07-31', 14, 'quarantined', 'recall letter being clarified', NULL),
  ('bat_levo_0', 'med_levo', '2025-03-15', '2026-03-31', 5, 'destroyed', 'past its expiry', 'stf_maren'),
  ('bat_levo_1', 'med_levo', '2026-01-27', '2026-11-15', 18, 'usable', NULL, NULL);
INSERT INTO prescriptions (id, patient_id, surgery, dated_on, received_on, taken_in_by, status, hold_reason, checked_by, checked_on, closed_on) VALUES
  ('rx_480', 'pat_ana', 'Market Square Surgery', '2026-01-12', '2026-01-12', 'stf_lotte', 'completed', NULL, 'stf_maren', '2026-01-13', '2026-01-20'),
  ('rx_488', 'pat_lucio', 'Dr Achterberg', '2026-02-02', '2026-02-03', 'stf_pavel', 'cancelled', NULL, NULL, NULL, '2026-02-05'),
  ('rx_491', 'pat_bogdan', 'Mill Lane Practice', '2026-02-16', '2026-02-17', 'stf_lotte', 'completed', NULL, 'stf_yuna', '2026-02-17', '2026-03-20'),
  ('rx_493', 'pat_suri', 'Elmgate Health Centre', '2026-03-10', '2026-03-11', 'stf_pavel', 'checked', NULL, 'stf_yuna', '2026-03-12', NULL),
  ('rx_495', 'pat_henrik', 'Dr Nakagawa', '2026-04-01', '2026-04-02', 'stf_lotte', 'checked', NULL, 'stf_idris', '2026-04-02', NULL),
  ('rx_497', 'pat_mira', 'Children''s Clinic Aldbrook', '2026-04-06', '2026-04-07', 'stf_pavel', 'checked', NULL, 'stf_maren', '2026-04-07', NULL),
  ('rx_498', 'pat_omar', 'Riverside Practice', '2026-03-02', '2026-03-03', 'stf_lotte', 'checked', NULL, 'stf_maren', '2026-03-03', NULL),
  ('rx_499', 'pat_ana', 'Diabetes Clinic Thornley', '2026-03-23', '2026-03-24', 'stf_pavel', 'checked', NULL, 'stf_idris', '2026-03-24', NULL),
  ('rx_500', 'pat_bogdan', 'Hospice at the Weir', '2026-04-08', '2026-04-09', 'stf_lotte', 'checked', NULL, 'stf_maren', '2026-04-09', NULL),
  ('rx_501', 'pat_greta', 'Dental Practice Okoye', '2026-04-10', '2026-04-13', 'stf_lotte', 'received', NULL, NULL, NULL, NULL),
  ('rx_502', 'pat_omar', 'Riverside Practice', '2026-04-13', '2026-04-14', 'stf_idris', 'received', NULL, NULL, NULL, NULL),
  ('rx_503', 'pat_henrik', 'Out-of-hours Service West', '2026-04-12', '2026-04-13', 'stf_pavel', 'received', NULL, NULL, NULL, NULL),
  ('rx_504', 'pat_suri', 'Thyroid Clinic Marsh Road', '2026-04-07', '2026-04-08', 'stf_lotte', 'on_hold', 'strength cannot be read', NULL, NULL, NULL),
  ('rx_505', 'pat_mira', 'Dr Fairweather', '2026-04-09', '2026-04-10', 'stf_pavel', 'on_hold', 'surgery asked about the age', NULL, NULL, NULL),
  ('rx_506', 'pat_gretel', 'Youth Clinic Eastgate', '2026-04-11', '2026-04-11', 'stf_pavel', 'checked', NULL, 'stf_yuna', '2026-04-13', NULL);
INSERT INTO lines (id, prescription_id, medicine_id, packs, repeats) VALUES
  ('lin_480a', 'rx_480', 'med_amox', 1, 0), ('lin_488a', 'rx_488', 'med_mph', 1, 0), ('lin_491a', 'rx_491', 'med_levo', 1, 1),
  ('lin_493a', 'rx_493', 'med_amox', 2, 0), ('lin_495a', 'rx_495', 'med_ibu', 2, 0), ('lin_495b', 'rx_495', 'med_lat', 1, 3),
  ('lin_497a', 'rx_497', 'med_ins', 1, 2), ('lin_498a', 'rx_498', 'med_metf', 2, 3), ('lin_499a', 'rx_499', 'med_ins', 2, 2),
  ('lin_499b', 'rx_499', 'med_levo', 1, 1), ('lin_500a', 'rx_500', 'med_morph', 2, 0), ('lin_501a', 'rx_501', 'med_amox', 1, 0),
  ('lin_501b', 'rx_501', 'med_ibu', 1, 0), ('lin_502a', 'rx_502', 'med_metf', 3, 2), ('lin_503a', 'rx_503', 'med_amox', 1, 0),
  ('lin_504a', 'rx_504', 'med_levo', 1, 4), ('lin_505a', 'rx_505', 'med_ibu', 1, 0), ('lin_506a', 'rx_506', 'med_mph', 1, 0);
INSERT INTO fills (id, line_id, batch_id, packs, status, prepared_by, prepared_on, handed_by, collected_by, closed_on) VALUES
  ('fil_701', 'lin_480a', 'bat_amox_1', 1, 'handed_out', 'stf_lotte', '2026-01-13', 'stf_pavel', 'Ana Beltrán', '2026-01-20'),
  ('fil_712', 'lin_491a', 'bat_levo_1', 1, 'handed_out', 'stf_pavel', '2026-02-17', 'stf_yuna', 'Jelena Ilić', '2026-02-18'),
  ('fil_716', 'lin_498a', 'bat_metf_2', 2, 'handed_out', 'stf_lotte', '2026-03-03', 'stf_lotte', 'Nadia Benslimane', '2026-03-04'),
  ('fil_719', 'lin_493a', 'bat_amox_1', 2, 'put_back', 'stf_pavel', '2026-03-13', NULL, NULL, '2026-03-28'),
  ('fil_722', 'lin_491a', 'bat_levo_1', 1, 'handed_out', 'stf_idris', '2026-03-19', 'stf_lotte', 'Bogdan Ilić', '2026-03-20'),
  ('fil_725', 'lin_499a', 'bat_ins_1', 2, 'handed_out', 'stf_maren', '2026-03-25', 'stf_pavel', 'Ana Beltrán', '2026-03-26'),
  ('fil_730', 'lin_495a', 'bat_ibu_1', 2, 'prepared', 'stf_pavel', '2026-04-03', NULL, NULL, NULL),
  ('fil_733', 'lin_497a', 'bat_ins_1', 1, 'lost', 'stf_lotte', '2026-04-08', NULL, NULL, '2026-04-12'),
  ('fil_734', 'lin_495b', 'bat_lat_1', 1, 'prepared', 'stf_lotte', '2026-04-08', NULL, NULL, NULL),
  ('fil_738', 'lin_500a', 'bat_morph_1', 2, 'prepared', 'stf_maren', '2026-04-13', NULL, NULL, NULL),
  ('fil_739', 'lin_497a', 'bat_ins_1', 1, 'prepared', 'stf_lotte', '2026-04-13', NULL, NULL, NULL);
