-- Tokens with which programs start pipelines.
create table pipeline_triggers (
  id bigint generated always as identity not null,
  project_id bigint not null,
  owner_id bigint not null,
  description text not null,
  token_digest bytea not null,
  token bytea not null,
  last_used timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint pipeline_triggers_pkey primary key (id),
  constraint pipeline_triggers_token_digest unique (token_digest),
  constraint pipeline_triggers_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint pipeline_triggers_owner_id_fkey foreign key (owner_id) references users(id) on delete cascade
);
create index pipeline_triggers_by_project on pipeline_triggers using btree (project_id, id);
create index pipeline_triggers_by_owner on pipeline_triggers using btree (owner_id);
comment on table pipeline_triggers is 'Tokens with which programs start pipelines of a project, in the name of an owner.';
comment on column pipeline_triggers.token is 'The whole token, encrypted: its owner can read it again.';
