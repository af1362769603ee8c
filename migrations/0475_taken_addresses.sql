-- An address belongs to the first account that adds it, confirmed or not, and is stored in lower case.
set local lock_timeout = '5s';

-- Until now, unconfirmed entries for one address could stand beside each other. The confirmed one stays; without one, a person's primary address before all others,
-- and the oldest entry among equals. `email` compares without case, so no two other rows become equal.
create temp table surplus_emails on commit drop as
select id, user_id from (
  select emails.id, user_id,
         row_number() over (partition by emails.email
                            order by emails.confirmed_at is null, not (is_primary and user_type <> 'service_account'), emails.id) as place
    from emails join users on users.id = emails.user_id) placed
 where place > 1;
delete from emails
 using surplus_emails surplus
 where emails.id = surplus.id
   and (not emails.is_primary or exists (select from emails other where other.user_id = surplus.user_id and other.confirmed_at is not null));
-- An account needs a primary address: its first confirmed one or, without one, a placeholder, which an administrator replaces.
update emails set email = 'user_' || user_id || '@noreply.invalid', updated_at = now() where id in (select id from surplus_emails);
update emails set is_primary = true, updated_at = now()
 where id in (select distinct on (user_id) id from emails
               where user_id in (select user_id from surplus_emails) and confirmed_at is not null
                 and not exists (select from emails main where main.user_id = emails.user_id and main.is_primary)
               order by user_id, id);
update users set email = emails.email, updated_at = now()
  from emails
 where emails.user_id = users.id and emails.is_primary and users.id in (select user_id from surplus_emails) and users.email <> emails.email;

-- Of several accounts that wait for one new primary address, the one that asked first goes on waiting.
update users set unconfirmed_email = null, unconfirmed_email_seed = null, unconfirmed_email_sent_at = null
 where unconfirmed_email is not null
   and (exists (select from emails where emails.email = users.unconfirmed_email and emails.user_id <> users.id)
        or exists (select from users other
                    where other.unconfirmed_email = users.unconfirmed_email
                      and (other.unconfirmed_email_sent_at, other.id) < (users.unconfirmed_email_sent_at, users.id)));

update emails set email = lower(email::text) where email::text <> lower(email::text);
update users set email = lower(email::text) where email::text <> lower(email::text);
update users set unconfirmed_email = lower(unconfirmed_email::text) where unconfirmed_email::text <> lower(unconfirmed_email::text);
update users set public_email = lower(public_email::text) where public_email::text <> lower(public_email::text);
update users set commit_email = lower(commit_email::text) where commit_email::text <> lower(commit_email::text);

drop index emails_email_key;
drop index emails_of_user;
drop index emails_claimed;
create unique index emails_email_key on emails (email);
drop index users_email_key;
create unique index users_email_key on users (email);
create unique index users_unconfirmed_email_key on users (unconfirmed_email);

-- Since when an account has held an address that it has not confirmed. The row outlives the entry, so that the account cannot add the address again and again.
create table claimed_emails (
  user_id    bigint not null references users on delete cascade,
  email      citext not null,
  claimed_at timestamptz not null default now(),
  primary key (user_id, email)
);
create index claimed_emails_by_age on claimed_emails (claimed_at);

-- Unconfirmed addresses of service accounts now end as well; the accounts have three days from here.
drop index emails_unconfirmed;
create index emails_unconfirmed on emails (confirmation_sent_at) where confirmed_at is null;
update emails set confirmation_sent_at = now()
  from users
 where users.id = emails.user_id and user_type = 'service_account' and is_primary and emails.confirmed_at is null;
insert into claimed_emails (user_id, email, claimed_at)
select user_id, emails.email, confirmation_sent_at
  from emails join users on users.id = emails.user_id
 where emails.confirmed_at is null and (not is_primary or user_type = 'service_account')
union
select id, unconfirmed_email, unconfirmed_email_sent_at from users where unconfirmed_email is not null
on conflict do nothing;
