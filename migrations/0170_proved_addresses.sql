-- Only confirmed addresses are unique. A claim that nobody has confirmed must not keep the address from its owner.
alter table emails drop constraint emails_email_key;
create unique index emails_email_key on emails (email) where confirmed_at is not null;
create unique index emails_of_user on emails (user_id, email);
create index emails_claimed on emails (email) where confirmed_at is null;

-- The address of a service account may be one that nobody has confirmed; a person's primary address belongs to one person.
alter table users drop constraint users_email_key;
create unique index users_email_key on users (email) where user_type <> 'service_account';

-- With confirmation switched off, chosen addresses of service accounts counted as confirmed. Which of them were confirmed by a link is not known.
update emails set confirmed_at = null
  from users
 where users.id = emails.user_id and users.user_type = 'service_account' and emails.is_primary
   and emails.email::text not like users.username::text || '@noreply.%';
