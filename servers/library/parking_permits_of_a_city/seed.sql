INSERT INTO permit_kinds (id, name, months, fee_cents, further_fee_cents, most_a_person) VALUES
('kind_resident', 'Resident', 12, 9000, 18000, 2),
('kind_business', 'Business', 12, 24000, 24000, 1),
('kind_carer', 'Carer', 6, 0, 0, 2);

INSERT INTO zones (id, name, streets) VALUES
('zone_alt', 'Altstadt', 'Marktgasse, Brunnenweg, Am Rathaus'),
('zone_nord', 'Nordend', 'Ahornstraße, Mühlsteig, Kirchplatz'),
('zone_hafen', 'Hafen', 'Kaistraße, Lotsenweg, Speichergasse');

INSERT INTO zone_caps (zone_id, kind_id, cap) VALUES
('zone_alt', 'kind_resident', 3),
('zone_alt', 'kind_business', 1),
('zone_alt', 'kind_carer', 2),
('zone_nord', 'kind_resident', 12),
('zone_nord', 'kind_business', 2),
('zone_nord', 'kind_carer', 3),
('zone_hafen', 'kind_resident', 8),
('zone_hafen', 'kind_business', 2),
('zone_hafen', 'kind_carer', 3);

INSERT INTO residents (id, name, email, phone, zone_id, address, from_on, until_on) VALUES
('res_marta', 'Marta Kowalczyk', 'marta.kowalczyk@example.org', '+49 201 5550401', 'zone_alt', 'Marktgasse 4', '2019-05-01', NULL),
('res_martin', 'Martin Kowalski', 'm.kowalski@example.org', '+49 201 5550402', 'zone_alt', 'Brunnenweg 11', '2021-03-15', NULL),
('res_ayo', 'Ayodele Fashola', 'a.fashola@example.org', NULL, 'zone_alt', 'Am Rathaus 2', '2023-07-01', NULL),
('res_ines', 'Inès Garnier', 'ines.garnier@example.org', '+49 201 5550404', 'zone_alt', 'Marktgasse 19', '2024-02-01', NULL),
('res_tariq', 'Tariq Mansour', 'tariq.mansour@example.org', '+49 201 5550405', 'zone_alt', 'Brunnenweg 3', '2025-11-01', NULL),
('res_greta', 'Greta Sommer', 'greta.sommer@example.org', '+49 201 5550406', 'zone_nord', 'Ahornstraße 27', '2018-01-01', NULL),
('res_yuna', 'Yuna Park', 'yuna.park@example.org', '+49 201 5550407', 'zone_nord', 'Mühlsteig 8', '2022-09-01', NULL),
('res_pavel', 'Pavel Dvořák', 'pavel.dvorak@example.org', NULL, 'zone_nord', 'Kirchplatz 1', '2020-06-15', NULL),
('res_bakery', 'Bäckerei Öztürk', 'laden.ozturk@example.org', '+49 201 5550409', 'zone_nord', 'Kirchplatz 6', '2015-04-01', NULL),
('res_noor', 'Noor van Dam', 'noor.vandam@example.org', '+49 201 5550410', 'zone_hafen', 'Kaistraße 14', '2024-08-01', NULL),
('res_luis', 'Luís Cardoso', 'luis.cardoso@example.org', '+49 201 5550411', 'zone_hafen', 'Lotsenweg 5', '2021-02-01', '2026-03-31'),
('res_sofie', 'Sofie Lindgren', 'sofie.lindgren@example.org', '+49 201 5550412', 'zone_hafen', 'Speichergasse 22', '2026-03-01', NULL);

