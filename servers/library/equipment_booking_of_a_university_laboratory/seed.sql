INSERT INTO kinds (id, name, hourly_price_cents, operator_price_cents, longest_hours, group_week_hours, certificate_months) VALUES
('knd_em', 'Electron microscope', 6000, 3600, 4, 12, 12),
('knd_afm', 'Atomic force microscope', 4000, 2600, 6, 15, 12),
('knd_xrd', 'X-ray diffractometer', 3000, 2000, 8, 20, 24),
('knd_spec', 'Optical spectrometer', 1800, 1400, 3, 9, 24);

INSERT INTO instruments (id, name, kind_id, room, status) VALUES
('ins_aurora', 'Aurora SEM 300', 'knd_em', 'B-012', 'in_service'),
('ins_borea', 'Borea SEM 500', 'knd_em', 'B-014', 'in_service'),
('ins_kite', 'Kite AFM', 'knd_afm', 'B-101', 'in_service'),
('ins_wren', 'Wren AFM', 'knd_afm', 'B-103', 'retired'),
('ins_facet2', 'Facet XRD 2', 'knd_xrd', 'B-020', 'in_service'),
('ins_facet4', 'Facet XRD 4', 'knd_xrd', 'B-021', 'in_service'),
('ins_lattice', 'Lattice XRD', 'knd_xrd', 'B-022', 'in_service'),
('ins_iris', 'Iris UV-Vis', 'knd_spec', 'B-110', 'in_service'),
('ins_lumen', 'Lumen Raman', 'knd_spec', 'B-112', 'in_service'),
('ins_prism', 'Prism FTIR', 'knd_spec', 'B-113', 'in_service');

INSERT INTO research_groups (id, name, budget_cents) VALUES
('grp_voss', 'Voss Thin Films', 400000),
('grp_adeyemi', 'Adeyemi Polymers', 250000),
('grp_tanaka', 'Tanaka Ceramics', 76000),
('grp_lund', 'Lund Batteries', 180000);

INSERT INTO people (id, name, role, group_id, has_night_permit, status, suspended_on) VALUES
('per_voss', 'Katharina Voss', 'leader', 'grp_voss', 1, 'active', NULL),
('per_adeyemi', 'Folake Adeyemi', 'leader', 'grp_adeyemi', 0, 'active', NULL),
('per_tanaka', 'Kenji Tanaka', 'leader', 'grp_tanaka', 1, 'active', NULL),
('per_lund', 'Henrik Lund', 'leader', 'grp_lund', 0, 'active', NULL),
('per_meret', 'Meret Aydin', 'researcher', 'grp_voss', 1, 'active', NULL),
('per_jonas', 'Jonas Petersen', 'researcher', 'grp_voss', 0, 'active', NULL),
('per_jonah', 'Jonah Pedersen', 'researcher', 'grp_lund', 0, 'active', NULL),
('per_chidi', 'Chidi Nwankwo', 'researcher', 'grp_adeyemi', 0, 'active', NULL),
('per_lucia', 'Lucía Ferreira', 'researcher', 'grp_adeyemi', 0, 'suspended', '2026-03-20'),
('per_sofia', 'Sofia Marchetti', 'researcher', 'grp_tanaka', 0, 'active', NULL),
('per_emil', 'Emil Lindholm', 'researcher', 'grp_lund', 1, 'suspended', '2026-04-01'),
('per_hugo', 'Hugo Wexler', 'researcher', 'grp_adeyemi', 0, 'left', NULL),
('per_ravi', 'Ravi Menon', 'operator', NULL, 0, 'active', NULL),
('per_agnes', 'Agnès Caron', 'operator', NULL, 0, 'active', NULL),
('per_oskar', 'Oskar Brandt', 'manager', NULL, 1, 'active', NULL);

