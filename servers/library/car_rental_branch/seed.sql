INSERT INTO member_tiers (id, name, booking_limit, may_overlap) VALUES
('tier_standard', 'Standard', 2, 0),
('tier_gold', 'Gold', 4, 1);

INSERT INTO car_classes (id, name, class_rank, daily_rate_cents, deposit_cents, min_age, km_per_day) VALUES
('cls_mini', 'Mini', 1, 3200, 20000, 19, 150),
('cls_compact', 'Compact', 2, 4200, 25000, 19, 200),
('cls_saloon', 'Saloon', 3, 5400, 30000, 21, 200),
('cls_estate', 'Estate', 4, 6400, 35000, 21, 250),
('cls_suv', 'SUV', 5, 7800, 45000, 23, 250),
('cls_premium', 'Premium', 6, 12000, 90000, 25, 300);

INSERT INTO extras (id, name, stock, daily_price_cents, min_class_rank, max_per_booking) VALUES
('ext_child_seat', 'Child seat', 10, 800, 1, 3),
('ext_gps', 'GPS', 6, 600, 1, 1),
('ext_roof_box', 'Roof box', 4, 900, 3, 1);

INSERT INTO managers (id, name, approval_code) VALUES
('mgr_vandenberg', 'Saskia van den Berg', 'HR-7316-QUAY'),
('mgr_achterberg', 'Joris Achterberg', 'HR-2948-PIER');

INSERT INTO cars (id, plate, model, class_id, status, odometer_km, next_service_km) VALUES
('car_fiat500', 'HB 214 KT', 'Fiat 500', 'cls_mini', 'ready', 18240, 30000),
('car_aygo', 'HB 871 DN', 'Toyota Aygo X', 'cls_mini', 'rented', 24110, 30000),
('car_picanto', 'HB 033 AC', 'Kia Picanto', 'cls_mini', 'retired', 148900, 150000),
('car_golf', 'HB 562 PL', 'Volkswagen Golf', 'cls_compact', 'ready', 15320, 30120),
('car_focus', 'HB 567 PL', 'Ford Focus', 'cls_compact', 'rented', 41275, 45000),
('car_astra', 'HB 190 RE', 'Opel Astra', 'cls_compact', 'cleaning', 33890, 45000),
('car_octavia', 'HB 425 MV', 'Skoda Octavia', 'cls_saloon', 'ready', 52480, 60000),
('car_mazda6', 'HB 748 SJ', 'Mazda 6', 'cls_saloon', 'workshop', 59910, 60000),
('car_v60', 'HB 306 GU', 'Volvo V60', 'cls_estate', 'ready', 27760, 30000),
('car_passat', 'HB 360 GU', 'Volkswagen Passat Variant', 'cls_estate', 'cleaning', 36340, 45000),
('car_tucson', 'HB 915 WB', 'Hyundai Tucson', 'cls_suv', 'rented', 22150, 30000),
('car_qashqai', 'HB 681 YF', 'Nissan Qashqai', 'cls_suv', 'ready', 44820, 45000),
('car_bmw520', 'HB 007 LZ', 'BMW 520d', 'cls_premium', 'workshop', 30500, 45000),
('car_eclass', 'HB 452 TO', 'Mercedes-Benz E 220', 'cls_premium', 'ready', 12980, 15000);