INSERT INTO vehicles (id, plate, model, resident_id, weight_kg, own_vehicle, employer_letter) VALUES
('veh_marta', 'WD-MK 401', 'Skoda Fabia', 'res_marta', 1450, 1, 0),
('veh_marta_2', 'WD-MK 88', 'Opel Combo', 'res_marta', 1980, 0, 0),
('veh_martin', 'WD-KO 410', 'Seat Leon', 'res_martin', 1620, 1, 0),
('veh_ayo', 'WD-AF 12', 'Toyota Yaris', 'res_ayo', 1390, 1, 0),
('veh_ines', 'WD-IG 733', 'Renault Zoe', 'res_ines', 1750, 1, 0),
('veh_tariq', 'WD-TM 5', 'Dacia Duster', 'res_tariq', 1690, 1, 0),
('veh_greta', 'WD-GS 270', 'Volvo V60', 'res_greta', 2100, 1, 0),
('veh_greta_2', 'WD-GS 27', 'Fiat Panda', 'res_greta', 1250, 1, 0),
('veh_yuna', 'WD-YP 64', 'Hyundai Kona', 'res_yuna', 1800, 0, 1),
('veh_yuna_2', 'WD-YP 640', 'Kia Picanto', 'res_yuna', 1300, 1, 0),
('veh_pavel', 'WD-PD 9', 'Ford Transit', 'res_pavel', 2900, 0, 0),
('veh_pavel_2', 'WD-PD 99', 'Mazda 3', 'res_pavel', 1700, 1, 0),
('veh_bakery', 'WD-BO 1', 'Mercedes Sprinter', 'res_bakery', 3500, 1, 0),
('veh_bakery_2', 'WD-BO 2', 'MAN TGL', 'res_bakery', 7490, 1, 0),
('veh_noor', 'WD-NV 31', 'VW Up', 'res_noor', 1290, 1, 0),
('veh_luis', 'WD-LC 77', 'Peugeot 308', 'res_luis', 1710, 1, 0),
('veh_sofie', 'WD-SL 20', 'Polestar 2', 'res_sofie', 2490, 1, 0),
('veh_sofie_2', 'WD-SL 202', 'Citroën Berlingo', 'res_sofie', 2050, 1, 0),
('veh_ines_2', 'WD-IG 37', 'Smart Fortwo', 'res_ines', 1190, 1, 0),
('veh_noor_2', 'WD-NV 13', 'Honda Jazz', 'res_noor', 1580, 0, 1);