INSERT INTO certificates (id, person_id, kind_id, status, issued_by, issued_on, expires_on, withdrawn_on) VALUES
('crt_ravi_em', 'per_ravi', 'knd_em', 'valid', 'per_oskar', '2025-09-01', '2026-09-01', NULL),
('crt_ravi_xrd', 'per_ravi', 'knd_xrd', 'valid', 'per_oskar', '2025-03-10', '2027-03-10', NULL),
('crt_agnes_afm', 'per_agnes', 'knd_afm', 'valid', 'per_oskar', '2025-10-06', '2026-10-06', NULL),
('crt_agnes_spec', 'per_agnes', 'knd_spec', 'valid', 'per_oskar', '2024-11-04', '2026-11-04', NULL),
('crt_agnes_em', 'per_agnes', 'knd_em', 'valid', 'per_oskar', '2025-06-16', '2026-06-16', NULL),
('crt_meret_em_24', 'per_meret', 'knd_em', 'replaced', 'per_oskar', '2024-11-11', '2025-11-11', NULL),
('crt_meret_em', 'per_meret', 'knd_em', 'valid', 'per_ravi', '2025-11-12', '2026-11-12', NULL),
('crt_meret_xrd', 'per_meret', 'knd_xrd', 'valid', 'per_ravi', '2025-05-05', '2027-05-05', NULL),
('crt_jonas_em', 'per_jonas', 'knd_em', 'valid', 'per_oskar', '2025-04-08', '2026-04-08', NULL),
('crt_jonas_spec', 'per_jonas', 'knd_spec', 'valid', 'per_agnes', '2025-02-03', '2027-02-03', NULL),
('crt_jonah_spec', 'per_jonah', 'knd_spec', 'valid', 'per_agnes', '2025-06-02', '2027-06-02', NULL),
('crt_jonah_afm', 'per_jonah', 'knd_afm', 'valid', 'per_oskar', '2025-04-20', '2026-04-20', NULL),
('crt_chidi_afm', 'per_chidi', 'knd_afm', 'valid', 'per_agnes', '2025-11-20', '2026-11-20', NULL),
('crt_sofia_xrd', 'per_sofia', 'knd_xrd', 'valid', 'per_ravi', '2025-09-15', '2027-09-15', NULL),
('crt_sofia_em', 'per_sofia', 'knd_em', 'withdrawn', 'per_oskar', '2025-07-01', '2026-07-01', '2026-02-11'),
('crt_tanaka_em', 'per_tanaka', 'knd_em', 'valid', 'per_agnes', '2025-08-11', '2026-08-11', NULL),
('crt_voss_em', 'per_voss', 'knd_em', 'valid', 'per_oskar', '2025-12-01', '2026-12-01', NULL);