INSERT INTO customers (id, name, email, born_on, licence_number, licence_issued_on, licence_expires_on, tier_id, blocked) VALUES
('cus_lindqvist', 'Annika Lindqvist', 'annika.lindqvist@example.org', '1979-03-14', 'LQ-790314-A', '1998-06-02', '2031-06-01', 'tier_gold', 0),
('cus_lindquist', 'Anders Lindquist', 'a.lindquist@example.org', '1988-10-27', 'LQ-881027-N', '2007-02-19', '2032-02-18', 'tier_standard', 0),
('cus_okafor', 'Chidi Okafor', 'chidi.okafor@example.org', '1991-07-05', 'OK-910705-C', '2012-05-11', '2027-05-10', 'tier_standard', 0),
('cus_moreau', 'Camille Moreau', 'camille.moreau@example.org', '1996-01-22', 'MO-960122-M', '2015-09-30', '2030-09-29', 'tier_standard', 0),
('cus_moreno', 'Camila Moreno', 'camila.moreno@example.org', '1985-12-09', 'MO-851209-R', '2004-03-17', '2029-03-16', 'tier_standard', 0),
('cus_tanaka', 'Yuki Tanaka', 'yuki.tanaka@example.org', '1974-08-31', 'TA-740831-Y', '1995-11-08', '2028-11-07', 'tier_gold', 0),
('cus_haddad', 'Samir Haddad', 'samir.haddad@example.org', '1982-04-18', 'HA-820418-S', '2001-08-24', '2033-08-23', 'tier_standard', 1),
('cus_novak', 'Petra Novak', 'petra.novak@example.org', '2003-11-02', 'NO-031102-P', '2022-01-15', '2037-01-14', 'tier_standard', 0),
('cus_oconnell', 'Niamh O''Connell', 'niamh.oconnell@example.org', '1969-05-26', 'OC-690526-N', '1988-07-13', '2029-05-25', 'tier_standard', 0),
('cus_ferreira', 'Tiago Ferreira', 'tiago.ferreira@example.org', '2006-02-07', 'FE-060207-T', '2025-04-20', '2040-04-19', 'tier_standard', 0),
('cus_yilmaz', 'Elif Yilmaz', 'elif.yilmaz@example.org', '1993-09-12', 'YI-930912-E', '2011-05-25', '2026-05-24', 'tier_standard', 0);

INSERT INTO bookings (id, customer_id, class_id, booked_on, pickup_on, return_on, status, ended_on) VALUES
('bkg_0098', 'cus_tanaka', 'cls_premium', '2026-03-30', '2026-04-20', '2026-04-23', 'picked_up', NULL),
('bkg_0102', 'cus_ferreira', 'cls_mini', '2026-04-22', '2026-04-28', '2026-04-30', 'no_show', '2026-04-30'),
('bkg_0105', 'cus_lindquist', 'cls_estate', '2026-04-11', '2026-05-03', '2026-05-08', 'picked_up', NULL),
('bkg_0107', 'cus_moreau', 'cls_estate', '2026-04-17', '2026-05-22', '2026-05-24', 'cancelled', '2026-05-11'),
('bkg_0108', 'cus_haddad', 'cls_suv', '2026-04-19', '2026-05-04', '2026-05-11', 'picked_up', NULL),
('bkg_0109', 'cus_oconnell', 'cls_compact', '2026-04-21', '2026-05-06', '2026-05-11', 'picked_up', NULL),
('bkg_0110', 'cus_moreno', 'cls_saloon', '2026-04-23', '2026-05-05', '2026-05-09', 'picked_up', NULL),
('bkg_0111', 'cus_novak', 'cls_compact', '2026-04-24', '2026-05-08', '2026-05-10', 'cancelled', '2026-05-07'),
('bkg_0112', 'cus_okafor', 'cls_compact', '2026-04-20', '2026-05-09', '2026-05-15', 'picked_up', NULL),
('bkg_0113', 'cus_lindquist', 'cls_saloon', '2026-04-27', '2026-05-10', '2026-05-14', 'booked', NULL),
('bkg_0115', 'cus_moreau', 'cls_mini', '2026-04-29', '2026-05-10', '2026-05-13', 'picked_up', NULL),
('bkg_0116', 'cus_yilmaz', 'cls_mini', '2026-05-02', '2026-05-11', '2026-05-12', 'booked', NULL),
('bkg_0118', 'cus_oconnell', 'cls_estate', '2026-05-04', '2026-05-12', '2026-05-15', 'booked', NULL),
('bkg_0121', 'cus_lindqvist', 'cls_compact', '2026-03-02', '2026-05-13', '2026-05-16', 'booked', NULL),
('bkg_0122', 'cus_tanaka', 'cls_suv', '2026-05-06', '2026-05-13', '2026-05-15', 'booked', NULL),
('bkg_0123', 'cus_moreno', 'cls_mini', '2026-05-01', '2026-05-13', '2026-05-17', 'booked', NULL),
('bkg_0124', 'cus_tanaka', 'cls_estate', '2026-05-07', '2026-05-14', '2026-05-18', 'booked', NULL),
('bkg_0125', 'cus_yilmaz', 'cls_suv', '2026-05-08', '2026-05-15', '2026-05-22', 'booked', NULL),
('bkg_0126', 'cus_lindqvist', 'cls_saloon', '2026-02-14', '2026-05-20', '2026-05-27', 'booked', NULL),
('bkg_0128', 'cus_haddad', 'cls_compact', '2026-04-19', '2026-06-01', '2026-06-05', 'booked', NULL);

