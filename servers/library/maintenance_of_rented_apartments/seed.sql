INSERT INTO buildings (id, name, street, caretaker_name, caretaker_phone, manager_name, yearly_budget_cents) VALUES
('bld_north', 'Lindenhof North', 'Lindenallee 4', 'Walter Imhof', '+49 30 5550141', 'Petra Vogt', 900000),
('bld_south', 'Lindenhof South', 'Lindenallee 9', 'Walter Imhof', '+49 30 5550141', 'Henrik Solberg', 600000),
('bld_mill', 'Mill House', 'Am Mühlgraben 2', 'Soraya Benali', '+49 30 5550188', 'Petra Vogt', 450000),
('bld_garden', 'Garden Row', 'Gärtnerweg 15', 'Soraya Benali', '+49 30 5550188', 'Henrik Solberg', 150000);

INSERT INTO apartments (id, building_id, label, floor, rooms) VALUES
('apt_north_11', 'bld_north', 'Flat 11', 1, 3),
('apt_north_12', 'bld_north', 'Flat 12', 1, 4),
('apt_south_24', 'bld_south', 'Flat 24', 2, 2),
('apt_mill_02', 'bld_mill', 'Flat 2', 3, 3),
('apt_garden_07', 'bld_garden', 'Flat 7', 0, 2);

INSERT INTO tenancies (id, apartment_id, tenant_name, email, phone, starts_on, ends_on) VALUES
('tcy_nwosu', 'apt_north_11', 'Amara Nwosu', 'amara.nwosu@example.org', '+49 151 5550102', '2021-03-01', NULL),
('tcy_keller', 'apt_north_12', 'Jonas Keller', 'jonas.keller@example.org', '+49 151 5550117', '2019-08-01', NULL),
('tcy_kehler', 'apt_south_24', 'Jonas Kehler', 'j.kehler@example.org', '+49 160 5550163', '2023-10-15', NULL),
('tcy_ferreiro', 'apt_mill_02', 'Lucía Ferreiro', 'lucia.ferreiro@example.org', '+49 170 5550129', '2018-05-01', '2025-12-31'),
('tcy_wrona', 'apt_mill_02', 'Tomasz Wrona', 'tomasz.wrona@example.org', NULL, '2026-01-15', NULL),
('tcy_karimova', 'apt_garden_07', 'Dilnoza Karimova', 'd.karimova@example.org', '+49 152 5550134', '2020-02-01', '2026-05-31'),
('tcy_haddad', 'apt_garden_07', 'Idris Haddad', 'idris.haddad@example.org', '+49 157 5550196', '2026-06-01', NULL);

INSERT INTO priorities (id, first_visit_days, notice_days, approval_over_cents, quotes_over_cents) VALUES
('emergency', 1, 0, 100000, 150000),
('urgent', 3, 2, 50000, 150000),
('normal', 14, 2, 50000, 150000),
('low', 30, 2, 50000, 150000);

INSERT INTO trades (id, name, tenant_parts) VALUES
('trd_plumbing', 'Plumbing and taps', 1),
('trd_electrical', 'Electrical', 1),
('trd_heating', 'Heating and boilers', 0),
('trd_locksmith', 'Locks and doors', 1);

INSERT INTO contractors (id, name, email, phone, hourly_rate_cents, order_cap_cents, visits_per_day, insured_until) VALUES
('con_brunner', 'Brunner Plumbing and Baths', 'office@brunner.example.org', '+49 30 5550211', 6800, 250000, 3, '2027-03-31'),
('con_brandt', 'Brandt Pipework', 'post@brandt.example.org', '+49 30 5550222', 6200, 400000, 2, '2026-05-20'),
('con_ohm', 'Ohm & Søndergaard Electric', 'jobs@ohm.example.org', '+49 30 5550233', 7100, 180000, 4, '2026-12-31'),
('con_celik', 'Çelik Heating Service', 'service@celik.example.org', '+49 30 5550244', 7900, 500000, 2, '2026-09-30'),
('con_petrov', 'Petrov Locks and Doors', 'info@petrov.example.org', '+49 30 5550255', 5900, 60000, 1, '2026-06-30');

