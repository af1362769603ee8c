-- Who follows whom.
create table user_follows (
  follower_id bigint not null references users on delete cascade,
  followed_id bigint not null references users on delete cascade,
  created_at  timestamptz not null default now(),
  primary key (followed_id, follower_id),
  constraint user_follows_others check (follower_id <> followed_id)
);
create index user_follows_by_follower on user_follows (follower_id, followed_id);
