-- Every address that somebody claims, so that one index keeps all of them apart, whatever they are used for. The primary ones are among them: a trigger keeps their
-- rows in step with `users`.
create table emails (
  id                   bigint generated always as identity primary key,
  user_id              bigint not null references users on delete cascade,
  -- Two addresses that differ only in case are one.
  email                citext not null unique,
  is_primary           boolean not null default false,
  -- Null: nobody has shown that he reads what comes to it. Such an address is used for nothing.
  confirmed_at         timestamptz,
  -- What the link in the confirmation mail leads to.
  seed                 uuid not null default gen_random_uuid() unique,
  confirmation_sent_at timestamptz not null default now(),
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now()
);
create index emails_by_user on emails (user_id, id);
create unique index emails_one_primary on emails (user_id) where is_primary;
create index emails_unconfirmed on emails (confirmation_sent_at) where confirmed_at is null and not is_primary;

insert into emails (user_id, email, is_primary, confirmed_at) select id, email, true, confirmed_at from users order by id;

create function keep_primary_email() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.email <> old.email then
    -- What was confirmed stays the user's; what was not goes.
    delete from emails where user_id = new.id and is_primary and old.confirmed_at is null;
    update emails set is_primary = false, updated_at = now() where user_id = new.id and is_primary;
  end if;
  insert into emails (user_id, email, is_primary, confirmed_at) values (new.id, new.email, true, new.confirmed_at)
      on conflict (email) do update
     set email = excluded.email, is_primary = true, confirmed_at = excluded.confirmed_at, updated_at = now()
   where emails.user_id = excluded.user_id;
  if not found then
    raise unique_violation using message = 'the address is a secondary one of another user', constraint = 'emails_email_key', table = 'emails';
  end if;
  return null;
end $$;
create trigger keep_primary_email after insert or update of email, confirmed_at on users for each row execute function keep_primary_email();

-- The link that confirms `unconfirmed_email`, and when it was sent.
alter table users
  add column unconfirmed_email_seed    uuid unique,
  add column unconfirmed_email_sent_at timestamptz;
update users set unconfirmed_email_seed = gen_random_uuid(), unconfirmed_email_sent_at = now() where unconfirmed_email is not null;
alter table users add constraint users_unconfirmed_email_check
  check ((unconfirmed_email is null) = (unconfirmed_email_seed is null) and (unconfirmed_email is null) = (unconfirmed_email_sent_at is null));
create index users_with_unconfirmed_email on users (unconfirmed_email_sent_at) where unconfirmed_email is not null;
