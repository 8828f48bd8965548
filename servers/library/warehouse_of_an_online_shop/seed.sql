INSERT INTO staff (id, name, role, has_blade_certificate, shift_starts_at, shift_ends_at, is_active) VALUES
('stf_nadia', 'Nadia Okonkwo', 'picker', 1, '2026-03-11 06:00:00', '2026-03-11 14:00:00', 1),
('stf_tomas', 'Tomas Lindqvist', 'picker', 0, '2026-03-11 06:00:00', '2026-03-11 14:00:00', 1),
('stf_thomas', 'Thomas Lindquist', 'picker', 1, '2026-03-11 08:00:00', '2026-03-11 16:00:00', 1),
('stf_mei', 'Mei-Ling Zhao', 'picker', 0, '2026-03-11 06:30:00', '2026-03-11 14:30:00', 1),
('stf_ruben', 'Rubén Castaño', 'picker', 1, '2026-03-11 14:00:00', '2026-03-11 22:00:00', 1),
('stf_goran', 'Goran Petrović', 'picker', 0, NULL, NULL, 0),
('stf_aoife', 'Aoife Brennan', 'dock', 0, '2026-03-11 06:00:00', '2026-03-11 14:00:00', 1),
('stf_samir', 'Samir Haddad', 'service', 0, '2026-03-11 09:00:00', '2026-03-11 17:30:00', 1),
('stf_ines', 'Inês Carvalho', 'buyer', 0, NULL, NULL, 1),
('stf_hannah', 'Hannah Vestergaard', 'manager', 1, '2026-03-11 07:00:00', '2026-03-11 16:00:00', 1);

INSERT INTO products (id, name, weight_g, unit_cost_cents, price_cents, is_fragile, is_blade, status) VALUES
('prd_skillet', 'Carbon steel skillet 28 cm', 1900, 2150, 4490, 0, 0, 'active'),
('prd_chef20', 'Chef''s knife 20 cm', 240, 3400, 7900, 0, 1, 'active'),
('prd_chef16', 'Chef''s knife 16 cm', 200, 2900, 6900, 0, 1, 'discontinued'),
('prd_carafe', 'Glass coffee carafe 1 litre', 620, 980, 2450, 1, 0, 'active'),
('prd_mixer', 'Stand mixer Tormo 5 litre', 9800, 15500, 28900, 0, 0, 'active');

INSERT INTO bins (id, zone, capacity_units) VALUES
('bin_a01', 'A', 60),
('bin_a02', 'A', 80),
('bin_b01', 'B', 24),
('bin_b02', 'B', 12),
('bin_q01', 'Q', 10);

INSERT INTO stock (product_id, bin_id, on_hand) VALUES
('prd_carafe', 'bin_a01', 22),
('prd_chef20', 'bin_a01', 18),
('prd_chef16', 'bin_a01', 5),
('prd_skillet', 'bin_a02', 14),
('prd_mixer', 'bin_b01', 7),
('prd_skillet', 'bin_b02', 10),
('prd_chef20', 'bin_q01', 3);

INSERT INTO carriers (id, name, takes_blades) VALUES
('car_pegasus', 'Pegasus Parcel', 1),
('car_veloce', 'Veloce Post', 0);

INSERT INTO pickups (id, carrier_id, departs_at, parcel_limit, status) VALUES
('pku_0204', 'car_pegasus', '2026-02-04 17:00:00', 40, 'departed'),
('pku_0303', 'car_pegasus', '2026-03-03 16:45:00', 40, 'departed'),
('pku_1101', 'car_pegasus', '2026-03-11 09:45:00', 20, 'closed'),
('pku_1102', 'car_veloce', '2026-03-11 10:10:00', 15, 'closed'),
('pku_1103', 'car_veloce', '2026-03-11 10:40:00', 15, 'open'),
('pku_1104', 'car_pegasus', '2026-03-11 13:30:00', 2, 'open'),
('pku_1105', 'car_veloce', '2026-03-11 15:00:00', 18, 'open'),
('pku_1106', 'car_pegasus', '2026-03-11 17:00:00', 35, 'open');

