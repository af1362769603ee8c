-- The keys of ID tokens are changed from time to time, and sign the tokens of people too.
alter table id_token_keys drop constraint id_token_keys_single_check;
alter table id_token_keys alter column id drop default;
alter table id_token_keys alter column id add generated always as identity (start with 2);
alter table id_token_keys add column retired_at timestamp with time zone;
create unique index id_token_keys_single on id_token_keys using btree ((retired_at is null)) where retired_at is null;
comment on table id_token_keys is 'The keys with which the server signs the ID tokens of jobs and people. One is in use.';
comment on column id_token_keys.retired_at is 'When another key replaced it. It is published for some time more.';
