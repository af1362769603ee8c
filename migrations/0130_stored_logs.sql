-- Logs of jobs that have ended are blobs.
alter table job_logs add column blob_key text, add column sha256 text;
create unique index job_logs_blob_key on job_logs using btree (blob_key) where blob_key is not null;
create index job_logs_in_pieces on job_logs using btree (job_id) where blob_key is null;
comment on table job_logs is 'The logs of jobs: pieces while they grow, and blobs afterwards.';
comment on column job_logs.blob_key is 'Null while it is kept in pieces.';
comment on column job_logs.sha256 is 'Of what is kept, once it is a blob.';

create function keep_unused_log() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed where blob_key is not null on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_log after delete on job_logs
  referencing old table as removed for each statement execute function keep_unused_log();
