-- The most seats of the license that the members of each top-level group have taken, as counted daily.
create table group_seats (
  group_id bigint primary key references namespaces (id) on delete cascade,
  most_used integer not null
);