INSERT INTO pick_jobs (id, picker_id, status, created_at, closed_at) VALUES
('job_0411', 'stf_goran', 'aborted', '2026-03-06 08:10:00', '2026-03-06 09:05:00'),
('job_0418', 'stf_mei', 'done', '2026-03-11 07:05:00', '2026-03-11 08:35:00'),
('job_0419', 'stf_nadia', 'assigned', '2026-03-11 08:50:00', NULL),
('job_0420', 'stf_tomas', 'assigned', '2026-03-11 09:25:00', NULL),
('job_0421', NULL, 'open', '2026-03-11 09:40:00', NULL),
('job_0422', NULL, 'open', '2026-03-11 10:05:00', NULL);

INSERT INTO orders (id, customer_name, service, status, is_paid, placed_at, hold_reason, pick_job_id, cancelled_by, shipped_at) VALUES
('ord_4890', 'Restaurante El Faro', 'standard', 'shipped', 1, '2026-02-02 10:31:00', NULL, NULL, NULL, '2026-02-04 17:00:00'),
('ord_5032', 'Zuzana Horáková', 'express', 'shipped', 1, '2026-03-02 20:14:00', NULL, NULL, NULL, '2026-03-03 16:45:00'),
('ord_5069', 'Viktor Sandberg', 'standard', 'cancelled', 1, '2026-03-05 13:48:00', NULL, NULL, 'stf_samir', NULL),
('ord_5074', 'Sean O''Connell', 'standard', 'packed', 1, '2026-03-06 07:22:00', NULL, NULL, NULL, NULL),
('ord_5079', 'Hiroshi Tanabe', 'standard', 'packed', 1, '2026-03-06 17:09:00', NULL, NULL, NULL, NULL),
('ord_5081', 'Amara Diallo', 'express', 'packed', 1, '2026-03-07 09:37:00', NULL, NULL, NULL, NULL),
('ord_5084', 'Giulia Ferraro', 'standard', 'packed', 1, '2026-03-07 12:56:00', NULL, 'job_0418', NULL, NULL),
('ord_5086', 'Giulio Ferrari', 'express', 'packed', 1, '2026-03-07 15:18:00', NULL, 'job_0418', NULL, NULL),
('ord_5088', 'Bartosz Nowicki', 'standard', 'picking', 1, '2026-03-07 18:44:00', NULL, 'job_0418', NULL, NULL),
('ord_5090', 'Farida Rahimi', 'express', 'picking', 1, '2026-03-07 20:03:00', NULL, 'job_0418', NULL, NULL),
('ord_5093', 'Oleksandr Hrytsenko', 'standard', 'picking', 1, '2026-03-07 21:10:00', NULL, 'job_0419', NULL, NULL),
('ord_5095', 'Leilani Kahale', 'standard', 'picking', 1, '2026-03-08 09:00:00', NULL, 'job_0420', NULL, NULL),
('ord_5098', 'Yusuf Demirel', 'standard', 'held', 1, '2026-03-08 11:15:00', 'delivery address lacks a house number', NULL, NULL, NULL),
('ord_5101', 'Café Kolibri', 'standard', 'reserved', 1, '2026-03-09 08:05:00', NULL, NULL, NULL, NULL),
('ord_5103', 'Bistro Altamira', 'standard', 'reserved', 1, '2026-03-09 10:52:00', NULL, NULL, NULL, NULL),
('ord_5105', 'Ngozi Eze', 'standard', 'reserved', 1, '2026-03-09 14:27:00', NULL, 'job_0421', NULL, NULL),
('ord_5107', 'Priya Raman', 'express', 'held', 0, '2026-03-09 19:30:00', 'bank transfer not yet confirmed', NULL, NULL, NULL),
('ord_5108', 'Marguerite Dubas', 'express', 'reserved', 1, '2026-03-10 07:55:00', NULL, 'job_0422', NULL, NULL),
('ord_5112', 'Kwame Asante', 'express', 'new', 1, '2026-03-10 16:20:00', NULL, NULL, NULL, NULL),
('ord_5115', 'Ingrid Solheim', 'standard', 'new', 1, '2026-03-10 18:05:00', NULL, NULL, NULL, NULL),
('ord_5120', 'Marguerite Dubois', 'standard', 'new', 1, '2026-03-11 08:42:00', NULL, NULL, NULL, NULL);

