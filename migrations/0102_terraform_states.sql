-- States of Terraform, with their versions and locks.
create table terraform_states (
  id bigint generated always as identity not null,
  project_id bigint not null,
  name text not null,
  lock_id text,
  lock_info jsonb,
  locked_at timestamp with time zone,
  locked_by_id bigint,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint terraform_states_pkey primary key (id),
  constraint terraform_states_name unique (project_id, name),
  constraint terraform_states_lock_check check ((lock_id is null) = (lock_info is null)),
  constraint terraform_states_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint terraform_states_locked_by_id_fkey foreign key (locked_by_id) references users(id) on delete set null
);
create index terraform_states_by_locker on terraform_states using btree (locked_by_id) where locked_by_id is not null;
comment on table terraform_states is 'States of Terraform that projects keep.';
comment on column terraform_states.lock_id is 'Who holds the lock knows it; null while the state is not locked.';
comment on column terraform_states.lock_info is 'What the client said when it took the lock. It is shown to others who want it.';

create table terraform_versions (
  id bigint generated always as identity not null,
  state_id bigint not null,
  project_id bigint not null,
  serial bigint not null,
  job_id bigint,
  size_bytes bigint not null,
  digest text not null,
  content_key bytea not null,
  blob_key text not null,
  stored_bytes bigint not null,
  stored_sha256 text not null,
  created_at timestamp with time zone default now() not null,
  constraint terraform_versions_pkey primary key (id),
  constraint terraform_versions_serial unique (state_id, serial),
  constraint terraform_versions_state_id_fkey foreign key (state_id) references terraform_states(id) on delete cascade,
  constraint terraform_versions_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint terraform_versions_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete set null
);
create unique index terraform_versions_blob_key on terraform_versions using btree (blob_key);
create index terraform_versions_by_project on terraform_versions using btree (project_id);
create index terraform_versions_by_job on terraform_versions using btree (job_id) where job_id is not null;
comment on table terraform_versions is 'Versions of states of Terraform.';
comment on column terraform_versions.digest is 'Of the state as it was sent: an HMAC with the key of the content, so that it tells nothing about a short state.';
comment on column terraform_versions.content_key is 'Encrypted: the key with which the blob is encrypted.';
comment on column terraform_versions.stored_bytes is 'The size of the blob.';

create function keep_unused_terraform_state() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_terraform_state after delete on terraform_versions
  referencing old table as removed for each statement execute function keep_unused_terraform_state();

alter table application_settings
  add column max_terraform_state_size_bytes integer default 52428800 not null,
  add column max_terraform_state_versions integer default 100 not null;
