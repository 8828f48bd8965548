INSERT INTO perils (id, report_days, proof_kind) VALUES
  ('fire', 14, 'fire_report'),
  ('water', 14, 'repair_quote'),
  ('storm', 14, 'weather_report'),
  ('theft', 3, 'police_report');

INSERT INTO plans (id, name, waiting_days, deductible_cents, claim_limit_cents, year_limit_cents, visit_above_cents) VALUES
  ('plan_skiff', 'Skiff', 30, 30000, 250000, 400000, 250000),
  ('plan_harbour', 'Harbour', 30, 15000, 500000, 800000, 250000),
  ('plan_lighthouse', 'Lighthouse', 30, 10000, 1200000, 2000000, 250000);

INSERT INTO handlers (id, name, is_lead, authority_cents) VALUES
  ('hdl_odile', 'Odile Marchetti', 1, 1000000),
  ('hdl_bram', 'Bram Verhoeven', 0, 500000),
  ('hdl_sana', 'Sana Qureshi', 0, 200000),
  ('hdl_ilja', 'Ilja Petersen', 0, 100000);

INSERT INTO surveyors (id, name, visits_a_day) VALUES
  ('sur_torvald', 'Torvald Eikrem', 3),
  ('sur_mbali', 'Mbali Khumalo', 3),
  ('sur_ewa', 'Ewa Zawadzka', 3);

INSERT INTO surveyor_perils (surveyor_id, peril_id) VALUES
  ('sur_torvald', 'storm'),
  ('sur_torvald', 'water'),
  ('sur_torvald', 'fire'),
  ('sur_mbali', 'fire'),
  ('sur_mbali', 'theft'),
  ('sur_ewa', 'water'),
  ('sur_ewa', 'theft'),
  ('sur_ewa', 'storm');

INSERT INTO members (id, name, email, phone) VALUES
  ('mem_larsen', 'Karin Larsen', 'karin.larsen@example.org', '04671 550118'),
  ('mem_larson', 'Carin Larson', 'carin.larson@example.org', '04671 550181'),
  ('mem_adebayo', 'Folake Adebayo', 'folake.adebayo@example.org', '0170 5550320'),
  ('mem_kowal', 'Piotr Kowal', 'piotr.kowal@example.org', NULL),
  ('mem_ferreira', 'Duarte Ferreira', 'duarte.ferreira@example.org', '04672 550907'),
  ('mem_haddad', 'Rima Haddad', 'rima.haddad@example.org', '0152 5550744'),
  ('mem_ito', 'Kenta Ito', 'kenta.ito@example.org', '0176 5550266'),
  ('mem_brennan', 'Aoife O''Brennan', 'aoife.obrennan@example.org', NULL),
  ('mem_novotna', 'Zdenka Novotná', 'zdenka.novotna@example.org', '04673 550412'),
  ('mem_grimaldi', 'Ettore Grimaldi', 'ettore.grimaldi@example.org', '0163 5550559');

INSERT INTO policies (id, member_id, plan_id, address, starts_on, ends_on, status) VALUES
  ('pol_101', 'mem_larsen', 'plan_lighthouse', 'Deichweg 4, Tideholm', '2022-05-01', '2027-04-30', 'active'),
  ('pol_102', 'mem_larson', 'plan_harbour', 'Deichweg 14, Tideholm', '2024-09-01', '2026-08-31', 'active'),
  ('pol_103', 'mem_adebayo', 'plan_harbour', 'Lotsengang 2, Tideholm', '2023-02-15', '2027-02-14', 'active'),
  ('pol_104', 'mem_kowal', 'plan_skiff', 'Am Siel 31, Westerkoog', '2025-06-01', '2026-05-31', 'active'),
  ('pol_105', 'mem_ferreira', 'plan_lighthouse', 'Kirchspiel 9, Osterwarf', '2021-01-01', '2026-12-31', 'active'),
  ('pol_106', 'mem_haddad', 'plan_harbour', 'Reepschlag 17, Tideholm', '2026-03-01', '2027-02-28', 'active'),
  ('pol_107', 'mem_ito', 'plan_skiff', 'Hafenplatz 1, Tideholm', '2024-01-10', '2027-01-09', 'suspended'),
  ('pol_108', 'mem_brennan', 'plan_harbour', 'Norderende 22, Westerkoog', '2020-04-01', '2026-02-28', 'ended'),
  ('pol_109', 'mem_novotna', 'plan_lighthouse', 'Alte Schule 5, Osterwarf', '2023-11-01', '2026-10-31', 'active'),
  ('pol_110', 'mem_grimaldi', 'plan_harbour', 'Fischersteg 8, Tideholm', '2025-01-01', '2026-12-31', 'active'),
  ('pol_111', 'mem_larsen', 'plan_skiff', 'Strandkate 3, Sandkoog', '2025-03-01', '2027-02-28', 'active');