INSERT INTO contractor_trades (contractor_id, trade_id) VALUES
('con_brunner', 'trd_plumbing'),
('con_brandt', 'trd_plumbing'),
('con_brandt', 'trd_heating'),
('con_ohm', 'trd_electrical'),
('con_celik', 'trd_heating'),
('con_petrov', 'trd_locksmith');

INSERT INTO tickets (id, tenancy_id, title, description, priority_id, status, reported_at, accepted_on, resolved_on, closed_on, reopened_on, reopenings, rejection_reason) VALUES
('tkt_0041', 'tcy_ferreiro', 'Hall lamp flickers', 'The ceiling lamp in the hall goes on and off by itself in the evening.', 'low', 'rejected', '2025-12-10 16:20:00', '2025-12-11', NULL, NULL, NULL, 0, 'The tenant moves out at the end of December and withdrew the report.'),
('tkt_0060', 'tcy_keller', 'Cistern runs, hall switch loose, radiator knocks', 'Three things from the winter: the cistern never stops, the switch hangs out of the wall, the bedroom radiator knocks at night.', 'normal', 'closed', '2026-03-16 11:05:00', '2026-03-17', '2026-04-02', '2026-04-10', NULL, 0, NULL),
('tkt_0074', 'tcy_nwosu', 'Shower leaks at the hose and under the tray', 'Water stands on the bathroom floor after each shower. After the new hose it came back at the tray.', 'normal', 'in_work', '2026-04-07 09:30:00', '2026-04-07', NULL, NULL, '2026-04-27', 1, NULL),
('tkt_0078', 'tcy_kehler', 'Flat door lock broken, bell silent, mailbox stuck', 'A key snapped off in the flat door, the bell has no sound and the mailbox cannot be opened.', 'urgent', 'resolved', '2026-04-14 08:12:00', '2026-04-14', '2026-04-30', NULL, NULL, 0, NULL),
('tkt_0080', 'tcy_keller', 'Kitchen tap loose and cabinet light dead', 'The mixer turns in its hole; the light under the wall cabinet stays dark with a new tube too.', 'normal', 'resolved', '2026-04-23 19:40:00', '2026-04-24', '2026-05-04', NULL, NULL, 0, NULL),
('tkt_0085', 'tcy_wrona', 'Living room radiator stays cold', 'All other radiators are warm, this one not even at five. The pump switch in the meter niche looks burnt.', 'normal', 'in_work', '2026-04-20 07:55:00', '2026-04-20', NULL, NULL, NULL, 0, NULL),
('tkt_0088', 'tcy_karimova', 'Attempted break-in: lock jams, outside tap torn off', 'Somebody tried the terrace side at the weekend. The flat door opens only with force and the outside tap hangs loose.', 'normal', 'in_work', '2026-04-13 10:02:00', '2026-04-13', NULL, NULL, NULL, 0, NULL),
('tkt_0095', 'tcy_nwosu', 'Kitchen drain slow, pipe run old', 'The sink needs ten minutes to empty. No smell and no water on the floor.', 'low', 'in_work', '2026-04-22 14:30:00', '2026-04-23', NULL, NULL, NULL, 0, NULL),
('tkt_0096', 'tcy_kehler', 'Bathroom fan rattles, mirror light out, mixer worn', 'Nothing urgent, but the fan gets louder, the mirror light is out and the mixer handle is worn.', 'low', 'in_work', '2026-04-27 12:18:00', '2026-04-28', NULL, NULL, NULL, 0, NULL),
('tkt_0097', 'tcy_kehler', 'Dripping bath tap', 'The tap over the bath drips about once a second, also when it is turned hard.', 'normal', 'reported', '2026-04-26 17:10:00', NULL, NULL, NULL, NULL, 0, NULL),
('tkt_0098', 'tcy_keller', 'Boiler loses pressure', 'I refill the boiler every third day; the manual says that this should not be.', 'normal', 'in_work', '2026-04-30 10:15:00', '2026-04-30', NULL, NULL, NULL, 0, NULL),
('tkt_0101', 'tcy_keller', 'Fuse trips with the washing machine', 'As soon as the washing machine heats, the whole flat is dark. Its water tap is wet as well.', 'urgent', 'in_work', '2026-05-05 09:10:00', '2026-05-05', NULL, NULL, NULL, 0, NULL),
('tkt_0103', 'tcy_nwosu', 'Socket sparks behind the cooker', 'When I plug in the kettle there are sparks and it smells of burnt plastic.', 'normal', 'reported', '2026-05-12 08:05:00', NULL, NULL, NULL, NULL, 0, NULL),
('tkt_0104', 'tcy_wrona', 'Water through the kitchen ceiling', 'Since six in the morning water runs down beside the lamp. I turned the light off and put buckets under it.', 'emergency', 'accepted', '2026-05-12 07:20:00', '2026-05-12', NULL, NULL, NULL, 0, NULL);

