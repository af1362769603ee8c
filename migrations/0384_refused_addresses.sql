-- The mail server refused the address for good: no notification is sent to it until it is confirmed or chosen again.
alter table emails add column refused_at timestamptz;
alter table users add column notified_of_own_activity boolean not null default false;
