-- Changes of tables that are replicated name the row: by the primary key, or where there is none, by all columns.
alter table group_authorizations replica identity full;
alter table internal_ids replica identity full;
alter table notification_counts replica identity full;
alter table project_authorizations replica identity full;
alter table user_mentions replica identity full;

-- The same on all sites of an installation: the row is replicated.
alter table instance add column uuid uuid not null default gen_random_uuid();

-- How a secondary follows its primary. A site's own.
create table geo_following (
  id integer primary key default 1 check (id = 1),
  -- This server, among all that call themselves the same node.
  server uuid not null default gen_random_uuid(),
  state text not null default 'waiting' check (state in ('waiting', 'copying', 'following', 'paused')),
  -- Why it waits or pauses, as a sentence.
  problem text,
  -- On the primary, for the subscription of this copy.
  slot text,
  -- Null until the copy is complete.
  copied_at timestamptz,
  -- A position of the primary that is to be reached, when that was its last one, and how many errors there were then.
  awaited_position pg_lsn,
  awaited_at timestamptz,
  awaited_errors bigint,
  -- When the primary had nothing that this site lacks.
  caught_up_at timestamptz
);

-- Which server a primary has last seen for a node. A site's own, without a reference: nodes are replicated, and this is not.
create table geo_links (
  geo_node_id bigint primary key,
  server uuid not null,
  seen_at timestamptz not null
);