INSERT INTO order_lines (id, order_id, product_id, units, unit_price_cents) VALUES
('lin_4890_1', 'ord_4890', 'prd_chef20', 10, 7900),
('lin_5032_1', 'ord_5032', 'prd_carafe', 4, 2450),
('lin_5032_2', 'ord_5032', 'prd_skillet', 3, 4490),
('lin_5069_1', 'ord_5069', 'prd_mixer', 1, 28900),
('lin_5074_1', 'ord_5074', 'prd_skillet', 2, 4490),
('lin_5079_1', 'ord_5079', 'prd_chef20', 2, 7900),
('lin_5081_1', 'ord_5081', 'prd_carafe', 3, 2450),
('lin_5084_1', 'ord_5084', 'prd_chef16', 1, 5520),
('lin_5086_1', 'ord_5086', 'prd_skillet', 1, 4490),
('lin_5088_1', 'ord_5088', 'prd_mixer', 2, 28900),
('lin_5090_1', 'ord_5090', 'prd_carafe', 2, 2450),
('lin_5093_1', 'ord_5093', 'prd_chef20', 3, 7505),
('lin_5095_1', 'ord_5095', 'prd_mixer', 3, 27900),
('lin_5098_1', 'ord_5098', 'prd_chef20', 1, 7900),
('lin_5101_1', 'ord_5101', 'prd_carafe', 14, 2205),
('lin_5103_1', 'ord_5103', 'prd_chef20', 12, 7110),
('lin_5105_1', 'ord_5105', 'prd_skillet', 5, 4490),
('lin_5107_1', 'ord_5107', 'prd_carafe', 4, 2450),
('lin_5108_1', 'ord_5108', 'prd_chef16', 2, 5520),
('lin_5112_1', 'ord_5112', 'prd_mixer', 2, 28900),
('lin_5115_1', 'ord_5115', 'prd_mixer', 1, 28900),
('lin_5120_1', 'ord_5120', 'prd_skillet', 2, 4490);

INSERT INTO reservations (order_line_id, bin_id, units) VALUES
('lin_5088_1', 'bin_b01', 2),
('lin_5090_1', 'bin_a01', 2),
('lin_5093_1', 'bin_a01', 3),
('lin_5095_1', 'bin_b01', 3),
('lin_5101_1', 'bin_a01', 14),
('lin_5103_1', 'bin_a01', 12),
('lin_5105_1', 'bin_a02', 5),
('lin_5108_1', 'bin_a01', 2);

INSERT INTO parcels (id, order_id, packing, packed_at, pickup_id) VALUES
('par_4890', 'ord_4890', 'standard', '2026-02-04 11:20:00', 'pku_0204'),
('par_5032', 'ord_5032', 'padded', '2026-03-03 14:05:00', 'pku_0303'),
('par_5074', 'ord_5074', 'standard', '2026-03-10 15:48:00', 'pku_1101'),
('par_5079', 'ord_5079', 'standard', '2026-03-10 16:02:00', 'pku_1104'),
('par_5081', 'ord_5081', 'padded', '2026-03-10 16:33:00', 'pku_1104'),
('par_5084', 'ord_5084', 'standard', '2026-03-11 09:12:00', NULL),
('par_5086', 'ord_5086', 'padded', '2026-03-11 09:26:00', NULL);

