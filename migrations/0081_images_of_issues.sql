-- Blobs that no row speaks of: one that is about to come in, until its row is written, and one whose row is gone. A job removes them.
create table unused_blobs (
  key   text primary key,
  since timestamptz not null default now()
);
create index unused_blobs_by_age on unused_blobs (since);

-- Whatever takes the image away: itself, its issue, its project.
create function keep_unused_image() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_image after delete on issue_metric_images referencing old table as removed
  for each statement execute function keep_unused_image();
