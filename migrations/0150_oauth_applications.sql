-- Programs that sign people in with this server, and act for them.
create table oauth_applications (
  id bigint generated always as identity not null,
  uid text not null,
  secret_digest bytea not null,
  name text not null,
  redirect_uri text not null,
  scopes text[] not null,
  confidential boolean not null,
  trusted boolean default false not null,
  user_id bigint,
  group_id bigint,
  created_at timestamp with time zone default now() not null,
  constraint oauth_applications_pkey primary key (id),
  constraint oauth_applications_uid_key unique (uid),
  constraint oauth_applications_user_id_fkey foreign key (user_id) references users(id) on delete cascade,
  constraint oauth_applications_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade,
  constraint oauth_applications_owner_check check (num_nonnulls(user_id, group_id) <= 1)
);
create index oauth_applications_of_instance on oauth_applications using btree (id) where user_id is null and group_id is null;
create index oauth_applications_of_user on oauth_applications using btree (user_id, id);
create index oauth_applications_of_group on oauth_applications using btree (group_id, id);
comment on table oauth_applications is 'Programs that ask for tokens with OAuth. Without a user and a group, one is of the instance.';
comment on column oauth_applications.uid is 'The public name, which requests call client_id.';
comment on column oauth_applications.secret_digest is 'SHA-256.';
comment on column oauth_applications.redirect_uri is 'The addresses that people may be sent back to, one a line.';
comment on column oauth_applications.confidential is 'Whether it can keep its secret, and must show it.';
comment on column oauth_applications.trusted is 'Whether people are not asked before it gets a token.';
