INSERT INTO airports (id, name, city) VALUES
  ('BGO', 'Bergen Airport Flesland', 'Bergen'),
  ('OSL', 'Oslo Airport Gardermoen', 'Oslo'),
  ('TRD', 'Trondheim Airport Værnes', 'Trondheim'),
  ('SVG', 'Stavanger Airport Sola', 'Stavanger');

INSERT INTO fare_types (id, name, cabin, change_allowed, change_fee_cents) VALUES
  ('light', 'Light', 'economy', 0, 0),
  ('flex', 'Flex', 'economy', 1, 45000),
  ('plus', 'Plus', 'plus', 1, 0);

INSERT INTO tiers (id, name, priority) VALUES
  ('gold', 'Gold', 1),
  ('silver', 'Silver', 2),
  ('none', 'No tier', 3);

INSERT INTO flights (id, flight_no, origin_id, destination_id, departs_at, arrives_at, status, delay_minutes, cause) VALUES
  ('fl_210_feb10', 'FW210', 'BGO', 'OSL', '2026-02-10 18:30:00', '2026-02-10 19:20:00', 'cancelled', 0, 'weather'),
  ('fl_208_feb11', 'FW208', 'BGO', 'OSL', '2026-02-11 08:20:00', '2026-02-11 09:10:00', 'delayed', 315, 'airline'),
  ('fl_212_feb11', 'FW212', 'BGO', 'OSL', '2026-02-11 09:10:00', '2026-02-11 10:00:00', 'departed', 0, NULL),
  ('fl_214_feb11', 'FW214', 'BGO', 'OSL', '2026-02-11 13:15:00', '2026-02-11 14:05:00', 'boarding', 0, NULL),
  ('fl_216_feb11', 'FW216', 'BGO', 'OSL', '2026-02-11 14:20:00', '2026-02-11 15:10:00', 'delayed', 150, 'air_traffic_control'),
  ('fl_218_feb11', 'FW218', 'BGO', 'OSL', '2026-02-11 17:30:00', '2026-02-11 18:20:00', 'cancelled', 45, 'airline'),
  ('fl_220_feb11', 'FW220', 'BGO', 'OSL', '2026-02-11 20:15:00', '2026-02-11 21:05:00', 'scheduled', 0, NULL),
  ('fl_206_feb12', 'FW206', 'BGO', 'OSL', '2026-02-12 07:00:00', '2026-02-12 07:50:00', 'scheduled', 0, NULL),
  ('fl_222_feb13', 'FW222', 'BGO', 'OSL', '2026-02-13 18:40:00', '2026-02-13 19:30:00', 'scheduled', 0, NULL),
  ('fl_340_feb11', 'FW340', 'OSL', 'TRD', '2026-02-11 16:40:00', '2026-02-11 17:35:00', 'scheduled', 0, NULL),
  ('fl_338_feb12', 'FW338', 'OSL', 'TRD', '2026-02-12 08:20:00', '2026-02-12 09:15:00', 'scheduled', 0, NULL);

INSERT INTO cabins (flight_id, cabin, seats, crew_seats) VALUES
  ('fl_210_feb10', 'economy', 9, 1),
  ('fl_208_feb11', 'economy', 7, 0),
  ('fl_212_feb11', 'economy', 9, 0),
  ('fl_214_feb11', 'economy', 7, 1),
  ('fl_216_feb11', 'economy', 4, 3),
  ('fl_218_feb11', 'economy', 9, 0),
  ('fl_218_feb11', 'plus', 3, 0),
  ('fl_220_feb11', 'economy', 6, 2),
  ('fl_206_feb12', 'economy', 8, 3),
  ('fl_206_feb12', 'plus', 2, 0),
  ('fl_222_feb13', 'economy', 7, 1),
  ('fl_340_feb11', 'economy', 6, 0),
  ('fl_338_feb12', 'economy', 6, 2);

INSERT INTO bookings (id, fare_type_id, contact_name, contact_email, booked_on, status, split_from_booking_id) VALUES
  ('bk_solheim', 'flex', 'Ingrid Solheim', 'ingrid.solheim@example.org', '2026-01-19', 'active', NULL),
  ('bk_novak', 'flex', 'Tomas Novak', 't.novak@example.org', '2026-01-19', 'active', 'bk_solheim'),
  ('bk_nowak', 'flex', 'Tomasz Nowak', 'tomasz.nowak@example.org', '2026-01-27', 'active', NULL),
  ('bk_okafor', 'light', 'Chidinma Okafor', 'c.okafor@example.org', '2026-01-08', 'active', NULL),
  ('bk_lindqvist', 'plus', 'Elsa Lindqvist', 'elsa@example.org', '2026-02-02', 'active', NULL),
  ('bk_moreau', 'light', 'Julien Moreau', 'jmoreau@example.org', '2025-12-29', 'cancelled', NULL),
  ('bk_haddad', 'flex', 'Fjellvik Consulting, travel office', 'reise.fjellvik@example.org', '2026-02-04', 'active', NULL),
  ('bk_solhaug', 'light', 'Ingrid Solhaug', 'ingrid.solhaug@example.org', '2026-01-30', 'active', NULL);