INSERT INTO additional_drivers (booking_id, customer_id) VALUES
('bkg_0112', 'cus_novak'),
('bkg_0121', 'cus_okafor'),
('bkg_0124', 'cus_lindqvist'),
('bkg_0126', 'cus_oconnell'),
('bkg_0126', 'cus_moreau');

INSERT INTO booking_extras (booking_id, extra_id, quantity) VALUES
('bkg_0108', 'ext_gps', 1),
('bkg_0118', 'ext_child_seat', 3),
('bkg_0121', 'ext_child_seat', 3),
('bkg_0124', 'ext_child_seat', 3),
('bkg_0126', 'ext_roof_box', 1);

INSERT INTO rentals (id, booking_id, car_id, status, handed_out_on, odometer_out_km, returned_on, odometer_in_km, fuel_in_eighths, closed_on) VALUES
('rent_0098', 'bkg_0098', 'car_eclass', 'closed', '2026-04-20', 12280, '2026-04-23', 12980, 8, '2026-04-24'),
('rent_0105', 'bkg_0105', 'car_passat', 'returned', '2026-05-03', 35400, '2026-05-08', 36340, 8, NULL),
('rent_0108', 'bkg_0108', 'car_tucson', 'out', '2026-05-04', 22150, NULL, NULL, NULL, NULL),
('rent_0109', 'bkg_0109', 'car_astra', 'returned', '2026-05-06', 32790, '2026-05-12', 33890, 6, NULL),
('rent_0110', 'bkg_0110', 'car_octavia', 'returned', '2026-05-05', 51400, '2026-05-09', 52480, 8, NULL),
('rent_0112', 'bkg_0112', 'car_focus', 'out', '2026-05-09', 41275, NULL, NULL, NULL, NULL),
('rent_0115', 'bkg_0115', 'car_aygo', 'out', '2026-05-11', 24110, NULL, NULL, NULL, NULL);

INSERT INTO workshop_orders (id, car_id, kind, from_on, to_on, status, finished_on) VALUES
('wo_0041', 'car_golf', 'service', '2026-04-14', '2026-04-15', 'done', '2026-04-15'),
('wo_0044', 'car_bmw520', 'repair', '2026-05-08', '2026-05-20', 'in_work', NULL),
('wo_0045', 'car_mazda6', 'service', '2026-05-11', '2026-05-15', 'in_work', NULL),
('wo_0046', 'car_astra', 'tyres', '2026-05-12', '2026-05-14', 'planned', NULL),
('wo_0047', 'car_qashqai', 'service', '2026-05-13', '2026-05-14', 'planned', NULL);

