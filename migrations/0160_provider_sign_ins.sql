-- Sign-ins by providers: OpenID Connect and SAML lead the browser away and back.
create table provider_sign_ins (
  id bigint generated always as identity not null,
  handle_digest bytea not null,
  provider text not null,
  round bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint provider_sign_ins_pkey primary key (id),
  constraint provider_sign_ins_handle_digest_key unique (handle_digest)
);
create index provider_sign_ins_by_age on provider_sign_ins using btree (created_at);
comment on table provider_sign_ins is 'Sign-ins that have led a browser to a provider and wait for its return.';
comment on column provider_sign_ins.handle_digest is 'SHA-256 of the cookie.';
comment on column provider_sign_ins.round is 'Encrypted JSON: what the return has to match, and where to go on.';

create table provider_messages (
  id bigint generated always as identity not null,
  handle_digest bytea not null,
  provider text not null,
  message bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint provider_messages_pkey primary key (id),
  constraint provider_messages_handle_digest_key unique (handle_digest)
);
create index provider_messages_by_age on provider_messages using btree (created_at);
comment on table provider_messages is 'Messages of SAML providers, which arrive without cookies and wait a minute for the browser.';
comment on column provider_messages.handle_digest is 'SHA-256 of the handle in the address to which the browser is sent.';
comment on column provider_messages.message is 'Encrypted, as it arrived.';

create table used_assertions (
  provider text not null,
  digest bytea not null,
  ends_at timestamp with time zone not null,
  constraint used_assertions_pkey primary key (provider, digest)
);
create index used_assertions_by_end on used_assertions using btree (ends_at);
comment on table used_assertions is 'SAML assertions that have signed somebody in, and do so once.';
comment on column used_assertions.digest is 'SHA-256 of the id of the assertion.';
comment on column used_assertions.ends_at is 'From when on the assertion would not count anyway.';