INSERT INTO passengers (id, booking_id, name, kind, tier_id, home_airport_id) VALUES
  ('pax_ingrid_solheim', 'bk_solheim', 'Ingrid Solheim', 'adult', 'none', 'BGO'),
  ('pax_arne_solheim', 'bk_solheim', 'Arne Solheim', 'adult', 'silver', 'BGO'),
  ('pax_tomas_novak', 'bk_novak', 'Tomas Novak', 'adult', 'none', NULL),
  ('pax_tomasz_nowak', 'bk_nowak', 'Tomasz Nowak', 'adult', 'silver', 'TRD'),
  ('pax_chidinma_okafor', 'bk_okafor', 'Chidinma Okafor', 'adult', 'none', 'OSL'),
  ('pax_emeka_okafor', 'bk_okafor', 'Emeka Okafor', 'child', 'none', 'OSL'),
  ('pax_ada_okafor', 'bk_okafor', 'Ada Okafor', 'infant', 'none', 'OSL'),
  ('pax_elsa_lindqvist', 'bk_lindqvist', 'Elsa Lindqvist', 'adult', 'gold', NULL),
  ('pax_per_lindqvist', 'bk_lindqvist', 'Per Lindqvist', 'adult', 'gold', NULL),
  ('pax_claire_moreau', 'bk_moreau', 'Claire Moreau', 'adult', 'none', NULL),
  ('pax_julien_moreau', 'bk_moreau', 'Julien Moreau', 'adult', 'none', NULL),
  ('pax_samir_haddad', 'bk_haddad', 'Samir Haddad', 'adult', 'gold', 'OSL'),
  ('pax_priya_raman', 'bk_haddad', 'Priya Raman', 'adult', 'silver', 'SVG'),
  ('pax_oddvar_lie', 'bk_haddad', 'Oddvar Lie', 'adult', 'none', 'BGO'),
  ('pax_ingrid_solhaug', 'bk_solhaug', 'Ingrid Solhaug', 'adult', 'none', 'BGO'),
  ('pax_kwame_mensah', 'bk_solhaug', 'Kwame Mensah', 'adult', 'none', 'OSL');

