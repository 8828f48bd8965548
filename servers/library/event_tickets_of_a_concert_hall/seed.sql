INSERT INTO customer_kinds (id, name, days_ahead, ticket_limit) VALUES ('knd_subscriber', 'Subscriber', 60, 8), ('knd_regular', 'Regular', 45, 6);
INSERT INTO customers (id, name, email, kind_id, status, blocked_for) VALUES
  ('cus_amsel', 'Greta Amsel', 'greta.amsel@example.org', 'knd_subscriber', 'active', NULL),
  ('cus_amsler', 'Greta Amsler', 'greta.amsler@example.org', 'knd_regular', 'active', NULL),
  ('cus_diaz', 'Ramón Díaz', 'ramon.diaz@example.org', 'knd_regular', 'active', NULL),
  ('cus_okoye', 'Ifeoma Okoye', 'ifeoma.okoye@example.org', 'knd_subscriber', 'active', NULL),
  ('cus_lang', 'Viktor Lang', 'viktor.lang@example.org', 'knd_regular', 'blocked', 'Sold tickets on at a profit'),
  ('cus_sato', 'Emi Sato', 'emi.sato@example.org', 'knd_regular', 'active', NULL),
  ('cus_byrne', 'Declan Byrne', 'declan.byrne@example.org', 'knd_regular', 'active', NULL);
INSERT INTO categories (id, name, price_cents, concession_cents) VALUES
  ('cat_a', 'Parquet front', 6400, 4200), ('cat_b', 'Parquet rear', 4500, 2900), ('cat_c', 'Gallery', 2800, 1800);
INSERT INTO seats (id, row_label, number, category_id, wheelchair) VALUES
  ('sea_a1', 'A', 1, 'cat_a', 1), ('sea_a2', 'A', 2, 'cat_a', 0), ('sea_a3', 'A', 3, 'cat_a', 0), ('sea_a4', 'A', 4, 'cat_a', 0),
  ('sea_b1', 'B', 1, 'cat_b', 1), ('sea_b2', 'B', 2, 'cat_b', 0), ('sea_b3', 'B', 3, 'cat_b', 0), ('sea_b4', 'B', 4, 'cat_b', 0),
  ('sea_b5', 'B', 5, 'cat_b', 0), ('sea_g1', 'G', 1, 'cat_c', 0), ('sea_g2', 'G', 2, 'cat_c', 0), ('sea_g3', 'G', 3, 'cat_c', 0);
INSERT INTO concerts (id, title, performers, starts_at, status) VALUES
  ('con_oboe', 'Reeds by Candlelight', 'Trio Alcyone', '2026-09-24 19:30:00', 'held'),
  ('con_quartet', 'Late Beethoven', 'Marl Quartet', '2026-10-08 20:00:00', 'closed'),
  ('con_ligeti', 'Ligeti and Friends', 'Ensemble Zenit', '2026-10-10 18:00:00', 'on_sale'),
  ('con_harp', 'Harp Alone', 'Nerys Pugh', '2026-10-15 19:30:00', 'cancelled'),
  ('con_schubert', 'Schubert Songs', 'Ana Holm and Tibor Vass', '2026-10-23 19:30:00', 'on_sale'),
  ('con_bach', 'Six Suites I', 'Johan Ek', '2026-11-12 19:30:00', 'on_sale'),
  ('con_bach_two', 'Six Suites II', 'Johan Ek, violoncello', '2026-11-13 19:30:00', 'on_sale'),
  ('con_fado', 'Fado do Norte', 'Lídia Matos', '2026-12-11 20:00:00', 'planned');
INSERT INTO orders (id, customer_id, concert_id, ordered_at, lapses_at, status, paid_at) VALUES
  ('ord_101', 'cus_amsel', 'con_oboe', '2026-08-20 10:05:00', '2026-08-27 10:05:00', 'paid', '2026-08-21 09:00:00'),
  ('ord_102', 'cus_amsel', 'con_quartet', '2026-09-02 15:10:00', '2026-09-09 15:10:00', 'paid', '2026-09-03 12:00:00'),
  ('ord_103', 'cus_diaz', 'con_harp', '2026-09-10 11:20:00', '2026-09-17 11:20:00', 'cancelled', '2026-09-11 16:40:00'),
  ('ord_104', 'cus_okoye', 'con_schubert', '2026-09-15 09:30:00', '2026-09-22 09:30:00', 'paid', '2026-09-15 09:35:00'),
  ('ord_105', 'cus_sato', 'con_schubert', '2026-09-25 17:00:00', '2026-10-02 17:00:00', 'lapsed', NULL),
  ('ord_106', 'cus_diaz', 'con_bach', '2026-10-05 13:45:00', '2026-10-12 13:45:00', 'reserved', NULL),
  ('ord_107', 'cus_amsler', 'con_bach', '2026-10-07 10:15:00', '2026-10-14 10:15:00', 'reserved', NULL),
  ('ord_108', 'cus_okoye', 'con_bach', '2026-10-01 12:00:00', '2026-10-08 12:00:00', 'paid', '2026-10-02 18:20:00');