INSERT INTO applications (id, vehicle_id, zone_id, kind_id, received_at, status, missing, asked_on, decided_on, refusal_reason) VALUES
('app_01', 'veh_marta', 'zone_alt', 'kind_resident', '2025-04-20 09:12:00', 'approved', NULL, NULL, '2025-04-24', NULL),
('app_02', 'veh_martin', 'zone_alt', 'kind_resident', '2025-08-30 14:40:00', 'approved', NULL, NULL, '2025-09-04', NULL),
('app_03', 'veh_ayo', 'zone_alt', 'kind_resident', '2025-04-28 10:05:00', 'approved', NULL, NULL, '2025-05-02', NULL),
('app_04', 'veh_ines', 'zone_alt', 'kind_resident', '2026-03-02 08:31:00', 'waiting', NULL, NULL, NULL, NULL),
('app_05', 'veh_tariq', 'zone_alt', 'kind_resident', '2026-03-20 16:22:00', 'waiting', 'proof of address', '2026-03-21', NULL, NULL),
('app_06', 'veh_greta', 'zone_nord', 'kind_resident', '2025-05-03 11:11:00', 'approved', NULL, NULL, '2025-05-07', NULL),
('app_07', 'veh_greta_2', 'zone_nord', 'kind_resident', '2026-04-02 09:50:00', 'approved', NULL, NULL, '2026-04-08', NULL),
('app_08', 'veh_yuna', 'zone_nord', 'kind_resident', '2025-11-20 13:00:00', 'approved', 'letter of the employer', '2025-11-21', '2025-11-27', NULL),
('app_09', 'veh_pavel', 'zone_nord', 'kind_resident', '2026-03-27 15:45:00', 'incomplete', 'letter of the employer', '2026-03-30', NULL, NULL),
('app_10', 'veh_bakery', 'zone_nord', 'kind_business', '2024-07-15 07:20:00', 'approved', NULL, NULL, '2024-07-24', NULL),
('app_11', 'veh_noor', 'zone_hafen', 'kind_carer', '2025-09-01 12:30:00', 'approved', NULL, NULL, '2025-09-03', NULL),
('app_12', 'veh_noor', 'zone_hafen', 'kind_carer', '2026-04-10 10:10:00', 'received', NULL, NULL, NULL, NULL),
('app_13', 'veh_luis', 'zone_hafen', 'kind_resident', '2025-06-10 09:00:00', 'approved', NULL, NULL, '2025-06-13', NULL),
('app_14', 'veh_sofie', 'zone_hafen', 'kind_resident', '2026-03-18 17:05:00', 'approved', NULL, NULL, '2026-03-25', NULL),
('app_15', 'veh_yuna_2', 'zone_nord', 'kind_resident', '2025-03-01 08:45:00', 'approved', NULL, NULL, '2025-03-05', NULL),
('app_16', 'veh_yuna_2', 'zone_nord', 'kind_resident', '2026-03-12 18:30:00', 'incomplete', 'copy of the vehicle papers', '2026-03-15', NULL, NULL),
('app_17', 'veh_marta_2', 'zone_alt', 'kind_resident', '2025-10-06 10:20:00', 'refused', 'letter of the employer', '2025-10-07', '2025-11-03', 'The letter of the employer did not come.'),
('app_18', 'veh_marta_2', 'zone_alt', 'kind_resident', '2026-03-30 09:35:00', 'incomplete', 'letter of the employer', '2026-04-02', NULL, NULL),
('app_19', 'veh_tariq', 'zone_alt', 'kind_resident', '2025-12-01 11:40:00', 'approved', NULL, NULL, '2025-12-04', NULL),
('app_20', 'veh_pavel_2', 'zone_nord', 'kind_resident', '2026-03-16 12:12:00', 'approved', NULL, NULL, '2026-03-20', NULL),
('app_21', 'veh_sofie_2', 'zone_hafen', 'kind_resident', '2026-04-14 09:10:00', 'received', NULL, NULL, NULL, NULL),
('app_22', 'veh_ines_2', 'zone_alt', 'kind_business', '2026-04-13 14:28:00', 'received', NULL, NULL, NULL, NULL),
('app_23', 'veh_greta_2', 'zone_nord', 'kind_resident', '2025-08-11 10:00:00', 'withdrawn', NULL, NULL, '2025-08-15', NULL);

INSERT INTO permits (id, application_id, vehicle_id, granted_on, status, starts_on, ends_on, closed_on, revoke_reason, misuse) VALUES
('per_01', 'app_01', 'veh_marta', '2025-04-24', 'valid', '2025-04-29', '2026-04-28', NULL, NULL, 0),
('per_02', 'app_02', 'veh_martin', '2025-09-04', 'valid', '2025-09-10', '2026-09-09', NULL, NULL, 0),
('per_03', 'app_03', 'veh_ayo', '2025-05-02', 'valid', '2025-05-05', '2026-05-04', NULL, NULL, 0),
('per_06', 'app_06', 'veh_greta', '2025-05-07', 'valid', '2025-05-10', '2026-05-09', NULL, NULL, 0),
('per_07', 'app_07', 'veh_greta_2', '2026-04-08', 'awaiting_payment', NULL, NULL, NULL, NULL, 0),
('per_08', 'app_08', 'veh_yuna', '2025-11-27', 'valid', '2025-12-01', '2026-11-30', NULL, NULL, 0),
('per_10', 'app_10', 'veh_bakery', '2024-07-24', 'valid', '2024-08-01', '2026-07-31', NULL, NULL, 0),
('per_11', 'app_11', 'veh_noor', '2025-09-03', 'revoked', '2025-09-03', '2026-03-02', '2025-12-01', 'The permit was lent to a commuter.', 1),
('per_13', 'app_13', 'veh_luis', '2025-06-13', 'returned', '2025-06-16', '2026-06-15', '2026-02-10', NULL, 0),
('per_14', 'app_14', 'veh_sofie', '2026-03-25', 'awaiting_payment', NULL, NULL, NULL, NULL, 0),
('per_15', 'app_15', 'veh_yuna_2', '2025-03-05', 'expired', '2025-03-10', '2026-03-09', '2026-03-10', NULL, 0),
('per_19', 'app_19', 'veh_tariq', '2025-12-04', 'lapsed', NULL, NULL, '2025-12-19', NULL, 0),
('per_20', 'app_20', 'veh_pavel_2', '2026-03-20', 'awaiting_payment', NULL, NULL, NULL, NULL, 0);