INSERT INTO work_orders (id, ticket_id, trade_id, contractor_id, summary, estimate_cents, status, created_on, approved_by, approved_on, released_on, done_on, cancelled_on) VALUES
('wo_0151', 'tkt_0041', 'trd_electrical', 'con_ohm', 'Check the hall lamp and its terminal', 8500, 'cancelled', '2025-12-12', NULL, NULL, NULL, NULL, '2025-12-18'),
('wo_0180', 'tkt_0060', 'trd_plumbing', 'con_brunner', 'Renew the fill valve of the cistern', 11000, 'done', '2026-03-17', NULL, NULL, '2026-03-18', '2026-03-24', NULL),
('wo_0181', 'tkt_0060', 'trd_electrical', 'con_ohm', 'Refasten and rewire the hall switch', 10000, 'done', '2026-03-17', NULL, NULL, '2026-03-18', '2026-03-25', NULL),
('wo_0182', 'tkt_0060', 'trd_heating', 'con_celik', 'Replace the bedroom radiator valve and balance the riser', 62000, 'done', '2026-03-17', 'Petra Vogt', '2026-03-19', '2026-03-19', '2026-03-27', NULL),
('wo_0196', 'tkt_0074', 'trd_plumbing', 'con_brunner', 'New shower hose and tap seals', 12000, 'done', '2026-04-07', NULL, NULL, '2026-04-08', '2026-04-14', NULL),
('wo_0216', 'tkt_0074', 'trd_plumbing', 'con_brandt', 'Reseal the shower tray and its trap', 30000, 'done', '2026-04-28', NULL, NULL, '2026-04-29', '2026-05-04', NULL),
('wo_0201', 'tkt_0078', 'trd_electrical', 'con_ohm', 'Find the fault of the door bell', 20000, 'done', '2026-04-14', NULL, NULL, '2026-04-14', '2026-04-16', NULL),
('wo_0202', 'tkt_0078', 'trd_locksmith', 'con_petrov', 'Take out the broken key, fit a new cylinder', 10000, 'done', '2026-04-14', NULL, NULL, '2026-04-15', '2026-04-17', NULL),
('wo_0205', 'tkt_0078', 'trd_locksmith', 'con_petrov', 'Open the mailbox and change its lock', 9000, 'done', '2026-04-15', NULL, NULL, '2026-04-16', '2026-04-21', NULL),
('wo_0211', 'tkt_0080', 'trd_plumbing', 'con_brunner', 'Fasten the kitchen mixer, renew its hoses', 9500, 'done', '2026-04-24', NULL, NULL, '2026-04-24', '2026-04-30', NULL),
('wo_0212', 'tkt_0080', 'trd_electrical', 'con_ohm', 'Replace the cabinet light and its feed', 22000, 'done', '2026-04-24', NULL, NULL, '2026-04-27', '2026-04-30', NULL),
('wo_0206', 'tkt_0085', 'trd_heating', 'con_celik', 'Flush and bleed the living room radiator', 31000, 'done', '2026-04-20', NULL, NULL, '2026-04-21', '2026-04-27', NULL),
('wo_0207', 'tkt_0085', 'trd_electrical', 'con_ohm', 'Replace the pump switch in the meter niche', 10000, 'done', '2026-04-21', NULL, NULL, '2026-04-22', '2026-04-28', NULL),
('wo_0200', 'tkt_0088', 'trd_locksmith', 'con_petrov', 'Free and adjust the flat door lock', 13000, 'released', '2026-04-13', NULL, NULL, '2026-04-14', NULL, NULL),
('wo_0234', 'tkt_0088', 'trd_locksmith', 'con_petrov', 'Fit a security plate and a bolt on the terrace side', 56000, 'awaiting_approval', '2026-05-08', NULL, NULL, NULL, NULL, NULL),
('wo_0235', 'tkt_0088', 'trd_plumbing', 'con_brunner', 'Renew the outside tap and the pipe behind it', 142000, 'draft', '2026-05-05', NULL, NULL, NULL, NULL, NULL),
('wo_0209', 'tkt_0095', 'trd_plumbing', 'con_brandt', 'Camera check and jetting of the kitchen drain', 54000, 'released', '2026-04-23', 'Petra Vogt', '2026-04-24', '2026-04-24', NULL, NULL),
('wo_0229', 'tkt_0095', 'trd_plumbing', 'con_brandt', 'Replace six metres of drain pipe under the sink run', 165000, 'draft', '2026-04-30', NULL, NULL, NULL, NULL, NULL),
('wo_0222', 'tkt_0096', 'trd_electrical', 'con_ohm', 'Replace the mirror light', 18000, 'released', '2026-04-29', NULL, NULL, '2026-04-30', NULL, NULL),
('wo_0225', 'tkt_0096', 'trd_plumbing', 'con_brunner', 'New mixer on the wash basin', 15000, 'released', '2026-04-29', NULL, NULL, '2026-05-04', NULL, NULL),
('wo_0233', 'tkt_0096', 'trd_electrical', 'con_ohm', 'New bathroom fan with run-on timer', 64000, 'awaiting_approval', '2026-05-07', NULL, NULL, NULL, NULL, NULL),
('wo_0226', 'tkt_0098', 'trd_heating', 'con_celik', 'Find the loss of pressure, check the expansion vessel', 24000, 'released', '2026-05-04', NULL, NULL, '2026-05-04', NULL, NULL),
('wo_0231', 'tkt_0098', 'trd_heating', NULL, 'Replace the heat exchanger of the boiler', 220000, 'draft', '2026-04-30', NULL, NULL, NULL, NULL, NULL),
('wo_0227', 'tkt_0101', 'trd_electrical', 'con_ohm', 'Trace the fault, replace the breaker', 26000, 'released', '2026-05-05', NULL, NULL, '2026-05-05', NULL, NULL),
('wo_0228', 'tkt_0101', 'trd_plumbing', 'con_brunner', 'Renew the washing machine tap', 19000, 'released', '2026-05-05', NULL, NULL, '2026-05-06', NULL, NULL),
('wo_0232', 'tkt_0101', 'trd_electrical', 'con_ohm', 'Fit a splash-proof socket for the washing machine', 14000, 'released', '2026-05-07', NULL, NULL, '2026-05-07', NULL, NULL),
('wo_0240', 'tkt_0104', 'trd_plumbing', 'con_brunner', 'Stop the leak in the rising main, open and dry the ceiling', 90000, 'draft', '2026-05-12', NULL, NULL, NULL, NULL, NULL),
('wo_0241', 'tkt_0104', 'trd_electrical', 'con_ohm', 'Make the wet lamp circuit safe and test it', 32000, 'draft', '2026-05-12', NULL, NULL, NULL, NULL, NULL);

