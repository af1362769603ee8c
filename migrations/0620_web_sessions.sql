-- Sessions in browsers. The cookie is stored only as a digest; a session that is used gets another one every day, and the one before counts for a minute more, because
-- the browser may have sent it already.
create table web_sessions (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  token_digest bytea not null unique,
  previous_digest bytea unique,
  is_remembered boolean not null,
  created_at timestamptz not null default now(),
  rotated_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  -- When the password was given last.
  confirmed_at timestamptz not null default now(),
  address inet,
  user_agent text
);
create index web_sessions_by_user on web_sessions (user_id, id);
create index web_sessions_by_use on web_sessions (used_at);
create trigger raise_rights_version after insert or delete or update of user_id, token_digest, confirmed_at on web_sessions
  for each statement execute function raise_rights_version();

-- How pages look.
alter table users add column page_theme text not null default 'auto' check (page_theme in ('auto', 'light', 'dark'));

-- Links by which people choose a password. Their tokens are made from the seed and the secret key.
create table password_links (
  id bigint generated always as identity primary key,
  user_id bigint not null references users (id) on delete cascade,
  seed uuid not null unique default gen_random_uuid(),
  created_at timestamptz not null default now()
);
create index password_links_by_user on password_links (user_id);
create index password_links_by_age on password_links (created_at);

drop trigger raise_rights_version on users;
create trigger raise_rights_version
  after insert or delete or update of username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at, page_theme on users
  for each statement execute function raise_rights_version();