INSERT INTO tickets (id, order_id, concert_id, seat_id, concession, price_cents, status, exchanges, used_at) VALUES
  ('tik_201', 'ord_101', 'con_oboe', 'sea_a2', 0, 6400, 'used', 0, '2026-09-24 19:02:00'),
  ('tik_202', 'ord_102', 'con_quartet', 'sea_a2', 0, 6400, 'sold', 0, NULL),
  ('tik_203', 'ord_102', 'con_quartet', 'sea_a3', 0, 6400, 'sold', 1, NULL),
  ('tik_204', 'ord_103', 'con_harp', 'sea_b2', 0, 4500, 'given_back', 0, NULL),
  ('tik_205', 'ord_104', 'con_schubert', 'sea_b2', 0, 4500, 'sold', 0, NULL),
  ('tik_206', 'ord_104', 'con_schubert', 'sea_b3', 0, 4500, 'sold', 1, NULL),
  ('tik_207', 'ord_104', 'con_schubert', 'sea_b4', 0, 4500, 'sold', 0, NULL),
  ('tik_208', 'ord_104', 'con_schubert', 'sea_b5', 1, 2900, 'sold', 0, NULL),
  ('tik_209', 'ord_105', 'con_schubert', 'sea_g1', 0, 2800, 'given_back', 0, NULL),
  ('tik_210', 'ord_106', 'con_bach', 'sea_g1', 0, 2800, 'held', 0, NULL),
  ('tik_211', 'ord_106', 'con_bach', 'sea_g2', 0, 2800, 'held', 0, NULL),
  ('tik_212', 'ord_107', 'con_bach', 'sea_b3', 0, 4500, 'held', 0, NULL),
  ('tik_213', 'ord_108', 'con_bach', 'sea_a2', 0, 6400, 'sold', 0, NULL);
INSERT INTO vouchers (id, customer_id, amount_cents, left_cents, issued_on, valid_until, status) VALUES
  ('vou_301', 'cus_diaz', 5000, 5000, '2025-12-20', '2028-12-20', 'open'),
  ('vou_302', 'cus_amsler', 3000, 1500, '2024-03-04', '2027-03-04', 'open'),
  ('vou_303', 'cus_okoye', 6400, 0, '2026-01-15', '2029-01-15', 'used_up'),
  ('vou_304', 'cus_byrne', 8000, 8000, '2023-05-10', '2026-05-10', 'expired'),
  ('vou_305', 'cus_sato', 10000, 10000, '2023-10-08', '2026-10-08', 'open');
INSERT INTO payments (id, order_id, kind, voucher_id, amount_cents, booked_at) VALUES
  ('pay_401', 'ord_101', 'card', NULL, 6400, '2026-08-21 09:00:00'),
  ('pay_402', 'ord_102', 'card', NULL, 12800, '2026-09-03 12:00:00'),
  ('pay_403', 'ord_103', 'card', NULL, 4500, '2026-09-11 16:40:00'),
  ('pay_404', 'ord_103', 'refund', NULL, 4500, '2026-09-28 10:00:00'),
  ('pay_405', 'ord_104', 'card', NULL, 16400, '2026-09-15 09:35:00'),
  ('pay_406', 'ord_108', 'voucher', 'vou_303', 6400, '2026-10-02 18:20:00');
INSERT INTO waiting_entries (id, customer_id, concert_id, category_id, since_at, status, seat_id, offered_until) VALUES
  ('wai_501', 'cus_byrne', 'con_schubert', 'cat_b', '2026-09-20 14:00:00', 'waiting', NULL, NULL),
  ('wai_502', 'cus_sato', 'con_schubert', 'cat_b', '2026-09-29 08:10:00', 'waiting', NULL, NULL),
  ('wai_503', 'cus_amsler', 'con_bach', 'cat_c', '2026-10-06 19:00:00', 'offered', 'sea_g3', '2026-10-09 09:00:00'),
  ('wai_504', 'cus_amsel', 'con_oboe', 'cat_a', '2026-08-15 11:00:00', 'served', 'sea_a2', '2026-08-21 10:00:00'),
  ('wai_505', 'cus_diaz', 'con_quartet', 'cat_a', '2026-09-30 16:30:00', 'withdrawn', NULL, NULL);
