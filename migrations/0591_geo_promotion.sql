-- When a site became the primary in the place of another one: of two that believe to be it, the later one is.
alter table geo_nodes add column promoted_at timestamptz;

-- When this server did: whatever its configuration says, it does not follow any more, and nothing empties its tables. A site's own.
alter table geo_following add column promoted_at timestamptz;
