-- What this server is licensed for. A row is written only after its text was verified, and says what the text says.
create table licenses (
  id                bigint generated always as identity primary key,
  -- As it was received, with one line break at its end.
  text              text not null,
  plan              text not null check (plan in ('starter', 'premium', 'ultimate')),
  -- Name, Email and Company, as far as the text has them.
  licensee          jsonb not null,
  add_ons           jsonb not null default '{}',
  starts_at         date not null,
  -- From 00:00 UTC of this day on it has expired.
  expires_at        date,
  -- 0: any number.
  user_limit        integer not null default 0 check (user_limit >= 0),
  trial             boolean not null default false,
  -- Managed elsewhere: its seats are not checked here, and nobody can remove it.
  cloud             boolean not null default false,
  -- When administrators are told that it ends, and when they were.
  notify_admins_at  date,
  notified_at       timestamptz,
  -- When changes stop once it has expired; null: never.
  block_changes_at  date,
  created_at        timestamptz not null default now(),
  constraint licenses_period check (expires_at > starts_at)
);

-- The day's number of billable users: the last count, and the highest.
create table billable_counts (
  day         date primary key default current_date,
  recorded_at timestamptz not null default now(),
  count       integer not null,
  highest     integer not null
);

-- One row from the first licence on, whatever becomes of it: only a server that never had one gives itself one.
create table licensing (
  id       integer primary key default 1 check (id = 1),
  began_at timestamptz not null default now()
);

-- The licence that decides, if there is one: the newest that holds today, or else the newest that has expired. `plan` is the plan in force: what was paid for stays
-- after its end, a trial does not. Every request reads it, so it looks at no more than the hundred rows that count.
create view current_license as
select id,
       case when trial and expired then 'free' when plan = 'starter' then 'premium' else plan end as plan,
       user_limit,
       expires_at,
       expired,
       expired and not trial and block_changes_at is not null and current_date >= greatest(block_changes_at, expires_at + 14) as blocks_changes
  from (select licenses.*, coalesce(expires_at <= current_date, false) as expired from licenses order by id desc limit 100) recent
 where starts_at <= current_date
 order by expired, id desc
 limit 1;