INSERT INTO quotes (id, work_order_id, contractor_id, amount_cents, received_on, valid_until, status, decided_on) VALUES
('quo_051', 'wo_0229', 'con_brandt', 165000, '2026-05-04', '2026-06-04', 'accepted', '2026-05-07'),
('quo_052', 'wo_0229', 'con_brunner', 179000, '2026-05-05', '2026-06-19', 'declined', '2026-05-07'),
('quo_053', 'wo_0231', 'con_celik', 215000, '2026-05-06', '2026-06-05', 'received', NULL),
('quo_054', 'wo_0231', 'con_brandt', 198000, '2026-05-01', '2026-05-08', 'received', NULL),
('quo_055', 'wo_0235', 'con_brandt', 138000, '2026-05-06', '2026-05-29', 'received', NULL);

INSERT INTO visits (id, work_order_id, contractor_id, apartment_id, visit_on, slot, announced_on, tenant_consented, moves, status, note) VALUES
('vis_0301', 'wo_0180', 'con_brunner', 'apt_north_12', '2026-03-24', '13-15', '2026-03-19', 0, 0, 'completed', 'Fill valve renewed, no further drip.'),
('vis_0302', 'wo_0181', 'con_ohm', 'apt_north_12', '2026-03-25', '08-10', '2026-03-19', 0, 0, 'completed', 'Switch refastened, box was cracked.'),
('vis_0303', 'wo_0182', 'con_celik', 'apt_north_12', '2026-03-27', '13-15', '2026-03-20', 0, 1, 'completed', NULL),
('vis_0310', 'wo_0196', 'con_brunner', 'apt_north_11', '2026-04-14', '08-10', '2026-04-09', 0, 0, 'completed', 'Hose and two seals changed.'),
('vis_0312', 'wo_0201', 'con_ohm', 'apt_south_24', '2026-04-16', '10-12', '2026-04-14', 0, 0, 'completed', 'Transformer behind the panel was dead.'),
('vis_0313', 'wo_0202', 'con_petrov', 'apt_south_24', '2026-04-17', '08-10', '2026-04-15', 0, 0, 'completed', 'Key turned with pliers before it broke.'),
('vis_0314', 'wo_0200', 'con_petrov', 'apt_garden_07', '2026-04-20', '10-12', '2026-04-16', 0, 0, 'no_access', 'Rang twice, waited twenty minutes.'),
('vis_0315', 'wo_0205', 'con_petrov', 'apt_south_24', '2026-04-21', '13-15', '2026-04-16', 0, 0, 'completed', NULL),
('vis_0318', 'wo_0206', 'con_celik', 'apt_mill_02', '2026-04-27', '10-12', '2026-04-22', 0, 0, 'completed', 'Sludge flushed out, radiator warm.'),
('vis_0319', 'wo_0207', 'con_ohm', 'apt_mill_02', '2026-04-28', '15-17', '2026-04-23', 0, 0, 'completed', NULL),
('vis_0320', 'wo_0200', 'con_petrov', 'apt_garden_07', '2026-04-28', '13-15', '2026-04-22', 0, 0, 'no_access', 'Nobody opened, telephone switched off.'),
('vis_0322', 'wo_0211', 'con_brunner', 'apt_north_12', '2026-04-30', '10-12', '2026-04-27', 0, 0, 'completed', 'Mixer fastened with a new plate.'),
('vis_0323', 'wo_0212', 'con_ohm', 'apt_north_12', '2026-04-30', '15-17', '2026-04-27', 0, 0, 'completed', 'Feed was chafed; longer cable fitted.'),
('vis_0325', 'wo_0216', 'con_brandt', 'apt_north_11', '2026-05-04', '08-10', '2026-05-03', 1, 0, 'completed', 'Tenant agreed by e-mail to the early visit.'),
('vis_0326', 'wo_0200', 'con_petrov', 'apt_garden_07', '2026-05-05', '10-12', '2026-04-30', 0, 0, 'no_access', 'Card left at the door.'),
('vis_0328', 'wo_0227', 'con_ohm', 'apt_north_12', '2026-05-07', '08-10', '2026-05-05', 0, 0, 'completed', 'Breaker replaced, socket still to come.'),
('vis_0329', 'wo_0225', 'con_brunner', 'apt_south_24', '2026-05-08', '10-12', '2026-05-05', 0, 0, 'cancelled', 'Fitter ill.'),
('vis_0330', 'wo_0228', 'con_brunner', 'apt_north_12', '2026-05-08', '13-15', '2026-05-06', 0, 0, 'completed', 'Tap renewed and tight.'),
('vis_0331', 'wo_0232', 'con_ohm', 'apt_north_12', '2026-05-11', '10-12', '2026-05-08', 0, 0, 'planned', NULL),
('vis_0333', 'wo_0200', 'con_petrov', 'apt_garden_07', '2026-05-12', '08-10', '2026-05-07', 0, 0, 'planned', 'Tenant promised to be at home.'),
('vis_0334', 'wo_0209', 'con_brandt', 'apt_north_11', '2026-05-14', '10-12', '2026-05-08', 0, 2, 'planned', NULL),
('vis_0336', 'wo_0222', 'con_ohm', 'apt_south_24', '2026-05-15', '13-15', '2026-05-11', 0, 0, 'planned', NULL),
('vis_0337', 'wo_0225', 'con_brunner', 'apt_south_24', '2026-05-19', '08-10', '2026-05-11', 0, 1, 'planned', 'Mixer model agreed with the tenant.');