INSERT INTO claims (id, policy_id, peril_id, lost_on, reported_on, description, status, handler_id, approved_cents, decided_by, decided_on, decline_reason, first_declined_by, first_declined_on, appealed_on) VALUES
  ('clm_2502', 'pol_105', 'fire', '2025-10-21', '2025-10-23', 'kitchen fire spread to the living room', 'paid', 'hdl_bram', 760000, 'hdl_odile', '2025-12-02', NULL, NULL, NULL, NULL),
  ('clm_2519', 'pol_102', 'storm', '2025-12-05', '2025-12-10', 'garden furniture blown into the canal', 'declined', 'hdl_sana', NULL, 'hdl_sana', '2026-01-15', 'the chairs stood outside the insured home', NULL, NULL, NULL),
  ('clm_2530', 'pol_103', 'water', '2025-12-20', '2025-12-29', 'washing machine hose came off', 'declined', 'hdl_bram', NULL, 'hdl_bram', '2026-02-27', 'the damage is older than the burst hose', 'hdl_ilja', '2026-01-20', '2026-02-10'),
  ('clm_2541', 'pol_110', 'storm', '2026-01-10', '2026-01-16', 'skylight torn open, rain on the desk', 'in_review', 'hdl_bram', NULL, NULL, NULL, NULL, 'hdl_sana', '2026-02-12', '2026-03-01'),
  ('clm_2553', 'pol_110', 'fire', '2026-01-18', '2026-01-20', 'scorched sideboard beside the stove', 'declined', 'hdl_bram', NULL, 'hdl_bram', '2026-02-20', 'scorching without open flames is not covered', NULL, NULL, NULL),
  ('clm_2560', 'pol_109', 'water', '2026-01-22', '2026-01-28', 'radiator leaked over the carpet', 'approved', 'hdl_sana', 180000, 'hdl_bram', '2026-02-26', NULL, NULL, NULL, NULL),
  ('clm_2565', 'pol_103', 'theft', '2026-02-01', '2026-02-03', 'cargo bicycle taken from the locked shed', 'approved', 'hdl_bram', 205000, 'hdl_bram', '2026-03-04', NULL, NULL, NULL, NULL),
  ('clm_2568', 'pol_104', 'water', '2026-02-02', '2026-02-05', 'aquarium cracked overnight', 'declined', 'hdl_ilja', NULL, 'hdl_ilja', '2026-03-02', 'water from an aquarium is excluded under this plan', NULL, NULL, NULL),
  ('clm_2571', 'pol_111', 'storm', '2026-02-04', '2026-02-09', 'shutter broke the window of the cottage', 'approved', 'hdl_ilja', 60000, 'hdl_ilja', '2026-03-10', NULL, NULL, NULL, NULL),
  ('clm_2579', 'pol_109', 'fire', '2026-02-11', '2026-02-13', 'fire in the study after a short circuit', 'in_review', 'hdl_bram', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2583', 'pol_108', 'water', '2026-02-14', '2026-02-17', 'dishwasher overflowed', 'withdrawn', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2588', 'pol_102', 'water', '2026-02-20', '2026-02-24', 'pipe burst in the bathroom wall', 'in_review', 'hdl_sana', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2590', 'pol_105', 'water', '2026-02-25', '2026-02-27', 'boiler emptied itself into the cellar', 'in_review', 'hdl_ilja', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2594', 'pol_101', 'theft', '2026-03-03', '2026-03-05', 'burglary through the terrace door', 'in_review', 'hdl_bram', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2596', 'pol_101', 'water', '2026-03-01', '2026-03-04', 'leak under the upstairs bath', 'in_review', 'hdl_sana', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2601', 'pol_103', 'water', '2026-03-12', '2026-03-14', 'neighbour''s tap ran all night', 'reported', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2602', 'pol_105', 'storm', '2026-03-08', '2026-03-15', 'chimney fell through the attic', 'reported', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('clm_2603', 'pol_104', 'theft', '2026-03-14', '2026-03-16', 'camera stolen from the hall', 'reported', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

INSERT INTO items (id, claim_id, name, value_cents, bought_on, status, allowed_cents, strike_reason) VALUES
  ('itm_001', 'clm_2502', 'fitted kitchen', 700000, '2024-11-15', 'allowed', 650000, NULL),
  ('itm_002', 'clm_2502', 'leather sofa', 300000, '2019-01-01', 'allowed', 120000, NULL),
  ('itm_003', 'clm_2519', 'teak garden chairs', 54000, '2023-04-22', 'struck', NULL, 'kept outdoors'),
  ('itm_004', 'clm_2530', 'laminate floor', 30000, '2018-03-19', 'struck', NULL, 'swollen before the loss'),
  ('itm_005', 'clm_2541', 'oak writing desk', 75000, '2024-01-05', 'allowed', 60000, NULL),
  ('itm_006', 'clm_2541', 'desk lamp', 6500, '2025-09-30', 'struck', NULL, 'still works'),
  ('itm_007', 'clm_2553', 'pine sideboard', 45000, '2022-10-08', 'struck', NULL, 'no open fire'),
  ('itm_008', 'clm_2560', 'woollen carpet', 200000, '2023-09-01', 'allowed', 150000, NULL),
  ('itm_009', 'clm_2560', 'loudspeaker', 50000, '2024-12-01', 'allowed', 40000, NULL),
  ('itm_010', 'clm_2565', 'cargo bicycle', 240000, '2025-02-20', 'allowed', 220000, NULL),
  ('itm_011', 'clm_2568', 'rug under the aquarium', 60000, '2024-08-14', 'struck', NULL, 'excluded cause'),
  ('itm_012', 'clm_2571', 'dining table', 90000, '2025-07-01', 'allowed', 90000, NULL),
  ('itm_013', 'clm_2579', 'grand piano', 320000, '2024-05-20', 'allowed', 280000, NULL),
  ('itm_014', 'clm_2579', 'bookcases', 180000, '2020-10-01', 'allowed', 90000, NULL),
  ('itm_015', 'clm_2579', 'stamp collection', 25000, '2015-06-30', 'struck', NULL, 'not kept in the study'),
  ('itm_016', 'clm_2583', 'parquet strip', 12000, '2021-02-11', 'struck', NULL, 'belongs to the building'),
  ('itm_017', 'clm_2588', 'washbasin cabinet', 80000, '2023-06-15', 'allowed', 60000, NULL),
  ('itm_018', 'clm_2588', 'tumble dryer', 50000, '2025-01-10', 'allowed', 45000, NULL),
  ('itm_019', 'clm_2590', 'chest freezer with contents', 150000, '2024-02-01', 'allowed', 120000, NULL),
  ('itm_020', 'clm_2590', 'ski equipment', 140000, '2022-11-25', 'claimed', NULL, NULL),
  ('itm_021', 'clm_2594', 'gold bracelet', 210000, '2017-12-18', 'claimed', NULL, NULL),
  ('itm_022', 'clm_2594', 'laptop', 95000, '2025-10-03', 'claimed', NULL, NULL),
  ('itm_023', 'clm_2596', 'box-spring bed', 200000, '2024-02-20', 'allowed', 160000, NULL),
  ('itm_024', 'clm_2596', 'bedside lamps', 40000, '2023-05-06', 'claimed', NULL, NULL),
  ('itm_025', 'clm_2601', 'wardrobe', 110000, '2021-07-23', 'claimed', NULL, NULL),
  ('itm_026', 'clm_2601', 'winter coats', 68000, '2025-11-29', 'claimed', NULL, NULL),
  ('itm_027', 'clm_2602', 'model railway', 190000, '2016-01-16', 'claimed', NULL, NULL),
  ('itm_028', 'clm_2602', 'guest bed', 85000, '2022-03-08', 'claimed', NULL, NULL),
  ('itm_029', 'clm_2603', 'camera with two lenses', 175000, '2024-03-14', 'claimed', NULL, NULL);

INSERT INTO evidence (id, claim_id, kind, status, asked_on, settled_on, waived_by) VALUES
  ('evd_001', 'clm_2502', 'photos', 'received', '2025-10-23', '2025-10-24', NULL),
  ('evd_002', 'clm_2502', 'fire_report', 'received', '2025-10-23', '2025-11-06', NULL),
  ('evd_003', 'clm_2519', 'photos', 'received', '2025-12-10', '2025-12-12', NULL),
  ('evd_004', 'clm_2519', 'weather_report', 'received', '2025-12-10', '2025-12-19', NULL),
  ('evd_005', 'clm_2530', 'photos', 'received', '2025-12-29', '2026-01-02', NULL),
  ('evd_006', 'clm_2530', 'repair_quote', 'received', '2025-12-29', '2026-01-08', NULL),
  ('evd_007', 'clm_2541', 'photos', 'received', '2026-01-16', '2026-01-16', NULL),
  ('evd_008', 'clm_2541', 'weather_report', 'received', '2026-01-16', '2026-01-30', NULL),
  ('evd_009', 'clm_2553', 'photos', 'received', '2026-01-20', '2026-01-21', NULL),
  ('evd_010', 'clm_2553', 'fire_report', 'waived', '2026-01-20', '2026-02-18', 'hdl_odile'),
  ('evd_011', 'clm_2560', 'photos', 'received', '2026-01-28', '2026-01-29', NULL),
  ('evd_012', 'clm_2560', 'repair_quote', 'received', '2026-01-28', '2026-02-13', NULL),
  ('evd_013', 'clm_2565', 'photos', 'received', '2026-02-03', '2026-02-05', NULL),
  ('evd_014', 'clm_2565', 'police_report', 'received', '2026-02-03', '2026-02-24', NULL),
  ('evd_015', 'clm_2568', 'photos', 'received', '2026-02-05', '2026-02-07', NULL),
  ('evd_016', 'clm_2568', 'repair_quote', 'received', '2026-02-05', '2026-02-22', NULL),
  ('evd_017', 'clm_2571', 'photos', 'received', '2026-02-09', '2026-02-10', NULL),
  ('evd_018', 'clm_2571', 'weather_report', 'received', '2026-02-09', '2026-02-16', NULL),
  ('evd_019', 'clm_2579', 'photos', 'received', '2026-02-13', '2026-02-14', NULL),
  ('evd_020', 'clm_2579', 'fire_report', 'received', '2026-02-13', '2026-03-06', NULL),
  ('evd_021', 'clm_2583', 'photos', 'missing', '2026-02-17', NULL, NULL),
  ('evd_022', 'clm_2583', 'repair_quote', 'missing', '2026-02-17', NULL, NULL),
  ('evd_023', 'clm_2588', 'photos', 'received', '2026-02-24', '2026-02-25', NULL),
  ('evd_024', 'clm_2588', 'repair_quote', 'received', '2026-02-24', '2026-03-09', NULL),
  ('evd_025', 'clm_2590', 'photos', 'received', '2026-02-27', '2026-03-02', NULL),
  ('evd_026', 'clm_2590', 'repair_quote', 'waived', '2026-02-27', '2026-03-11', 'hdl_odile'),
  ('evd_027', 'clm_2590', 'receipts', 'missing', '2026-03-03', NULL, NULL),
  ('evd_028', 'clm_2594', 'photos', 'received', '2026-03-05', '2026-03-06', NULL),
  ('evd_029', 'clm_2594', 'police_report', 'missing', '2026-03-05', NULL, NULL),
  ('evd_030', 'clm_2596', 'photos', 'received', '2026-03-04', '2026-03-05', NULL),
  ('evd_031', 'clm_2596', 'repair_quote', 'missing', '2026-03-04', NULL, NULL),
  ('evd_032', 'clm_2601', 'photos', 'received', '2026-03-14', '2026-03-16', NULL),
  ('evd_033', 'clm_2601', 'repair_quote', 'missing', '2026-03-14', NULL, NULL),
  ('evd_034', 'clm_2602', 'photos', 'missing', '2026-03-15', NULL, NULL),
  ('evd_035', 'clm_2602', 'weather_report', 'missing', '2026-03-15', NULL, NULL),
  ('evd_036', 'clm_2603', 'photos', 'missing', '2026-03-16', NULL, NULL),
  ('evd_037', 'clm_2603', 'police_report', 'received', '2026-03-16', '2026-03-16', NULL);

INSERT INTO visits (id, claim_id, surveyor_id, visit_on, slot, status, arranged_on, done_on, finding) VALUES
  ('vis_301', 'clm_2502', 'sur_torvald', '2025-10-30', '09:00', 'done', '2025-10-24', '2025-10-30', 'kitchen destroyed, sofa soaked with smoke'),
  ('vis_318', 'clm_2579', 'sur_mbali', '2026-02-19', '11:00', 'done', '2026-02-14', '2026-02-19', 'study burnt out, piano beyond repair'),
  ('vis_320', 'clm_2583', 'sur_torvald', '2026-02-25', '16:00', 'cancelled', '2026-02-18', NULL, NULL),
  ('vis_326', 'clm_2590', 'sur_ewa', '2026-03-16', '09:00', 'booked', '2026-03-06', NULL, NULL),
  ('vis_328', 'clm_2594', 'sur_mbali', '2026-03-17', '14:00', 'booked', '2026-03-09', NULL, NULL),
  ('vis_331', 'clm_2596', 'sur_ewa', '2026-03-24', '11:00', 'booked', '2026-03-11', NULL, NULL),
  ('vis_333', 'clm_2601', 'sur_torvald', '2026-03-20', '16:00', 'booked', '2026-03-16', NULL, NULL),
  ('vis_334', 'clm_2602', 'sur_ewa', '2026-03-24', '09:00', 'booked', '2026-03-16', NULL, NULL),
  ('vis_335', 'clm_2603', 'sur_ewa', '2026-03-24', '14:00', 'booked', '2026-03-17', NULL, NULL);

INSERT INTO payments (id, claim_id, kind, amount_cents, status, proposed_by, proposed_on, released_by, closed_on) VALUES
  ('pay_701', 'clm_2502', 'advance', 100000, 'released', 'hdl_bram', '2025-11-12', 'hdl_odile', '2025-11-13'),
  ('pay_709', 'clm_2502', 'settlement', 660000, 'released', 'hdl_odile', '2025-12-03', 'hdl_bram', '2025-12-04'),
  ('pay_722', 'clm_2568', 'advance', 15000, 'stopped', 'hdl_ilja', '2026-02-20', NULL, '2026-03-02'),
  ('pay_730', 'clm_2590', 'advance', 50000, 'released', 'hdl_ilja', '2026-03-10', 'hdl_sana', '2026-03-11'),
  ('pay_731', 'clm_2565', 'settlement', 205000, 'proposed', 'hdl_bram', '2026-03-05', NULL, NULL),
  ('pay_735', 'clm_2596', 'advance', 70000, 'proposed', 'hdl_sana', '2026-03-12', NULL, NULL);