INSERT INTO segments (id, passenger_id, leg, flight_id, cabin, fare_paid_cents, status, replaces_segment_id, move_kind, booked_at) VALUES
  ('seg_001', 'pax_ingrid_solheim', 1, 'fl_222_feb13', 'economy', 149000, 'moved', NULL, NULL, '2026-01-19 10:12:00'),
  ('seg_002', 'pax_arne_solheim', 1, 'fl_222_feb13', 'economy', 149000, 'moved', NULL, NULL, '2026-01-19 10:12:00'),
  ('seg_003', 'pax_tomas_novak', 1, 'fl_222_feb13', 'economy', 152000, 'moved', NULL, NULL, '2026-01-19 10:14:00'),
  ('seg_004', 'pax_ingrid_solheim', 1, 'fl_214_feb11', 'economy', 149000, 'boarded', 'seg_001', 'voluntary', '2026-02-09 16:05:00'),
  ('seg_005', 'pax_arne_solheim', 1, 'fl_212_feb11', 'economy', 149000, 'no_show', 'seg_002', 'voluntary', '2026-02-10 11:20:00'),
  ('seg_006', 'pax_tomas_novak', 1, 'fl_212_feb11', 'economy', 152000, 'flown', 'seg_003', 'voluntary', '2026-02-10 11:32:00'),
  ('seg_007', 'pax_tomasz_nowak', 1, 'fl_214_feb11', 'economy', 128000, 'moved', NULL, NULL, '2026-01-27 19:41:00'),
  ('seg_008', 'pax_tomasz_nowak', 1, 'fl_212_feb11', 'economy', 128000, 'moved', 'seg_007', 'voluntary', '2026-02-05 08:26:00'),
  ('seg_009', 'pax_tomasz_nowak', 1, 'fl_216_feb11', 'economy', 128000, 'checked_in', 'seg_008', 'voluntary', '2026-02-10 09:48:00'),
  ('seg_010', 'pax_tomasz_nowak', 2, 'fl_340_feb11', 'economy', 98000, 'confirmed', NULL, NULL, '2026-01-27 19:41:00'),
  ('seg_011', 'pax_chidinma_okafor', 1, 'fl_218_feb11', 'economy', 119000, 'confirmed', NULL, NULL, '2026-01-08 21:03:00'),
  ('seg_012', 'pax_emeka_okafor', 1, 'fl_218_feb11', 'economy', 89000, 'confirmed', NULL, NULL, '2026-01-08 21:03:00'),
  ('seg_013', 'pax_ada_okafor', 1, 'fl_218_feb11', 'economy', 0, 'confirmed', NULL, NULL, '2026-01-08 21:03:00'),
  ('seg_014', 'pax_elsa_lindqvist', 1, 'fl_218_feb11', 'plus', 299000, 'cancelled', NULL, NULL, '2026-02-02 13:37:00'),
  ('seg_015', 'pax_per_lindqvist', 1, 'fl_218_feb11', 'plus', 249000, 'confirmed', NULL, NULL, '2026-02-02 13:37:00'),
  ('seg_016', 'pax_claire_moreau', 1, 'fl_210_feb10', 'economy', 109000, 'cancelled', NULL, NULL, '2025-12-29 17:55:00'),
  ('seg_017', 'pax_julien_moreau', 1, 'fl_210_feb10', 'economy', 112000, 'cancelled', NULL, NULL, '2025-12-29 17:55:00'),
  ('seg_018', 'pax_samir_haddad', 1, 'fl_210_feb10', 'economy', 139000, 'moved', NULL, NULL, '2026-02-04 09:15:00'),
  ('seg_019', 'pax_samir_haddad', 1, 'fl_218_feb11', 'economy', 139000, 'moved', 'seg_018', 'disruption', '2026-02-10 17:10:00'),
  ('seg_020', 'pax_samir_haddad', 1, 'fl_206_feb12', 'economy', 139000, 'confirmed', 'seg_019', 'disruption', '2026-02-11 11:40:00'),
  ('seg_021', 'pax_priya_raman', 1, 'fl_210_feb10', 'economy', 139000, 'moved', NULL, NULL, '2026-02-04 09:15:00'),
  ('seg_022', 'pax_priya_raman', 1, 'fl_218_feb11', 'economy', 139000, 'moved', 'seg_021', 'disruption', '2026-02-10 17:10:00'),
  ('seg_023', 'pax_priya_raman', 1, 'fl_206_feb12', 'economy', 139000, 'checked_in', 'seg_022', 'disruption', '2026-02-11 11:40:00'),
  ('seg_024', 'pax_oddvar_lie', 1, 'fl_210_feb10', 'economy', 144000, 'moved', NULL, NULL, '2026-02-06 14:02:00'),
  ('seg_025', 'pax_oddvar_lie', 1, 'fl_218_feb11', 'economy', 144000, 'moved', 'seg_024', 'disruption', '2026-02-10 17:20:00'),
  ('seg_026', 'pax_oddvar_lie', 1, 'fl_206_feb12', 'economy', 144000, 'confirmed', 'seg_025', 'disruption', '2026-02-11 11:42:00'),
  ('seg_027', 'pax_ingrid_solhaug', 1, 'fl_218_feb11', 'economy', 99000, 'confirmed', NULL, NULL, '2026-01-30 22:18:00'),
  ('seg_028', 'pax_kwame_mensah', 1, 'fl_208_feb11', 'economy', 104000, 'confirmed', NULL, NULL, '2026-01-30 22:18:00');

INSERT INTO waitlist_entries (id, segment_id, flight_id, status, joined_at, closed_at) VALUES
  ('wl_0401', 'seg_008', 'fl_214_feb11', 'withdrawn', '2026-02-08 18:30:00', '2026-02-10 09:40:00'),
  ('wl_0402', 'seg_024', 'fl_218_feb11', 'cleared', '2026-02-10 17:05:00', '2026-02-10 17:20:00'),
  ('wl_0403', 'seg_028', 'fl_212_feb11', 'expired', '2026-02-11 08:05:00', '2026-02-11 09:15:00'),
  ('wl_0404', 'seg_027', 'fl_216_feb11', 'waiting', '2026-02-11 11:30:00', NULL),
  ('wl_0405', 'seg_027', 'fl_206_feb12', 'waiting', '2026-02-11 11:31:00', NULL),
  ('wl_0406', 'seg_027', 'fl_222_feb13', 'waiting', '2026-02-11 11:33:00', NULL),
  ('wl_0407', 'seg_020', 'fl_222_feb13', 'waiting', '2026-02-11 12:10:00', NULL);