INSERT INTO bookings (id, person_id, instrument_id, operator_id, starts_at, ends_at, status, booked_at, started_at, closed_at) VALUES
('bkg_0112', 'per_hugo', 'ins_wren', NULL, '2026-01-22 09:00:00', '2026-01-22 12:00:00', 'finished', '2026-01-12 14:20:00', '2026-01-22 09:04:00', '2026-01-22 11:52:00'),
('bkg_0147', 'per_lucia', 'ins_aurora', 'per_agnes', '2026-02-17 09:00:00', '2026-02-17 11:00:00', 'missed', '2026-02-09 10:05:00', NULL, '2026-02-17 09:40:00'),
('bkg_0163', 'per_emil', 'ins_facet2', NULL, '2026-03-03 08:00:00', '2026-03-03 10:00:00', 'missed', '2026-02-20 16:30:00', NULL, '2026-03-03 08:45:00'),
('bkg_0170', 'per_chidi', 'ins_kite', NULL, '2026-03-10 09:00:00', '2026-03-10 11:00:00', 'missed', '2026-03-02 09:12:00', NULL, '2026-03-10 09:33:00'),
('bkg_0181', 'per_lucia', 'ins_kite', 'per_agnes', '2026-03-20 10:00:00', '2026-03-20 12:00:00', 'missed', '2026-03-11 11:48:00', NULL, '2026-03-20 10:36:00'),
('bkg_0186', 'per_sofia', 'ins_facet2', NULL, '2026-03-24 09:00:00', '2026-03-24 17:00:00', 'finished', '2026-03-13 08:50:00', '2026-03-24 08:57:00', '2026-03-24 16:40:00'),
('bkg_0189', 'per_jonah', 'ins_kite', NULL, '2026-03-26 13:00:00', '2026-03-26 17:00:00', 'cancelled', '2026-03-16 15:02:00', NULL, '2026-03-26 08:10:00'),
('bkg_0194', 'per_chidi', 'ins_kite', NULL, '2026-03-31 10:00:00', '2026-03-31 14:00:00', 'finished', '2026-03-23 13:17:00', '2026-03-31 10:11:00', '2026-03-31 14:05:00'),
('bkg_0196', 'per_emil', 'ins_facet2', NULL, '2026-04-01 08:00:00', '2026-04-01 09:30:00', 'missed', '2026-03-25 09:41:00', NULL, '2026-04-01 08:50:00'),
('bkg_0198', 'per_meret', 'ins_aurora', NULL, '2026-04-02 09:00:00', '2026-04-02 13:00:00', 'cancelled', '2026-03-27 10:29:00', NULL, '2026-04-01 18:15:00'),
('bkg_0210', 'per_meret', 'ins_aurora', NULL, '2026-04-13 13:00:00', '2026-04-13 17:00:00', 'finished', '2026-04-07 11:11:00', '2026-04-13 12:55:00', '2026-04-13 16:58:00'),
('bkg_0214', 'per_jonas', 'ins_iris', NULL, '2026-04-15 08:00:00', '2026-04-15 08:30:00', 'booked', '2026-04-08 09:00:00', NULL, NULL),
('bkg_0215', 'per_chidi', 'ins_borea', 'per_agnes', '2026-04-15 07:30:00', '2026-04-15 09:00:00', 'booked', '2026-04-08 10:40:00', NULL, NULL),
('bkg_0216', 'per_jonah', 'ins_prism', NULL, '2026-04-15 08:00:00', '2026-04-15 10:00:00', 'running', '2026-04-08 13:05:00', '2026-04-15 07:58:00', NULL),
('bkg_0217', 'per_tanaka', 'ins_lattice', 'per_ravi', '2026-04-15 07:30:00', '2026-04-15 11:00:00', 'running', '2026-04-08 15:26:00', '2026-04-15 07:34:00', NULL),
('bkg_0218', 'per_meret', 'ins_aurora', NULL, '2026-04-15 09:00:00', '2026-04-15 12:00:00', 'booked', '2026-04-09 08:33:00', NULL, NULL),
('bkg_0219', 'per_sofia', 'ins_facet2', NULL, '2026-04-15 09:00:00', '2026-04-15 13:00:00', 'booked', '2026-04-09 12:00:00', NULL, NULL),
('bkg_0220', 'per_jonas', 'ins_kite', 'per_agnes', '2026-04-15 09:00:00', '2026-04-15 11:00:00', 'booked', '2026-04-09 16:51:00', NULL, NULL),
('bkg_0221', 'per_jonah', 'ins_prism', NULL, '2026-04-15 14:00:00', '2026-04-15 16:00:00', 'booked', '2026-04-10 09:09:00', NULL, NULL),
('bkg_0222', 'per_voss', 'ins_aurora', NULL, '2026-04-16 08:30:00', '2026-04-16 10:30:00', 'booked', '2026-04-10 11:37:00', NULL, NULL),
('bkg_0223', 'per_jonah', 'ins_lumen', NULL, '2026-04-16 08:30:00', '2026-04-16 10:00:00', 'booked', '2026-04-10 14:44:00', NULL, NULL),
('bkg_0224', 'per_meret', 'ins_aurora', NULL, '2026-04-17 10:00:00', '2026-04-17 13:00:00', 'booked', '2026-04-13 09:20:00', NULL, NULL),
('bkg_0225', 'per_meret', 'ins_facet2', NULL, '2026-04-18 10:00:00', '2026-04-18 16:00:00', 'booked', '2026-04-13 09:26:00', NULL, NULL),
('bkg_0226', 'per_sofia', 'ins_facet2', NULL, '2026-04-20 09:00:00', '2026-04-20 15:00:00', 'booked', '2026-04-13 17:03:00', NULL, NULL),
('bkg_0227', 'per_jonas', 'ins_aurora', 'per_ravi', '2026-04-21 09:00:00', '2026-04-21 11:00:00', 'booked', '2026-04-14 10:15:00', NULL, NULL),
('bkg_0228', 'per_chidi', 'ins_kite', NULL, '2026-04-21 13:00:00', '2026-04-21 17:00:00', 'booked', '2026-04-14 13:58:00', NULL, NULL);