INSERT INTO purchase_orders (id, supplier, product_id, ordered_units, received_units, ordered_on, due_on, status, closed_on) VALUES
('po_3082', 'Solveig Stål AB', 'prd_chef16', 20, 14, '2026-01-19', '2026-02-09', 'closed_short', '2026-02-20'),
('po_3087', 'Forja Lozano', 'prd_skillet', 30, 31, '2026-02-06', '2026-02-27', 'received', '2026-03-02'),
('po_3095', 'Glashütte Rennau', 'prd_carafe', 40, 24, '2026-02-18', '2026-03-09', 'part_received', NULL),
('po_3098', 'Tormo Electrodomésticos', 'prd_mixer', 12, 5, '2026-02-23', '2026-03-13', 'part_received', NULL),
('po_3101', 'Solveig Stål AB', 'prd_chef20', 40, 0, '2026-03-04', '2026-03-17', 'ordered', NULL);

INSERT INTO returns (id, order_line_id, units, reason, status, announced_on, received_on, item_condition, quarantine_bin_id, decided_on, refund_cents, refund_approved_by, refunded_on) VALUES
('ret_0301', 'lin_4890_1', 3, 'ordered three knives too many for the new cooks', 'refunded', '2026-02-10', '2026-02-16', 'sealed', 'bin_q01', '2026-02-17', 23700, 'stf_hannah', '2026-02-18'),
('ret_0302', 'lin_4890_1', 1, 'edge chipped on the first evening', 'rejected', '2026-02-12', '2026-02-19', 'used', 'bin_q01', '2026-02-20', NULL, NULL, NULL),
('ret_0303', 'lin_4890_1', 3, 'handles too large for the kitchen team', 'approved', '2026-02-20', '2026-02-26', 'opened', 'bin_q01', '2026-03-09', NULL, NULL, NULL),
('ret_0306', 'lin_4890_1', 1, 'blade said to rust after washing', 'received', '2026-03-02', '2026-03-09', 'used', 'bin_q01', NULL, NULL, NULL, NULL),
('ret_0307', 'lin_4890_1', 1, 'balance not as expected when held in the hand', 'received', '2026-03-04', '2026-03-10', 'opened', 'bin_q01', NULL, NULL, NULL, NULL),
('ret_0308', 'lin_4890_1', 1, 'spare knife no longer needed', 'received', '2026-03-06', '2026-03-10', 'sealed', 'bin_q01', NULL, NULL, NULL, NULL),
('ret_0309', 'lin_5032_1', 1, 'received the same carafe as a gift', 'approved', '2026-03-05', '2026-03-09', 'sealed', 'bin_q01', '2026-03-10', NULL, NULL, NULL),
('ret_0311', 'lin_5032_1', 1, 'lid does not close tightly', 'announced', '2026-03-08', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
('ret_0312', 'lin_5032_2', 1, 'too heavy for the customer''s mother', 'announced', '2026-03-10', NULL, NULL, NULL, NULL, NULL, NULL, NULL);

INSERT INTO adjustments (id, product_id, bin_id, units_change, reason, status, requested_by, requested_at, decided_by, decided_at) VALUES
('adj_0051', 'prd_carafe', 'bin_a01', -2, 'two carafes found cracked on the shelf', 'approved', 'stf_aoife', '2026-03-04 13:10:00', NULL, '2026-03-04 13:10:00'),
('adj_0052', 'prd_mixer', 'bin_b01', -1, 'bowl dented by the forklift, sent to scrap', 'approved', 'stf_mei', '2026-03-05 09:32:00', 'stf_hannah', '2026-03-05 11:00:00'),
('adj_0053', 'prd_chef20', 'bin_a01', 4, 'count sheet showed four more than booked', 'refused', 'stf_tomas', '2026-03-09 12:45:00', 'stf_hannah', '2026-03-09 15:20:00'),
('adj_0054', 'prd_skillet', 'bin_b02', -3, 'three skillets warped, taken out at the weekly check', 'pending', 'stf_hannah', '2026-03-10 14:55:00', NULL, NULL),
('adj_0055', 'prd_chef20', 'bin_a01', -2, 'two boxes empty when opened for display', 'pending', 'stf_aoife', '2026-03-11 09:30:00', NULL, NULL);