INSERT INTO damage_reports (id, rental_id, description, amount_cents, reported_on, status, decided_on, approved_by) VALUES
('dmg_0017', 'rent_0098', 'Scratch along the rear left door, down to the primer', 18000, '2026-04-23', 'charged', '2026-04-24', NULL),
('dmg_0018', 'rent_0098', 'Hubcap of the front right wheel scuffed on a kerb', 6000, '2026-04-23', 'waived', '2026-04-24', NULL),
('dmg_0021', 'rent_0105', 'Dented tailgate, found to be on the previous handout sheet', 31000, '2026-05-08', 'waived', '2026-05-11', 'mgr_vandenberg'),
('dmg_0022', 'rent_0110', 'Broken left mirror and cracked indicator glass', 48000, '2026-05-09', 'open', NULL, NULL),
('dmg_0023', 'rent_0112', 'Stone chip in the windscreen, reported by phone from the road', 12000, '2026-05-11', 'open', NULL, NULL);

INSERT INTO ledger_entries (id, booking_id, kind, reason, amount_cents, entered_on) VALUES
(1, 'bkg_0098', 'deposit_hold', NULL, 90000, '2026-04-20'),
(2, 'bkg_0098', 'charge', 'rental', 36000, '2026-04-20'),
(3, 'bkg_0098', 'charge', 'damage', 18000, '2026-04-24'),
(4, 'bkg_0098', 'payment', NULL, 54000, '2026-04-24'),
(5, 'bkg_0098', 'deposit_release', NULL, 90000, '2026-04-24'),
(6, 'bkg_0107', 'payment', NULL, 10000, '2026-04-17'),
(7, 'bkg_0111', 'payment', NULL, 8400, '2026-04-24'),
(8, 'bkg_0102', 'charge', 'no_show', 3200, '2026-04-30'),
(9, 'bkg_0105', 'deposit_hold', NULL, 35000, '2026-05-03'),
(10, 'bkg_0105', 'charge', 'rental', 32000, '2026-05-03'),
(11, 'bkg_0105', 'payment', NULL, 32000, '2026-05-03'),
(12, 'bkg_0108', 'deposit_hold', NULL, 45000, '2026-05-04'),
(13, 'bkg_0108', 'charge', 'rental', 54600, '2026-05-04'),
(14, 'bkg_0108', 'charge', 'extras', 4200, '2026-05-04'),
(15, 'bkg_0108', 'payment', NULL, 40000, '2026-05-04'),
(16, 'bkg_0110', 'deposit_hold', NULL, 30000, '2026-05-05'),
(17, 'bkg_0110', 'charge', 'rental', 21600, '2026-05-05'),
(18, 'bkg_0110', 'payment', NULL, 21600, '2026-05-05'),
(19, 'bkg_0109', 'deposit_hold', NULL, 25000, '2026-05-06'),
(20, 'bkg_0109', 'charge', 'rental', 21000, '2026-05-06'),
(21, 'bkg_0111', 'charge', 'cancellation', 4200, '2026-05-07'),
(22, 'bkg_0112', 'deposit_hold', NULL, 25000, '2026-05-09'),
(23, 'bkg_0112', 'charge', 'rental', 25200, '2026-05-09'),
(24, 'bkg_0112', 'charge', 'young_driver', 7200, '2026-05-09'),
(25, 'bkg_0112', 'payment', NULL, 32400, '2026-05-09'),
(26, 'bkg_0110', 'charge', 'extra_km', 7000, '2026-05-09'),
(27, 'bkg_0115', 'deposit_hold', NULL, 20000, '2026-05-11'),
(28, 'bkg_0115', 'charge', 'rental', 9600, '2026-05-11'),
(29, 'bkg_0115', 'payment', NULL, 4600, '2026-05-11'),
(30, 'bkg_0109', 'charge', 'late', 6300, '2026-05-12'),
(31, 'bkg_0109', 'charge', 'fuel', 800, '2026-05-12'),
(32, 'bkg_0109', 'payment', NULL, 30000, '2026-05-12'),
(33, 'bkg_0109', 'refund', NULL, 1900, '2026-05-12'),
(34, 'bkg_0118', 'deposit_hold', NULL, 35000, '2026-05-13'),
(35, 'bkg_0121', 'deposit_hold', NULL, 25000, '2026-05-13');