INSERT INTO invoices (id, work_order_id, invoice_number, amount_cents, received_on, status, approved_on, paid_on, dispute_reason) VALUES
('inv_0401', 'wo_0180', 'BR-2026-118', 10800, '2026-03-30', 'paid', '2026-04-01', '2026-04-14', NULL),
('inv_0402', 'wo_0181', 'OS 26/0342', 10600, '2026-03-31', 'paid', '2026-04-01', '2026-04-14', NULL),
('inv_0403', 'wo_0182', 'C-7719', 70500, '2026-04-08', 'disputed', NULL, NULL, 'Four hours of balancing that nobody ordered put it above the estimate.'),
('inv_0409', 'wo_0205', 'PLD-0093', 8700, '2026-04-24', 'paid', '2026-04-27', '2026-05-06', NULL),
('inv_0410', 'wo_0202', 'PLD-0091', 10500, '2026-04-24', 'approved', '2026-05-06', NULL, NULL),
('inv_0412', 'wo_0201', 'OS 26/0410', 23800, '2026-05-06', 'received', NULL, NULL, NULL),
('inv_0413', 'wo_0211', 'BR-2026-164', 9800, '2026-05-05', 'approved', '2026-05-08', NULL, NULL),
('inv_0414', 'wo_0212', 'OS 26/0437', 23100, '2026-05-07', 'received', NULL, NULL, NULL),
('inv_0415', 'wo_0216', 'BPW 5520', 36500, '2026-05-07', 'disputed', NULL, NULL, 'Charges a second journey although there was one visit.'),
('inv_0416', 'wo_0207', 'OS 26/0431', 9800, '2026-05-05', 'received', NULL, NULL, NULL);

INSERT INTO charges (id, work_order_id, kind, visit_id, invoice_id, amount_cents, charged_on, reason) VALUES
('chg_021', 'wo_0180', 'small_repair', NULL, 'inv_0401', 10800, '2026-04-02', 'Fill valve of the cistern'),
('chg_022', 'wo_0181', 'small_repair', NULL, 'inv_0402', 10600, '2026-04-02', 'Hall switch'),
('chg_025', 'wo_0200', 'no_access', 'vis_0320', NULL, 4500, '2026-04-28', 'Second visit without access, lock'),
('chg_026', 'wo_0200', 'no_access', 'vis_0326', NULL, 4500, '2026-05-05', 'Third visit without access, lock'),
('chg_027', 'wo_0202', 'damage', NULL, 'inv_0410', 10500, '2026-05-07', 'Key broken off with pliers; Henrik Solberg confirmed on 6 May');