INSERT INTO hotel_nights (id, hotel, airport_id, night_on, rooms) VALUES
  ('hn_vagen_feb10', 'Vågen Brygge Hotel', 'BGO', '2026-02-10', 3),
  ('hn_vagen_feb11', 'Vågen Brygge Hotel', 'BGO', '2026-02-11', 2),
  ('hn_floyen_feb11', 'Hotel Fløyen Park', 'BGO', '2026-02-11', 0),
  ('hn_romerike_feb11', 'Romerike Airport Inn', 'OSL', '2026-02-11', 4),
  ('hn_vagen_feb12', 'Vågen Brygge Hotel', 'BGO', '2026-02-12', 5);

INSERT INTO hotel_rooms (id, hotel_night_id, status, booked_at) VALUES
  ('room_vagen_feb10_a', 'hn_vagen_feb10', 'booked', '2026-02-10 17:45:00'),
  ('room_vagen_feb10_b', 'hn_vagen_feb10', 'released', '2026-02-10 17:48:00'),
  ('room_floyen_feb11_a', 'hn_floyen_feb11', 'released', '2026-02-11 11:52:00'),
  ('room_vagen_feb11_a', 'hn_vagen_feb11', 'released', '2026-02-11 11:58:00'),
  ('room_romerike_feb11_a', 'hn_romerike_feb11', 'released', '2026-02-11 12:31:00');

INSERT INTO vouchers (id, segment_id, kind, amount_cents, hotel_room_id, status, issued_at, closed_at) VALUES
  ('vch_7001', 'seg_018', 'hotel', 0, 'room_vagen_feb10_a', 'used', '2026-02-10 17:46:00', '2026-02-10 21:15:00'),
  ('vch_7002', 'seg_021', 'hotel', 0, 'room_vagen_feb10_a', 'used', '2026-02-10 17:47:00', '2026-02-10 21:20:00'),
  ('vch_7003', 'seg_024', 'taxi', 42000, NULL, 'void', '2026-02-10 17:50:00', '2026-02-10 18:05:00'),
  ('vch_7004', 'seg_028', 'meal', 15000, NULL, 'used', '2026-02-11 10:35:00', '2026-02-11 11:20:00'),
  ('vch_7005', 'seg_028', 'meal', 15000, NULL, 'issued', '2026-02-11 12:42:00', NULL),
  ('vch_7006', 'seg_011', 'meal', 15000, NULL, 'issued', '2026-02-11 12:15:00', NULL);

INSERT INTO refund_requests (id, segment_id, amount_cents, reason, status, requested_at, decided_at, decided_by, paid_at) VALUES
  ('rf_301', 'seg_016', 109000, 'Concert in Oslo missed because FW210 was cancelled', 'paid', '2026-02-10 17:02:00', '2026-02-10 17:30:00', 'desk', '2026-02-11 09:05:00'),
  ('rf_302', 'seg_017', 112000, 'Travels no more after the storm, takes the ship instead', 'approved', '2026-02-10 18:55:00', '2026-02-10 20:10:00', 'duty_manager', NULL),
  ('rf_303', 'seg_014', 299000, 'Board meeting will be held by video', 'approved', '2026-02-11 12:02:00', '2026-02-11 12:20:00', 'desk', NULL),
  ('rf_304', 'seg_015', 249000, 'Was to accompany his wife, who stays at home', 'requested', '2026-02-11 12:24:00', NULL, NULL, NULL),
  ('rf_305', 'seg_028', 104000, 'Five hours late, the job interview is over', 'requested', '2026-02-11 12:45:00', NULL, NULL, NULL),
  ('rf_306', 'seg_009', 128000, 'FW216 is late and he wants his money back', 'refused', '2026-02-11 11:48:00', '2026-02-11 11:55:00', 'desk', NULL);

INSERT INTO fee_charges (id, segment_id, amount_cents, status, charged_at, settled_at, waive_reason) VALUES
  ('fee_101', 'seg_008', 45000, 'paid', '2026-02-05 08:26:00', '2026-02-05 08:31:00', NULL),
  ('fee_102', 'seg_004', 45000, 'waived', '2026-02-09 16:05:00', '2026-02-09 16:20:00', 'Funeral of her aunt, notice seen by the desk'),
  ('fee_103', 'seg_009', 45000, 'due', '2026-02-10 09:48:00', NULL, NULL),
  ('fee_104', 'seg_005', 45000, 'due', '2026-02-10 11:20:00', NULL, NULL),
  ('fee_105', 'seg_006', 45000, 'due', '2026-02-10 11:32:00', NULL, NULL);
