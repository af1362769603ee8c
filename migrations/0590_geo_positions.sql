-- Counted up after a write that a secondary has passed on: a secondary that has the number has the write, too, because it applies transactions in the order of their commits.
create table geo_positions (
  geo_node_id bigint primary key references geo_nodes on delete cascade,
  position bigint not null
);