INSERT INTO repairs (id, instrument_id, reason, starts_at, ends_at, status, closed_at) VALUES
('rep_031', 'ins_aurora', 'filament changed and column aligned', '2026-03-16 08:00:00', '2026-03-16 14:00:00', 'done', '2026-03-16 13:20:00'),
('rep_034', 'ins_prism', 'purge gas line to be replaced', '2026-04-09 12:00:00', '2026-04-09 15:00:00', 'cancelled', '2026-04-08 10:02:00'),
('rep_036', 'ins_facet4', 'detector does not cool down', '2026-04-13 10:00:00', '2026-04-16 12:00:00', 'running', NULL),
('rep_037', 'ins_lumen', 'laser power fluctuates', '2026-04-14 09:00:00', '2026-04-15 17:00:00', 'running', NULL),
('rep_038', 'ins_iris', 'lamp past its hours', '2026-04-15 08:30:00', '2026-04-15 10:00:00', 'planned', NULL),
('rep_039', 'ins_borea', 'vacuum pump service by the maker', '2026-04-15 09:00:00', '2026-04-15 13:00:00', 'planned', NULL),
('rep_040', 'ins_kite', 'scanner calibration', '2026-04-22 08:00:00', '2026-04-22 18:00:00', 'planned', NULL);

UPDATE instruments SET status = 'out_of_service' WHERE id IN ('ins_facet4', 'ins_lumen');

INSERT INTO charges (id, booking_id, reason, amount_cents, charged_at, status, waived_by, waived_at) VALUES
('chg_0112', 'bkg_0112', 'use', 12000, '2026-01-22 11:52:00', 'open', NULL, NULL),
('chg_0147', 'bkg_0147', 'missed', 19200, '2026-02-17 09:40:00', 'open', NULL, NULL),
('chg_0163', 'bkg_0163', 'missed', 6000, '2026-03-03 08:45:00', 'open', NULL, NULL),
('chg_0170', 'bkg_0170', 'missed', 8000, '2026-03-10 09:33:00', 'open', NULL, NULL),
('chg_0181', 'bkg_0181', 'missed', 13200, '2026-03-20 10:36:00', 'waived', 'per_oskar', '2026-03-23 09:15:00'),
('chg_0186', 'bkg_0186', 'use', 24000, '2026-03-24 16:40:00', 'open', NULL, NULL),
('chg_0189', 'bkg_0189', 'late_cancellation', 8000, '2026-03-26 08:10:00', 'open', NULL, NULL),
('chg_0194', 'bkg_0194', 'use', 16000, '2026-03-31 14:05:00', 'open', NULL, NULL),
('chg_0196', 'bkg_0196', 'missed', 4500, '2026-04-01 08:50:00', 'waived', 'per_ravi', '2026-04-02 14:30:00'),
('chg_0198', 'bkg_0198', 'late_cancellation', 12000, '2026-04-01 18:15:00', 'open', NULL, NULL),
('chg_0210', 'bkg_0210', 'use', 24000, '2026-04-13 16:58:00', 'open', NULL, NULL);