INSERT INTO fees (id, permit_id, reason, amount_cents, charged_on, due_on, status, settled_on, refunded_cents) VALUES
('fee_101', 'per_01', 'grant', 9000, '2025-04-24', '2025-05-08', 'paid', '2025-04-29', 0),
('fee_102', 'per_02', 'grant', 9000, '2025-09-04', '2025-09-18', 'paid', '2025-09-10', 0),
('fee_103', 'per_03', 'grant', 9000, '2025-05-02', '2025-05-16', 'paid', '2025-05-05', 0),
('fee_104', 'per_03', 'vehicle_change', 1200, '2026-04-06', '2026-04-20', 'open', NULL, 0),
('fee_105', 'per_06', 'grant', 9000, '2025-05-07', '2025-05-21', 'paid', '2025-05-10', 0),
('fee_106', 'per_07', 'grant', 18000, '2026-04-08', '2026-04-22', 'open', NULL, 0),
('fee_107', 'per_08', 'grant', 9000, '2025-11-27', '2025-12-11', 'paid', '2025-12-01', 0),
('fee_108', 'per_08', 'vehicle_change', 1200, '2026-01-19', '2026-02-02', 'paid', '2026-01-19', 0),
('fee_109', 'per_08', 'vehicle_change', 1200, '2026-03-09', '2026-03-23', 'paid', '2026-03-11', 0),
('fee_110', 'per_10', 'grant', 24000, '2024-07-24', '2024-08-07', 'paid', '2024-08-01', 0),
('fee_111', 'per_10', 'renewal', 24000, '2025-07-08', '2025-07-22', 'paid', '2025-07-15', 0),
('fee_112', 'per_13', 'grant', 9000, '2025-06-13', '2025-06-27', 'refunded', '2026-02-10', 1500),
('fee_113', 'per_14', 'grant', 9000, '2026-03-25', '2026-04-08', 'open', NULL, 0),
('fee_114', 'per_15', 'grant', 9000, '2025-03-05', '2025-03-19', 'paid', '2025-03-10', 0),
('fee_115', 'per_19', 'grant', 9000, '2025-12-04', '2025-12-18', 'cancelled', '2025-12-19', 0),
('fee_116', 'per_20', 'grant', 9000, '2026-03-20', '2026-04-03', 'open', NULL, 0);

INSERT INTO visitor_tickets (id, resident_id, plate, valid_on, issued_on, status, voided_on) VALUES
('vt_51', 'res_marta', 'K-RA 190', '2026-04-18', '2026-04-07', 'issued', NULL),
('vt_52', 'res_marta', 'HH-ZU 72', '2026-04-18', '2026-04-07', 'issued', NULL),
('vt_53', 'res_marta', 'B-LN 3301', '2026-04-18', '2026-04-09', 'issued', NULL),
('vt_54', 'res_marta', 'DD-EO 44', '2026-04-18', '2026-04-09', 'issued', NULL),
('vt_55', 'res_marta', 'M-QX 815', '2026-04-18', '2026-04-10', 'issued', NULL),
('vt_56', 'res_yuna', 'F-UI 606', '2026-04-14', '2026-04-13', 'issued', NULL),
('vt_57', 'res_luis', 'S-TT 29', '2026-02-21', '2026-02-12', 'void', '2026-02-19'),
('vt_58', 'res_greta', 'L-OB 717', '2026-04-25', '2026-04-14', 'issued', NULL);
